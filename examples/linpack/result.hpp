// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "linpack/config.hpp"
#include "linpack/verdict.hpp"

namespace linpack {

/// What the scaled residual is made of.
struct Norms {
  double residual_inf = 0;  ///< ||Ax - b||_oo
  double a_inf = 0;
  double a_one = 0;
  double x_inf = 0;
  double x_one = 0;
  double b_inf = 0;
};

/// Seconds by the name of what took them, each the longest of all ranks.
using Seconds = std::vector<std::pair<std::string, double>>;

/// Where the time of one step of a factorization went.
struct StepSeconds {
  std::int64_t begin = 0;  ///< global columns [begin, end) of its panel
  std::int64_t end = 0;
  int owner_row = 0;  ///< process row of the diagonal block
  int owner_col = 0;  ///< process column of the panel
  double flops = 0;   ///< of all ranks together
  Seconds phases;     ///< the same names in every step
};

/// The outcome of one run, the same on every rank.
struct Result {
  Case ran;  ///< what ran, which may differ from what was asked for
  Verdict verdict = Verdict::skipped;
  std::string reason;  ///< of a skipped run, or of one that failed for more than its residual
  double seconds = 0;  ///< wall time of factorization and back substitution, longest of all ranks
  std::time_t start = 0;
  std::time_t end = 0;
  double residual = 0;  ///< ||Ax - b||_oo / (eps (||A||_oo ||x||_oo + ||b||_oo) N); 0 if N = 0
  Norms norms;
  /// Of the phases that `seconds` consists of, and of what is done before and after; empty unless
  /// asked for.
  Seconds phases, around;
  /// Of each step; empty unless asked for, and on ranks that are not on the grid.
  std::vector<StepSeconds> steps;
  std::optional<MixedResult> mixed;

  /// Whether there is a residual: a run without refinement fails without a check, too.
  bool has_residual() const {
    return (verdict == Verdict::passed || verdict == Verdict::failed) && ran.checks();
  }
};

/// 2/3 N^3 / seconds / 10^9: the rate of an LU alone; 0 if no time has passed.
double lu_gflops(std::int64_t n, double seconds);

/// (2/3 N^3 + 3/2 N^2) / seconds / 10^9, the rate that HPL credits; 0 if no time has passed.
double gflops(std::int64_t n, double seconds);

/// Passed if residual < threshold, failed if it is not or is no number; unchecked if the
/// threshold asks for no check.
Verdict judge(double residual, double threshold);

/// A run that did not take place.
Result skipped(const Case& ran, std::string reason);

/// The exit status of a program. Where several apply, the lowest that is not zero is taken.
enum class ExitStatus {
  all_passed = 0,
  residual_failed = 1,
  bad_input = 2,
  run_skipped = 3,
  internal_error = 4,  ///< communication too
};

ExitStatus combine(ExitStatus a, ExitStatus b);

/// How many runs ended how.
struct Tally {
  std::int64_t passed = 0;
  std::int64_t failed = 0;
  std::int64_t unchecked = 0;
  std::int64_t skipped = 0;

  void add(Verdict verdict);
  std::int64_t total() const { return passed + failed + unchecked + skipped; }
  ExitStatus status() const;
};

}  // namespace linpack
