// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/hpl_dat.hpp"

#include <algorithm>

#include "linpack/limits.hpp"
#include "linpack/lines.hpp"
#include "linpack/names.hpp"
#include "linpack/text.hpp"

namespace linpack {

namespace {

constexpr int last_line = 31;

/// Reads one line after the other and says what is wrong with it.
class Reader {
 public:
  Reader(std::string_view text, HplDat& out) : lines_(text), out_(out) {
    require_text();
    if (lines_.count() > last_line) warn_of_lines_beyond();
  }

  std::string free_text(int line, const std::string& what) {
    require_line(line, what);
    return std::string(lines_.line(line));
  }

  /// The first token of a line, empty if there is none.
  Token word(int line, const std::string& what) {
    require_line(line, what);
    const auto tokens = lines_.tokens(line);
    return tokens.empty() ? Token{"", lines_.end_of(line)} : tokens.front();
  }

  template <class T = int>
  T integer(int line, const std::string& what, IntegerRange range) {
    return integers<T>(line, 1, what, range).front();
  }

  int count(int line, const std::string& what) {
    return integer(line, "the number of " + what, count_range);
  }

  template <class T = int>
  std::vector<T> integers(int line, int count, const std::string& what, IntegerRange range) {
    return values<T>(line, count, what + ", " + describe(range),
                     [range](std::string_view text) { return parse_integer(text, range); });
  }

  template <class E>
  std::vector<E> choices(int line, int count, const std::string& what) {
    const IntegerRange range{0, static_cast<std::int64_t>(words_in_file<E>()) - 1};
    return values<E>(line, count, what + ", " + describe_choices<E>(words_in_file<E>()),
                     [range](std::string_view text) { return parse_integer(text, range); });
  }

  template <class E>
  E choice(int line, const std::string& what) {
    return choices<E>(line, 1, what).front();
  }

  double real(int line, const std::string& what) {
    return values<double>(line, 1, what + ", a finite number", parse_real).front();
  }

  /// What the first line of options beyond the last line holds.
  void options() {
    for (int line = last_line + 1; line <= lines_.count() && out_.options.empty(); ++line) {
      if (!is_options(line)) continue;
      for (const Token& token : lines_.tokens(line))
        if (token.at.column > static_cast<int>(options_follow.size())) {
          if (out_.options.empty()) out_.options_at = token.at;
          out_.options.emplace_back(token.text);
        }
    }
  }

  std::vector<Position> positions(int line, int count) const {
    std::vector<Position> out;
    for (const Token& token : lines_.tokens(line)) out.push_back(token.at);
    out.resize(static_cast<std::size_t>(count));
    return out;
  }

 private:
  void require_line(int line, const std::string& expected) const {
    if (line <= lines_.count()) return;
    throw InputError(out_.file, {lines_.count() + 1, 1}, expected,
                     lines_.count() == 0 ? "an empty file" : "the end of the file");
  }

  /// The first `count` tokens of a line, converted. Numbers that follow them are warned of.
  template <class T, class Convert>
  std::vector<T> values(int line, int count, const std::string& expected, Convert convert) {
    require_line(line, expected);
    const std::vector<Token> tokens = lines_.tokens(line);
    const auto wanted = static_cast<std::size_t>(count);
    std::vector<T> out;
    for (std::size_t i = 0; i < wanted; ++i) {
      const std::string which = count == 1 ? "" : print(" (value %zu of %d)", i + 1, count);
      if (i == tokens.size())
        throw InputError(out_.file, lines_.end_of(line), expected + which, "the end of the line");
      const auto value = convert(tokens[i].text);
      if (!value)
        throw InputError(out_.file, tokens[i].at, expected + which, in_quotes(tokens[i].text));
      out.push_back(static_cast<T>(*value));
    }
    warn_of_values_beyond(tokens, wanted);
    return out;
  }

  void warn_of_values_beyond(const std::vector<Token>& tokens, std::size_t count) {
    std::string values;
    for (std::size_t i = count; i < tokens.size() && looks_like_number(tokens[i].text); ++i)
      values += " " + std::string(tokens[i].text);
    if (values.empty()) return;
    warn(tokens[count].at, print("beyond the %zu stated, ignored:", count) + values);
  }

  void require_text() const {
    const auto is_text = [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return byte >= 0x20 ? byte != 0x7f : byte >= '\t' && byte <= '\r';
    };
    for (int line = 1; line <= std::min(lines_.count(), last_line); ++line) {
      const std::string_view all = lines_.line(line);
      const auto bad = std::find_if_not(all.begin(), all.end(), is_text);
      if (bad == all.end()) continue;
      throw InputError(out_.file, {line, static_cast<int>(bad - all.begin()) + 1}, "text",
                       print("the byte 0x%02X", static_cast<unsigned char>(*bad)));
    }
  }

  void warn_of_lines_beyond() {
    int first = 0;
    int last = 0;
    for (int line = last_line + 1; line <= lines_.count(); ++line) {
      if (lines_.tokens(line).empty() || is_options(line)) continue;
      if (first == 0) first = line;
      last = line;
    }
    if (first == 0) return;
    warn({first, 1}, first == last ? print("beyond line %d, ignored: line %d", last_line, first)
                                   : print("beyond line %d, ignored: lines %d to %d", last_line,
                                           first, last));
  }

  bool is_options(int line) const { return lines_.line(line).starts_with(options_follow); }

  void warn(Position at, const std::string& what) {
    out_.warnings.push_back(
        print("%s:%d:%d: warning: %s", out_.file.c_str(), at.line, at.column, what.c_str()));
  }

  Lines lines_;
  HplDat& out_;
};

Device device_of(int code) {
  return code == 6 ? Device::standard_output : code == 7 ? Device::standard_error : Device::file;
}

}  // namespace

HplDat parse_hpl_dat(std::string_view text, const std::string& file) {
  HplDat out;
  out.file = file;
  Reader in(text, out);
  Config& c = out.config;

  c.heading = {in.free_text(1, "a first line of free text"),
               in.free_text(2, "a second line of free text")};
  const Token output_file = in.word(3, "the name of the output file");
  c.output_file = std::string(output_file.text);
  out.output_file_at = output_file.at;
  c.device = device_of(in.integer(
      4, "the output device (6 for stdout, 7 for stderr, any other for the file of line 3)",
      any_integer));
  if (c.device == Device::file && c.output_file.empty())
    throw InputError(file, output_file.at, "the name of the output file", "the end of the line");

  c.n = in.integers<std::int64_t>(6, in.count(5, "problem sizes N"), "N", n_range);
  c.nb = in.integers(8, in.count(7, "block sizes NB"), "NB", nb_range);
  c.mapping = in.choice<Mapping>(9, "PMAP");
  const int grids = in.count(10, "process grids");
  const std::vector<int> p = in.integers(11, grids, "P", grid_range);
  const std::vector<int> q = in.integers(12, grids, "Q", grid_range);
  out.grid_at = in.positions(11, grids);
  c.grids.clear();
  for (std::size_t i = 0; i < p.size(); ++i) c.grids.push_back({p[i], q[i]});
  c.threshold = in.real(13, "the threshold of the residual check");
  c.pfact = in.choices<PanelVariant>(15, in.count(14, "panel factorizations PFACT"), "PFACT");
  c.nbmin = in.integers(17, in.count(16, "recursion stops NBMIN"), "NBMIN", nbmin_range);
  c.ndiv = in.integers(19, in.count(18, "recursion divisors NDIV"), "NDIV", ndiv_range);
  c.rfact = in.choices<PanelVariant>(21, in.count(20, "recursive factorizations RFACT"), "RFACT");
  c.bcast = in.choices<Broadcast>(23, in.count(22, "broadcasts BCAST"), "BCAST");
  c.depth = in.integers(25, in.count(24, "look-ahead depths DEPTH"), "DEPTH", depth_range);
  c.swap = in.choice<SwapAlgorithm>(26, "SWAP");
  c.swap_threshold = in.integer(27, "the swapping threshold", swap_threshold_range);
  c.l1 = in.choice<Form>(28, "the form of L1");
  c.u = in.choice<Form>(29, "the form of U");
  c.equilibration = in.choice<Equilibration>(30, "equilibration");
  c.alignment = in.integer(31, "the memory alignment", alignment_range);
  in.options();
  return out;
}

void require_grids_fit(const HplDat& dat, int ranks) {
  for (std::size_t i = 0; i < dat.config.grids.size(); ++i) {
    const Grid& grid = dat.config.grids[i];
    if (grid.size() <= ranks) continue;
    throw InputError(
        dat.file, dat.grid_at[i], print("P x Q of at most %d, the number of ranks", ranks),
        print("%d x %d = %lld", grid.rows, grid.cols, static_cast<long long>(grid.size())));
  }
}

}  // namespace linpack
