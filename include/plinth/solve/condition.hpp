// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include "plinth/comm/agree.hpp"
#include "plinth/core/options.hpp"
#include "plinth/lu/lu_solve.hpp"
#include "plinth/solve/norm_estimate.hpp"

namespace plinth {

/// The type in which to solve with factors stored in S: S itself, double for 16 bits.
template <Scalar S>
using SolvedIn = std::conditional_t<BlasScalar<S>, S, double>;

/// 1 / (a_norm ||A^-1||) in the norm `which`, one or inf, where `factors` are those that
/// solve(v, op), which does v := op(A)^-1 v for the estimator's vectors, one each, solves with;
/// outcomes as of condition(). Collective.
template <class Factors, class Estimator, class Solve>
double reciprocal_condition(const Factors& factors, Estimator& estimator, double a_norm,
                            Norm which, const Solve& solve) {
  if (factors.order() == 0) return 1;
  if (factors.first_nonfinite_pivot() || is_nan(a_norm))
    return std::numeric_limits<double>::quiet_NaN();
  if (factors.first_zero_pivot() || a_norm == 0 || !is_finite(a_norm)) return 0;
  // The infinity norm of A^-1 is the one norm of its adjoint.
  const Op op = which == Norm::one ? Op::none : Op::conj_transpose;
  const Op adjoint = which == Norm::one ? Op::conj_transpose : Op::none;
  const double inverse_norm =
      estimator([&](auto& v) { solve(v, op); }, [&](auto& v) { solve(v, adjoint); })[0];
  return is_finite(inverse_norm) && inverse_norm > 0 ? 1 / inverse_norm / a_norm : 0;
}

/// An estimate of 1 / (||A|| ||A^-1||), the reciprocal of A's condition number, from its factors
/// and `a_norm` = ||A||, in the norm `which`, one or inf (norm(exec, a, which), taken before A is
/// given away). A solution of A x = b has about -log10(condition) digits less than its backward
/// error. ||A^-1|| is estimated from below, hardly ever to less than a third, so the condition may
/// be somewhat worse than the result says. Collective over the factors' grid; 0 on idle ranks.
/// Preconditions, each an Error on every rank: the one or infinity norm; a_norm is not negative;
/// the same call on every rank; enough memory: vectors, and the workspace of lu_solve for one.
/// Outcomes: 0 for a singular A, that is for a zero pivot, for ||A|| = 0, and for an A^-1 or ||A||
/// beyond what a number holds; NaN where a pivot or a_norm is NaN or a pivot infinite; 1 for n = 0.
/// About 5 solves of 2 n^2 flops, 10 at most, with lu_solve's messages and up to three allreduces
/// of a number or two each.
/// Source: Higham 1988 (LAPACK's gecon), see solve/norm_estimate.hpp.
template <ExecutionPolicy Exec, class Matrix>
double condition(const Exec& exec, const LuFactors<Matrix>& factors, double a_norm,
                 Norm which = Norm::one) {
  using T = SolvedIn<typename Matrix::value_type>;
  using Vectors = DistributedMatrix<T, typename Matrix::memory, typename Matrix::layout>;
  using Solver = LuSolver<Exec, Matrix, Vectors>;
  const ProcessGrid& grid = factors.matrix().grid();
  const Distribution& d = factors.matrix().distribution();
  Vectors x(grid, factors.order(), 1, {d.rows.block(), 1, d.rows.source(), 0});
  std::optional<Solver> solver;
  std::optional<OneNormEstimator<Exec, Vectors>> estimator;
  comm::Fingerprint arguments;
  arguments << d << static_cast<Index>(which) << is_nan(a_norm)
            << (is_nan(a_norm) ? 0 : static_cast<Index>(std::bit_cast<std::uint64_t>(a_norm)));
  comm::agree_on(grid.all(), "condition", arguments.value(), [&] {
    require(which == Norm::one || which == Norm::inf, "the one or infinity norm wanted");
    require(!(a_norm < 0), "a norm is not negative");
    if (!grid.active()) return;
    solver.emplace(exec, factors, x, 1);
    estimator.emplace(exec, x);
  });
  if (!grid.active()) return 0;
  return reciprocal_condition(factors, *estimator, a_norm, which,
                              [&](Vectors& v, Op op) { (*solver)(v, op); });
}

}  // namespace plinth
