// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

#include "plinth/core/index.hpp"
#include "plinth/core/scalar.hpp"

namespace plinth {

/// What is known of one right-hand side when it is asked whether to stop; infinity norms.
struct ColumnState {
  Index n = 0;  ///< order of A
  double epsilon = 0x1p-53;  ///< unit roundoff of the working precision
  double a_norm = 0;  ///< of A
  double x_norm = 0;  ///< of the solution so far
  double b_norm = 0;  ///< of the right-hand side
  double r_norm = 0;  ///< of the true residual b - A x

  /// ||r|| / (||A|| ||x|| + ||b||); 0 where r = 0, NaN where anything is not finite.
  double backward_error() const {
    const double scale = a_norm * x_norm + b_norm;
    if (!is_finite(scale) || !is_finite(r_norm)) return std::numeric_limits<double>::quiet_NaN();
    return r_norm == 0 ? 0 : r_norm / scale;
  }
};

/// When the refinement of a right-hand side may stop:
///
///   done(state)   whether this is good enough
///   done.goal(n, epsilon)  the backward error at which it is: iterations within a cycle, which see
///                 estimates only, aim at it
///
/// Both must give the same on every rank, as they do when they look at their arguments only. A
/// column whose backward error is not a number is never asked about.
template <class C>
concept StoppingCriterion = requires(const C& done, const ColumnState& state) {
  { done(state) } -> std::convertible_to<bool>;
  { done.goal(state.n, state.epsilon) } -> std::convertible_to<double>;
};

/// Backward error at most factor sqrt(n) u, u the working precision's unit roundoff.
struct BackwardErrorBelow {
  double factor = 1;  ///< of sqrt(n) u

  /// The backward error that is wanted.
  double goal(Index n, double epsilon) const {
    return factor * std::sqrt(static_cast<double>(std::max<Index>(n, 1))) * epsilon;
  }
  /// Whether it is reached.
  bool operator()(const ColumnState& state) const {
    return state.backward_error() <= goal(state.n, state.epsilon);
  }
};

/// HPL's scaled residual ||b - A x|| / ((||A|| ||x|| + ||b||) n 2^-53) at most `bound`. A run is
/// valid up to 16.
struct HplResidualBelow {
  double bound = 1;  ///< of the scaled residual

  /// The backward error that is wanted.
  double goal(Index n, double) const {
    return bound * static_cast<double>(std::max<Index>(n, 1)) * 0x1p-53;
  }
  /// Whether it is reached.
  bool operator()(const ColumnState& state) const {
    return state.backward_error() <= goal(state.n, state.epsilon);
  }
};

}  // namespace plinth
