// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/names.hpp"

#include <algorithm>

namespace linpack {

static char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::optional<std::size_t> find_word(const std::string_view* words, std::size_t count,
                                     std::string_view text) {
  const auto equal = [](std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return lower(x) == lower(y); });
  };
  for (std::size_t i = 0; i < count; ++i)
    if (equal(words[i], text)) return i;
  return std::nullopt;
}

}  // namespace linpack
