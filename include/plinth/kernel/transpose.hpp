// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <type_traits>

#include "plinth/core/cpu.hpp"
#include "plinth/core/index.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/policy/execution.hpp"

#if PLINTH_X86_KERNELS
#include <immintrin.h>
#endif

namespace plinth::kernel {

/// to(j, i) = from(i, j) for one tile: `rows` rows of `from`, `cols` elements each; rows of `from`
/// and of `to` are contiguous, from_lead and to_lead apart.
template <class T>
KOKKOS_INLINE_FUNCTION void transpose_tile(const T* from, Index from_lead, T* to, Index to_lead,
                                           Index rows, Index cols) {
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i) to[j * to_lead + i] = from[i * from_lead + j];
}

#if PLINTH_X86_KERNELS
/// A tile of 8 x 8 elements of eight bytes, in registers: pairs, then quarters are exchanged.
[[gnu::target("avx512f,avx512dq")]] inline void transpose_8x8_avx512(const double* from,
                                                                     Index from_lead, double* to,
                                                                     Index to_lead) {
  __m512d r[8], p[8], q[8];
  for (int i = 0; i < 8; ++i) r[i] = _mm512_loadu_pd(from + i * from_lead);
  for (int i = 0; i < 8; i += 2) {  // 2 x 2 blocks of elements
    p[i] = _mm512_mask_unpacklo_pd(r[i], 0xff, r[i], r[i + 1]);
    p[i + 1] = _mm512_mask_unpackhi_pd(r[i], 0xff, r[i], r[i + 1]);
  }
  for (int h = 0; h < 8; h += 4)  // 2 x 2 blocks of pairs
    for (int i = 0; i < 2; ++i) {
      q[h + i] = _mm512_mask_shuffle_f64x2(p[h + i], 0xff, p[h + i], p[h + i + 2], 0x88);
      q[h + i + 2] = _mm512_mask_shuffle_f64x2(p[h + i], 0xff, p[h + i], p[h + i + 2], 0xdd);
    }
  for (int i = 0; i < 4; ++i) {  // 2 x 2 blocks of fours
    const __m512d even = _mm512_mask_shuffle_f64x2(q[i], 0xff, q[i], q[i + 4], 0x88);
    const __m512d odd = _mm512_mask_shuffle_f64x2(q[i], 0xff, q[i], q[i + 4], 0xdd);
    _mm512_storeu_pd(to + i * to_lead, even);
    _mm512_storeu_pd(to + (i + 4) * to_lead, odd);
  }
}
#endif

/// transpose_tile for host memory, with vectors where there are some for it.
template <class T>
void transpose_tile_host(Isa isa, const T* from, Index from_lead, T* to, Index to_lead,
                         Index rows, Index cols) {
#if PLINTH_X86_KERNELS
  if constexpr (std::is_same_v<T, double>) {
    if (isa == Isa::avx512) {
      const Index whole_rows = rows / 8 * 8, whole_cols = cols / 8 * 8;
      for (Index i = 0; i < whole_rows; i += 8)
        for (Index j = 0; j < whole_cols; j += 8)
          transpose_8x8_avx512(from + i * from_lead + j, from_lead, to + j * to_lead + i,
                               to_lead);
      transpose_tile(from + whole_cols, from_lead, to + whole_cols * to_lead, to_lead, whole_rows,
                     cols - whole_cols);
      transpose_tile(from + whole_rows * from_lead, from_lead, to + whole_rows, to_lead,
                     rows - whole_rows, cols);
      return;
    }
  }
#endif
  static_cast<void>(isa);
  transpose_tile(from, from_lead, to, to_lead, rows, cols);
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
