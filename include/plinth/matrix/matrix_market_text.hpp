// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "plinth/core/scalar.hpp"
#include "plinth/matrix/file.hpp"

namespace plinth {

/// The lines of a text file, read a piece at a time. Lines end with LF or CR LF.
class LineReader {
 public:
  explicit LineReader(File file) : file_(std::move(file)) {}

  /// The next line without its end and without blanks around it; false: there is none. Valid until
  /// the next call.
  bool next(std::string_view& line) {
    std::size_t end = buffer_.find('\n', at_);
    while (end == std::string::npos && !at_end_) {
      const std::size_t searched = buffer_.size() - at_;
      refill();
      end = buffer_.find('\n', at_ + searched);
    }
    if (end == std::string::npos && at_ == buffer_.size()) return false;
    const std::size_t stop = std::min(end, buffer_.size());
    line = trimmed(std::string_view(buffer_).substr(at_, stop - at_));
    at_ = std::min(stop + 1, buffer_.size());
    ++number_;
    return true;
  }
  /// The next line that is neither blank nor a comment.
  bool next_content(std::string_view& line) {
    while (next(line))
      if (!line.empty() && line.front() != '%') return true;
    return false;
  }
  Index number() const { return number_; }
  const File& file() const { return file_; }
  [[noreturn]] void fail(const std::string& what) const {
    file_.fail("line " + std::to_string(number_) + ": " + what);
  }

  static std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\v\f";
    const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
    const std::size_t last = text.find_last_not_of(blanks);
    return last == std::string_view::npos ? std::string_view()
                                          : text.substr(begin, last + 1 - begin);
  }

 private:
  static constexpr Index piece = Index(1) << 20;

  void refill() {
    buffer_.erase(0, at_);
    at_ = 0;
    const std::size_t kept = buffer_.size();
    if (kept >= static_cast<std::size_t>(piece)) {
      ++number_;
      fail("is longer than a line of numbers can be");
    }
    buffer_.resize(kept + static_cast<std::size_t>(piece));
    const Index got = file_.read_some_at(offset_, buffer_.data() + kept, piece);
    buffer_.resize(kept + static_cast<std::size_t>(got));
    offset_ += got;
    at_end_ = got < piece;
  }

  File file_;
  std::string buffer_;
  std::size_t at_ = 0;
  Index offset_ = 0;
  Index number_ = 0;
  bool at_end_ = false;
};

/// The words of a line, in lower case where asked.
inline std::vector<std::string> words_of(std::string_view line, bool lower = false) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.emplace_back(line.substr(0, end));
    if (lower)
      for (char& c : words.back())
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    line = LineReader::trimmed(line.substr(end));
  }
  return words;
}

/// The number at the beginning of `text`, of which it is cut off; false: there is none that fits.
template <class Number>
bool take_number(std::string_view& text, Number& value) {
  text = LineReader::trimmed(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return text.empty() || text.front() == ' ' || text.front() == '\t';
}

/// The Matrix Market array format: a banner, comments (%), a line 'm n', and the elements column by
/// column, one a line, complex ones as two numbers. Blank lines and comments may stand anywhere
/// after the banner. Source: Boisvert, Pozo, Remington, The Matrix Market exchange formats (1996).
class MatrixMarketReader {
 public:
  explicit MatrixMarketReader(const std::string& path) : lines_(File::open(path)) {
    std::string_view line;
    if (!lines_.next(line)) lines_.file().fail("is empty");
    const auto banner = words_of(line, true);
    if (banner.empty() || banner[0] != "%%matrixmarket")
      lines_.fail("does not begin with %%MatrixMarket");
    if (banner.size() != 5) lines_.fail("the banner wants four words");
    if (banner[1] != "matrix" || banner[2] != "array")
      lines_.fail("holds a '" + banner[1] + " " + banner[2] + "', only 'matrix array' is read");
    if (banner[3] != "real" && banner[3] != "integer" && banner[3] != "complex")
      lines_.fail("holds '" + banner[3] + "', only real, integer and complex are read");
    if (banner[4] != "general")
      lines_.fail("holds a '" + banner[4] + "' matrix, only general ones are read");
    complex_ = banner[3] == "complex";
    if (!lines_.next_content(line)) lines_.file().fail("ends before the line with the size");
    if (!take_number(line, rows_) || !take_number(line, cols_) || !line.empty() || rows_ < 0 ||
        cols_ < 0)
      lines_.fail("is not the size, two numbers");
  }

  bool is_complex() const { return complex_; }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  const File& file() const { return lines_.file(); }

  /// The next element. Error: the line is bad, with its number.
  template <class T>
  T next() {
    std::string_view line;
    if (!lines_.next_content(line))
      file().fail("ends after line " + std::to_string(lines_.number()) +
                  " with too few elements");
    RealOf<T> re = 0, im = 0;
    bool good = take_number(line, re);
    if constexpr (ScalarTraits<T>::is_complex) {
      good = good && take_number(line, im);
      if (!good || !line.empty()) lines_.fail("is not a complex number, two that fit the type");
      return T(re, im);
    } else {
      if (!good || !line.empty()) lines_.fail("is not a number that fits the type");
      return re;
    }
  }
  /// After the last element there must be no more.
  void finish() {
    std::string_view line;
    if (lines_.next_content(line)) lines_.fail("is one element too many");
  }

 private:
  LineReader lines_;
  bool complex_ = false;
  Index rows_ = 0, cols_ = 0;
};

/// Appends a number in the shortest form that reads as the same bits.
template <class Real>
void append_number(std::string& text, Real value) {
  char digits[64];
  text.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

}  // namespace plinth
