// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "plinth/comm/agree.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/lu/lu_solve.hpp"
#include "plinth/matrix/copy.hpp"
#include "plinth/refine/column_operations.hpp"
#include "plinth/refine/residual.hpp"
#include "plinth/solve/absolute_product.hpp"
#include "plinth/solve/norm_estimate.hpp"
#include "plinth/solve/report.hpp"

namespace plinth {

/// f and r as ErrorBoundsWorkspace has them, before and after: f := |A| |x| becomes what forward
/// bounds take, |r| + (n + 1) u f, and g the quotients |r_i| / f_i. `nz`: n + 1; `products`: 0 in
/// rows where all products in f are exactly 0, looked at where f, b and r are 0.
template <ExecutionPolicy Exec, class View, class ConstView, class Reals>
void bound_terms(const Exec& exec, const View& r, const ConstView& b, double nz,
                 const Reals& products, const Reals& f, const Reals& g) {
  using Real = typename Reals::non_const_value_type;
  const auto count = static_cast<Real>(nz);
  const Real u = ScalarTraits<Real>::epsilon;
  const Real safe1 = count * std::numeric_limits<Real>::min(), safe2 = safe1 / u;
  kernel::for_each<typename Reals::array_layout>(
      exec, kernel::rows_of(f), kernel::cols_of(f), KOKKOS_LAMBDA(const Index i, const Index j) {
        const Real scale = f(i, j) + modulus(b(i, j)), size = modulus(r(i, j));
        const bool exact = scale == Real(0) && size == Real(0) && products(i, j) == Real(0);
        const Real more = scale > safe2 || exact ? Real(0) : safe1;
        g(i, j) = exact ? Real(0) : (size + more) / (scale + more);
        f(i, j) = size + count * u * scale + more;
      });
}
/// g(i, j) := 1 where f, b and r are 0, else 0.
template <ExecutionPolicy Exec, class View, class ConstView, class Reals>
void mark_zeros(const Exec& exec, const View& r, const ConstView& b, const Reals& f,
                const Reals& g) {
  using Real = typename Reals::non_const_value_type;
  kernel::for_each<typename Reals::array_layout>(
      exec, kernel::rows_of(f), kernel::cols_of(f), KOKKOS_LAMBDA(const Index i, const Index j) {
        const Real most = f(i, j) + modulus(b(i, j)) + modulus(r(i, j));
        g(i, j) = Real(most == Real(0) ? 1 : 0);
      });
}
/// g(i, j) := 0 where x is 0, else 1.
template <ExecutionPolicy Exec, class ConstView, class Reals>
void mark_nonzeros(const Exec& exec, const ConstView& x, const Reals& g) {
  using Real = typename Reals::non_const_value_type;
  kernel::for_each<typename Reals::array_layout>(
      exec, kernel::rows_of(g), kernel::cols_of(g), KOKKOS_LAMBDA(const Index i, const Index j) {
        g(i, j) = Real(modulus(x(i, j)) == Real(0) ? 0 : 1);
      });
}

/// Workspace for error bounds of solutions like X, kept from call to call: one matrix of X's size
/// in X's type, two in its real type, and the workspaces of the products with A and |A|. (A
/// third real one is made in a call where rows of zeros want a second look.)
///
///     r := b - A x,  f := |A| |x| + |b|
///     backward := max |r_i| / f_i                       tiny f_i are made larger, see below
///     forward := || |A^-1| (|r| + (n + 1) u f) ||_inf / ||x||_inf
///
/// where the norm is estimated from products with A^-1 diag(...), and u is the unit roundoff. Where
/// f_i is below safe2 = (n + 1) m / u, m the smallest normal number, underflow may have spoilt it:
/// safe1 = (n + 1) m is added to it and to |r_i|. Rows where both are 0 have no error if each
/// product |a_ij| |x_j| in f_i is exactly 0, which |A| times ones where x_j is not 0 tells; LAPACK
/// calls them wholly wrong.
/// Source: Arioli, Demmel, Duff 1989; Higham 1988 (LAPACK's gerfs).
template <ExecutionPolicy Exec, class Matrix, class Rhs>
class ErrorBoundsWorkspace {
 public:
  using T = typename Rhs::value_type;  ///< of A, B and X
  using Real = RealOf<T>;              ///< of moduli
  /// What holds moduli.
  using Reals = DistributedMatrix<Real, typename Rhs::memory, typename Rhs::layout>;

  /// Its parts refer to each other: it stays where it is.
  ErrorBoundsWorkspace(const ErrorBoundsWorkspace&) = delete;
  /// Collective; errors are agreed on. The matrix must outlive this object.
  ErrorBoundsWorkspace(const Exec& exec, const Matrix& a, const Rhs& like, Index at_once)
      : exec_(exec),
        r_(like.grid(), like.rows(), like.cols(), layout_of(like)),
        f_(like.grid(), like.rows(), like.cols(), layout_of(like)),
        g_(like.grid(), like.rows(), like.cols(), layout_of(like)) {
    comm::agree_on(like.grid().all(), "error_bounds", 0, [&] {
      if (!like.grid().active()) return;
      const Index width = std::min(at_once, std::max<Index>(like.cols(), 1));
      product_.emplace(exec, a, width);
      absolute_.emplace(exec, a, width);
      estimator_.emplace(exec, r_);
      columns_.emplace(exec, like);
      real_columns_.emplace(exec, f_);
    });
  }

  /// Collective; the grid is active here, and b and x are distributed as `like` was.
  /// `solve(v, op)` does v := op(A)^-1 v for several columns; `singular`: it cannot.
  template <class Solve>
  ErrorBounds operator()(const Rhs& b, const Rhs& x, const Solve& solve, bool singular) {
    ErrorBounds bounds;
    (*product_)(x, r_, T(-1));
    const auto r = r_.local();
    const auto f = f_.local(), g = g_.local();
    const auto rhs = b.local(), solution = x.local();
    kernel::axpby(exec_, Real(1), rhs, Real(1), r);
    kernel::moduli(exec_, solution, g);
    exec_.fence();
    (*absolute_)(g_, f_);
    const std::optional<Reals> products = doubtful_products(b, x);
    bound_terms(exec_, r, rhs, static_cast<double>(x.rows() + 1),
                products ? products->local() : f, f, g);
    exec_.fence();
    bounds.backward = largest_of_g();
    const Rhs* const solutions[] = {&x};
    std::vector<double> x_norms;
    columns_->inf_norms(solutions, x_norms);
    if (singular) {
      bounds.forward.assign(bounds.backward.size(), infinity);
    } else {
      // ||A^-1 diag(f)||_inf is the one norm of diag(f) A^-H.
      const auto scale = [&] {
        kernel::scale_entries(exec_, f, r);
        exec_.fence();
      };
      const auto multiply = [&](Rhs& v) {
        solve(v, Op::conj_transpose);
        scale();
      };
      const auto multiply_adjoint = [&](Rhs& v) {
        scale();
        solve(v, Op::none);
      };
      bounds.forward = (*estimator_)(multiply, multiply_adjoint);
    }
    for (std::size_t j = 0; j < bounds.forward.size(); ++j) {
      double& forward = bounds.forward[j];
      if (is_nan(bounds.backward[j])) {
        forward = std::numeric_limits<double>::quiet_NaN();
      } else if (is_nan(forward)) {
        forward = infinity;  // the solves overflowed
      } else if (x_norms[j] > 0) {
        forward /= x_norms[j];
      }
    }
    return bounds;
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  std::vector<double> largest_of_g() {
    std::vector<double> norms;
    const Reals* const list[] = {&g_};
    real_columns_->inf_norms(list, norms);
    return norms;
  }
  /// With rows where |A| |x| as it was rounded, b and r are 0: |A| times ones where x is not 0,
  /// which is 0 where there is no product that could have underflown. nullopt without such rows.
  std::optional<Reals> doubtful_products(const Rhs& b, const Rhs& x) {
    mark_zeros(exec_, r_.local(), b.local(), f_.local(), g_.local());
    exec_.fence();
    const std::vector<double> doubts = largest_of_g();
    if (std::find(doubts.begin(), doubts.end(), 1.0) == doubts.end()) return std::nullopt;
    mark_nonzeros(exec_, x.local(), g_.local());
    exec_.fence();
    std::optional<Reals> products(std::in_place, x.grid(), x.rows(), x.cols(), layout_of(x));
    (*absolute_)(g_, *products);
    return products;
  }

  Exec exec_;
  Rhs r_;
  Reals f_, g_;
  std::optional<StoredOperator<Exec, Matrix>> product_;
  std::optional<AbsoluteProduct<Exec, Matrix>> absolute_;
  std::optional<OneNormEstimator<Exec, Rhs>> estimator_;
  std::optional<refine::ColumnOperations<Exec, Rhs>> columns_;
  std::optional<refine::ColumnOperations<Exec, Reals>> real_columns_;
};

/// Error bounds for each column of X, an approximate solution of A X = B, from A and its factors,
/// which may be those of A rounded to another type. Collective over A's grid; empty on idle ranks.
/// Preconditions, each an Error on every rank: A is square with square blocks; A, B, X and the
/// factors on one grid; the factors distributed as A; X and B distributed alike, their rows like
/// A's; at_once >= 1; the same call on every rank; enough memory: see ErrorBoundsWorkspace, and the
/// workspace of lu_solve.
/// Outcomes: NaN where a column of B, X or anything of A is not finite; infinite forward bounds for
/// factors with a zero pivot, and where A^-1 overflows.
/// About 5 solves of all right-hand sides, 2 n^2 flops each, and 6 n^2 more per right-hand side, or
/// 8 where rows of zeros want a second look. Messages: those of residual() twice or three times,
/// for each solve those of lu_solve and up to three allreduces of two numbers per right-hand side,
/// and three such allreduces more.
/// The forward bound rests on an estimate that may be too small by a small factor, on contrived A.
template <ExecutionPolicy Exec, class Matrix, class FactorMatrix, class Rhs>
ErrorBounds error_bounds(const Exec& exec, const Matrix& a,
                         const LuFactors<FactorMatrix>& factors, const Rhs& b, const Rhs& x,
                         Index at_once = 128) {
  static_assert(std::is_same_v<typename Rhs::value_type, typename Matrix::value_type>,
                "plinth: error_bounds: A, B and X have one scalar type");
  const ProcessGrid& grid = a.grid();
  comm::Fingerprint arguments;
  arguments << a.distribution() << b.distribution() << at_once;
  comm::agree_on(grid.all(), "error_bounds", arguments.value(), [&] {
    require(
        a.rows() == a.cols() && a.distribution().rows.block() == a.distribution().cols.block(),
        "a square matrix in square blocks wanted");
    require(b.grid() == grid && x.grid() == grid && factors.matrix().grid() == grid,
            "the operands are on different grids");
    require(factors.matrix().distribution() == a.distribution(),
            "the factors are not distributed as A");
    require(
        x.distribution() == b.distribution() && b.distribution().rows == a.distribution().rows,
        "X and B must be dealt alike, their rows like A's");
    require(at_once >= 1, "at least one column at once");
  });
  ErrorBoundsWorkspace<Exec, Matrix, Rhs> workspace(exec, a, b, at_once);
  std::optional<LuSolver<Exec, FactorMatrix, Rhs>> solver;
  comm::agree_on(grid.all(), "error_bounds", 0, [&] {
    if (grid.active()) solver.emplace(exec, factors, b, at_once);
  });
  if (!solver) return {};
  const auto solve = [&](Rhs& v, Op op) { (*solver)(v, op); };
  return workspace(b, x, solve, factors.first_zero_pivot().has_value());
}

}  // namespace plinth
