// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "linpack/config.hpp"

namespace linpack {

/// The words of an option, indexed by its code: as messages, the command line and JSON spell it.
template <class E>
struct Words;

template <>
struct Words<Mapping> {
  static constexpr std::array<std::string_view, 2> all{"row", "column"};
};
template <>
struct Words<PanelVariant> {
  static constexpr std::array<std::string_view, 3> all{"left", "crout", "right"};
};
template <>
struct Words<Broadcast> {
  static constexpr std::array<std::string_view, 6> all{"1ring",  "1ringM", "2ring",
                                                       "2ringM", "long",   "longM"};
};
template <>
struct Words<SwapAlgorithm> {
  static constexpr std::array<std::string_view, 3> all{"binary", "long", "mix"};
};
template <>
struct Words<Form> {
  static constexpr std::array<std::string_view, 2> all{"transposed", "no-transposed"};
};
template <>
struct Words<Equilibration> {
  static constexpr std::array<std::string_view, 2> all{"no", "yes"};
};

template <class E>
constexpr int code(E value) {
  return static_cast<int>(value);
}

template <class E>
constexpr std::string_view word(E value) {
  return Words<E>::all[static_cast<std::size_t>(value)];
}

/// The index of `text` among `words`, letters of either case being equal.
std::optional<std::size_t> find_word(const std::string_view* words, std::size_t count,
                                     std::string_view text);

/// The option that `text` spells as a word.
template <class E>
std::optional<E> from_word(std::string_view text) {
  const auto found = find_word(Words<E>::all.data(), Words<E>::all.size(), text);
  if (!found) return std::nullopt;
  return static_cast<E>(*found);
}

/// "one of 0 (left), 1 (crout), 2 (right)"
template <class E>
std::string describe_choices() {
  std::string out = "one of";
  for (std::size_t i = 0; i < Words<E>::all.size(); ++i)
    out += (i == 0 ? " " : ", ") + std::to_string(i) + " (" + std::string(Words<E>::all[i]) + ")";
  return out;
}

}  // namespace linpack
