// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plinth/core/scalar.hpp"
#include "plinth/refine/report.hpp"

namespace plinth::refine {

/// What becomes of a column after a look at its residual.
struct Verdict {
  bool goes_on = false;
  bool take_back = false;  ///< the last step made it worse
};

/// Notes in a column's history that its backward error is `error` now, and how it ends, if it does:
///
/// | first that holds                        | outcome         |                              |
/// |-----------------------------------------|-----------------|------------------------------|
/// | error is NaN                            | non_finite      |                              |
/// | broken, and the criterion does not hold | non_finite      | a step met an infinity, NaN  |
/// | done                                    | converged       | the criterion holds          |
/// | error >= ratio times that before        | stagnated       | not at the first look        |
/// | none                                    | iteration_limit | it goes on, if there are more|
///
/// A step that did not lower the error is to be taken back, unless the criterion holds.
/// Precondition: the history has room for another error.
inline Verdict judge(ColumnHistory& history, double error, bool done, bool broken, double ratio) {
  const bool first = history.backward_errors.empty();
  const double before = history.backward_error;
  Verdict verdict;
  history.backward_errors.push_back(error);
  verdict.take_back = !first && !done && !(error <= before);
  if (!verdict.take_back) history.backward_error = error;
  if (is_nan(error) || (broken && !done)) {
    history.outcome = RefinementOutcome::non_finite;
  } else if (done) {
    history.outcome = RefinementOutcome::converged;
  } else if (!first && !(error < ratio * before)) {
    history.outcome = RefinementOutcome::stagnated;
  } else {
    history.outcome = RefinementOutcome::iteration_limit;
    verdict.goes_on = true;
  }
  return verdict;
}

}  // namespace plinth::refine
