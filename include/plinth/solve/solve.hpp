// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "plinth/comm/agree.hpp"
#include "plinth/lu/factors.hpp"
#include "plinth/lu/lu_solve.hpp"
#include "plinth/lu/options.hpp"
#include "plinth/matrix/copy.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/matrix/norm.hpp"
#include "plinth/policy/pivoting.hpp"
#include "plinth/policy/precision.hpp"
#include "plinth/refine/residual.hpp"
#include "plinth/solve/equilibration.hpp"
#include "plinth/solve/outcome.hpp"
#include "plinth/solve/questions.hpp"
#include "plinth/solve/refined.hpp"
#include "plinth/solve/report.hpp"
#include "plinth/solve/roles.hpp"

namespace plinth {

/// What every solve asks of its arguments, and `more`; collective.
template <PrecisionPolicy Precision, class Matrix, class Rhs, PivotingPolicy Pivoting,
          class Options, class More>
void agree_on_solve(const Matrix& a, const Rhs& b, const Rhs& x, const Pivoting& pivoting,
                    const Options& options, const More& more) {
  static_assert(
      are_roles_of_a_solve<Precision, typename Matrix::value_type, typename Rhs::value_type>());
  comm::Fingerprint arguments;
  arguments << a.distribution() << b.distribution() << lu::fingerprint(options.factor)
            << lu::fingerprint(pivoting) << options.fall_back
            << (options.equilibrate ? (*options.equilibrate ? 2 : 1) : 0) << options.ask.condition
            << options.ask.error_bounds;
  comm::agree_on(a.grid().all(), "solve", arguments.value(), [&] {
    require(b.grid() == a.grid() && x.grid() == a.grid(), "A, B and X are on different grids");
    require(x.distribution() == b.distribution(), "X and B are not distributed alike");
    require(b.distribution().rows == a.distribution().rows,
            "the rows of B are not dealt like those of A (mb, source row)");
    require(&x != &b, "X and B are the same matrix");
    require(options.factor.keep_l == lu::KeepL::permuted, "solving needs L: keep_l = permuted");
    require(is_valid(pivoting), requirement_of(pivoting));
    more();
  });
}

/// Solves with factors in A's own type, without refinement, where `a_norm` is ||A|| in the infinity
/// norm.
template <ExecutionPolicy Exec, class Matrix, class Rhs, PivotingPolicy Pivoting, class Options>
SolveReport solve_unrefined(const Exec& exec, const Matrix& a, double a_norm, const Rhs& b,
                            Rhs& x, const Pivoting& pivoting, const Options& options) {
  using Working = typename Matrix::value_type;
  using Copy = DistributedMatrix<Working, typename Matrix::memory, typename Matrix::layout>;
  const bool active = a.grid().active();
  SolveReport report;
  std::optional<Equilibration<Exec, Matrix>> scaling;
  Copy copy_of_a(a.grid(), a.rows(), a.cols(), layout_of(a));
  if (options.equilibrate.value_or(true) && a.rows() == a.cols()) {
    comm::agree_on(a.grid().all(), "solve", 0, [&] {
      if (active) scaling.emplace(exec, a);
    });
    if (active) {
      scaling->find(a, ScaleWhen::it_pays);
      report.equilibrated = scaling->applied();
      if (report.equilibrated == Equilibrated::none) scaling.reset();
    }
  }
  if (scaling)
    scaling->scale(a, copy_of_a);
  else if (active)
    kernel::copy(exec, a.local(), copy_of_a.local());
  const auto left = [&](const Rhs& v) {
    if (scaling) scaling->scale_rhs(v);
  };
  const auto right = [&](const Rhs& v) {
    if (scaling) scaling->scale_solution(v);
  };
  const auto factors = lu_factor(exec, std::move(copy_of_a), pivoting, options.factor);

  note_pivots(factors, report);
  copy(exec, b, x);
  if (report) {
    left(x);
    lu_solve(exec, factors, x);
    right(x);
  }
  if (!active) return report;
  answer(options.ask, exec, a, a_norm, factors, left, right, b, x, report);
  if (!report) return report;

  DistributedMatrix<Working, typename Rhs::memory, typename Rhs::layout> r(
      b.grid(), b.rows(), b.cols(), layout_of(b));
  residual(exec, a, x, b, r);
  const double r_norm = static_cast<double>(norm(exec, r, Norm::inf));
  const double x_norm = static_cast<double>(norm(exec, x, Norm::inf));
  const double scale = a_norm * x_norm + static_cast<double>(norm(exec, b, Norm::inf));
  const double error = r_norm == 0 ? 0.0 : r_norm / scale;
  if (is_finite(scale) && is_finite(error))
    report.backward_error = error;
  else if (!is_finite(static_cast<double>(norm(exec, x, Norm::max))))
    report.outcome = Outcome::non_finite;
  return report;
}

/// solve with factors in a narrower type.
template <PrecisionPolicy Precision, ExecutionPolicy Exec, class Matrix, class Rhs,
          PivotingPolicy Pivoting, class Options>
SolveReport solve_refined(const Exec& exec, const Matrix& a, double a_norm, const Rhs& b, Rhs& x,
                          const Pivoting& pivoting, const Options& options) {
  using Attempt = RefinedSolve<Precision, Exec, Matrix, Rhs, Pivoting, Options>;
  const bool finite = is_finite_matrix(exec, a, a_norm);
  SolveReport report = Attempt(exec, pivoting, options, a, a_norm, finite)(b, x);
  if (report || !options.fall_back) return report;
  // What is not finite is so in every type.
  if (!finite || !is_finite_matrix(exec, b, static_cast<double>(norm(exec, b, Norm::inf))))
    return report;
  SolveReport again = solve_unrefined(exec, a, a_norm, b, x, pivoting, options);
  again.fell_back_from = report.outcome;
  again.lost = report.lost;
  again.factorization = report.factorization;
  again.refinement = std::move(report.refinement);
  return again;
}

/// Solves A X = B as the policies and options say. In A's own type (NoRefinement) as below. With
/// factors in a narrower type than A has, and refinement: A is rounded to Precision's Factor type
/// (scaled by powers of two where operands have 16 bits), factored with the pivots that the policy
/// picks, and the solution refined on A as it is, each right-hand side to its own backward error.
/// Collective over A's grid.
///
/// Pivoting: any policy; where operands have 16 bits PartialPivoting or NoPivoting, others do not
/// compile.
/// Preconditions, each an Error on every rank: those below for solve in one type; a valid
/// refinement policy; factor options that the factorization knows.
/// Outcomes: all of Outcome. Unless `fall_back` is set, what fails is returned as it is.
/// Memory per process, besides A, B and X (n x c, at most w = 128 columns at a time):
///
///     A rounded                           n^2 / (P Q) in Factor precision
///     the factorization's workspace       lu/factor.hpp, lu/mixed_factor.hpp; given back before X
///                                         is refined
///     products with A, and lu_solve       6 (n/P + n/Q) w, and 4 NB c (LuSolver)
///     refinement, matrices like X         ClassicalRefinement 2, GmresRefinement 3 and one for
///                                         each iteration of its longest cycle (2 to 6 as a rule)
///     equilibration                       5 (n/P + n/Q)
///
/// with fall_back, instead of these, what solve in A's own type needs, if that is more.
template <PrecisionPolicy Precision, ExecutionPolicy Exec, class Matrix, class Rhs,
          PivotingPolicy Pivoting, RefinementPolicy Refine, StoppingCriterion Criterion>
[[nodiscard]] SolveReport solve(const Exec& exec, const Matrix& a, const Rhs& b, Rhs& x,
                                const Pivoting& pivoting,
                                const SolveOptions<Refine, Criterion>& options) {
  using Roles = PrecisionRoles<Precision>;
  constexpr bool narrows = !std::is_same_v<typename Roles::Working, typename Roles::Factor>;
  constexpr bool packs = Scalar16<typename Roles::Operand>;
  static_assert(narrows || std::is_same_v<Refine, NoRefinement>,
                "plinth: solve: refinement is for factors in a narrower type than A has");
  static_assert(!narrows || !std::is_same_v<Refine, NoRefinement>,
                "plinth: solve: factors in a narrower type need refinement");
  static_assert(
      !packs || std::is_same_v<Pivoting, PartialPivoting> || std::is_same_v<Pivoting, NoPivoting>,
      "plinth: solve: with 16-bit operands PartialPivoting or NoPivoting");
  agree_on_solve<Precision>(a, b, x, pivoting, options, [&] {
    require(options.refinement.valid(), Refine::requirement);
    require(narrows || !options.fall_back, "in A's own type there is nothing to fall back to");
    require(
        !packs || (!options.factor.reproducible && options.factor.split == 0),
        "factorizations with 16-bit operands know no reproducible slices and no split update");
  });
  const double a_norm = static_cast<double>(norm(exec, a, Norm::inf));
  if constexpr (narrows)
    return solve_refined<Precision>(exec, a, a_norm, b, x, pivoting, options);
  else
    return solve_unrefined(exec, a, a_norm, b, x, pivoting, options);
}

/// The same with partial pivoting.
template <PrecisionPolicy Precision, ExecutionPolicy Exec, class Matrix, class Rhs,
          RefinementPolicy Refine, StoppingCriterion Criterion>
[[nodiscard]] SolveReport solve(const Exec& exec, const Matrix& a, const Rhs& b, Rhs& x,
                                const SolveOptions<Refine, Criterion>& options) {
  return solve<Precision>(exec, a, b, x, PartialPivoting{}, options);
}

/// Solves A X = B for square A and any number of right-hand sides, in one call: a copy of A, its
/// rows and columns scaled by powers of two where it pays (solve/equilibration.hpp), is factored
/// with the pivots that the policy picks (policy/pivoting.hpp), A and B are kept, X is filled, and
/// the backward error measured. Collective over A's grid.
///
/// Precision says in which type A is factored (policy/precision.hpp); A, B and X hold Working.
/// This is solve with SolveOptions, with its defaults; without scaling:
/// solve<Uniform<T>>(..., SolveOptions<NoRefinement>{.equilibrate = false}).
/// Preconditions, each an Error on every rank: those of lu_factor for A; X and B distributed alike,
/// their rows like A's rows; all on one grid; a valid pivoting policy; the same call on every rank.
/// Memory: a copy of A; where it was scaled 5 (n/P + n/Q) numbers; the workspace of lu_factor, then
/// that of lu_solve, then a matrix of X's size and the workspace of residual(). (2/3) n^3 + 4 n^2
/// nrhs flops; two passes over A before. Messages: those of lu_factor, lu_solve, residual and four
/// times norm, and of Equilibration::find.
template <PrecisionPolicy Precision, ExecutionPolicy Exec, class Matrix, class Rhs,
          PivotingPolicy Pivoting>
[[nodiscard]] SolveReport solve(const Exec& exec, const Matrix& a, const Rhs& b, Rhs& x,
                                const Pivoting& pivoting, const lu::FactorOptions& options = {}) {
  using Roles = PrecisionRoles<Precision>;
  if constexpr (std::is_same_v<typename Roles::Working, typename Roles::Factor>)
    return solve<Precision>(exec, a, b, x, pivoting,
                            SolveOptions<NoRefinement>{.factor = options});
  else
    return solve<Precision>(exec, a, b, x, pivoting, SolveOptions<>{.factor = options});
}
/// The same with partial pivoting.
template <PrecisionPolicy Precision, ExecutionPolicy Exec, class Matrix, class Rhs>
[[nodiscard]] SolveReport solve(const Exec& exec, const Matrix& a, const Rhs& b, Rhs& x,
                                const lu::FactorOptions& options = {}) {
  return solve<Precision>(exec, a, b, x, PartialPivoting{}, options);
}

/// solve in A's own precision.
template <ExecutionPolicy Exec, class Matrix, class Rhs, PivotingPolicy Pivoting>
[[nodiscard]] SolveReport solve(const Exec& exec, const Matrix& a, const Rhs& b, Rhs& x,
                                const Pivoting& pivoting, const lu::FactorOptions& options = {}) {
  return solve<Uniform<typename Matrix::value_type>>(exec, a, b, x, pivoting, options);
}
/// The same with partial pivoting.
template <ExecutionPolicy Exec, class Matrix, class Rhs>
[[nodiscard]] SolveReport solve(const Exec& exec, const Matrix& a, const Rhs& b, Rhs& x,
                                const lu::FactorOptions& options = {}) {
  return solve<Uniform<typename Matrix::value_type>>(exec, a, b, x, options);
}

}  // namespace plinth
