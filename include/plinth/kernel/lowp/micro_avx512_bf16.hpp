// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plinth/kernel/lowp/micro_avx512.hpp"

#if PLINTH_X86_KERNELS
#define PLINTH_AVX512_BF16 \
  __attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl,avx512bf16")))

/// Micro-kernel with AVX512-BF16: vdpbf16ps adds two products to each of 16 floats. 32 x 12 sums
/// in 24 registers. Subnormal operands and sums count as zero. Only where
/// cpu_features().avx512_bf16.
namespace plinth::kernel::lowp::avx512_bf16 {

using avx512::broadcast_width, avx512::vector_width;

template <TileScalar C>
PLINTH_AVX512_BF16 void single(const Tile<C>& t) {
  const auto* v = static_cast<const Pair*>(t.vector);
  const auto* b = static_cast<const Pair*>(t.broadcast);
  avx512::prefetch(t);
  __m512 sum[broadcast_width][2];
#pragma GCC unroll 12
  for (int j = 0; j < broadcast_width; ++j) sum[j][0] = sum[j][1] = _mm512_setzero_ps();
  for (Index p = 0; p < t.pairs; ++p, v += vector_width, b += broadcast_width) {
    const auto v0 = reinterpret_cast<__m512bh>(_mm512_loadu_si512(v));
    const auto v1 = reinterpret_cast<__m512bh>(_mm512_loadu_si512(v + 16));
#pragma GCC unroll 12
    for (int j = 0; j < broadcast_width; ++j) {
      const auto bj = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(b[j])));
      sum[j][0] = _mm512_dpbf16_ps(sum[j][0], v0, bj);
      sum[j][1] = _mm512_dpbf16_ps(sum[j][1], v1, bj);
    }
  }
  const __m512 alpha = _mm512_set1_ps(t.alpha);
  const __mmask16 low = avx512::first_lanes(t.vector_count);
  const __mmask16 high = avx512::first_lanes(t.vector_count > 16 ? t.vector_count - 16 : 0);
#pragma GCC unroll 12
  for (int j = 0; j < broadcast_width; ++j) {
    if (j >= t.broadcast_count) break;
    C* const line = t.c + j * t.line_stride;
    avx512::update(line, low, sum[j][0], alpha);
    avx512::update(line + 16, high, sum[j][1], alpha);
  }
}

constexpr MicroKernel single_kernel() {
  return {.name = "AVX512-BF16",
          .is_half = false,
          .accumulate = Accumulate::single,
          .vector_width = vector_width,
          .broadcast_width = broadcast_width,
          .vector = {},
          .broadcast = {},
          .run_float = &single<float>,
          .run_half = &single<half>,
          .run_bfloat16 = &single<bfloat16>};
}

}  // namespace plinth::kernel::lowp::avx512_bf16

#undef PLINTH_AVX512_BF16
#endif
