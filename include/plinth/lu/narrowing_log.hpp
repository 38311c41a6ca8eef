// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "plinth/comm/communicator.hpp"
#include "plinth/comm/reduce.hpp"
#include "plinth/kernel/convert_view.hpp"
#include "plinth/kernel/magnitude.hpp"
#include "plinth/lu/mixed_report.hpp"
#include "plinth/lu/panel.hpp"

namespace plinth::lu {

/// What one process rounds and finds on the way of a factorization.
class NarrowingLog {
 public:
  void count_multiplied(const kernel::NarrowingCounts& lost) { counts_[multiplied] += lost; }
  void see_a(double largest) { largest_a_ = kernel::larger(largest_a_, largest); }
  void see_u(double largest) { largest_u_ = kernel::larger(largest_u_, largest); }
  void overflow(Index column) { keep_first(first_overflow_, column); }

  /// to := from 2^exponent, counted; `from` holds floats. global_col(j) is the global column of
  /// local column j.
  template <class Exec, class From, class To, class GlobalCol>
  void store(const Exec& exec, const From& from, const To& to, int exponent,
             const GlobalCol& global_col) {
    const auto lost = kernel::convert(exec, from, to, std::ldexp(1.0, exponent));
    counts_[stored] += lost;
    if (lost.overflowed == 0) return;
    const Index first = kernel::first_overflow(exec, from, to);
    if (first >= 0) overflow(global_col(first));
  }

  /// The same on every process; `matrix_exponent`: what was factored is A 2^matrix_exponent.
  /// Collective; two allreduces.
  MixedReport report(const comm::Communicator& all, const PanelOutcome& outcome,
                     int matrix_exponent) const {
    // The first overflow as a number that is the larger the earlier it is.
    const double earliness =
        first_overflow_ < 0 ? 0 : 1 / (1 + static_cast<double>(first_overflow_));
    std::vector<double> most{largest_a_, largest_u_, earliness};
    comm::max_of_all(all, most);
    MixedReport report;
    report.pivots = outcome;
    auto counts = counts_;
    comm::sum_of_all(all, counts);
    report.lost = counts[stored];
    report.lost_multiplied = counts[multiplied];
    report.first_overflow = most[2] == 0 ? -1 : std::llround(1 / most[2]) - 1;
    report.largest_a = std::ldexp(most[0], -matrix_exponent);
    report.largest_u = std::ldexp(most[1], -matrix_exponent);
    return report;
  }

 private:
  enum { stored, multiplied };
  std::array<kernel::NarrowingCounts, 2> counts_ = {};
  Index first_overflow_ = -1;
  double largest_a_ = 0;
  double largest_u_ = 0;
};

}  // namespace plinth::lu
