// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "plinth/kernel/elementwise.hpp"
#include "plinth/lu/lu_solve.hpp"
#include "plinth/matrix/copy.hpp"

namespace plinth {

/// A^-1 as a matrix distributed like the factors, which are kept: the solution of A X = I, block
/// columns of `at_once` columns at a time. To solve systems use lu_solve: it is cheaper and more
/// accurate than products with the inverse. Collective over the factors' grid.
/// Preconditions, each an Error on every rank: at_once >= 1; the same on every rank; enough memory:
/// one more matrix, and the workspace of lu_solve.
/// Outcomes: where there is a zero pivot infinities and NaNs: ask first_zero_pivot() first.
/// 2 n^3 flops, half as many again as LAPACK's getri: the zeros of I are multiplied too. Column j
/// of the result has the error of a solution: |A X - I| <= c n u |L| |U| |X|. Messages: those of
/// lu_solve.
template <ExecutionPolicy Exec, class Matrix>
Matrix inverse(const Exec& exec, const LuFactors<Matrix>& factors, Index at_once = 256) {
  static_assert(BlasScalar<typename Matrix::value_type>,
                "plinth: inverse wants factors in float, double or their complex types");
  using T = typename Matrix::value_type;
  const Matrix& lu = factors.matrix();
  Matrix x(lu.grid(), lu.rows(), lu.cols(), layout_of(lu));
  if (lu.grid().active()) {
    const BlockCyclic &rows = x.distribution().rows, &cols = x.distribution().cols;
    const GridCoord at = x.grid().coord();
    const auto view = x.local();
    kernel::for_each<typename Matrix::layout>(
        exec, kernel::rows_of(view), kernel::cols_of(view),
        KOKKOS_LAMBDA(const Index i, const Index j) {
          view(i, j) = T(rows.global(i, at.row) == cols.global(j, at.col) ? 1 : 0);
        });
    exec.fence();
  }
  lu_solve(exec, factors, x, Op::none, at_once);
  return x;
}

}  // namespace plinth
