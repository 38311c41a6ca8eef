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

/// A matrix cut into tiles, and where they go when it is transposed.
template <class T>
struct TransposedTiles {
  const T* from;
  Index from_lead;
  T* to;
  Index to_lead;
  Index rows, cols;
  Index height, width;  ///< of a tile
  Index across;         ///< how many tiles side by side

  struct Tile {
    const T* from;
    T* to;
    Index rows, cols;
  };
  KOKKOS_FUNCTION Tile operator[](Index item) const {
    const Index i = item / across * height, j = item % across * width;
    return {from + i * from_lead + j, to + j * to_lead + i, i + height < rows ? height : rows - i,
            j + width < cols ? width : cols - j};
  }
};

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
  constexpr bool on_host = runs_on_host<Space>;
  constexpr Index height = on_host ? 16 : 8, width = on_host ? 64 : 8;
  const Index rows = rows_of(from), cols = cols_of(from);
  if (rows == 0 || cols == 0) return;
  const TransposedTiles<T> tiles{
      from.data(), leading_dimension(from), to.data(), leading_dimension(to),  rows,
      cols,        height,                  width,     ceil_div(cols, width)};
  [[maybe_unused]] auto scope = exec.enter();
  const Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> all(
      exec.space(), 0, ceil_div(rows, height) * tiles.across);
  if constexpr (on_host) {
    const Isa isa = best_isa();
    Kokkos::parallel_for("plinth::transpose", all, [=](const Index item) {
      const auto tile = tiles[item];
      transpose_tile_host(isa, tile.from, tiles.from_lead, tile.to, tiles.to_lead, tile.rows,
                          tile.cols);
    });
  } else {
    Kokkos::parallel_for(
        "plinth::transpose", all, KOKKOS_LAMBDA(const Index item) {
          const auto tile = tiles[item];
          transpose_tile(tile.from, tiles.from_lead, tile.to, tiles.to_lead, tile.rows,
                         tile.cols);
        });
  }
}

}  // namespace plinth::kernel
