// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <concepts>

#include "plinth/core/cpu.hpp"
#include "plinth/kernel/convert_view.hpp"
#include "plinth/kernel/lane_sum.hpp"
#include "plinth/kernel/line_products_avx512.hpp"
#include "plinth/kernel/simd.hpp"

/// Products with up to 8 lines of a matrix that is stored in another type than the vectors have:
/// numbers are converted in registers or in the first-level cache, never to memory. One thread.
namespace plinth::kernel {

/// How many lines are taken together.
inline constexpr int lines_at_once = 8;

/// y += factor x
template <std::floating_point T>
struct AxpyBody {
  T factor;
  const T* x;
  T* y;
  Index count;

  PLINTH_SIMD_BODY void operator()() const {
    for (Index i = 0; i < count; ++i) y[i] += factor * x[i];
  }
};

/// Calls f(numbers, begin, count) for pieces of a line, converted to T.
template <class T, class S, class F>
void for_each_converted(const S* line, Index count, const F& f) {
  constexpr Index piece = 256;
  T wide[piece];
  NarrowingCounts ignored;
  for (Index q = 0; q < count; q += piece) {
    const Index some = std::min(piece, count - q);
    if constexpr (std::same_as<S, T>) {
      f(line + q, q, some);
    } else {
      convert_run(line + q, wide, some, 1.0, ignored);
      f(static_cast<const T*>(wide), q, some);
    }
  }
}

template <class S, class T>
concept WidenedInRegisters = sizeof(S) <= sizeof(T);

/// out[r] = sum over q < count of a[r ld + q] x[q] for r < lines <= lines_at_once. What stands
/// `ahead` numbers further is going to be wanted next: it need not exist.
template <RealScalar S, std::floating_point T>
void dot_lines(const S* a, Index ld, int lines, const T* x, Index count, Index ahead, T* out,
               Isa isa = best_isa()) {
#if PLINTH_X86_KERNELS
  if constexpr (WidenedInRegisters<S, T>)
    if (isa == Isa::avx512 && cpu_features().avx512_core)
      return avx512::dot_lines(a, ld, lines, x, count, ahead, out);
#endif
  static_cast<void>(ahead);
  for (int r = 0; r < lines; ++r) {
    T sum = 0;
    for_each_converted<T>(a + r * ld, count, [&](const T* line, Index q, Index some) {
      sum_products(isa, line, x + q, some, &sum);
    });
    out[r] = sum;
  }
}

/// w[q] += sum over r < lines <= lines_at_once of a[r ld + q] x[r], for q < count; `ahead`
/// likewise.
template <RealScalar S, std::floating_point T>
void axpy_lines(const S* a, Index ld, int lines, const T* x, T* w, Index count, Index ahead,
                Isa isa = best_isa()) {
#if PLINTH_X86_KERNELS
  if constexpr (WidenedInRegisters<S, T>)
    if (isa == Isa::avx512 && cpu_features().avx512_core)
      return avx512::axpy_lines(a, ld, lines, x, w, count, ahead);
#endif
  static_cast<void>(ahead);
  for (int r = 0; r < lines; ++r)
    for_each_converted<T>(a + r * ld, count, [&](const T* line, Index q, Index some) {
      run_simd(isa, AxpyBody<T>{x[r], line, w + q, some});
    });
}

}  // namespace plinth::kernel
