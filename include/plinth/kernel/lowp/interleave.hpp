// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>

#include "plinth/core/cpu.hpp"
#include "plinth/kernel/convert_avx512.hpp"
#include "plinth/kernel/lowp/micro_kernel.hpp"

/// How 16-bit numbers become pairs of k.
namespace plinth::kernel::lowp {

/// Widest sliver of any micro-kernel.
inline constexpr int max_width = 64;

#if PLINTH_X86_KERNELS
/// interleave(), with AVX-512, 16 pairs at a time.
template <Scalar16 T>
__attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl"))) void
interleave_avx512(const T* even, const T* odd, Index count, Index width, Pair* out) {
  using kernel::avx512::all16;
  for (Index i = 0; i < width; i += 16) {
    const __mmask16 in = kernel::avx512::first_lanes(count > i ? count - i : 0);
    const __m512i low =
        _mm512_maskz_cvtepu16_epi32(all16, _mm256_maskz_loadu_epi16(in, even + i));
    const __m512i high =
        _mm512_maskz_cvtepu16_epi32(all16, _mm256_maskz_loadu_epi16(in, odd + i));
    _mm512_mask_storeu_epi32(out + i, kernel::avx512::first_lanes(width - i),
                             _mm512_or_si512(low, _mm512_maskz_slli_epi32(all16, high, 16)));
  }
}
#endif

/// out[i] = the pair (even[i], odd[i]) for i < count, zeros for count <= i < width.
template <Scalar16 T>
void interleave(const T* even, const T* odd, Index count, Index width, Pair* out) {
#if PLINTH_X86_KERNELS
  if (cpu_features().avx512_core) return interleave_avx512(even, odd, count, width, out);
#endif
  for (Index i = 0; i < count; ++i)
    out[i] = even[i].bits() | static_cast<Pair>(odd[i].bits()) << 16;
  for (Index i = count; i < width; ++i) out[i] = 0;
}

/// out[p width + i] = in[i in_stride + p] for i < width, p < pairs.
inline void transpose_pairs(const Pair* in, Index in_stride, Index width, Index pairs,
                            Pair* out) {
  for (Index p = 0; p < pairs; ++p)
    for (Index i = 0; i < width; ++i) out[p * width + i] = in[i * in_stride + p];
}

}  // namespace plinth::kernel::lowp
