// SPDX-License-Identifier: BSD-3-Clause
//
// What a program of mixed precision adds to the command line, the input and the reports.
#include "linpack/mixed.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "linpack/command_line.hpp"
#include "linpack/differences.hpp"
#include "linpack/hpl_dat.hpp"
#include "linpack/input_error.hpp"
#include "linpack/invocation.hpp"
#include "linpack/json.hpp"
#include "linpack/text_report.hpp"
#include "support/catch.hpp"

using namespace linpack;
using plinth_test::contains;

namespace {

const Program plain{"plain", "a program without mixed precision", "0.0.0"};
const Program mixed{"mixed", "a program of mixed precision", "0.0.0", Mixed{}};

Mixed interpreted(const std::vector<std::string>& arguments) {
  return interpret(mixed, arguments, 1).config.extensions.mixed.value();
}
std::string refusal(const Program& program, const std::vector<std::string>& arguments) {
  try {
    (void)interpret(program, arguments, 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "(none)";
}

}  // namespace

TEST_CASE("options of mixed precision", "[mixed]") {
  CHECK(interpreted({}) == Mixed{});
  CHECK(interpreted({"--sigma", "2.5"}).sigma == 2.5);
  const Mixed all =
      interpreted({"--matrix", "fasi-higham", "--kappa", "1e5", "--rho", "0.25", "--precision",
                   "fp32-fp16", "--refine", "classical", "--scaling", "no", "--compare-fp64"});
  CHECK(all == Mixed{.matrix = SystemKind::fasi_higham,
                     .kappa = 1e5,
                     .rho = 0.25,
                     .precision = Precision::fp32_fp16,
                     .refinement = Refinement::classical,
                     .scaling = Switch::off,
                     .compare_fp64 = Switch::on});
}

TEST_CASE("programs have the options that mean something to them", "[mixed]") {
  for (const char* option : {"--matrix", "--precision", "--refine", "--sigma", "--compare-fp64"})
    CHECK_THAT(refusal(plain, {option, "1"}), contains("unknown argument"));
  for (const char* option : {"--pivot", "--split", "--reproducible", "--storage", "--panels"})
    CHECK_THAT(refusal(mixed, {option, "1"}), contains("unknown argument"));
  CHECK_FALSE(interpret(plain, {}, 1).config.extensions.mixed);
}

TEST_CASE("options of mixed precision that contradict each other", "[mixed]") {
  CHECK_THAT(refusal(mixed, {"--kappa", "2"}),
             contains("--kappa: expected --matrix fasi-higham"));
  CHECK_THAT(refusal(mixed, {"--matrix", "fasi-higham", "--sigma", "2"}),
             contains("--sigma: expected --matrix scaled-diagonal"));
  CHECK_THAT(refusal(mixed, {"--matrix", "fasi-higham", "--precision", "fp16-fast"}),
             contains("--precision: expected one of"));
  CHECK_THAT(refusal(mixed, {"--matrix", "fasi-higham", "--kappa", "nan"}),
             contains("--kappa: expected"));
}

TEST_CASE("matrices that low precision alone nearly solves are refused", "[mixed]") {
  for (const char* kappa : {"1", "1.99", "0", "-5", "1.01e18", "1e300"})
    CHECK_THAT(refusal(mixed, {"--matrix", "fasi-higham", "--kappa", kappa}),
               contains("--kappa: expected a number from 2 to 1e18, found"));
  for (const char* kappa : {"inf", "nan", "1e999"})
    CHECK_THAT(refusal(mixed, {"--matrix", "fasi-higham", "--kappa", kappa}),
               contains("--kappa: expected a finite number, found"));
  for (const char* sigma : {"1e18", "-1001", "1000.5"})
    CHECK_THAT(refusal(mixed, {"--sigma", sigma}),
               contains("--sigma: expected a number from -1000 to 1000, found"));
  CHECK(interpreted({"--matrix", "fasi-higham", "--kappa", "2"}).kappa == 2);
  CHECK(interpreted({"--matrix", "fasi-higham", "--kappa", "1e18"}).kappa == 1e18);
  CHECK(interpreted({"--sigma", "-1000"}).sigma == -1000);
}

TEST_CASE("a threshold above the rules' is pointed out", "[mixed]") {
  const auto notes = [](const Program& program, const char* threshold) {
    std::string all;
    for (const std::string& note : interpret(program, {"--threshold", threshold}, 1).notes)
      all += note + "\n";
    return all;
  };
  CHECK_THAT(notes(mixed, "16.5"), contains("residuals below 16.5 pass, where the rules"));
  for (const char* usual : {"16", "1", "0"}) CHECK_THAT(notes(mixed, usual), !contains("rules"));
  CHECK_THAT(notes(plain, "1000"), !contains("rules"));
}

TEST_CASE("scaling that has no meaning is a difference", "[mixed]") {
  Case asked;
  asked.extensions.mixed = Mixed{};
  Case runs = asked;
  CHECK(describe_differences(asked, runs).empty());
  runs.extensions.mixed->scaling = Switch::off;
  CHECK(describe_differences(asked, runs) ==
        std::vector<std::string>{"the scaling is no instead of the yes that was asked for"});
}

TEST_CASE("mixed precision travels to the other ranks, and to HPL.dat's last line", "[mixed]") {
  Config config;
  config.extensions.mixed = Mixed{.matrix = SystemKind::dominant_openmxp,
                                  .sigma = 0.1,
                                  .precision = Precision::bf16,
                                  .refinement = Refinement::none,
                                  .compare_fp64 = Switch::on};
  CHECK(decode(encode(config)) == config);
  CHECK_THAT(format_hpl_dat(config),
             contains("--matrix dominant-openmxp --precision bf16 --refine "
                      "none --scaling yes --compare-fp64"));
  CHECK_FALSE(decode(encode(Config{})).extensions.mixed);
}

TEST_CASE("what is reported of mixed precision", "[mixed]") {
  const MixedResult result{
      .arithmetic = "by hand",
      .exponent = -3,
      .condition = 1e5,
      .fill = 1,
      .factor = 6,
      .refine = 3,
      .outcome = "converged",
      .iterations = 4,
      .products = 5,
      .solves = 6,
      .residuals = {1e9, -std::nan("")},
      .growth = 1.5,
      .flushed = 7,
      .memory = 1048576,
      .fp64 =
          Fp64Result{.verdict = Verdict::passed, .seconds = 30, .residual = 0.5, .speedup = 3}};
  const std::string text = text_lines(Mixed{}, result, 3000, 10);
  for (const char* part :
       {"by hand, matrix scaled by 2^-3\n", "60.0 %  3.0000e+00 Gflops",
        "gmres: converged, iterations 4, products 5, solves 6\n", ": 1.00e+09 nan\n",
        "growth 1.5, overflowed 0, flushed 7, subnormal 0\n", "PASSED; speed-up 3.00\n"})
    CHECK_THAT(text, contains(part));
  const auto json = to_json(result, 3000);
  CHECK(json.at("lu_gflops").get<double>() == Catch::Approx(3));
  CHECK(json.at("growth") == 1.5);
  CHECK(json.at("cond_inf") == 1e5);
  CHECK_FALSE(to_json(MixedResult{}, 3000).contains("fp64"));

  MixedResult other;
  CHECK_THAT(text_lines(Mixed{}, other, 10, 1), !contains("growth"));
  CHECK_FALSE(to_json(other, 10).contains("growth"));
  other.growth = -std::nan("");
  CHECK_THAT(text_lines(Mixed{}, other, 10, 1), contains(": growth nan, overflowed 0"));
  CHECK_THAT(text, !contains("easy"));
  CHECK_THAT(text, !contains(" after "));
  CHECK_FALSE(json.contains("overflowed_exponent"));
  other.exponent = -3;
  other.overflowed_exponent = 13;
  CHECK_THAT(text_lines(Mixed{}, other, 10, 1),
             contains(", matrix scaled by 2^-3 after 2^13 overflowed\n"));
  CHECK(to_json(other, 10).at("overflowed_exponent") == 13);
  other.residuals = {0.5};
  other.easy = true;
  CHECK_THAT(text_lines(Mixed{}, other, 10, 1), contains(": 5.00e-01 (the LU alone passes"));
  CHECK(to_json(other, 10).at("lu_alone_passes") == true);
}

TEST_CASE("FP64 beside a run: words and numbers apart", "[mixed]") {
  MixedResult result;
  const auto text = [&] { return text_lines(Mixed{}, result, 3000, 10); };
  const auto json = [&] { return to_json(result, 3000).at("fp64"); };
  result.fp64 =
      Fp64Result{.verdict = Verdict::passed, .seconds = 30, .residual = 0.5, .speedup = 3};
  CHECK_THAT(text(), contains(" Gflops, PASSED; speed-up 3.00\n"));
  CHECK(json().at("verdict") == "passed");
  CHECK(json().at("residual") == 0.5);
  CHECK(json().at("speedup") == 3);
  CHECK_FALSE(json().contains("reason"));

  result.fp64->speedup = 0;
  CHECK_THAT(text(), contains(" Gflops, PASSED; no speed-up over it of a run that failed\n"));
  CHECK(json().at("verdict") == "passed");
  CHECK_FALSE(json().contains("speedup"));

  result.fp64->verdict = Verdict::unchecked;
  CHECK_THAT(text(), contains(" Gflops, not checked\n"));
  CHECK(json().at("verdict") == "unchecked");
  CHECK_FALSE(json().contains("residual"));

  result.fp64 = Fp64Result{.reason = "no memory"};
  CHECK_THAT(text(), contains("FP64       : skipped: no memory\n"));
  CHECK(json().dump() == R"({"verdict":"skipped","reason":"no memory"})");
}
