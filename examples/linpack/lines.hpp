// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linpack/input_error.hpp"

namespace linpack {

/// A run of characters without blanks.
struct Token {
  std::string_view text;
  Position at;
};

/// A text as numbered lines of tokens. A byte order mark at the start is no part of the first
/// line, the carriage return of a CRLF is no part of its line, and the last line needs no end.
class Lines {
 public:
  /// `text` must outlive this object.
  explicit Lines(std::string_view text);

  int count() const { return static_cast<int>(lines_.size()); }
  /// Line `number`, counted from 1.
  std::string_view line(int number) const;
  std::vector<Token> tokens(int number) const;
  /// The place behind the last character of a line.
  Position end_of(int number) const;

 private:
  std::vector<std::string_view> lines_;
};

/// The content of a file. Throws InputError if there is none, if it is a directory, cannot be
/// read, or is far too large to be an input file.
std::string read_text_file(const std::string& path);

}  // namespace linpack
