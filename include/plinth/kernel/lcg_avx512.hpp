// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "plinth/core/cpu.hpp"
#include "plinth/kernel/lcg_portable.hpp"

#if PLINTH_X86_KERNELS
#include <immintrin.h>

#define PLINTH_AVX512 __attribute__((target("avx2,avx512f,avx512dq")))
#define PLINTH_AVX512_INLINE \
  __attribute__((target("avx2,avx512f,avx512dq"), always_inline)) inline

/// The generator's kernels with AVX-512 F and DQ: eight lanes, and four vectors at a time to hide
/// the latency of the product. Call them only where is_available(Isa::avx512).
namespace plinth::kernel::avx512 {

inline constexpr int lanes = 8;
inline constexpr int vectors = 4;

/// a x + c, lane by lane.
PLINTH_AVX512_INLINE __m512i apply(__m512i a, __m512i c, __m512i x) {
  return _mm512_add_epi64(_mm512_mullo_epi64(a, x), c);
}

PLINTH_AVX512_INLINE __m512i broadcast(std::uint64_t x) {
  return _mm512_set1_epi64(static_cast<long long>(x));
}

/// States of lanes 8 v to 8 v + 7, the first lane of all being x.
PLINTH_AVX512_INLINE __m512i spread(const LcgSteps& steps, int v, __m512i x) {
  return apply(_mm512_load_si512(steps.a + v * lanes), _mm512_load_si512(steps.c + v * lanes), x);
}

PLINTH_AVX512_INLINE __m512d value(__m512i x) {
  return _mm512_fnmadd_pd(_mm512_cvtepu64_pd(x), _mm512_set1_pd(0x1p-64), _mm512_set1_pd(0.5));
}

/// GCC 12 warns of an uninitialised register inside the intrinsics without a mask.
inline constexpr __mmask8 all = 0xff;

PLINTH_AVX512_INLINE __m256 to_float(__m512d v) { return _mm512_maskz_cvtpd_ps(all, v); }

/// The value as T holds it.
template <class T>
PLINTH_AVX512_INLINE __m512d value_as(__m512i x) {
  if constexpr (sizeof(T) == sizeof(double))
    return value(x);
  else
    return _mm512_maskz_cvtps_pd(all, to_float(value(x)));
}

/// The product, rounded before it is used (see rounded()).
PLINTH_AVX512_INLINE __m512d rounded_product(__m512d a, __m512d b) {
  __m512d product = _mm512_mul_pd(a, b);
  __asm__("" : "+v"(product));
  return product;
}

PLINTH_AVX512_INLINE void store(double* out, __m512d v) { _mm512_storeu_pd(out, v); }
PLINTH_AVX512_INLINE void store(float* out, __m512d v) { _mm256_storeu_ps(out, to_float(v)); }
PLINTH_AVX512_INLINE void store_first(Index count, double* out, __m512d v) {
  _mm512_mask_storeu_pd(out, static_cast<__mmask8>((1u << count) - 1), v);
}
PLINTH_AVX512_INLINE void store_first(Index count, float* out, __m512d v) {
  _mm512_mask_storeu_ps(out, static_cast<__mmask16>((1u << count) - 1),
                        _mm512_castps256_ps512(to_float(v)));
}

/// Fills one line.
template <class T>
PLINTH_AVX512_INLINE void strip(T* out, Index count, std::uint64_t x, const LcgSteps& along) {
  const __m512i first = broadcast(x);
  __m512i x0 = spread(along, 0, first);
  if (count >= vectors * lanes) {
    __m512i x1 = spread(along, 1, first), x2 = spread(along, 2, first);
    __m512i x3 = spread(along, 3, first);
    const __m512i a = broadcast(along.all.a), c = broadcast(along.all.c);
    for (; count >= vectors * lanes; count -= vectors * lanes, out += vectors * lanes) {
      store(out, value(x0));
      store(out + lanes, value(x1));
      store(out + 2 * lanes, value(x2));
      store(out + 3 * lanes, value(x3));
      x0 = apply(a, c, x0);
      x1 = apply(a, c, x1);
      x2 = apply(a, c, x2);
      x3 = apply(a, c, x3);
    }
  }
  const __m512i a = broadcast(along[lanes].a), c = broadcast(along[lanes].c);
  for (; count >= lanes; count -= lanes, out += lanes, x0 = apply(a, c, x0))
    store(out, value(x0));
  if (count > 0) store_first(count, out, value(x0));
}

template <class T>
PLINTH_AVX512 inline void fill(const LcgTile<T>& tile, const LcgSteps& along, Affine across) {
  std::uint64_t x = tile.x;
  for (Index k = 0; k < tile.lines; ++k, x = across(x))
    strip(tile.out + k * tile.ld, tile.count, x, along);
}

PLINTH_AVX512_INLINE std::uint64_t sum_of_lanes(__m512i x) {
  const __m256i half = _mm256_add_epi64(_mm512_maskz_extracti64x4_epi64(all, x, 0),
                                        _mm512_maskz_extracti64x4_epi64(all, x, 1));
  const __m128i pair =
      _mm_add_epi64(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(pair)) +
         static_cast<std::uint64_t>(_mm_extract_epi64(pair, 1));
}

/// `Vectors` times 8 rows of a product.
template <class T, bool Sums, int Vectors>
PLINTH_AVX512_INLINE void rows(const LcgProduct& p, Index row, std::uint64_t x,
                               const LcgSteps& down, Affine right) {
  const __m512i a = broadcast(right.a), c = broadcast(right.c);
  const __m512d one = _mm512_set1_pd(1.0);
  __m512i state[Vectors];
  __m512d r[Vectors], sum[Vectors];
  for (int v = 0; v < Vectors; ++v) {
    state[v] = spread(down, v, broadcast(x));
    r[v] = _mm512_loadu_pd(p.r + row + v * lanes);
    if constexpr (Sums) sum[v] = _mm512_loadu_pd(p.row_sums + row + v * lanes);
  }
  for (Index j = 0; j < p.cols; ++j) {
    const __m512d xj = _mm512_set1_pd(p.v[j]);
    __m512i column = _mm512_setzero_si512();
    for (int v = 0; v < Vectors; ++v) {
      const __m512d aij = value_as<T>(state[v]);
      r[v] = _mm512_sub_pd(r[v], rounded_product(aij, xj));
      if constexpr (Sums) {
        const __m512d magnitude = _mm512_abs_pd(aij);
        sum[v] = _mm512_add_pd(sum[v], magnitude);
        column = _mm512_add_epi64(column, _mm512_castpd_si512(_mm512_add_pd(magnitude, one)));
      }
      state[v] = apply(a, c, state[v]);
    }
    if constexpr (Sums) p.col_sums[j] += sum_of_lanes(column);
  }
  for (int v = 0; v < Vectors; ++v) {
    _mm512_storeu_pd(p.r + row + v * lanes, r[v]);
    if constexpr (Sums) _mm512_storeu_pd(p.row_sums + row + v * lanes, sum[v]);
  }
}

template <class T, bool Sums>
PLINTH_AVX512 inline void product(const LcgProduct& p, const LcgSteps& down, Affine right) {
  std::uint64_t x = p.x;
  Index i = 0;
  for (; i + vectors * lanes <= p.rows; i += vectors * lanes, x = down.all(x))
    rows<T, Sums, vectors>(p, i, x, down, right);
  for (; i + lanes <= p.rows; i += lanes, x = down[lanes](x))
    rows<T, Sums, 1>(p, i, x, down, right);
  for (; i < p.rows; ++i, x = down[1](x)) lcg_rows_portable<T, Sums, 1>(p, i, x, down, right);
}

}  // namespace plinth::kernel::avx512

#undef PLINTH_AVX512
#undef PLINTH_AVX512_INLINE
#endif
