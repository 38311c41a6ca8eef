// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>

#include "plinth/core/cpu.hpp"
#include "plinth/kernel/convert_runs.hpp"

#if PLINTH_X86_KERNELS
#include <immintrin.h>

#define PLINTH_AVX512 __attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl")))
#define PLINTH_AVX512_INLINE                                                 \
  __attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl"), \
                 always_inline)) inline

/// Conversions with AVX-512, 16 numbers at a time. Call them only where
/// cpu_features().avx512_core. Bits are encode16's, unless a flush-to-zero mode is on.
/// (AVX512-BF16 has a conversion that flushes subnormals, so it is not used. Forms with a mask of
/// all lanes are here because GCC 12 warns of an uninitialised register inside those without.)
namespace plinth::kernel::avx512 {

inline constexpr __mmask8 all8 = 0xff;
inline constexpr __mmask16 all16 = 0xffff;

/// Ones in the lowest `count` of 16 lanes.
PLINTH_AVX512_INLINE __mmask16 first_lanes(Index count) {
  return static_cast<__mmask16>(count >= 16 ? 0xffffu : (1u << count) - 1u);
}

/// in[i] scale as floats. Doubles are rounded to odd: towards zero, then the last bit is set
/// where that was inexact, so that rounding once more, to 16 bits, gives the right number.
PLINTH_AVX512_INLINE __m512 load_scaled(const float* in, __mmask16 mask, float scale) {
  return _mm512_mul_ps(_mm512_maskz_loadu_ps(mask, in), _mm512_set1_ps(scale));
}
PLINTH_AVX512_INLINE __m256i load_odd(const double* in, __mmask8 mask, double scale) {
  const __m512d x = _mm512_mul_pd(_mm512_maskz_loadu_pd(mask, in), _mm512_set1_pd(scale));
  const __m256 f = _mm512_maskz_cvt_roundpd_ps(all8, x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  const __mmask8 inexact = _mm512_cmp_pd_mask(_mm512_maskz_cvtps_pd(all8, f), x, _CMP_NEQ_UQ);
  const __m256i bits = _mm256_castps_si256(f);
  return _mm256_mask_or_epi32(bits, inexact, bits, _mm256_set1_epi32(1));
}
PLINTH_AVX512_INLINE __m512 load_scaled(const double* in, __mmask16 mask, double scale) {
  const __m256i low = load_odd(in, static_cast<__mmask8>(mask), scale);
  const __m256i high = load_odd(in + 8, static_cast<__mmask8>(mask >> 8), scale);
  return _mm512_castsi512_ps(
      _mm512_maskz_inserti64x4(all8, _mm512_castsi256_si512(low), high, 1));
}

/// 16 floats to 16 bits and back.
template <Scalar16 To>
PLINTH_AVX512_INLINE __m256i encode(__m512 x) {
  if constexpr (std::same_as<To, half>) {
    return _mm512_maskz_cvtps_ph(all16, x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  } else {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i last =
        _mm512_and_si512(_mm512_maskz_srli_epi32(all16, bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded =
        _mm512_add_epi32(bits, _mm512_add_epi32(last, _mm512_set1_epi32(0x7fff)));
    const __m512i number = _mm512_mask_or_epi32(rounded, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q),
                                                bits, _mm512_set1_epi32(0x400000));
    return _mm512_maskz_cvtepi32_epi16(all16, _mm512_maskz_srli_epi32(all16, number, 16));
  }
}
template <Scalar16 From>
PLINTH_AVX512_INLINE __m512 decode(__m256i x) {
  if constexpr (std::same_as<From, half>)
    return _mm512_maskz_cvtph_ps(all16, x);
  else
    return _mm512_castsi512_ps(
        _mm512_maskz_slli_epi32(all16, _mm512_maskz_cvtepu16_epi32(all16, x), 16));
}

/// Whether any of 16 results in `mask` has to be counted (is_special).
template <Scalar16 To>
PLINTH_AVX512_INLINE bool any_special(__m256i x, __mmask16 mask) {
  const __m256i magnitude = _mm256_and_si256(x, _mm256_set1_epi16(0x7fff));
  const __mmask16 low = _mm256_mask_cmplt_epi16_mask(
      mask, magnitude, _mm256_set1_epi16(1 << To::format::mantissa_bits));
  const __mmask16 high = _mm256_mask_cmpeq_epi16_mask(
      mask, magnitude, _mm256_set1_epi16(static_cast<short>(To::format::infinity)));
  return (low | high) != 0;
}

template <std::floating_point From, Scalar16 To>
PLINTH_AVX512 inline void narrow(const From* in, To* out, Index count, From scale,
                                 NarrowingCounts& counts) {
  for (Index i = 0; i < count; i += 16) {
    const __mmask16 mask = first_lanes(count - i);
    const __m256i x = encode<To>(load_scaled(in + i, mask, scale));
    _mm256_mask_storeu_epi16(out + i, mask, x);
    if (any_special<To>(x, mask))
      count_narrowing(in + i, out + i, count - i < 16 ? count - i : 16, counts);
  }
}

PLINTH_AVX512_INLINE void store_scaled(float* out, __mmask16 mask, __m512 x, float scale) {
  _mm512_mask_storeu_ps(out, mask, _mm512_mul_ps(x, _mm512_set1_ps(scale)));
}
PLINTH_AVX512_INLINE void store_scaled(double* out, __mmask16 mask, __m512 x, double scale) {
  const __m512d s = _mm512_set1_pd(scale);
  const __m256 low = _mm512_maskz_extractf32x8_ps(all8, x, 0),
               high = _mm512_maskz_extractf32x8_ps(all8, x, 1);
  _mm512_mask_storeu_pd(out, static_cast<__mmask8>(mask),
                        _mm512_mul_pd(_mm512_maskz_cvtps_pd(all8, low), s));
  _mm512_mask_storeu_pd(out + 8, static_cast<__mmask8>(mask >> 8),
                        _mm512_mul_pd(_mm512_maskz_cvtps_pd(all8, high), s));
}

template <Scalar16 From, std::floating_point To>
PLINTH_AVX512 inline void widen(const From* in, To* out, Index count, To scale) {
  for (Index i = 0; i < count; i += 16) {
    const __mmask16 mask = first_lanes(count - i);
    store_scaled(out + i, mask, decode<From>(_mm256_maskz_loadu_epi16(mask, in + i)), scale);
  }
}

}  // namespace plinth::kernel::avx512

#undef PLINTH_AVX512
#undef PLINTH_AVX512_INLINE
#endif
