// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <string>
#include <vector>

#include "linpack/hpl_dat.hpp"
#include "support/catch.hpp"

using linpack::Config;
using linpack::Grid;
using linpack::HplDat;
using linpack::parse_hpl_dat;

namespace {

using Edits = std::map<int, std::string>;

// A correct file in the manner of netlib's: line k is element k - 1.
std::vector<std::string> good_lines() {
  return {"an input file",
          "for the tests",
          "run.out      output file name",
          "6            device",
          "3            # of Ns",
          "29 30 35     Ns",
          "2            # of NBs",
          "4 8          NBs",
          "0            PMAP",
          "3            # of grids",
          "2 1 4        Ps",
          "2 4 1        Qs",
          "16.0         threshold",
          "3            # of PFACT",
          "0 1 2        PFACTs (0=left, 1=Crout, 2=Right)",
          "2            # of NBMIN",
          "2 4          NBMINs",
          "1            # of NDIV",
          "2            NDIVs",
          "3            # of RFACT",
          "0 1 2        RFACTs",
          "6            # of BCAST",
          "0 1 2 3 4 5  BCASTs",
          "2            # of DEPTH",
          "0 1          DEPTHs",
          "2            SWAP",
          "64           swapping threshold",
          "0            L1",
          "1            U",
          "1            Equilibration",
          "8            alignment"};
}

std::string join(const std::vector<std::string>& lines, const std::string& end = "\n") {
  std::string out;
  for (const std::string& line : lines) out += line + end;
  return out;
}

// The good file with some lines replaced.
std::string edited(const Edits& edits) {
  auto lines = good_lines();
  for (const auto& [number, line] : edits) lines[static_cast<std::size_t>(number - 1)] = line;
  return join(lines);
}

std::string error_of(const std::string& text, int ranks = 4) {
  try {
    require_grids_fit(parse_hpl_dat(text, "HPL.dat"), ranks);
  } catch (const linpack::InputError& error) {
    return error.what();
  }
  return "no error";
}

Config config_of(const std::string& text) {
  const HplDat dat = parse_hpl_dat(text, "HPL.dat");
  CHECK(dat.warnings.empty());
  return dat.config;
}

std::vector<std::string> warnings_of(const std::string& text) {
  const HplDat dat = parse_hpl_dat(text, "HPL.dat");
  CHECK(dat.config == config_of(edited({})));
  return dat.warnings;
}

const std::string count = "an integer from 1 to 20";
const std::string from_0 = "an integer from 0 to 2147483647";
const std::string from_1 = "an integer from 1 to 2147483647";

}  // namespace

TEST_CASE("HPL.dat: every line lands where it belongs") {
  const Config c = config_of(edited({}));
  CHECK(c.heading[0] == "an input file");
  CHECK(c.heading[1] == "for the tests");
  CHECK(c.output_file == "run.out");
  CHECK(c.device == linpack::Device::standard_output);
  CHECK(c.n == std::vector<std::int64_t>{29, 30, 35});
  CHECK(c.nb == std::vector<int>{4, 8});
  CHECK(c.mapping == linpack::Mapping::row_major);
  CHECK(c.grids == std::vector<Grid>{{2, 2}, {1, 4}, {4, 1}});
  CHECK(c.threshold == 16.0);
  using linpack::PanelVariant;
  const std::vector variants{PanelVariant::left, PanelVariant::crout, PanelVariant::right};
  CHECK(c.pfact == variants);
  CHECK(c.nbmin == std::vector<int>{2, 4});
  CHECK(c.ndiv == std::vector<int>{2});
  CHECK(c.rfact == variants);
  using linpack::Broadcast;
  CHECK(c.bcast == std::vector{Broadcast::ring1, Broadcast::ring1_modified, Broadcast::ring2,
                               Broadcast::ring2_modified, Broadcast::long_,
                               Broadcast::long_modified});
  CHECK(c.depth == std::vector<int>{0, 1});
  CHECK(c.swap == linpack::SwapAlgorithm::mix);
  CHECK(c.swap_threshold == 64);
  CHECK(c.l1 == linpack::Form::transposed);
  CHECK(c.u == linpack::Form::not_transposed);
  CHECK(c.equilibration == linpack::Equilibration::on);
  CHECK(c.alignment == 8);
}

TEST_CASE("HPL.dat: the remaining codes") {
  CHECK(config_of(edited({{4, "7"}})).device == linpack::Device::standard_error);
  for (const char* other : {"0", "8", "-1", "66"})
    CHECK(config_of(edited({{4, other}})).device == linpack::Device::file);
  CHECK(config_of(edited({{9, "1"}})).mapping == linpack::Mapping::column_major);
  CHECK(config_of(edited({{26, "0"}})).swap == linpack::SwapAlgorithm::binary_exchange);
  CHECK(config_of(edited({{26, "1"}})).swap == linpack::SwapAlgorithm::spread_roll);
  CHECK(config_of(edited({{28, "1"}})).l1 == linpack::Form::not_transposed);
  CHECK(config_of(edited({{30, "0"}})).equilibration == linpack::Equilibration::off);
}

TEST_CASE("HPL.dat: the threshold") {
  CHECK(config_of(edited({{13, "1e-3"}})).threshold == 1e-3);
  CHECK(config_of(edited({{13, "+.5"}})).threshold == 0.5);
  CHECK(config_of(edited({{13, "16."}})).threshold == 16.0);
  CHECK_FALSE(config_of(edited({{13, "0.0"}})).checks());
  CHECK_FALSE(config_of(edited({{13, "-16.0"}})).checks());
}

TEST_CASE("HPL.dat: everyday oddities change nothing") {
  const Config expected = config_of(edited({}));
  const auto lines = good_lines();

  SECTION("CRLF") { CHECK(config_of(join(lines, "\r\n")) == expected); }
  SECTION("a byte order mark") { CHECK(config_of("\xEF\xBB\xBF" + edited({})) == expected); }
  SECTION("no newline at the end") {
    std::string text = edited({});
    text.pop_back();
    CHECK(config_of(text) == expected);
  }
  SECTION("no comment and no newline at the end") {
    std::string text = edited({{31, "8"}});
    text.pop_back();
    CHECK(config_of(text) == expected);
  }
  SECTION("tabs, repeated and leading blanks") {
    CHECK(config_of(edited({{6, "29\t30\t\t35\tNs"},
                            {8, "   4    8"},
                            {11, "\t 2   1\t4   "},
                            {13, "   16.0"},
                            {3, "  run.out"}})) == expected);
  }
  SECTION("long lines") {
    CHECK(config_of(edited({{6, "29 30 35 " + std::string(5000, 'x')},
                            {8, "4" + std::string(300, ' ') + "8"}})) == expected);
  }
  SECTION("comments in other alphabets") {
    CHECK(config_of(edited({{6, "29 30 35 \xC3\xA9\xE9"}})) == expected);
  }
  SECTION("blank lines at the end") { CHECK(config_of(edited({}) + "\n  \n\n") == expected); }
  SECTION("signs and leading zeros") {
    CHECK(config_of(edited({{6, "+29 0030 35"}})) == expected);
  }
}

TEST_CASE("HPL.dat: zero is a value where it means something") {
  CHECK(config_of(edited({{27, "0"}})).swap_threshold == 0);
  CHECK(config_of(edited({{6, "0 1 2"}})).n[0] == 0);
}

TEST_CASE("HPL.dat: the output file may be unnamed if it is not used") {
  CHECK(config_of(edited({{3, ""}})).output_file.empty());
  CHECK(error_of(edited({{3, "  "}, {4, "8"}})) ==
        "HPL.dat:3:3: expected the name of the output file, found the end of the line");
}

TEST_CASE("HPL.dat: what is ignored is named once") {
  CHECK(warnings_of(edited({{6, "29 30 35 36 37 Ns 38"}})) ==
        std::vector<std::string>{"HPL.dat:6:10: warning: beyond the 3 stated, ignored: 36 37"});
  CHECK(warnings_of(edited({{9, "0 1"}, {13, "16.0 8.0 x"}})) ==
        std::vector<std::string>{"HPL.dat:9:3: warning: beyond the 1 stated, ignored: 1",
                                 "HPL.dat:13:6: warning: beyond the 1 stated, ignored: 8.0"});
  CHECK(warnings_of(edited({}) + "more\n") ==
        std::vector<std::string>{"HPL.dat:32:1: warning: beyond line 31, ignored: line 32"});
  CHECK(
      warnings_of(edited({}) + "\n##\n\nmore\nand more\n\n") ==
      std::vector<std::string>{"HPL.dat:33:1: warning: beyond line 31, ignored: lines 33 to 36"});
}

TEST_CASE("HPL.dat: a value of the wrong type") {
  const std::string n = "HPL.dat:6:4: expected N, " + from_0 + " (value 2 of 3), found ";
  for (const std::string bad : {"abc", "30.0", "1e3", "30,", "0x1E", "3O", "-", "+-3", "30d0"})
    CHECK(error_of(edited({{6, "29 " + bad + " 35 Ns"}})) == n + "'" + bad + "'");
  CHECK(error_of(edited({{6, "29 \xC2\xA0 35"}})) == n + "'\\xC2\\xA0'");
  CHECK(error_of(edited({{4, "stdout"}})) ==
        "HPL.dat:4:1: expected the output device (6 for stdout, 7 for stderr, any other for the "
        "file of line 3), an integer from -2147483648 to 2147483647, found 'stdout'");
  CHECK(error_of(edited({{6, std::string(50, 'N')}})) == "HPL.dat:6:1: expected N, " + from_0 +
                                                             " (value 1 of 3), found '" +
                                                             std::string(40, 'N') + "...'");
  for (const std::string bad : {"nan", "inf", "-inf", "NaN", "1e999", "16.0d0", "16,0", "x"})
    CHECK(error_of(edited({{13, "  " + bad}})) ==
          "HPL.dat:13:3: expected the threshold of the residual check, a finite number, found '" +
              bad + "'");
}

TEST_CASE("HPL.dat: fewer values than stated") {
  CHECK(error_of(edited({{6, "29 30"}})) ==
        "HPL.dat:6:6: expected N, " + from_0 + " (value 3 of 3), found the end of the line");
  CHECK(error_of(edited({{6, "29 30        Ns"}})) ==
        "HPL.dat:6:14: expected N, " + from_0 + " (value 3 of 3), found 'Ns'");
  CHECK(error_of(edited({{12, ""}})) ==
        "HPL.dat:12:1: expected Q, " + from_1 + " (value 1 of 3), found the end of the line");
  CHECK(error_of(edited({{31, "   "}})) ==
        "HPL.dat:31:4: expected the memory alignment, " + from_1 + ", found the end of the line");
}

TEST_CASE("HPL.dat: a missing line") {
  auto lines = good_lines();
  lines.pop_back();
  CHECK(error_of(join(lines)) ==
        "HPL.dat:31:1: expected the memory alignment, " + from_1 + ", found the end of the file");
  lines.resize(13);
  CHECK(error_of(join(lines)) ==
        "HPL.dat:14:1: expected the number of panel factorizations PFACT, " + count +
            ", found the end of the file");
  lines.resize(2);
  CHECK(error_of(join(lines)) ==
        "HPL.dat:3:1: expected the name of the output file, found the end of the file");
  CHECK(error_of("one line") ==
        "HPL.dat:2:1: expected a second line of free text, found the end of the file");
  CHECK(error_of("") == "HPL.dat:1:1: expected a first line of free text, found an empty file");
  CHECK(error_of("\xEF\xBB\xBF") ==
        "HPL.dat:1:1: expected a first line of free text, found an empty file");
}

TEST_CASE("HPL.dat: a line left out shows where the values no longer fit") {
  auto lines = good_lines();
  lines.erase(lines.begin() + 5);
  CHECK(error_of(join(lines)) ==
        "HPL.dat:6:14: expected N, " + from_0 + " (value 2 of 3), found '#'");
}

TEST_CASE("HPL.dat: counts") {
  const std::map<int, std::string> counts{{5, "problem sizes N"},
                                          {7, "block sizes NB"},
                                          {10, "process grids"},
                                          {14, "panel factorizations PFACT"},
                                          {16, "recursion stops NBMIN"},
                                          {18, "recursion divisors NDIV"},
                                          {20, "recursive factorizations RFACT"},
                                          {22, "broadcasts BCAST"},
                                          {24, "look-ahead depths DEPTH"}};
  for (const auto& [line, name] : counts)
    for (const std::string bad : {"0", "21", "-1", "99999999999999999999", "x"})
      CHECK(error_of(edited({{line, bad + " of them"}})) ==
            "HPL.dat:" + std::to_string(line) + ":1: expected the number of " + name + ", " +
                count + ", found '" + bad + "'");
}

TEST_CASE("HPL.dat: a list holds twenty values") {
  std::string values;
  for (int i = 1; i <= 20; ++i) values += std::to_string(i) + " ";
  CHECK(config_of(edited({{5, "20"}, {6, values}})).n.size() == 20);
}

TEST_CASE("HPL.dat: values out of range") {
  struct Row {
    int line;
    std::string name, range, bad;
  };
  const std::vector<Row> rows{
      {8, "NB", from_1, "0"},
      {8, "NB", from_1, "2147483648"},
      {17, "NBMIN", from_1, "0"},
      {25, "DEPTH", from_0, "-1"},
  };
  for (const Row& row : rows)
    CHECK(error_of(edited({{row.line, "1 " + row.bad}})) ==
          "HPL.dat:" + std::to_string(row.line) + ":3: expected " + row.name + ", " + row.range +
              " (value 2 of 2), found '" + row.bad + "'");
  for (const std::string bad : {"-1", "2147483648", "18446744073709551617"})
    CHECK(error_of(edited({{6, "29 30 " + bad}})) ==
          "HPL.dat:6:7: expected N, " + from_0 + " (value 3 of 3), found '" + bad + "'");
  for (const std::string bad : {"0", "-2", "2147483648"}) {
    CHECK(error_of(edited({{11, "2 1 " + bad}})) ==
          "HPL.dat:11:5: expected P, " + from_1 + " (value 3 of 3), found '" + bad + "'");
    CHECK(error_of(edited({{12, bad + " 1 1"}})) ==
          "HPL.dat:12:1: expected Q, " + from_1 + " (value 1 of 3), found '" + bad + "'");
  }
  CHECK(error_of(edited({{19, "1"}})) ==
        "HPL.dat:19:1: expected NDIV, an integer from 2 to 2147483647, found '1'");
  CHECK(error_of(edited({{27, "-1"}})) ==
        "HPL.dat:27:1: expected the swapping threshold, " + from_0 + ", found '-1'");
  CHECK(error_of(edited({{31, "0"}})) ==
        "HPL.dat:31:1: expected the memory alignment, " + from_1 + ", found '0'");
}

TEST_CASE("HPL.dat: codes that no option has") {
  CHECK(error_of(edited({{9, "2"}})) ==
        "HPL.dat:9:1: expected PMAP, one of 0 (row), 1 (column), found '2'");
  CHECK(error_of(edited({{15, "0 1 3"}})) ==
        "HPL.dat:15:5: expected PFACT, one of 0 (left), 1 (crout), 2 (right) (value 3 of 3), "
        "found '3'");
  CHECK(error_of(edited({{21, "0 -1 2"}})) ==
        "HPL.dat:21:3: expected RFACT, one of 0 (left), 1 (crout), 2 (right) (value 2 of 3), "
        "found '-1'");
  CHECK(error_of(edited({{23, "0 1 2 3 4 6"}})) ==
        "HPL.dat:23:11: expected BCAST, one of 0 (1ring), 1 (1ringM), 2 (2ring), 3 (2ringM), "
        "4 (long), 5 (longM) (value 6 of 6), found '6'");
  CHECK(error_of(edited({{26, "3"}})) ==
        "HPL.dat:26:1: expected SWAP, one of 0 (binary), 1 (long), 2 (mix), found '3'");
  CHECK(error_of(edited({{28, "2"}})) ==
        "HPL.dat:28:1: expected the form of L1, one of 0 (transposed), 1 (no-transposed), "
        "found '2'");
  CHECK(error_of(edited({{29, "-1"}})) ==
        "HPL.dat:29:1: expected the form of U, one of 0 (transposed), 1 (no-transposed), "
        "found '-1'");
  CHECK(error_of(edited({{30, "yes"}})) ==
        "HPL.dat:30:1: expected equilibration, one of 0 (no), 1 (yes), found 'yes'");
}

TEST_CASE("HPL.dat: a grid larger than the ranks") {
  CHECK(error_of(edited({}), 4) == "no error");
  CHECK(error_of(edited({}), 3) ==
        "HPL.dat:11:1: expected P x Q of at most 3, the number of ranks, found 2 x 2 = 4");
  CHECK(error_of(edited({{11, "2   1  5"}})) ==
        "HPL.dat:11:8: expected P x Q of at most 4, the number of ranks, found 5 x 1 = 5");
  CHECK(error_of(edited({{11, "1 65536 1"}, {12, "1 65536 1"}})) ==
        "HPL.dat:11:3: expected P x Q of at most 4, the number of ranks, found 65536 x 65536 = "
        "4294967296");
}

TEST_CASE("HPL.dat: bytes that are no text") {
  CHECK(error_of(edited({{2, std::string("a\0b", 3)}})) ==
        "HPL.dat:2:2: expected text, found the byte 0x00");
  CHECK(error_of("\x7f"
                 "ELF\x02\x01") == "HPL.dat:1:1: expected text, found the byte 0x7F");
  CHECK(error_of(std::string("\xff\xfe"
                             "H\0P\0",
                             6)) == "HPL.dat:1:4: expected text, found the byte 0x00");
}

TEST_CASE("HPL.dat: what is written is read back") {
  for (const Edits& edits :
       {Edits{}, Edits{{4, "7"}, {9, "1"}}, Edits{{4, "9"}, {13, "0.1"}, {27, "0"}}}) {
    const Config c = config_of(edited(edits));
    CHECK(config_of(format_hpl_dat(c)) == c);
  }
  CHECK(config_of(format_hpl_dat(Config{})) == Config{});
  CHECK(config_of(format_hpl_dat(config_of(edited({{3, ""}})))).output_file == "HPL.out");
}
