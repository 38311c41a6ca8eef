// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <concepts>
#include <limits>
#include <type_traits>

#include "plinth/core/cpu.hpp"
#include "plinth/core/float16.hpp"
#include "plinth/core/index.hpp"
#include "plinth/kernel/convert_avx2.hpp"
#include "plinth/kernel/convert_avx512.hpp"
#include "plinth/kernel/convert_runs.hpp"
#include "plinth/kernel/simd.hpp"

/// Conversions of arrays between half, bfloat16, float and double, on the calling thread. The bits
/// do not depend on the instruction set. Every `scale` is a power of two, applied before rounding.
namespace plinth::kernel {

/// out[i] = in[i] scale for i < count, rounded once; returns what was lost on the way.
template <std::floating_point From, Scalar16 To>
NarrowingCounts narrow(const From* in, To* out, Index count, std::type_identity_t<From> scale = 1,
                       Isa isa = best_isa()) {
  NarrowingCounts counts;
#if PLINTH_X86_KERNELS
  if (isa == Isa::avx512 && cpu_features().avx512_core) {
    avx512::narrow(in, out, count, scale, counts);
    return counts;
  }
  if (isa != Isa::portable && cpu_features().fma_f16c) {
    avx2::narrow(in, out, count, scale, counts);
    return counts;
  }
#endif
  static_cast<void>(isa);
  narrow_portable(in, out, count, scale, counts);
  return counts;
}

/// out[i] = in[i] scale for i < count.
template <Scalar16 From, std::floating_point To>
void widen(const From* in, To* out, Index count, std::type_identity_t<To> scale = 1,
           Isa isa = best_isa()) {
#if PLINTH_X86_KERNELS
  if (isa == Isa::avx512 && cpu_features().avx512_core)
    return avx512::widen(in, out, count, scale);
  if (isa != Isa::portable && cpu_features().fma_f16c) return avx2::widen(in, out, count, scale);
#endif
  static_cast<void>(isa);
  widen_portable(in, out, count, scale);
}

/// What can be converted into each other.
template <class T>
concept RealScalar = Scalar16<T> || std::same_as<T, float> || std::same_as<T, double>;

/// to[i] = from[i] scale, computed in the wider of both types. `special` says whether any result
/// is to be looked at for NarrowingCounts: zero, subnormal or not finite.
template <std::floating_point From, std::floating_point To>
struct ConvertBody {
  const From* from;
  To* to;
  Index count;
  double scale;
  bool* special;

  PLINTH_SIMD_BODY void operator()() const {
    using Wide = std::conditional_t<(sizeof(From) > sizeof(To)), From, To>;
    constexpr auto infinity = magnitude_bits(static_cast<To>(__builtin_inff()));
    constexpr auto smallest_normal = magnitude_bits(std::numeric_limits<To>::min());
    const auto factor = static_cast<Wide>(scale);
    decltype(magnitude_bits(To())) any = 0;
    for (Index i = 0; i < count; ++i) {
      const To stored = static_cast<To>(static_cast<Wide>(from[i]) * factor);
      to[i] = stored;
      any |= magnitude_bits(stored) - smallest_normal >= infinity - smallest_normal ? 1 : 0;
    }
    *special = any != 0;
  }
};

/// to[i] = from[i] scale for i < count, rounded once; what was lost is added to `counts`. (Numbers
/// that were subnormal in the same type, or a narrower one, before have lost nothing.)
template <RealScalar From, RealScalar To>
void convert_run(const From* from, To* to, Index count, double scale, NarrowingCounts& counts,
                 Isa isa = best_isa()) {
  if constexpr (Scalar16<From> && Scalar16<To>) {
    constexpr Index chunk = 256;
    float wide[chunk];
    if constexpr (std::same_as<From, To>) {
      if (scale == 1) {
        std::copy_n(from, count, to);
        return;
      }
    }
    for (Index i = 0; i < count; i += chunk) {
      const Index some = std::min(chunk, count - i);
      widen(from + i, wide, some, 1, isa);
      counts += narrow(wide, to + i, some, static_cast<float>(scale), isa);
    }
  } else if constexpr (Scalar16<From>) {
    widen(from, to, count, static_cast<To>(scale), isa);
  } else if constexpr (Scalar16<To>) {
    counts += narrow(from, to, count, static_cast<From>(scale), isa);
  } else {
    bool special = false;
    run_simd(isa, ConvertBody<From, To>{from, to, count, scale, &special});
    if (!special || (std::same_as<From, To> && scale == 1)) return;
    constexpr auto infinity = magnitude_bits(static_cast<To>(__builtin_inff()));
    constexpr auto infinity_before = magnitude_bits(static_cast<From>(__builtin_inff()));
    constexpr auto smallest_normal = magnitude_bits(std::numeric_limits<To>::min());
    for (Index i = 0; i < count; ++i) {
      const auto before = magnitude_bits(from[i]);
      const auto after = magnitude_bits(to[i]);
      counts.flushed += after == 0 && before != 0;
      counts.overflowed += after == infinity && before < infinity_before;
      counts.subnormal +=
          sizeof(To) < sizeof(From) && after > 0 && after < smallest_normal ? 1 : 0;
    }
  }
}

/// convert_run for `lines` lines of `count` numbers: line l begins at from + l from_ld and
/// to + l to_ld. Returns what was lost.
template <RealScalar From, RealScalar To>
NarrowingCounts convert_lines(const From* from, Index from_ld, To* to, Index to_ld, Index lines,
                              Index count, double scale = 1, Isa isa = best_isa()) {
  NarrowingCounts counts;
  for (Index l = 0; l < lines; ++l)
    convert_run(from + l * from_ld, to + l * to_ld, count, scale, counts, isa);
  return counts;
}

}  // namespace plinth::kernel
