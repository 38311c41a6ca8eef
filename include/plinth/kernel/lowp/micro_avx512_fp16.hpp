// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plinth/kernel/lowp/micro_avx512.hpp"

/// 1 where the compiler has vectors of half.
#if PLINTH_X86_KERNELS && \
    ((defined(__clang__) && __clang_major__ >= 16) || (!defined(__clang__) && __GNUC__ >= 12))
#define PLINTH_FP16_KERNELS 1
#else
#define PLINTH_FP16_KERNELS 0
#endif

#if PLINTH_FP16_KERNELS
#define PLINTH_FP16_TARGET "avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl,avx512fp16"
#define PLINTH_AVX512_FP16 __attribute__((target(PLINTH_FP16_TARGET)))
#define PLINTH_AVX512_FP16_INLINE \
  __attribute__((target(PLINTH_FP16_TARGET), always_inline)) inline

/// Micro-kernel with AVX512-FP16: sums in half, 32 x 12 pairs of them in 24 registers. A lane of
/// 32 bits holds the sum over even k and the sum over odd k; every flush_pairs both are added to
/// a float in the first-level cache. Only where cpu_features().avx512_fp16.
namespace plinth::kernel::lowp::avx512_fp16 {

using avx512::broadcast_width, avx512::vector_width;

using Sums = __m512h[broadcast_width][2];

/// sum += v b over `pairs` pairs of k, all of it in half.
PLINTH_AVX512_FP16_INLINE void accumulate(Sums& sum, const Pair* v, const Pair* b, Index pairs) {
#pragma GCC unroll 12
  for (int j = 0; j < broadcast_width; ++j) sum[j][0] = sum[j][1] = _mm512_setzero_ph();
  for (Index p = 0; p < pairs; ++p, v += vector_width, b += broadcast_width) {
    const __m512h v0 = _mm512_castsi512_ph(_mm512_loadu_si512(v));
    const __m512h v1 = _mm512_castsi512_ph(_mm512_loadu_si512(v + 16));
#pragma GCC unroll 12
    for (int j = 0; j < broadcast_width; ++j) {
      const __m512h bj = _mm512_castsi512_ph(_mm512_set1_epi32(static_cast<int>(b[j])));
      sum[j][0] = _mm512_fmadd_ph(v0, bj, sum[j][0]);
      sum[j][1] = _mm512_fmadd_ph(v1, bj, sum[j][1]);
    }
  }
}

/// The sum over even k plus the sum over odd k, as floats.
PLINTH_AVX512_FP16_INLINE __m512 even_plus_odd(__m512h sum) {
  const __m512i pairs = _mm512_castph_si512(sum);
  return _mm512_add_ps(avx512::unpack<half, 0>(pairs), avx512::unpack<half, 1>(pairs));
}

/// C += alpha (sum + flushed).
template <bool Flushed, TileScalar C>
PLINTH_AVX512_FP16_INLINE void finish(const Tile<C>& t, const Sums& sum, const float* flushed) {
  const __m512 alpha = _mm512_set1_ps(t.alpha);
  const __mmask16 low = avx512::first_lanes(t.vector_count);
  const __mmask16 high = avx512::first_lanes(t.vector_count > 16 ? t.vector_count - 16 : 0);
#pragma GCC unroll 12
  for (int j = 0; j < broadcast_width; ++j) {
    if (j >= t.broadcast_count) break;
    __m512 s0 = even_plus_odd(sum[j][0]), s1 = even_plus_odd(sum[j][1]);
    if constexpr (Flushed) {
      s0 = _mm512_add_ps(_mm512_load_ps(flushed + j * vector_width), s0);
      s1 = _mm512_add_ps(_mm512_load_ps(flushed + j * vector_width + 16), s1);
    }
    C* const line = t.c + j * t.line_stride;
    avx512::update(line, low, s0, alpha);
    avx512::update(line + 16, high, s1, alpha);
  }
}

template <TileScalar C>
PLINTH_AVX512_FP16 void in_half(const Tile<C>& t) {
  const auto* v = static_cast<const Pair*>(t.vector);
  const auto* b = static_cast<const Pair*>(t.broadcast);
  avx512::prefetch(t);
  Sums sum;
  Index left = t.pairs;
  if (left <= t.flush_pairs) {
    accumulate(sum, v, b, left);
    return finish<false>(t, sum, nullptr);
  }
  alignas(64) float flushed[broadcast_width * vector_width] = {};
  for (; left > t.flush_pairs; left -= t.flush_pairs) {
    accumulate(sum, v, b, t.flush_pairs);
    v += t.flush_pairs * vector_width;
    b += t.flush_pairs * broadcast_width;
#pragma GCC unroll 12
    for (int j = 0; j < broadcast_width; ++j) {
      float* const to = flushed + j * vector_width;
      _mm512_store_ps(to, _mm512_add_ps(_mm512_load_ps(to), even_plus_odd(sum[j][0])));
      _mm512_store_ps(to + 16, _mm512_add_ps(_mm512_load_ps(to + 16), even_plus_odd(sum[j][1])));
    }
  }
  accumulate(sum, v, b, left);
  finish<true>(t, sum, flushed);
}

constexpr MicroKernel half_kernel() {
  return {.name = "AVX512-FP16",
          .is_half = true,
          .accumulate = Accumulate::half,
          .vector_width = vector_width,
          .broadcast_width = broadcast_width,
          .vector = {},
          .broadcast = {},
          .run_float = &in_half<float>,
          .run_half = &in_half<half>,
          .run_bfloat16 = &in_half<bfloat16>};
}

}  // namespace plinth::kernel::lowp::avx512_fp16

#undef PLINTH_AVX512_FP16
#undef PLINTH_AVX512_FP16_INLINE
#undef PLINTH_FP16_TARGET
#endif
