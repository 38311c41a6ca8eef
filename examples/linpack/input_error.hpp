// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

namespace linpack {

/// A place in a text, both counted from 1; columns are bytes.
struct Position {
  int line = 1;
  int column = 1;
  bool operator==(const Position&) const = default;
};

/// What the user gave cannot be run. The message says where, what was expected, and what was
/// found; the program prints it and ends with status 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  /// "file:line:column: expected ..., found ..."
  InputError(const std::string& file, Position at, const std::string& expected,
             const std::string& found)
      : std::runtime_error(file + ":" + std::to_string(at.line) + ":" +
                           std::to_string(at.column) + ": expected " + expected + ", found " +
                           found) {}
};

}  // namespace linpack
