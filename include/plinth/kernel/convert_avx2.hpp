// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>

#include "plinth/core/cpu.hpp"
#include "plinth/kernel/convert_runs.hpp"

#if PLINTH_X86_KERNELS
#include <immintrin.h>

#define PLINTH_AVX2 __attribute__((target("avx2,fma,f16c")))
#define PLINTH_AVX2_INLINE __attribute__((target("avx2,fma,f16c"), always_inline)) inline

/// Conversions with AVX2 and F16C, 8 numbers at a time. Call them only where
/// cpu_features().fma_f16c. Bits are encode16's, unless a flush-to-zero mode is on.
namespace plinth::kernel::avx2 {

PLINTH_AVX2_INLINE __m256 load_scaled(const float* in, float scale) {
  return _mm256_mul_ps(_mm256_loadu_ps(in), _mm256_set1_ps(scale));
}
/// Doubles are cut to a float's 24 bits, the last of them set where that was inexact (rounding to
/// odd), so that rounding once more, to 16 bits, gives the right number. Below float's normal
/// range the conversion to float rounds as well: see has_tiny().
PLINTH_AVX2_INLINE __m128 load_odd(const double* in, double scale) {
  const __m256i x =
      _mm256_castpd_si256(_mm256_mul_pd(_mm256_loadu_pd(in), _mm256_set1_pd(scale)));
  const __m256i low = _mm256_set1_epi64x((1ll << 29) - 1);
  const __m256i exact = _mm256_cmpeq_epi64(_mm256_and_si256(x, low), _mm256_setzero_si256());
  const __m256i odd = _mm256_andnot_si256(exact, _mm256_set1_epi64x(1ll << 29));
  return _mm256_cvtpd_ps(_mm256_castsi256_pd(_mm256_or_si256(_mm256_andnot_si256(low, x), odd)));
}
PLINTH_AVX2_INLINE __m256 load_scaled(const double* in, double scale) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(load_odd(in, scale)),
                              load_odd(in + 4, scale), 1);
}

/// Whether any of 8 floats is below the normal range.
PLINTH_AVX2_INLINE bool has_tiny(__m256 x) {
  const __m256i magnitude =
      _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7fffffff));
  return _mm256_movemask_epi8(_mm256_cmpgt_epi32(_mm256_set1_epi32(0x800000), magnitude)) != 0;
}

/// 8 floats to 16 bits and back.
template <Scalar16 To>
PLINTH_AVX2_INLINE __m128i encode(__m256 x) {
  if constexpr (std::same_as<To, half>) {
    return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  } else {
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i last = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded =
        _mm256_add_epi32(bits, _mm256_add_epi32(last, _mm256_set1_epi32(0x7fff)));
    const __m256i nan = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    const __m256i number = _mm256_srli_epi32(
        _mm256_blendv_epi8(rounded, nan, _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q))),
        16);
    return _mm_packus_epi32(_mm256_castsi256_si128(number), _mm256_extracti128_si256(number, 1));
  }
}
template <Scalar16 From>
PLINTH_AVX2_INLINE __m256 decode(__m128i x) {
  if constexpr (std::same_as<From, half>)
    return _mm256_cvtph_ps(x);
  else
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16));
}

/// Whether any of 8 results has to be counted (is_special).
template <Scalar16 To>
PLINTH_AVX2_INLINE bool any_special(__m128i x) {
  const __m128i magnitude = _mm_and_si128(x, _mm_set1_epi16(0x7fff));
  const __m128i low = _mm_cmpgt_epi16(_mm_set1_epi16(1 << To::format::mantissa_bits), magnitude);
  const __m128i high =
      _mm_cmpeq_epi16(magnitude, _mm_set1_epi16(static_cast<short>(To::format::infinity)));
  return _mm_movemask_epi8(_mm_or_si128(low, high)) != 0;
}

template <std::floating_point From, Scalar16 To>
PLINTH_AVX2 inline void narrow(const From* in, To* out, Index count, From scale,
                               NarrowingCounts& counts) {
  constexpr bool rounds_twice = std::same_as<From, double> && std::same_as<To, bfloat16>;
  Index i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256 f = load_scaled(in + i, scale);
    if (rounds_twice && has_tiny(f)) {
      narrow_portable(in + i, out + i, 8, scale, counts);
      continue;
    }
    const __m128i x = encode<To>(f);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), x);
    if (any_special<To>(x)) count_narrowing(in + i, out + i, 8, counts);
  }
  narrow_portable(in + i, out + i, count - i, scale, counts);
}

template <Scalar16 From>
PLINTH_AVX2_INLINE void store_scaled(const From* in, float* out, float scale) {
  const __m256 x = decode<From>(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
  _mm256_storeu_ps(out, _mm256_mul_ps(x, _mm256_set1_ps(scale)));
}
template <Scalar16 From>
PLINTH_AVX2_INLINE void store_scaled(const From* in, double* out, double scale) {
  const __m256 x = decode<From>(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
  const __m256d s = _mm256_set1_pd(scale);
  _mm256_storeu_pd(out, _mm256_mul_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(x)), s));
  _mm256_storeu_pd(out + 4, _mm256_mul_pd(_mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)), s));
}

template <Scalar16 From, std::floating_point To>
PLINTH_AVX2 inline void widen(const From* in, To* out, Index count, To scale) {
  Index i = 0;
  for (; i + 8 <= count; i += 8) store_scaled(in + i, out + i, scale);
  widen_portable(in + i, out + i, count - i, scale);
}

}  // namespace plinth::kernel::avx2

#undef PLINTH_AVX2
#undef PLINTH_AVX2_INLINE
#endif
