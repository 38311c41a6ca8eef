// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "plinth/core/scalar.hpp"

namespace plinth {

/// How the refinement of one right-hand side ended.
enum class RefinementOutcome {
  converged,        ///< the stopping criterion holds for the true residual
  stagnated,        ///< the last step or cycle gained too little
  iteration_limit,  ///< the policy's limit was reached
  non_finite,       ///< an infinity or NaN came up
};

/// In words, for people.
constexpr const char* to_string(RefinementOutcome outcome) {
  switch (outcome) {
    case RefinementOutcome::converged:
      return "converged";
    case RefinementOutcome::stagnated:
      return "stagnated";
    case RefinementOutcome::iteration_limit:
      return "iteration limit";
    case RefinementOutcome::non_finite:
      return "non-finite";
  }
  return "?";
}

/// What happened to one right-hand side.
struct ColumnHistory {
  RefinementOutcome outcome = RefinementOutcome::iteration_limit;  ///< how it ended
  /// Of the solution that is returned: ||b - A x|| / (||A|| ||x|| + ||b||), infinity norms.
  double backward_error = 0;
  /// Classical steps or GMRES iterations.
  int iterations = 0;
  /// Backward error before the first step and after each step (GMRES: cycle). A step that made it
  /// worse was taken back, so the last one need not be `backward_error`.
  std::vector<double> backward_errors = {};
};

/// The refinement of all right-hand sides; the same on every rank of the grid.
struct RefinementReport {
  std::vector<ColumnHistory> columns;  ///< of each right-hand side
  int products = 0;  ///< products with A, all right-hand sides together
  int solves = 0;    ///< solves with the factors, likewise, the first one included

  /// Whether all right-hand sides have.
  bool converged() const {
    return std::all_of(columns.begin(), columns.end(), [](const ColumnHistory& column) {
      return column.outcome == RefinementOutcome::converged;
    });
  }
  /// The most iterations that a right-hand side took.
  int iterations() const {
    int most = 0;
    for (const auto& column : columns) most = std::max(most, column.iterations);
    return most;
  }
  /// The largest backward error of a right-hand side, NaN above all.
  double backward_error() const {
    double most = 0;
    for (const auto& column : columns) {
      if (is_nan(column.backward_error)) return column.backward_error;
      most = std::max(most, column.backward_error);
    }
    return most;
  }
};

}  // namespace plinth
