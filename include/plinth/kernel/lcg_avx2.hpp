// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "plinth/core/cpu.hpp"
#include "plinth/kernel/lcg_portable.hpp"

#if PLINTH_X86_KERNELS
#include <immintrin.h>

#define PLINTH_AVX2 __attribute__((target("avx2")))
#define PLINTH_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline

/// The generator's kernels with AVX2: four lanes, and two to four vectors at a time. AVX2 has no
/// 64-bit product and no conversion from unsigned integers: both are made of halves, exactly.
/// Call them only where is_available(Isa::avx2).
namespace plinth::kernel::avx2 {

inline constexpr int lanes = 4;

PLINTH_AVX2_INLINE __m256i broadcast(std::uint64_t x) {
  return _mm256_set1_epi64x(static_cast<long long>(x));
}

/// Lane by lane x -> a x + c, the upper halves of a at hand.
struct Map {
  __m256i a, upper, c;
};

PLINTH_AVX2_INLINE Map make_map(__m256i a, __m256i c) { return {a, _mm256_srli_epi64(a, 32), c}; }
PLINTH_AVX2_INLINE Map broadcast(Affine step) {
  return make_map(broadcast(step.a), broadcast(step.c));
}

/// a x + c modulo 2^64: the product of the lower halves and, shifted, the two mixed ones.
PLINTH_AVX2_INLINE __m256i apply(const Map& map, __m256i x) {
  const __m256i low = _mm256_add_epi64(_mm256_mul_epu32(map.a, x), map.c);
  const __m256i mixed = _mm256_add_epi64(_mm256_mul_epu32(map.a, _mm256_srli_epi64(x, 32)),
                                         _mm256_mul_epu32(map.upper, x));
  return _mm256_add_epi64(low, _mm256_slli_epi64(mixed, 32));
}

/// States of lanes 4 v to 4 v + 3, the first lane of all being x.
PLINTH_AVX2_INLINE __m256i spread(const LcgSteps& steps, int v, __m256i x) {
  const auto* a = reinterpret_cast<const __m256i*>(steps.a + v * lanes);
  const auto* c = reinterpret_cast<const __m256i*>(steps.c + v * lanes);
  return apply(make_map(_mm256_load_si256(a), _mm256_load_si256(c)), x);
}

/// 1/2 - x 2^-64. The halves of x become the last bits of doubles with a fixed exponent:
/// 2^20 + upper 2^-32 and 2^-12 + lower 2^-64. Everything is exact except the one sum. The
/// statements without text keep -ffast-math from regrouping the terms.
PLINTH_AVX2_INLINE __m256d value(__m256i x) {
  const __m256i upper_offset = broadcast(0x4130000000000000u);  // 2^20
  const __m256i lower_offset = broadcast(0x3f30000000000000u);  // 2^-12
  const __m256i upper_bits = _mm256_or_si256(_mm256_srli_epi64(x, 32), upper_offset);
  const __m256i lower_bits = _mm256_blend_epi32(x, lower_offset, 0xaa);
  __m256d upper =
      _mm256_sub_pd(_mm256_castsi256_pd(upper_bits), _mm256_set1_pd(0x1p20 + 0x1p-12));
  __asm__("" : "+x"(upper));
  __m256d u = _mm256_add_pd(upper, _mm256_castsi256_pd(lower_bits));
  __asm__("" : "+x"(u));
  return _mm256_sub_pd(_mm256_set1_pd(0.5), u);
}

/// The value as T holds it.
template <class T>
PLINTH_AVX2_INLINE __m256d value_as(__m256i x) {
  if constexpr (sizeof(T) == sizeof(double))
    return value(x);
  else
    return _mm256_cvtps_pd(_mm256_cvtpd_ps(value(x)));
}

/// The product, rounded before it is used (see rounded()).
PLINTH_AVX2_INLINE __m256d rounded_product(__m256d a, __m256d b) {
  __m256d product = _mm256_mul_pd(a, b);
  __asm__("" : "+x"(product));
  return product;
}

PLINTH_AVX2_INLINE void store(double* out, __m256d v) { _mm256_storeu_pd(out, v); }
PLINTH_AVX2_INLINE void store(float* out, __m256d v) { _mm_storeu_ps(out, _mm256_cvtpd_ps(v)); }

template <class T>
PLINTH_AVX2_INLINE void store_first(Index count, T* out, __m256d v) {
  T values[lanes];
  store(values, v);
  for (Index k = 0; k < count; ++k) out[k] = values[k];
}

/// Fills one line.
template <class T>
PLINTH_AVX2_INLINE void strip(T* out, Index count, std::uint64_t x, const LcgSteps& along) {
  constexpr int vectors = 4;
  const __m256i first = broadcast(x);
  __m256i x0 = spread(along, 0, first);
  if (count >= vectors * lanes) {
    __m256i x1 = spread(along, 1, first), x2 = spread(along, 2, first);
    __m256i x3 = spread(along, 3, first);
    const Map map = broadcast(along[vectors * lanes]);
    for (; count >= vectors * lanes; count -= vectors * lanes, out += vectors * lanes) {
      store(out, value(x0));
      store(out + lanes, value(x1));
      store(out + 2 * lanes, value(x2));
      store(out + 3 * lanes, value(x3));
      x0 = apply(map, x0);
      x1 = apply(map, x1);
      x2 = apply(map, x2);
      x3 = apply(map, x3);
    }
  }
  const Map map = broadcast(along[lanes]);
  for (; count >= lanes; count -= lanes, out += lanes, x0 = apply(map, x0)) store(out, value(x0));
  if (count > 0) store_first(count, out, value(x0));
}

template <class T>
PLINTH_AVX2 inline void fill(const LcgTile<T>& tile, const LcgSteps& along, Affine across) {
  std::uint64_t x = tile.x;
  for (Index k = 0; k < tile.lines; ++k, x = across(x))
    strip(tile.out + k * tile.ld, tile.count, x, along);
}

PLINTH_AVX2_INLINE std::uint64_t sum_of_lanes(__m256i x) {
  const __m128i pair = _mm_add_epi64(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(pair)) +
         static_cast<std::uint64_t>(_mm_extract_epi64(pair, 1));
}

/// `Vectors` times 4 rows of a product.
template <class T, bool Sums, int Vectors>
PLINTH_AVX2_INLINE void rows(const LcgProduct& p, Index row, std::uint64_t x,
                             const LcgSteps& down, Affine right) {
  const Map map = broadcast(right);
  const __m256d one = _mm256_set1_pd(1.0), sign = _mm256_set1_pd(-0.0);
  __m256i state[Vectors];
  __m256d r[Vectors], sum[Vectors];
  for (int v = 0; v < Vectors; ++v) {
    state[v] = spread(down, v, broadcast(x));
    r[v] = _mm256_loadu_pd(p.r + row + v * lanes);
    if constexpr (Sums) sum[v] = _mm256_loadu_pd(p.row_sums + row + v * lanes);
  }
  for (Index j = 0; j < p.cols; ++j) {
    const __m256d xj = _mm256_set1_pd(p.v[j]);
    __m256i column = _mm256_setzero_si256();
    for (int v = 0; v < Vectors; ++v) {
      const __m256d aij = value_as<T>(state[v]);
      r[v] = _mm256_sub_pd(r[v], rounded_product(aij, xj));
      if constexpr (Sums) {
        const __m256d magnitude = _mm256_andnot_pd(sign, aij);
        sum[v] = _mm256_add_pd(sum[v], magnitude);
        column = _mm256_add_epi64(column, _mm256_castpd_si256(_mm256_add_pd(magnitude, one)));
      }
      state[v] = apply(map, state[v]);
    }
    if constexpr (Sums) p.col_sums[j] += sum_of_lanes(column);
  }
  for (int v = 0; v < Vectors; ++v) {
    _mm256_storeu_pd(p.r + row + v * lanes, r[v]);
    if constexpr (Sums) _mm256_storeu_pd(p.row_sums + row + v * lanes, sum[v]);
  }
}

template <class T, bool Sums>
PLINTH_AVX2 inline void product(const LcgProduct& p, const LcgSteps& down, Affine right) {
  constexpr int vectors = 2;
  std::uint64_t x = p.x;
  Index i = 0;
  for (; i + vectors * lanes <= p.rows; i += vectors * lanes, x = down[vectors * lanes](x))
    rows<T, Sums, vectors>(p, i, x, down, right);
  for (; i < p.rows; ++i, x = down[1](x)) lcg_rows_portable<T, Sums, 1>(p, i, x, down, right);
}

}  // namespace plinth::kernel::avx2

#undef PLINTH_AVX2
#undef PLINTH_AVX2_INLINE
#endif
