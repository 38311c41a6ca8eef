// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <type_traits>

#include "plinth/core/cpu.hpp"
#include "plinth/core/index.hpp"
#include "plinth/kernel/register_tile.hpp"
#include "plinth/kernel/simd.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/policy/execution.hpp"

namespace plinth::kernel {

/// to(j, i) = from(i, j) for one tile: `rows` rows of `from`, `cols` elements each; rows of `from`
/// and of `to` are contiguous, from_lead and to_lead apart.
template <class T>
KOKKOS_INLINE_FUNCTION void transpose_tile(const T* from, Index from_lead, T* to, Index to_lead,
                                           Index rows, Index cols) {
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i) to[j * to_lead + i] = from[i * from_lead + j];
}

/// transpose_tile for host memory, in registers as far as whole vectors go.
template <class T>
void transpose_tile_host(Isa isa, const T* from, Index from_lead, T* to, Index to_lead,
                         Index rows, Index cols) {
  Index done_rows = 0, done_cols = 0;
  if constexpr (std::is_floating_point_v<T>) {
    const auto run = [&]<int bytes>(std::integral_constant<int, bytes>) {
      constexpr Index lanes = RegisterTile<T, bytes>::lanes;
      const Index down = rows / lanes, across = cols / lanes;
      run_simd(isa, TransposeTiles<T, bytes>{from, from_lead, to, to_lead, down, across});
      done_rows = down * lanes;
      done_cols = across * lanes;
    };
    if (isa == Isa::avx512) {
      run(std::integral_constant<int, 64>{});
    } else if (isa == Isa::avx2) {
      run(std::integral_constant<int, 32>{});
    } else {
      run(std::integral_constant<int, 16>{});
    }
  }
  transpose_tile(from + done_cols, from_lead, to + done_cols * to_lead, to_lead, done_rows,
                 cols - done_cols);
  transpose_tile(from + done_rows * from_lead, from_lead, to + done_rows, to_lead,
                 rows - done_rows, cols);
}

/// The one or the other.
template <bool on_host, class T>
KOKKOS_INLINE_FUNCTION void transpose_tile_on(Isa isa, const T* from, Index from_lead, T* to,
                                              Index to_lead, Index rows, Index cols) {
  if constexpr (on_host) {
    transpose_tile_host(isa, from, from_lead, to, to_lead, rows, cols);
  } else {
    transpose_tile(from, from_lead, to, to_lead, rows, cols);
  }
}

/// to(j, i) = from(i, j) for row-major matrices: between such a matrix and a column-major panel,
/// which is the transpose of a row-major View. Works in tiles, so that both sides use whole cache
/// lines. Precondition: to is cols x rows.
template <ExecutionPolicy Exec, class From, class To>
void transpose(const Exec& exec, const From& from, const To& to) {
  static_assert(
      is_row_major<typename From::array_layout> && is_row_major<typename To::array_layout>,
      "plinth: transpose is between row-major matrices");
  using T = typename To::non_const_value_type;
  using Space = typename Exec::execution_space;
  constexpr bool on_host = Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible;
  constexpr Index tile_rows = on_host ? 16 : 8, tile_cols = on_host ? 64 : 8;
  const Index rows = rows_of(from), cols = cols_of(from);
  if (rows == 0 || cols == 0) return;
  const Index across = ceil_div(cols, tile_cols);
  const Index from_lead = leading_dimension(from), to_lead = leading_dimension(to);
  const T* const source = from.data();
  T* const target = to.data();
  const Isa isa = best_isa();
  [[maybe_unused]] auto scope = exec.enter();
  Kokkos::parallel_for(
      "plinth::transpose",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec.space(), 0,
                                                           ceil_div(rows, tile_rows) * across),
      KOKKOS_LAMBDA(const Index item) {
        const Index i = item / across * tile_rows, j = item % across * tile_cols;
        const Index height = i + tile_rows < rows ? tile_rows : rows - i;
        const Index width = j + tile_cols < cols ? tile_cols : cols - j;
        const T* const tile = source + i * from_lead + j;
        T* const flipped = target + j * to_lead + i;
        transpose_tile_on<on_host>(isa, tile, from_lead, flipped, to_lead, height, width);
      });
}

}  // namespace plinth::kernel
