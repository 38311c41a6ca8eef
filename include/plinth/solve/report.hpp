// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "plinth/core/index.hpp"
#include "plinth/kernel/convert_runs.hpp"
#include "plinth/lu/mixed_report.hpp"
#include "plinth/refine/report.hpp"

namespace plinth {

/// How a solve ended; the same on every rank of the grid.
enum class Outcome {
  solved,      ///< x is computed, see backward_error for how well
  singular,    ///< U has an exactly zero pivot, see column; x is unspecified
  non_finite,  ///< an infinity or NaN came up, first in the pivot of `column`, or not in a pivot
               ///< but in A, b or x (column -1)
  not_converged,  ///< refinement ended before the criterion held for every right-hand side
  overflow,  ///< beyond what the factors' type holds, first in `column` of L or U, or already
             ///< an entry of A (column -1); x is unspecified
};

/// In words, for people.
constexpr const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::solved:
      return "solved";
    case Outcome::singular:
      return "singular";
    case Outcome::non_finite:
      return "non-finite";
    case Outcome::not_converged:
      return "not converged";
    case Outcome::overflow:
      return "overflow";
  }
  return "?";
}

/// What was scaled.
enum class Equilibrated {
  none,     ///< nothing
  rows,     ///< rows alone
  columns,  ///< columns alone
  both,     ///< rows, then columns
};

/// What an Equilibrated is called.
constexpr const char* to_string(Equilibrated what) {
  switch (what) {
    case Equilibrated::none:
      return "none";
    case Equilibrated::rows:
      return "rows";
    case Equilibrated::columns:
      return "columns";
    case Equilibrated::both:
      return "both";
  }
  return "?";
}

/// How good the columns of a solution are; the same on every rank.
struct ErrorBounds {
  /// Componentwise backward error: the least w with (A + E) x = b + f, |E| <= w |A|, |f| <= w |b|.
  /// At most n + 1 roundings after a step of refinement, as a rule.
  std::vector<double> backward;
  /// Bound on ||x - x*|| / ||x|| in the infinity norm, x* the exact solution; of the error itself
  /// where x = 0. Infinite where there is a zero pivot.
  std::vector<double> forward;
};

/// What a solve has to say about its answer; the same on every rank of the grid.
struct SolveReport {
  Outcome outcome = Outcome::solved;  ///< how the solve ended
  /// Global column that `singular`, `non_finite` or `overflow` speak of, else -1.
  Index column = -1;
  /// ||b - A x|| / (||A|| ||x|| + ||b||) in the infinity norm: a few times the unit roundoff for a
  /// stable solve. Over all right-hand sides together; after a refinement the largest of a
  /// right-hand side. NaN where it was not measured or is none: x is unspecified or not finite, a
  /// norm overflows, the rank is idle.
  double backward_error = std::numeric_limits<double>::quiet_NaN();

  // Where A was factored in a narrower type than it has:

  /// What rounding A to that type lost.
  kernel::NarrowingCounts lost = {};
  /// Growth, and what rounding within the factorization lost; nullopt unless operands have 16 bits
  /// and it was come to.
  std::optional<lu::MixedReport> factorization = std::nullopt;
  /// What refinement did for each right-hand side; no columns if it was not come to.
  RefinementReport refinement = {};
  /// How the narrower attempt ended, if A was factored again in its own type after it.
  std::optional<Outcome> fell_back_from = std::nullopt;

  // In any type:

  /// What was scaled before A was factored (solve/equilibration.hpp).
  Equilibrated equilibrated = Equilibrated::none;

  // What was asked for (SolveOptions::ask):

  /// An estimate of 1 / (||A|| ||A^-1||) in the infinity norm; see condition(). NaN where overflow
  /// left no factors of A.
  std::optional<double> condition = std::nullopt;
  /// See error_bounds(); not where x is unspecified.
  std::optional<ErrorBounds> error_bounds = std::nullopt;

  /// Whether X is an answer.
  explicit operator bool() const { return outcome == Outcome::solved; }
};

}  // namespace plinth
