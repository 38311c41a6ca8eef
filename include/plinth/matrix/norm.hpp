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

/// sums := those over each local row (or column) of the moduli of the local elements. Precondition:
/// room for them.
template <bool by_row, ExecutionPolicy Exec, class View, class Real>
void absolute_sums(const Exec& exec, const View& a, kernel::Staged<Real, Exec>& sums) {
  using Space = typename Exec::execution_space;
  const Index lines = by_row ? kernel::rows_of(a) : kernel::cols_of(a);
  const Index along = by_row ? kernel::cols_of(a) : kernel::rows_of(a);
  Real* const out = sums.device();
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
          if (line_contiguous) {
            for (Index l = begin; l < end; ++l)
              for (Index q = 0; q < along; ++q) out[l] += modulus(by_row ? a(l, q) : a(q, l));
          } else {
            for (Index q = 0; q < along; ++q)
              for (Index l = begin; l < end; ++l) out[l] += modulus(by_row ? a(l, q) : a(q, l));
          }
        });
  }
  sums.to_host(exec, 0, lines);
}

/// ||A|| in the one norm or the infinity norm, the same on every rank of the grid; NaN if A has
/// one. 0 on idle ranks. Collective: three reductions. O(m n / (P Q)). Errors, on every rank: the
/// same call on every rank; enough memory for twice m/P (n/Q) sums.
template <ExecutionPolicy Exec, class Matrix>
RealOf<typename Matrix::value_type> norm(const Exec& exec, const Matrix& a, Norm which) {
  using Real = RealOf<typename Matrix::value_type>;
  const ProcessGrid& grid = a.grid();
  comm::Fingerprint arguments;
  arguments << static_cast<Index>(which) << a.distribution();
  const bool by_row = which == Norm::inf;
  const Index lines = by_row ? a.local_extents().rows : a.local_extents().cols;
  kernel::Staged<Real, Exec> mine;
  std::vector<Real> sums;
  comm::agree_on(grid.all(), "norm", arguments.value(), [&] {
    mine.reserve(lines);
    sums.resize(static_cast<std::size_t>(lines));
  });
  if (!grid.active()) return Real(0);
  if (by_row) {
    absolute_sums<true>(exec, a.local(), mine);
  } else {
    absolute_sums<false>(exec, a.local(), mine);
  }
  std::copy_n(mine.host(), lines, sums.begin());
  comm::sum_of_all(by_row ? grid.row_vectors() : grid.column_vectors(), sums);
  std::vector<Real> result{largest(sums)};
  comm::max_of_all(grid.all(), result);
  return result.front();
}

}  // namespace plinth
