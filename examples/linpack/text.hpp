// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace linpack {

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string print(const char* format, ...);

/// A line of 80 such characters.
std::string rule(char c);

/// The shortest decimal number that reads back as `value`.
std::string shortest(double value);

/// A NaN without its sign, which says nothing and would be printed.
double unsigned_nan(double x);

/// Integers that an option takes, both ends included.
struct IntegerRange {
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int32_t>::max();
};

/// The decimal integer that `text` is, all of it, if it lies in the range. An exponent, a
/// decimal point or a following comma make it no integer.
std::optional<std::int64_t> parse_integer(std::string_view text, IntegerRange range);

/// The finite decimal number that `text` is, all of it.
std::optional<double> parse_real(std::string_view text);

/// Whether text reads as a number, whatever its size.
bool looks_like_number(std::string_view text);

/// "an integer from 1 to 20"
std::string describe(IntegerRange range);

/// 'text', with bytes that do not print as \xHH, and shortened if long.
std::string in_quotes(std::string_view text);

}  // namespace linpack
