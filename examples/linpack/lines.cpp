// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/lines.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace linpack {

Lines::Lines(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.substr(0, byte_order_mark.size()) == byte_order_mark)
    text.remove_prefix(byte_order_mark.size());
  while (!text.empty()) {
    const std::size_t length = text.find('\n');
    std::string_view line = text.substr(0, length);
    text.remove_prefix(length == text.npos ? text.size() : length + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines_.push_back(line);
  }
}

std::string_view Lines::line(int number) const {
  return lines_[static_cast<std::size_t>(number - 1)];
}

std::vector<Token> Lines::tokens(int number) const {
  constexpr std::string_view blanks = " \t\v\f\r";
  const std::string_view all = line(number);
  std::vector<Token> out;
  for (std::size_t begin = 0;;) {
    begin = all.find_first_not_of(blanks, begin);
    if (begin == all.npos) return out;
    const std::size_t end = std::min(all.find_first_of(blanks, begin), all.size());
    out.push_back({all.substr(begin, end - begin), {number, static_cast<int>(begin) + 1}});
    begin = end;
  }
}

Position Lines::end_of(int number) const {
  return {number, static_cast<int>(line(number).size()) + 1};
}

std::string read_text_file(const std::string& path) {
  constexpr std::size_t largest = std::size_t{1} << 20;
  const auto fail = [&path](const std::string& found) {
    throw InputError(path, Position{}, "a text file", found);
  };
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) fail("a directory");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) fail(errno == ENOENT ? "no such file" : std::strerror(errno));
  std::string text(largest + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) fail(std::strerror(errno));
  if (text.size() > largest) fail("more than 1 MiB");
  return text;
}

}  // namespace linpack
