// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "linpack/differences.hpp"
#include "linpack/json_report.hpp"
#include "linpack/text_report.hpp"
#include "support/catch.hpp"

using linpack::Case;
using linpack::Config;
using linpack::PanelVariant;
using linpack::Result;
using linpack::Tally;
using linpack::Verdict;
using plinth_test::contains;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// What netlib calls WC00C2R2.
Case a_case() {
  Case c;
  c.n = 29;
  c.nb = 4;
  c.grid = {2, 2};
  c.mapping = linpack::Mapping::column_major;
  c.depth = 0;
  c.bcast = linpack::Broadcast::ring1;
  c.rfact = PanelVariant::crout;
  c.ndiv = 2;
  c.pfact = PanelVariant::right;
  c.nbmin = 2;
  return c;
}

Result a_result() {
  Result r;
  r.ran = a_case();
  r.verdict = Verdict::passed;
  r.seconds = 0.25;
  r.start = r.end = 1'000'000'000;
  r.residual = 0.00123456789;
  return r;
}

Result a_failure() {
  Result r = a_result();
  r.verdict = Verdict::failed;
  r.residual = 123.456;
  r.norms = {0.5, 1234.5678901, 2.0, 1e-7, 3.25, 0.499999999};
  return r;
}

linpack::Preamble a_preamble() {
  linpack::Preamble p;
  p.program = {"hpl", "solves", "1.2.3"};
  p.runs = 3;
  p.ranks = 4;
  p.environment = {{"MPI", "some"}};
  p.notes = {"a note"};
  p.warnings = {"a warning"};
  p.input_seconds = 0.5;
  return p;
}

}  // namespace

TEST_CASE("report: the encoded variant") {
  Case c = a_case();
  CHECK(variant(c) == "WC00C2R2");
  c.mapping = linpack::Mapping::row_major;
  c.depth = 1;
  c.bcast = linpack::Broadcast::long_modified;
  c.rfact = PanelVariant::left;
  c.ndiv = 3;
  c.pfact = PanelVariant::crout;
  c.nbmin = 16;
  CHECK(variant(c) == "WR15L3C16");
}

TEST_CASE("report: netlib's line of results") {
  Result r = a_result();
  CHECK(result_line(r) ==
        "WC00C2R2          29     4     2     2               0.25             7.0083e-05\n");
  r.ran.n = 123456;
  r.ran.nb = 384;
  r.ran.grid = {16, 32};
  r.ran.nbmin = 32;
  r.seconds = 98765.432;
  CHECK(result_line(r) ==
        "WC00C2R32      123456   384    16    32           98765.43             1.2701e+01\n");
}

TEST_CASE("report: no time, no rate") {
  Result r = a_result();
  r.ran.n = 0;
  r.seconds = 0;
  CHECK(result_line(r) ==
        "WC00C2R2           0     4     2     2               0.00             0.0000e+00\n");
  CHECK(std::abs(linpack::gflops(1000, 2.0) - (2e9 / 3 + 1.5e6) / 2e9) < 1e-12);
  CHECK(linpack::gflops(1000, 0.0) == 0.0);
}

TEST_CASE("report: netlib's line of the check") {
  CHECK(check_lines(a_result()) ==
        "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   1.23456789e-03 ...... PASSED\n");
  CHECK(check_lines(a_failure()) ==
        "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   1.23456000e+02 ...... FAILED\n"
        "||Ax-b||_oo  . . . . . . . . . . . . . . . . . =           0.500000\n"
        "||A||_oo . . . . . . . . . . . . . . . . . . . =        1234.567890\n"
        "||A||_1  . . . . . . . . . . . . . . . . . . . =           2.000000\n"
        "||x||_oo . . . . . . . . . . . . . . . . . . . =           0.000000\n"
        "||x||_1  . . . . . . . . . . . . . . . . . . . =           3.250000\n"
        "||b||_oo . . . . . . . . . . . . . . . . . . . =           0.500000\n");
}

TEST_CASE("report: what is no number fails, with its norms") {
  Result r = a_failure();
  r.residual = -std::nan("");
  r.norms.a_inf = infinity;
  r.norms.x_inf = -std::nan("");
  CHECK(check_lines(r) ==
        "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=              nan ...... FAILED\n"
        "||Ax-b||_oo  . . . . . . . . . . . . . . . . . =           0.500000\n"
        "||A||_oo . . . . . . . . . . . . . . . . . . . =                inf\n"
        "||A||_1  . . . . . . . . . . . . . . . . . . . =           2.000000\n"
        "||x||_oo . . . . . . . . . . . . . . . . . . . =                nan\n"
        "||x||_1  . . . . . . . . . . . . . . . . . . . =           3.250000\n"
        "||b||_oo . . . . . . . . . . . . . . . . . . . =           0.500000\n");
}

TEST_CASE("report: netlib's summary") {
  const std::string equals(80, '=');
  const std::string dashes(80, '-');
  const std::string closing = dashes + "\n\nEnd of Tests.\n" + equals + "\n";
  CHECK(linpack::summary_lines({.passed = 862, .failed = 1, .skipped = 1}, true) ==
        equals +
            "\n\nFinished    864 tests with the following results:\n"
            "            862 tests completed and passed residual checks,\n"
            "              1 tests completed and failed residual checks,\n"
            "              1 tests skipped because of illegal input values.\n" +
            closing);
  CHECK(linpack::summary_lines({.unchecked = 2, .skipped = 1}, false) ==
        equals +
            "\n\nFinished      3 tests with the following results:\n"
            "              2 tests completed without checking,\n"
            "              1 tests skipped because of illegal input values.\n" +
            closing);
  CHECK_THAT(linpack::summary_lines({.failed = 3, .unchecked = 2}, false),
             contains("            2 tests completed without checking,\n"
                      "              3 tests failed without checking,\n"));
}

TEST_CASE("report: a run that fails without a check has no residual") {
  Result r = a_result();
  r.ran.threshold = 0;
  r.verdict = Verdict::failed;
  r.reason = "it was not refined";
  std::ostringstream text, json;
  linpack::TextReport(text).run(r.ran, r, {});
  CHECK_THAT(text.str(), !contains("||Ax-b||"));
  CHECK_THAT(text.str(), Catch::Matchers::EndsWith("Failed: it was not refined\n"));
  linpack::JsonReport report(json);
  report.begin(a_preamble());
  report.run(r.ran, r, {});
  const auto run = nlohmann::json::parse(json.str()).at("runs").at(0);
  CHECK(run.at("verdict") == "failed");
  CHECK_FALSE(run.contains("residual"));
}

TEST_CASE("report: the lines of a run") {
  std::ostringstream out;
  linpack::TextReport report(out);
  report.begin(a_preamble());
  out.str("");
  report.run(a_case(), a_result(), {});
  const std::string text = out.str();
  CHECK_THAT(text, Catch::Matchers::StartsWith(
                       std::string(80, '=') +
                       "\nT/V                N    NB     P     Q               Time"
                       "                 Gflops\n" +
                       std::string(80, '-') +
                       "\nWC00C2R2          29     4     2     2               0.25"
                       "             7.0083e-05\nHPL_pdgesv() start time "));
  CHECK_THAT(text, Catch::Matchers::EndsWith(" 2001\n\n" + std::string(80, '-') + "\n" +
                                             check_lines(a_result())));
  CHECK_THAT(text, contains(" 2001\n\nHPL_pdgesv() end time   "));
}

TEST_CASE("report: column headers before every checked run, once without checks") {
  const auto headers = [](double threshold) {
    std::ostringstream out;
    linpack::TextReport report(out);
    linpack::Preamble preamble = a_preamble();
    preamble.config.threshold = threshold;
    report.begin(preamble);
    out.str("");
    Result r = a_result();
    r.verdict = linpack::judge(r.residual, threshold);
    report.run(a_case(), r, {});
    report.run(a_case(), r, {});
    const std::string text = out.str();
    int count = 0;
    for (std::size_t at = 0; (at = text.find("T/V      ", at)) != text.npos; ++at) ++count;
    return std::make_pair(count, text.find("PASSED") != text.npos);
  };
  CHECK(headers(16.0) == std::make_pair(2, true));
  CHECK(headers(0.0) == std::make_pair(1, false));
}

TEST_CASE("report: a skipped run says why") {
  std::ostringstream out;
  linpack::TextReport report(out);
  report.run(a_case(), linpack::skipped(a_case(), "rank 3 has no memory"), {"a note"});
  CHECK(out.str() ==
        "Note: a note.\n"
        "Skipped WC00C2R2 N=29 NB=4 P=2 Q=2: rank 3 has no memory\n");
}

TEST_CASE("report: a run that failed for more than its residual says why") {
  std::ostringstream out;
  linpack::TextReport report(out);
  Result r = a_failure();
  report.run(a_case(), r, {});
  CHECK_THAT(out.str(), !contains("Failed: "));
  out.str("");
  r.reason = "its matrix is too easy";
  report.run(a_case(), r, {});
  CHECK_THAT(out.str(),
             Catch::Matchers::EndsWith(check_lines(r) + "Failed: its matrix is too easy\n"));
}

TEST_CASE("report: the rows of parameters are netlib's") {
  std::ostringstream out;
  linpack::TextReport report(out);
  linpack::Preamble preamble = a_preamble();
  Config& c = preamble.config;
  c.n.clear();
  for (int i = 1; i <= 17; ++i) c.n.push_back(100 * i);
  c.grids = {{1, 4}, {2, 2}};
  c.pfact = {PanelVariant::left, PanelVariant::crout, PanelVariant::right};
  using linpack::Broadcast;
  c.bcast = {Broadcast::ring1,          Broadcast::ring1_modified, Broadcast::ring2,
             Broadcast::ring2_modified, Broadcast::long_,          Broadcast::long_modified};
  c.extensions.pivot_reduction = linpack::PivotReduction::hybrid;
  c.extensions.split = 0.25;
  c.extensions.storage = linpack::Storage::by_columns;
  c.extensions.panels = linpack::Panels::on_device;
  report.begin(preamble);
  const std::string text = out.str();
  CHECK_THAT(text, contains("Plinth 1.2.3"));
  CHECK_THAT(text, contains("\nMPI: some\nRuns: 3 on 4 ranks\n"
                            "Beyond HPL.dat: pivot hybrid, split 0.25, reproducible no, "
                            "storage by column, panels on the device\n"
                            "Note: a note.\nWarning: a warning.\n"));
  CHECK(text.find("\nInput: ") == text.npos);
  CHECK_THAT(
      text,
      contains(
          "\nN      :     100      200      300      400      500      600      700      800 "
          "\n             900     1000     1100     1200     1300     1400     1500     1600 "
          "\n            1700 \n"));
  CHECK_THAT(text, contains("\nPMAP   : Row-major process mapping\n"));
  CHECK_THAT(text, contains("\nP      :       1        2 \nQ      :       4        2 \n"));
  CHECK_THAT(text, contains("\nPFACT  :    Left    Crout    Right \n"));
  CHECK_THAT(text,
             contains("\nBCAST  :   1ring   1ringM    2ring   2ringM    Blong   BlongM \n"));
  CHECK_THAT(text, contains("\nSWAP   : Spread-roll (long)\nL1     : no-transposed form\n"
                            "U      : transposed form\nEQUIL  : no\n"
                            "ALIGN  : 8 double precision words\n\n"));
}

TEST_CASE("report: the time for the input, with the phases") {
  std::ostringstream out;
  linpack::TextReport report(out);
  linpack::Preamble preamble = a_preamble();
  preamble.config.extensions.phases = linpack::PhaseReport::totals;
  report.begin(preamble);
  CHECK_THAT(out.str(), contains("\nInput: 0.500 seconds\n"));
}

TEST_CASE("report: differences are named, each once") {
  Case asked = a_case();
  Case runs = asked;
  CHECK(describe_differences(asked, runs).empty());
  asked.depth = 3;
  asked.bcast = linpack::Broadcast::long_;
  asked.u = linpack::Form::not_transposed;
  const std::vector<std::string> expected{
      "BCAST is 1ring instead of the long that was asked for",
      "DEPTH is 0 instead of the 3 that was asked for",
      "U is transposed instead of the no-transposed that was asked for"};
  CHECK(describe_differences(asked, runs) == expected);
  linpack::Differences known;
  CHECK(known.add(asked, runs) == expected);
  CHECK(known.add(asked, runs).empty());
  asked.depth = 2;
  CHECK(known.add(asked, runs) ==
        std::vector<std::string>{"DEPTH is 0 instead of the 2 that was asked for"});
}

TEST_CASE("report: JSON is whole after every run") {
  std::ostringstream out;
  linpack::JsonReport report(out);
  const auto parsed = [&out] { return nlohmann::json::parse(out.str()); };

  linpack::Preamble preamble = a_preamble();
  preamble.config.output_file = "not UTF-8: \xE9";
  report.begin(preamble);
  CHECK(parsed().at("runs").empty());
  CHECK(parsed().at("version") == "1.2.3");
  CHECK(parsed().at("environment").at("MPI") == "some");
  CHECK(parsed().at("warnings") == nlohmann::json{"a warning"});
  CHECK(parsed().at("input_seconds") == 0.5);

  Case asked = a_case();
  asked.depth = 2;
  report.run(asked, a_result(), {});
  const auto first = parsed().at("runs").at(0);
  CHECK(first.at("variant") == "WC00C2R2");
  CHECK(first.at("parameters").at("n") == 29);
  CHECK(first.at("parameters").at("pfact") == "right");
  CHECK(first.at("asked") == nlohmann::json{{"depth", 2}});
  CHECK(first.at("passed") == true);
  CHECK(first.at("seconds") == 0.25);
  CHECK(first.at("residual") == 0.00123456789);

  Result nan = a_failure();
  nan.residual = std::nan("");
  report.run(a_case(), nan, {});
  CHECK(parsed().at("runs").at(1).at("residual").is_null());
  CHECK(parsed().at("runs").at(1).at("norms").at("x_one") == 3.25);
  CHECK(parsed().at("runs").at(1).at("verdict") == "failed");

  report.run(a_case(), linpack::skipped(a_case(), "no memory"), {});
  CHECK(parsed().at("runs").at(2).at("reason") == "no memory");
  report.end({});
  CHECK(parsed().at("summary") == nlohmann::json{{"tests", 3},
                                                 {"passed", 1},
                                                 {"failed", 1},
                                                 {"unchecked", 0},
                                                 {"skipped", 1},
                                                 {"exit_status", 1}});
}

TEST_CASE("outcome: the residual decides, and only a number below the threshold passes") {
  CHECK(linpack::judge(0.0, 16.0) == Verdict::passed);
  CHECK(linpack::judge(15.999, 16.0) == Verdict::passed);
  CHECK(linpack::judge(16.0, 16.0) == Verdict::failed);
  CHECK(linpack::judge(infinity, 16.0) == Verdict::failed);
  CHECK(linpack::judge(std::nan(""), 16.0) == Verdict::failed);
  CHECK(linpack::judge(1e9, 0.0) == Verdict::unchecked);
  CHECK(linpack::judge(1e9, -1.0) == Verdict::unchecked);
}

TEST_CASE("outcome: the exit status is the lowest that applies") {
  using linpack::ExitStatus;
  CHECK(Tally{.passed = 3}.status() == ExitStatus::all_passed);
  CHECK(Tally{.unchecked = 3}.status() == ExitStatus::all_passed);
  CHECK(Tally{.passed = 3, .skipped = 1}.status() == ExitStatus::run_skipped);
  CHECK(Tally{.failed = 1, .skipped = 1}.status() == ExitStatus::residual_failed);
  CHECK(combine(ExitStatus::all_passed, ExitStatus::run_skipped) == ExitStatus::run_skipped);
  CHECK(combine(ExitStatus::internal_error, ExitStatus::run_skipped) == ExitStatus::run_skipped);
  CHECK(combine(ExitStatus::bad_input, ExitStatus::all_passed) == ExitStatus::bad_input);
}

TEST_CASE("report: the seconds of each phase, where they were asked for") {
  linpack::Result result;
  result.ran = a_case();
  result.verdict = linpack::Verdict::unchecked;
  result.phases = {{"panel", 0.25}, {"update", 12.5}};
  const std::string lines = linpack::phase_lines(result);
  const std::string label = "\nMax aggregated wall time, ";
  CHECK_THAT(lines, contains(label + "panel            :              0.250\n"));
  CHECK_THAT(lines, contains(label + "update           :             12.500\n"));
  CHECK(linpack::step_lines(result).empty());
  result.around = {{"check", 1.5}};
  CHECK_THAT(phase_lines(result),
             contains("\nMax untimed wall time, check            :              1.500\n"));
}

TEST_CASE("report: the seconds of each step, as text and as JSON") {
  linpack::Result result = a_result();
  result.phases = {{"panel", 0.25}, {"triangular solve", 12.5}};
  result.around = {{"check", 1.5}};
  result.steps = {{0, 4, 0, 1, 2e9, {{"panel", 0.125}, {"triangular solve", 12}}},
                  {4, 8, 1, 0, 1e9, {{"panel", 0.125}, {"triangular solve", 0.5}}}};
  CHECK(linpack::step_lines(result) ==
        "    Step    Column  Owner     Gflop    panel triangular solve\n"
        "       0         0   0,1          2  0.12500         12.00000\n"
        "       1         4   1,0          1  0.12500          0.50000\n");

  std::ostringstream out;
  linpack::JsonReport report(out);
  report.begin(a_preamble());
  report.run(a_case(), result, {});
  report.end({});
  const auto run = nlohmann::json::parse(out.str()).at("runs").at(0);
  CHECK(run.at("phases") == nlohmann::json{{"panel", 0.25}, {"triangular solve", 12.5}});
  CHECK(run.at("untimed") == nlohmann::json{{"check", 1.5}});
  REQUIRE(run.at("steps").size() == 2);
  const auto step = run.at("steps").at(1);
  CHECK(step.at("columns") == nlohmann::json::array({4, 8}));
  CHECK(step.at("owner") == nlohmann::json::array({1, 0}));
  CHECK(step.at("flops") == 1e9);
  CHECK(step.at("phases").at("triangular solve") == 0.5);
}
