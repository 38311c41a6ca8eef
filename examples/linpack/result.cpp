// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/result.hpp"

#include <utility>

namespace linpack {

double gflops(std::int64_t n, double seconds) {
  if (!(seconds > 0)) return 0;
  const auto order = static_cast<double>(n);
  return (order / 1e9) * (order / seconds) * (2.0 / 3.0 * order + 3.0 / 2.0);
}

double lu_gflops(std::int64_t n, double seconds) {
  if (!(seconds > 0)) return 0;
  const auto order = static_cast<double>(n);
  return (order / 1e9) * (order / seconds) * (2.0 / 3.0 * order);
}

Verdict judge(double residual, double threshold) {
  if (!(threshold > 0)) return Verdict::unchecked;
  return residual < threshold ? Verdict::passed : Verdict::failed;
}

Result skipped(const Case& ran, std::string reason) {
  Result result;
  result.ran = ran;
  result.reason = std::move(reason);
  return result;
}

ExitStatus combine(ExitStatus a, ExitStatus b) {
  if (a == ExitStatus::all_passed) return b;
  if (b == ExitStatus::all_passed) return a;
  return a < b ? a : b;
}

void Tally::add(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      ++passed;
      break;
    case Verdict::failed:
      ++failed;
      break;
    case Verdict::unchecked:
      ++unchecked;
      break;
    case Verdict::skipped:
      ++skipped;
      break;
  }
}

ExitStatus Tally::status() const {
  if (failed > 0) return ExitStatus::residual_failed;
  if (skipped > 0) return ExitStatus::run_skipped;
  return ExitStatus::all_passed;
}

}  // namespace linpack
