// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "plinth/comm/agree.hpp"
#include "plinth/comm/grid.hpp"
#include "plinth/comm/reduce.hpp"
#include "plinth/core/options.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/line_moduli.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/matrix/distributed_matrix.hpp"

namespace plinth {

/// The largest of `values` with NaN above all: a norm must not hide one.
template <class Real>
Real largest(const std::vector<Real>& values) {
  Real most = Real(0);
  for (const Real v : values) {
    if (is_nan(v)) return v;
    most = std::max(most, v);
  }
  return most;
}

/// What norm() works with, kept from call to call by those that may not allocate.
template <class Real, ExecutionPolicy Exec>
struct NormWorkspace {
  kernel::Staged<Real, Exec> lines;  ///< what kernels make of rows or columns
  std::vector<Real> values;          ///< the same on the host

  /// Room for matrices whose local part has these extents. Not collective.
  void reserve(Extents local) {
    const Index most = std::max(local.rows, local.cols);
    lines.reserve(most);
    values.reserve(static_cast<std::size_t>(most));
  }
};

/// work.values := what `fold` makes of the moduli in each local row (or column); room for it is
/// there.
template <bool by_row, kernel::Fold fold, ExecutionPolicy Exec, class View, class Real>
void fold_local_lines(const Exec& exec, const View& a, NormWorkspace<Real, Exec>& work) {
  const Index lines = by_row ? kernel::rows_of(a) : kernel::cols_of(a);
  kernel::fold_moduli<by_row, fold>(exec, a, kernel::FoldedLines<Real>{work.lines.device()});
  work.lines.to_host(exec, 0, lines);
  work.values.assign(work.lines.host(), work.lines.host() + lines);
}

/// ||A|| in the one norm, the infinity norm or the largest modulus, the same on every rank of the
/// grid; NaN if A has one. 0 on idle ranks. Collective: three reductions, two for the largest
/// modulus. One pass over A, O(m n / (P Q)). Precondition, an Error on every rank: enough memory,
/// m/P or n/Q numbers twice.
template <ExecutionPolicy Exec, class Matrix, class Real = RealOf<typename Matrix::value_type>>
Real norm(const Exec& exec, const Matrix& a, Norm which, NormWorkspace<Real, Exec>& work) {
  const ProcessGrid& grid = a.grid();
  comm::Fingerprint arguments;
  arguments << static_cast<Index>(which) << a.distribution();
  comm::agree_on(grid.all(), "norm", arguments.value(), [&] { work.reserve(a.local_extents()); });
  if (!grid.active()) return Real(0);
  if (which == Norm::max) {
    constexpr bool by_row = kernel::is_row_major<typename Matrix::layout>;
    fold_local_lines<by_row, kernel::Fold::largest>(exec, a.local(), work);
  } else if (which == Norm::inf) {
    fold_local_lines<true, kernel::Fold::sum>(exec, a.local(), work);
    comm::sum_of_all(grid.row_vectors(), work.values);
  } else {
    fold_local_lines<false, kernel::Fold::sum>(exec, a.local(), work);
    comm::sum_of_all(grid.column_vectors(), work.values);
  }
  std::vector<Real> result{largest(work.values)};
  comm::max_of_all(grid.all(), result);
  return result.front();
}
/// The same with a workspace of its own.
template <ExecutionPolicy Exec, class Matrix>
auto norm(const Exec& exec, const Matrix& a, Norm which) {
  NormWorkspace<RealOf<typename Matrix::value_type>, Exec> work;
  return norm(exec, a, which, work);
}

/// Whether no entry of A is infinite or NaN, given a norm of A: one that is finite says so, another
/// one may have overflowed, which a look at the largest modulus tells. Collective; nothing or that.
template <ExecutionPolicy Exec, class Matrix, class Real = RealOf<typename Matrix::value_type>>
bool is_finite_matrix(const Exec& exec, const Matrix& a, double a_norm,
                      NormWorkspace<Real, Exec>& work) {
  return is_finite(a_norm) || is_finite(norm(exec, a, Norm::max, work));
}
/// The same with a workspace of its own.
template <ExecutionPolicy Exec, class Matrix>
bool is_finite_matrix(const Exec& exec, const Matrix& a, double a_norm) {
  NormWorkspace<RealOf<typename Matrix::value_type>, Exec> work;
  return is_finite_matrix(exec, a, a_norm, work);
}

}  // namespace plinth
