// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "plinth/core/cpu.hpp"
#include "plinth/core/float16.hpp"
#include "plinth/core/index.hpp"

#if PLINTH_X86_KERNELS
#include <immintrin.h>

#define PLINTH_AVX512 __attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl")))
#define PLINTH_AVX512_INLINE                                                 \
  __attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl"), \
                 always_inline)) inline

/// Products of lines of numbers that are stored in a narrower type (kernel/line_products.hpp), with
/// AVX-512. Call them only where cpu_features().avx512_core. (Conversions have a mask of all lanes
/// because GCC 12 warns of an uninitialised register inside those without.)
namespace plinth::kernel::avx512 {

/// Vectors of T, and how to load one from numbers of another type, only the lanes in `mask`, zeros
/// in the others.
template <class T>
struct Lanes;

template <>
struct Lanes<double> {
  using Vector = __m512d;
  using Mask = __mmask8;
  static constexpr Index width = 8;

  PLINTH_AVX512_INLINE static Mask first(Index count) {
    return static_cast<Mask>(count >= width ? 0xffu : (1u << count) - 1u);
  }
  PLINTH_AVX512_INLINE static Vector widened(__m256 x) { return _mm512_maskz_cvtps_pd(0xff, x); }
  PLINTH_AVX512_INLINE static Vector load(const double* p, Mask mask) {
    return _mm512_maskz_loadu_pd(mask, p);
  }
  PLINTH_AVX512_INLINE static Vector load(const float* p, Mask mask) {
    return widened(_mm256_maskz_loadu_ps(mask, p));
  }
  PLINTH_AVX512_INLINE static Vector load(const half* p, Mask mask) {
    return widened(_mm256_cvtph_ps(_mm_maskz_loadu_epi16(mask, p)));
  }
  PLINTH_AVX512_INLINE static Vector load(const bfloat16* p, Mask mask) {
    return widened(_mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_maskz_loadu_epi16(mask, p)), 16)));
  }
  PLINTH_AVX512_INLINE static Vector zero() { return _mm512_setzero_pd(); }
  PLINTH_AVX512_INLINE static Vector broadcast(double x) { return _mm512_set1_pd(x); }
  PLINTH_AVX512_INLINE static Vector fma(Vector a, Vector b, Vector c) {
    return _mm512_fmadd_pd(a, b, c);
  }
  PLINTH_AVX512_INLINE static void store(double* p, Mask mask, Vector x) {
    _mm512_mask_storeu_pd(p, mask, x);
  }
};

template <>
struct Lanes<float> {
  using Vector = __m512;
  using Mask = __mmask16;
  static constexpr Index width = 16;

  PLINTH_AVX512_INLINE static Mask first(Index count) {
    return static_cast<Mask>(count >= width ? 0xffffu : (1u << count) - 1u);
  }
  PLINTH_AVX512_INLINE static Vector load(const float* p, Mask mask) {
    return _mm512_maskz_loadu_ps(mask, p);
  }
  PLINTH_AVX512_INLINE static Vector load(const half* p, Mask mask) {
    return _mm512_maskz_cvtph_ps(0xffff, _mm256_maskz_loadu_epi16(mask, p));
  }
  PLINTH_AVX512_INLINE static Vector load(const bfloat16* p, Mask mask) {
    return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(
        0xffff, _mm512_maskz_cvtepu16_epi32(0xffff, _mm256_maskz_loadu_epi16(mask, p)), 16));
  }
  PLINTH_AVX512_INLINE static Vector zero() { return _mm512_setzero_ps(); }
  PLINTH_AVX512_INLINE static Vector broadcast(float x) { return _mm512_set1_ps(x); }
  PLINTH_AVX512_INLINE static Vector fma(Vector a, Vector b, Vector c) {
    return _mm512_fmadd_ps(a, b, c);
  }
  PLINTH_AVX512_INLINE static void store(float* p, Mask mask, Vector x) {
    _mm512_mask_storeu_ps(p, mask, x);
  }
};

/// Asks for the cache line that holds number `at` of an array. The place need not be in it: it is
/// an address, and no pointer is made of it that points outside.
template <class S>
PLINTH_AVX512_INLINE void prefetch(const S* array, Index at) {
  const auto address =
      reinterpret_cast<std::uintptr_t>(array) + static_cast<std::uintptr_t>(at) * sizeof(S);
  _mm_prefetch(reinterpret_cast<const char*>(address), _MM_HINT_T0);
}

/// Calls some.run<lines>(r) for stretches of lines from r on: all 8 together, fewer one by one.
template <class Some>
PLINTH_AVX512_INLINE void by_lines(int lines, const Some& some) {
  if (lines == 8) return some.template run<8>(0);
  for (int r = 0; r < lines; ++r) some.template run<1>(r);
}

/// dot_lines() for lines that are taken together.
template <class S, class T>
struct DotLines {
  const S* a;
  Index ld;
  const T* x;
  Index count, ahead;
  T* out;

  template <int lines>
  PLINTH_AVX512_INLINE void run(int first) const {
    using L = Lanes<T>;
    constexpr Index step = 64 / static_cast<Index>(sizeof(S));  // a cache line of a
    const S* const from = a + first * ld;
    typename L::Vector sum[lines];
    for (int r = 0; r < lines; ++r) sum[r] = L::zero();
    Index q = 0;
    for (; q + step <= count; q += step) {
      for (int r = 0; r < lines; ++r) prefetch(from, ahead + r * ld + q);
      for (Index p = q; p < q + step; p += L::width) {
        const auto xs = L::load(x + p, L::first(L::width));
        for (int r = 0; r < lines; ++r)
          sum[r] = L::fma(L::load(from + r * ld + p, L::first(L::width)), xs, sum[r]);
      }
    }
    for (; q < count; q += L::width) {
      const auto mask = L::first(count - q);
      const auto xs = L::load(x + q, mask);
      for (int r = 0; r < lines; ++r)
        sum[r] = L::fma(L::load(from + r * ld + q, mask), xs, sum[r]);
    }
    for (int r = 0; r < lines; ++r) {
      T lane[L::width];
      L::store(lane, L::first(L::width), sum[r]);
      T total = 0;
      for (Index l = 0; l < L::width / 2; ++l) lane[l] += lane[l + L::width / 2];
      for (Index l = 0; l < L::width / 2; ++l) total += lane[l];
      out[first + r] = total;
    }
  }
};

/// out[r] = sum over q < count of a[r ld + q] x[q] for r < lines <= 8; what stands `ahead` numbers
/// further is going to be wanted next.
template <class S, class T>
PLINTH_AVX512 inline void dot_lines(const S* a, Index ld, int lines, const T* x, Index count,
                                    Index ahead, T* out) {
  by_lines(lines, DotLines<S, T>{a, ld, x, count, ahead, out});
}

/// axpy_lines() likewise.
template <class S, class T>
struct AxpyLines {
  const S* a;
  Index ld;
  const T* x;
  T* w;
  Index count, ahead;

  template <int lines>
  PLINTH_AVX512_INLINE void run(int first) const {
    using L = Lanes<T>;
    constexpr Index step = 64 / static_cast<Index>(sizeof(S));  // a cache line of a
    const S* const from = a + first * ld;
    typename L::Vector factor[lines];
    for (int r = 0; r < lines; ++r) factor[r] = L::broadcast(x[first + r]);
    for (Index begin = 0; begin < count; begin += step) {
      for (int r = 0; r < lines; ++r) prefetch(from, ahead + r * ld + begin);
      const Index end = begin + step < count ? begin + step : count;
      for (Index q = begin; q < end; q += L::width) {
        const auto mask = L::first(end - q);
        auto sum = L::load(w + q, mask);
        for (int r = 0; r < lines; ++r)
          sum = L::fma(L::load(from + r * ld + q, mask), factor[r], sum);
        L::store(w + q, mask, sum);
      }
    }
  }
};

/// w[q] += sum over r < lines <= 8 of a[r ld + q] x[r], for q < count; `ahead` as above.
template <class S, class T>
PLINTH_AVX512 inline void axpy_lines(const S* a, Index ld, int lines, const T* x, T* w,
                                     Index count, Index ahead) {
  by_lines(lines, AxpyLines<S, T>{a, ld, x, w, count, ahead});
}

}  // namespace plinth::kernel::avx512

#undef PLINTH_AVX512
#undef PLINTH_AVX512_INLINE
#endif
