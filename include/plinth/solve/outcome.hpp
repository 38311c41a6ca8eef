// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "plinth/refine/report.hpp"
#include "plinth/solve/report.hpp"

namespace plinth {

/// What the pivots of a factorization say about a solve with it.
template <class Factors>
void note_pivots(const Factors& factors, SolveReport& report) {
  if (const auto column = factors.first_nonfinite_pivot()) {
    report.outcome = Outcome::non_finite;
    report.column = *column;
  } else if (const auto zero = factors.first_zero_pivot()) {
    report.outcome = Outcome::singular;
    report.column = *zero;
  }
}

/// The same, and what rounding lost, of factors in a narrower type than A has. Of an A that
/// `finite` says is so a pivot that is not finite comes from overflow, which need not have been
/// where L and U are stored.
template <class Factors>
void note_narrow_pivots(const Factors& factors, bool finite, SolveReport& report) {
  report.factorization = factors.report();
  const auto nonfinite = factors.first_nonfinite_pivot();
  const Index overflow = report.factorization ? report.factorization->first_overflow : -1;
  if (!finite || (!nonfinite && overflow < 0)) return note_pivots(factors, report);
  report.outcome = Outcome::overflow;
  report.column = !nonfinite     ? overflow
                  : overflow < 0 ? *nonfinite
                                 : std::min(overflow, *nonfinite);
}

/// What a refinement says.
inline void note_refinement(RefinementReport&& refinement, SolveReport& report) {
  report.refinement = std::move(refinement);
  report.backward_error = report.refinement.backward_error();
  for (const ColumnHistory& column : report.refinement.columns) {
    if (column.outcome == RefinementOutcome::converged) continue;
    if (column.outcome == RefinementOutcome::non_finite) {
      report.outcome = Outcome::non_finite;
      break;
    }
    report.outcome = Outcome::not_converged;
  }
}

}  // namespace plinth
