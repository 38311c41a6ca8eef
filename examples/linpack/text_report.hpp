// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ostream>
#include <string>

#include "linpack/report.hpp"

namespace linpack {

/// "WR01C2R4": wall time, mapping, depth, broadcast, RFACT, NDIV, PFACT, NBMIN.
std::string variant(const Case& c);

/// Netlib HPL's line of results: T/V, N, NB, P, Q, time in seconds, Gflops.
std::string result_line(const Result& result);

/// Netlib HPL's line of the check, and after a failure its six lines of norms.
std::string check_lines(const Result& result);

/// The seconds of each phase, and of what is done before and after the run: the longest that any
/// rank spent in it.
std::string phase_lines(const Result& result);

/// The same for each step, one a line below a line of names. Empty if nothing is known of steps.
std::string step_lines(const Result& result);

/// Netlib HPL's closing lines. `checks`: whether residuals were checked.
std::string summary_lines(const Tally& tally, bool checks);

/// Writes what netlib HPL writes, so that what reads its output reads this. The result, residual
/// and summary lines are the same to the byte (those of HPL's repository after 2.3); banner and
/// legend are Plinth's own. The stream is flushed after every run.
class TextReport : public Report {
 public:
  /// `out` must outlive this object.
  explicit TextReport(std::ostream& out) : out_(out) {}

  void begin(const Preamble& preamble) override;
  void run(const Case& asked, const Result& result,
           const std::vector<std::string>& notes) override;
  void end(const Tally& tally) override;
  bool good() const override { return out_.good(); }

 private:
  std::ostream& out_;
  bool checks_ = true;
  bool column_header_due_ = true;
};

}  // namespace linpack
