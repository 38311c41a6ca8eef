// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ostream>
#include <string>

#include "linpack/report.hpp"

namespace linpack {

/// Writes one JSON object:
///
///   program, version, environment, ranks, notes, config   what was asked for
///   runs     an array with, per run: variant (netlib's T/V), parameters (what ran), asked (those
///            that differ), verdict, passed, reason if there is one, seconds, gflops, start and
///            end (seconds since 1970), residual and norms (if checked; null if not finite)
///   summary  tests, passed, failed, unchecked, skipped, exit_status
///
/// A file is a valid JSON text after every run, should the program not live to see its end.
class JsonReport : public Report {
 public:
  /// `out` must outlive this object. One that cannot seek gets the closing lines at the end only.
  explicit JsonReport(std::ostream& out) : out_(out) {}

  void begin(const Preamble& preamble) override;
  void run(const Case& asked, const Result& result,
           const std::vector<std::string>& notes) override;
  void end(const Tally& tally) override;
  bool good() const override { return out_.good(); }

 private:
  void write_closing();

  std::ostream& out_;
  std::ostream::pos_type closing_at_ = -1;
  Tally tally_;
};

}  // namespace linpack
