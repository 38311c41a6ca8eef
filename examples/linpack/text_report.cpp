// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/text_report.hpp"

#include <algorithm>
#include <cmath>

#include "linpack/names.hpp"
#include "linpack/text.hpp"

namespace linpack {

namespace {

char letter(PanelVariant v) {
  return v == PanelVariant::left ? 'L' : v == PanelVariant::crout ? 'C' : 'R';
}

std::string time_text(std::time_t time) {
  char text[26];
  return ctime_r(&time, text) == nullptr ? std::string("unknown\n") : std::string(text);
}

}  // namespace

std::string variant(const Case& c) {
  return print("W%c%1d%c%c%1d%c%1d", c.mapping == Mapping::row_major ? 'R' : 'C', c.depth,
               '0' + code(c.bcast), letter(c.rfact), c.ndiv, letter(c.pfact), c.nbmin);
}

std::string result_line(const Result& result) {
  const Case& c = result.ran;
  return variant(c) + print("%12lld %5d %5d %5d %18.2f    %19.4e\n", static_cast<long long>(c.n),
                            c.nb, c.grid.rows, c.grid.cols, result.seconds,
                            gflops(c.n, result.seconds));
}

std::string check_lines(const Result& result) {
  const bool passed = result.verdict == Verdict::passed;
  std::string out = print("||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= %16.8e ...... %s\n",
                          unsigned_nan(result.residual), passed ? "PASSED" : "FAILED");
  if (passed) return out;
  const auto norm = [&out](const char* name, double value) {
    out += print("%s= %18.6f\n", name, unsigned_nan(value));
  };
  norm("||Ax-b||_oo  . . . . . . . . . . . . . . . . . ", result.norms.residual_inf);
  norm("||A||_oo . . . . . . . . . . . . . . . . . . . ", result.norms.a_inf);
  norm("||A||_1  . . . . . . . . . . . . . . . . . . . ", result.norms.a_one);
  norm("||x||_oo . . . . . . . . . . . . . . . . . . . ", result.norms.x_inf);
  norm("||x||_1  . . . . . . . . . . . . . . . . . . . ", result.norms.x_one);
  norm("||b||_oo . . . . . . . . . . . . . . . . . . . ", result.norms.b_inf);
  return out;
}

std::string phase_lines(const Result& result) {
  std::string out =
      "--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV--VVV-\n";
  const auto line = [&out](const char* what, const std::string& name, double seconds) {
    out += print("Max %s wall time, %-17s: %18.3f\n", what, name.c_str(), seconds);
  };
  for (const auto& [name, seconds] : result.phases) line("aggregated", name, seconds);
  for (const auto& [name, seconds] : result.around) line("untimed", name, seconds);
  return out;
}

std::string step_lines(const Result& result) {
  if (result.steps.empty()) return {};
  std::string out = "    Step    Column  Owner     Gflop";
  for (const auto& [name, seconds] : result.steps.front().phases)
    out += print(" %*s", static_cast<int>(std::max<std::size_t>(name.size(), 8)), name.c_str());
  out += "\n";
  for (std::size_t k = 0; k < result.steps.size(); ++k) {
    const StepSeconds& step = result.steps[k];
    out += print("%8zu %9lld %3d,%-2d %9.4g", k, static_cast<long long>(step.begin),
                 step.owner_row, step.owner_col, step.flops / 1e9);
    for (const auto& [name, seconds] : step.phases)
      out += print(" %*.5f", static_cast<int>(std::max<std::size_t>(name.size(), 8)), seconds);
    out += "\n";
  }
  return out;
}

std::string summary_lines(const Tally& tally, bool checks) {
  const auto count = [](std::int64_t n, const char* what) {
    return print("         %6lld tests %s\n", static_cast<long long>(n), what);
  };
  std::string out = rule('=') + print("\nFinished %6lld tests with the following results:\n",
                                      static_cast<long long>(tally.total()));
  if (checks) {
    out += count(tally.passed, "completed and passed residual checks,") +
           count(tally.failed, "completed and failed residual checks,");
  } else {
    out += count(tally.unchecked, "completed without checking,");
    if (tally.failed > 0) out += count(tally.failed, "failed without checking,");
  }
  return out + count(tally.skipped, "skipped because of illegal input values.") + rule('-') +
         "\nEnd of Tests.\n" + rule('=');
}

void TextReport::run(const Case&, const Result& result, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) out_ << "Note: " << note << ".\n";
  if (result.verdict == Verdict::skipped) {
    const Case& c = result.ran;
    out_ << print("Skipped %s N=%lld NB=%d P=%d Q=%d: ", variant(c).c_str(),
                  static_cast<long long>(c.n), c.nb, c.grid.rows, c.grid.cols)
         << result.reason << std::endl;
    return;
  }
  if (column_header_due_)
    out_ << rule('=')
         << "T/V                N    NB     P     Q               Time                 Gflops\n"
         << rule('-');
  column_header_due_ = checks_;
  out_ << result_line(result) << "HPL_pdgesv() start time " << time_text(result.start) << "\n"
       << "HPL_pdgesv() end time   " << time_text(result.end) << "\n";
  if (result.mixed)
    out_ << text_lines(result.ran.extensions.mixed.value(), *result.mixed, result.ran.n,
                       result.seconds);
  if (!result.phases.empty()) out_ << phase_lines(result) << step_lines(result);
  if (result.has_residual()) out_ << rule('-') << check_lines(result);
  if (!result.reason.empty()) out_ << "Failed: " << result.reason << "\n";
  out_.flush();
}

void TextReport::end(const Tally& tally) {
  out_ << summary_lines(tally, checks_);
  out_.flush();
}

}  // namespace linpack
