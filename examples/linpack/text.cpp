// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <system_error>

namespace linpack {

std::string print(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string out(static_cast<std::size_t>(std::max(length, 0)), '\0');
  std::vsnprintf(out.data(), out.size() + 1, format, again);
  va_end(again);
  return out;
}

// from_chars knows no plus sign.
static std::string_view without_plus(std::string_view text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return plus ? text.substr(1) : text;
}

std::string rule(char c) { return std::string(80, c) + "\n"; }

std::string shortest(double value) {
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

double unsigned_nan(double x) { return std::isnan(x) ? std::abs(x) : x; }

std::optional<std::int64_t> parse_integer(std::string_view text, IntegerRange range) {
  text = without_plus(text);
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  if (value < range.min || value > range.max) return std::nullopt;
  return value;
}

std::optional<double> parse_real(std::string_view text) {
  text = without_plus(text);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool looks_like_number(std::string_view text) {
  text = without_plus(text);
  // from_chars takes "inf" and "nan" for numbers.
  if (text.find_first_of("0123456789") == text.npos) return false;
  double value = 0;
  const char* end = text.data() + text.size();
  return std::from_chars(text.data(), end, value).ptr == end;
}

std::string describe(IntegerRange range) {
  return print("an integer from %lld to %lld", static_cast<long long>(range.min),
               static_cast<long long>(range.max));
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string out = "'";
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f)
      out += c;
    else
      out += print("\\x%02X", byte);
  }
  if (text.size() > longest) out += "...";
  return out + "'";
}

}  // namespace linpack
