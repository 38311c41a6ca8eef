// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "plinth/core/scalar.hpp"
#include "plinth/kernel/blas.hpp"
#include "plinth/kernel/magnitude.hpp"
#include "plinth/kernel/trsm.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/lu/panel.hpp"
#include "plinth/lu/triangle_runs.hpp"

/// Small dense blocks on the host, whole on one process.
namespace plinth::lu {

/// Notes a pivot in global column `column`.
template <class T>
void note_pivot(PanelOutcome& outcome, Index column, T pivot) {
  if (outcome.first_zero_pivot < 0 && pivot == T(0)) outcome.first_zero_pivot = column;
  if (outcome.first_nonfinite < 0 && !is_finite(pivot)) outcome.first_nonfinite = column;
}

/// Factors the square block a = L U in place, without pivoting: recursively, by halves.
///
/// A zero pivot is left as a 1, so that what follows stays finite, and its column, counted in the
/// block, is appended to `zeros`. (2/3) n^3 flops.
template <class HostExec, class View>
void factor_unpivoted(const HostExec& exec, const View& a, Range columns, Index first_column,
                      PanelOutcome& outcome, std::vector<Index>& zeros) {
  using T = typename View::non_const_value_type;
  constexpr Index base = 16;
  if (columns.size() <= base) {
    for (Index k = columns.begin; k < columns.end; ++k) {
      note_pivot(outcome, first_column + k, a(k, k));
      if (a(k, k) == T(0)) {
        zeros.push_back(k);
        a(k, k) = T(1);
      }
      for (Index i = k + 1; i < columns.end; ++i) {
        const T l = a(i, k) / a(k, k);
        a(i, k) = l;
        for (Index j = k + 1; j < columns.end; ++j) a(i, j) -= l * a(k, j);
      }
    }
    return;
  }
  const auto [left, right] = kernel::halves(columns, base);
  const auto block = [&](Range rows, Range cols) { return kernel::part(a, rows, cols); };
  using kernel::Operand;
  factor_unpivoted(exec, a, left, first_column, outcome, zeros);
  kernel::trsm(exec, Side::left, Uplo::lower, Diag::unit, T(1), Operand<View>{block(left, left)},
               block(left, right));
  kernel::trsm(exec, Side::right, Uplo::upper, Diag::non_unit, T(1),
               Operand<View>{block(left, left)}, block(right, left));
  kernel::gemm(exec, T(-1), Operand<View>{block(right, left)}, block(left, right), T(1),
               block(right, right));
  exec.fence();
  factor_unpivoted(exec, a, right, first_column, outcome, zeros);
}

/// inverse(here, here) := the inverse of that triangle of a, by halves: with R and C the rows and
/// columns of the block off the diagonal,
///
///     X_RR = A_RR^-1,  X_CC = A_CC^-1,  X_RC = -X_RR A_RC X_CC.
///
/// The other half of `inverse` is workspace. 2/3 n^3 flops, nearly all of them products.
template <class HostExec, class View>
void invert_by_halves(const HostExec& exec, Uplo uplo, Diag diag, const View& a,
                      const View& inverse, Range here) {
  using T = typename View::non_const_value_type;
  using kernel::Operand;
  constexpr Index base = 32;
  const auto block = [](const View& v, Range rows, Range cols) {
    return kernel::part(v, rows, cols);
  };
  if (here.size() <= base) {
    const View x = block(inverse, here, here);
    for (Index i = 0; i < here.size(); ++i)
      for (Index j = 0; j < here.size(); ++j) x(i, j) = T(i == j ? 1 : 0);
    kernel::trsm(exec, Side::left, uplo, diag, T(1), Operand<View>{block(a, here, here)}, x);
    exec.fence();
    return;
  }
  const auto [low, high] = kernel::halves(here, base);
  invert_by_halves(exec, uplo, diag, a, inverse, low);
  invert_by_halves(exec, uplo, diag, a, inverse, high);
  const Range r = uplo == Uplo::lower ? high : low, c = uplo == Uplo::lower ? low : high;
  const View product = block(inverse, c, r);  // transposed, because it has room for that
  kernel::gemm(exec, T(1), Operand<View>{block(inverse, c, c), Op::transpose},
               Operand<View>{block(a, r, c), Op::transpose}, T(0), product);
  kernel::gemm(exec, T(-1), Operand<View>{block(inverse, r, r)},
               Operand<View>{product, Op::transpose}, T(0), block(inverse, r, c));
  exec.fence();
  for (Index i = 0; i < c.size(); ++i)
    for (Index j = 0; j < r.size(); ++j) product(i, j) = T(0);
}

/// inverse := the inverse of the lower or upper triangle T of a, with zeros in the other one.
/// Returns whether it is good for products in place of solves: if max |T| max |T^-1| <= 2^10, so
/// that the error of a product, about that times float's unit roundoff, stays below what 16 bits
/// see. (|L| <= 1 alone allows for entries of L^-1 of 2^(n - 1), and nothing bounds those of U^-1.)
template <class HostExec, class View>
bool invert_triangle(const HostExec& exec, Uplo uplo, Diag diag, const View& a,
                     const View& inverse) {
  const Index n = kernel::rows_of(a);
  invert_by_halves(exec, uplo, diag, a, inverse, {0, n});
  const double diagonal = diag == Diag::unit ? 1 : 0;
  const double largest = kernel::larger(diagonal, largest_in_triangle(uplo, diag, a));
  return largest * kernel::largest_magnitude(exec, inverse) <= 0x1p10;
}

/// out := T in for a lower triangle T whose other half is zeros, by strips of rows, so that only
/// little of the zeros is multiplied.
template <class Exec, class View>
void multiply_by_lower(const Exec& exec, const View& triangle, const View& in, const View& out) {
  using T = typename View::non_const_value_type;
  constexpr Index strip = 64;
  const Index n = kernel::rows_of(triangle);
  const Range cols{0, kernel::cols_of(in)};
  for (Index begin = 0; begin < n; begin += strip) {
    const Index end = std::min(begin + strip, n);
    kernel::gemm(exec, T(1),
                 kernel::Operand<View>{kernel::part(triangle, {begin, end}, {0, end})},
                 kernel::part(in, {0, end}, cols), T(0), kernel::part(out, {begin, end}, cols));
  }
}
/// out := in T for an upper triangle T, likewise.
template <class Exec, class View>
void multiply_by_upper(const Exec& exec, const View& in, const View& triangle, const View& out) {
  using T = typename View::non_const_value_type;
  constexpr Index strip = 64;
  const Index n = kernel::rows_of(triangle);
  const Range rows{0, kernel::rows_of(in)};
  for (Index begin = 0; begin < n; begin += strip) {
    const Index end = std::min(begin + strip, n);
    kernel::gemm(exec, T(1), kernel::Operand<View>{kernel::part(in, rows, {0, end})},
                 kernel::part(triangle, {0, end}, {begin, end}), T(0),
                 kernel::part(out, rows, {begin, end}));
  }
}

}  // namespace plinth::lu
