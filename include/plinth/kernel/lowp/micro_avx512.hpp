// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>

#include "plinth/kernel/convert_avx512.hpp"
#include "plinth/kernel/lowp/micro_kernel.hpp"

#if PLINTH_X86_KERNELS
#define PLINTH_AVX512 __attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl")))
#define PLINTH_AVX512_INLINE                                                 \
  __attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl"), \
                 always_inline)) inline

/// Micro-kernel with AVX-512: 32 x 12 sums in 24 registers. Blocks of the operands are converted
/// to float when they enter a cache. Only where cpu_features().avx512_core.
namespace plinth::kernel::lowp::avx512 {

using kernel::avx512::all16;
using kernel::avx512::first_lanes;

inline constexpr int vector_width = 32, broadcast_width = 12;

/// The lower (E = 0) or upper halves of 16 pairs, as floats.
template <Scalar16 T, int E>
PLINTH_AVX512_INLINE __m512 unpack(__m512i pairs) {
  if constexpr (std::same_as<T, bfloat16>) {
    return _mm512_castsi512_ps(
        E == 0 ? _mm512_maskz_slli_epi32(all16, pairs, 16)
               : _mm512_and_si512(pairs, _mm512_set1_epi32(static_cast<int>(0xffff0000u))));
  } else {
    const __m512i x = E == 0 ? pairs : _mm512_maskz_srli_epi32(all16, pairs, 16);
    return _mm512_maskz_cvtph_ps(all16, _mm512_maskz_cvtepi32_epi16(all16, x));
  }
}

/// Packed pairs of 16 bits to floats: out[(2 p + e) Width + i].
template <Scalar16 T, int Width>
PLINTH_AVX512 void to_floats(const Pair* packed, Index pairs, void* out) {
  float* to = static_cast<float*>(out);
  for (Index p = 0; p < pairs; ++p, packed += Width, to += 2 * Width)
    for (int i = 0; i < Width; i += 16) {
      const __mmask16 inside = first_lanes(Width - i);
      const __m512i x = _mm512_maskz_loadu_epi32(inside, packed + i);
      _mm512_mask_storeu_ps(to + i, inside, unpack<T, 0>(x));
      _mm512_mask_storeu_ps(to + Width + i, inside, unpack<T, 1>(x));
    }
}

/// c[i] += alpha sum[i] in the lanes given, rounded once.
template <TileScalar C>
PLINTH_AVX512_INLINE void update(C* c, __mmask16 lanes, __m512 sum, __m512 alpha) {
  if constexpr (std::same_as<C, float>) {
    const __m512 old = _mm512_maskz_loadu_ps(lanes, c);
    _mm512_mask_storeu_ps(c, lanes, _mm512_fmadd_ps(alpha, sum, old));
  } else {
    const __m512 old = kernel::avx512::decode<C>(_mm256_maskz_loadu_epi16(lanes, c));
    _mm256_mask_storeu_epi16(c, lanes,
                             kernel::avx512::encode<C>(_mm512_fmadd_ps(alpha, sum, old)));
  }
}

/// Asks for a tile's lines of C, which are used after the sums.
template <TileScalar C>
PLINTH_AVX512_INLINE void prefetch(const Tile<C>& t) {
  for (int j = 0; j < t.broadcast_count; ++j) {
    const C* const line = t.c + j * t.line_stride;
    _mm_prefetch(reinterpret_cast<const char*>(line), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(line + t.vector_count - 1), _MM_HINT_T0);
  }
}

template <TileScalar C>
PLINTH_AVX512 void single(const Tile<C>& t) {
  const float* v = static_cast<const float*>(t.vector);
  const float* b = static_cast<const float*>(t.broadcast);
  prefetch(t);
  __m512 sum[broadcast_width][2];
#pragma GCC unroll 12
  for (int j = 0; j < broadcast_width; ++j) sum[j][0] = sum[j][1] = _mm512_setzero_ps();
  for (Index k = 0; k < 2 * t.pairs; ++k, v += vector_width, b += broadcast_width) {
    const __m512 v0 = _mm512_loadu_ps(v), v1 = _mm512_loadu_ps(v + 16);
#pragma GCC unroll 12
    for (int j = 0; j < broadcast_width; ++j) {
      const __m512 bj = _mm512_set1_ps(b[j]);
      sum[j][0] = _mm512_fmadd_ps(v0, bj, sum[j][0]);
      sum[j][1] = _mm512_fmadd_ps(v1, bj, sum[j][1]);
    }
  }
  const __m512 alpha = _mm512_set1_ps(t.alpha);
  const __mmask16 low = first_lanes(t.vector_count);
  const __mmask16 high = first_lanes(t.vector_count > 16 ? t.vector_count - 16 : 0);
#pragma GCC unroll 12
  for (int j = 0; j < broadcast_width; ++j) {
    if (j >= t.broadcast_count) break;
    C* const line = t.c + j * t.line_stride;
    update(line, low, sum[j][0], alpha);
    update(line + 16, high, sum[j][1], alpha);
  }
}

template <Scalar16 T>
constexpr MicroKernel single_kernel() {
  return {.name = "AVX-512",
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

}  // namespace plinth::kernel::lowp::avx512

#undef PLINTH_AVX512
#undef PLINTH_AVX512_INLINE
#endif
