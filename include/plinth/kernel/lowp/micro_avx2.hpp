// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>

#include "plinth/kernel/convert_avx2.hpp"
#include "plinth/kernel/lowp/micro_portable.hpp"

#if PLINTH_X86_KERNELS
#define PLINTH_AVX2 __attribute__((target("avx2,fma,f16c")))
#define PLINTH_AVX2_INLINE __attribute__((target("avx2,fma,f16c"), always_inline)) inline

/// Micro-kernel with AVX2 and FMA: 16 x 6 sums in 12 registers. Blocks of the operands are
/// converted to float when they enter a cache. Only where cpu_features().fma_f16c.
namespace plinth::kernel::lowp::avx2 {

inline constexpr int vector_width = 16, broadcast_width = 6;

/// The lower (e = 0) or upper halves of 8 pairs, as floats.
template <Scalar16 T, int E>
PLINTH_AVX2_INLINE __m256 unpack(__m256i pairs) {
  if constexpr (std::same_as<T, bfloat16>) {
    return _mm256_castsi256_ps(
        E == 0 ? _mm256_slli_epi32(pairs, 16)
               : _mm256_and_si256(pairs, _mm256_set1_epi32(static_cast<int>(0xffff0000u))));
  } else {
    const __m256i x = E == 0 ? _mm256_and_si256(pairs, _mm256_set1_epi32(0xffff))
                             : _mm256_srli_epi32(pairs, 16);
    return _mm256_cvtph_ps(
        _mm_packus_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1)));
  }
}

/// Packed pairs of 16 bits to floats: out[(2 p + e) Width + i].
template <Scalar16 T, int Width>
PLINTH_AVX2 void to_floats(const Pair* packed, Index pairs, void* out) {
  float* to = static_cast<float*>(out);
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  for (Index p = 0; p < pairs; ++p, packed += Width, to += 2 * Width)
    for (int i = 0; i < Width; i += 8) {
      const __m256i inside = _mm256_cmpgt_epi32(_mm256_set1_epi32(Width - i), lane);
      const __m256i x = _mm256_maskload_epi32(reinterpret_cast<const int*>(packed + i), inside);
      _mm256_maskstore_ps(to + i, inside, unpack<T, 0>(x));
      _mm256_maskstore_ps(to + Width + i, inside, unpack<T, 1>(x));
    }
}

PLINTH_AVX2_INLINE __m256 load(const float* c) { return _mm256_loadu_ps(c); }
PLINTH_AVX2_INLINE void store(float* c, __m256 x) { _mm256_storeu_ps(c, x); }
template <Scalar16 C>
PLINTH_AVX2_INLINE __m256 load(const C* c) {
  return kernel::avx2::decode<C>(_mm_loadu_si128(reinterpret_cast<const __m128i*>(c)));
}
template <Scalar16 C>
PLINTH_AVX2_INLINE void store(C* c, __m256 x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(c), kernel::avx2::encode<C>(x));
}

template <TileScalar C>
PLINTH_AVX2 void single(const Tile<C>& t) {
  const float* v = static_cast<const float*>(t.vector);
  const float* b = static_cast<const float*>(t.broadcast);
  __m256 sum[broadcast_width][2];
#pragma GCC unroll 6
  for (int j = 0; j < broadcast_width; ++j) sum[j][0] = sum[j][1] = _mm256_setzero_ps();
  for (Index k = 0; k < 2 * t.pairs; ++k, v += vector_width, b += broadcast_width) {
    const __m256 v0 = _mm256_loadu_ps(v), v1 = _mm256_loadu_ps(v + 8);
#pragma GCC unroll 6
    for (int j = 0; j < broadcast_width; ++j) {
      const __m256 bj = _mm256_broadcast_ss(b + j);
      sum[j][0] = _mm256_fmadd_ps(v0, bj, sum[j][0]);
      sum[j][1] = _mm256_fmadd_ps(v1, bj, sum[j][1]);
    }
  }
  const __m256 alpha = _mm256_set1_ps(t.alpha);
#pragma GCC unroll 6
  for (int j = 0; j < broadcast_width; ++j) {
    if (j >= t.broadcast_count) break;
    C* const line = t.c + j * t.line_stride;
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      C* const c = line + 8 * h;
      const int count = t.vector_count - 8 * h;
      if (count >= 8) {
        store(c, _mm256_fmadd_ps(alpha, sum[j][h], load(c)));
      } else if (count > 0) {
        float some[8];
        _mm256_storeu_ps(some, sum[j][h]);
        portable::update_line(c, some, count, t.alpha);
      }
    }
  }
}

template <Scalar16 T>
constexpr MicroKernel single_kernel() {
  return {.name = "AVX2",
          .is_half = std::same_as<T, half>,
          .accumulate = Accumulate::single,
          .vector_width = vector_width,
          .broadcast_width = broadcast_width,
          .vector = {.run = &to_floats<T, vector_width>, .bytes = 8},
          .broadcast = {.run = &to_floats<T, broadcast_width>, .bytes = 8},
          .run_float = &single<float>,
          .run_half = &single<half>,
          .run_bfloat16 = &single<bfloat16>};
}

}  // namespace plinth::kernel::lowp::avx2

#undef PLINTH_AVX2
#undef PLINTH_AVX2_INLINE
#endif
