// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <vector>

#include "plinth/comm/agree.hpp"
#include "plinth/comm/grid.hpp"
#include "plinth/comm/reduce.hpp"
#include "plinth/core/options.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
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
  std::vector<Real> sums;            ///< the same on the host

  /// Room for matrices whose local part has these extents. Not collective.
  void reserve(Extents local) {
    const Index most = std::max(local.rows, local.cols);
    lines.reserve(most);
    sums.reserve(static_cast<std::size_t>(most));
  }
};

/// work.sums := sums over each local row (or column) of the moduli of the local elements, or the
/// largest ones, NaN above all.
template <bool by_row, bool sum = true, ExecutionPolicy Exec, class View, class Real>
void absolute_sums(const Exec& exec, const View& a, NormWorkspace<Real, Exec>& work) {
  using Space = typename Exec::execution_space;
  const Index lines = by_row ? kernel::rows_of(a) : kernel::cols_of(a);
  const Index along = by_row ? kernel::cols_of(a) : kernel::rows_of(a);
  work.lines.reserve(lines);
  Real* const out = work.lines.device();
  {
    [[maybe_unused]] auto scope = exec.enter();
    // In pieces of lines, so that the contiguous index of either layout is used in turn.
    constexpr Index piece = 64;
    Kokkos::parallel_for(
        "plinth::absolute_sums",
        Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec.space(), 0,
                                                             ceil_div(lines, piece)),
        KOKKOS_LAMBDA(const Index item) {
          const Index begin = item * piece;
          const Index end = begin + piece < lines ? begin + piece : lines;
          for (Index l = begin; l < end; ++l) out[l] = Real(0);
          constexpr bool line_contiguous =
              kernel::is_row_major<typename View::array_layout> == by_row;
          const auto see = [&](Index l, Index q) {
            const Real here = modulus(by_row ? a(l, q) : a(q, l));
            if (sum) {
              out[l] += here;
            } else if (here > out[l] || is_nan(here)) {
              out[l] = here;
            }
          };
          if (line_contiguous) {
            for (Index l = begin; l < end; ++l)
              for (Index q = 0; q < along; ++q) see(l, q);
          } else {
            for (Index q = 0; q < along; ++q)
              for (Index l = begin; l < end; ++l) see(l, q);
          }
        });
  }
  work.lines.to_host(exec, 0, lines);
  work.sums.assign(work.lines.host(), work.lines.host() + lines);
}

/// ||A|| in the one norm, the infinity norm or the largest modulus, the same on every rank of the
/// grid; NaN if A has one. 0 on idle ranks. Collective: three reductions, two for the largest
/// modulus. O(m n / (P Q)). Precondition, an Error on every rank: enough memory, m/P or n/Q numbers
/// twice.
template <ExecutionPolicy Exec, class Matrix, class Real = RealOf<typename Matrix::value_type>>
Real norm(const Exec& exec, const Matrix& a, Norm which, NormWorkspace<Real, Exec>& work) {
  const ProcessGrid& grid = a.grid();
  comm::Fingerprint arguments;
  arguments << static_cast<Index>(which) << a.distribution();
  comm::agree_on(grid.all(), "norm", arguments.value(), [&] { work.reserve(a.local_extents()); });
  if (!grid.active()) return Real(0);
  const bool by_row = which == Norm::inf;
  if (which == Norm::max) {
    constexpr bool rows = kernel::is_row_major<typename Matrix::layout>;
    absolute_sums<rows, false>(exec, a.local(), work);
  } else {
    if (by_row) {
      absolute_sums<true>(exec, a.local(), work);
    } else {
      absolute_sums<false>(exec, a.local(), work);
    }
    comm::sum_of_all(by_row ? grid.row_vectors() : grid.column_vectors(), work.sums);
  }
  std::vector<Real> result{largest(work.sums)};
  comm::max_of_all(grid.all(), result);
  return result.front();
}
/// The same with a workspace of its own.
template <ExecutionPolicy Exec, class Matrix>
auto norm(const Exec& exec, const Matrix& a, Norm which) {
  NormWorkspace<RealOf<typename Matrix::value_type>, Exec> work;
  return norm(exec, a, which, work);
}

}  // namespace plinth
