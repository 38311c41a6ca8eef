// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <type_traits>

#include "plinth/core/cpu.hpp"
#include "plinth/core/float16.hpp"
#include "plinth/core/index.hpp"
#include "plinth/kernel/convert_avx2.hpp"
#include "plinth/kernel/convert_avx512.hpp"
#include "plinth/kernel/convert_runs.hpp"

/// Conversions of arrays between 16 bits and float or double, on the calling thread. The bits do
/// not depend on the instruction set. Every `scale` is a power of two, applied before rounding.
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

/// The same for `lines` lines of `count` numbers: line l begins at in + l in_ld and out + l
/// out_ld.
template <std::floating_point From, Scalar16 To>
NarrowingCounts narrow_lines(const From* in, Index in_ld, To* out, Index out_ld, Index lines,
                             Index count, std::type_identity_t<From> scale = 1,
                             Isa isa = best_isa()) {
  NarrowingCounts counts;
  for (Index l = 0; l < lines; ++l)
    counts += narrow(in + l * in_ld, out + l * out_ld, count, scale, isa);
  return counts;
}
template <Scalar16 From, std::floating_point To>
void widen_lines(const From* in, Index in_ld, To* out, Index out_ld, Index lines, Index count,
                 std::type_identity_t<To> scale = 1, Isa isa = best_isa()) {
  for (Index l = 0; l < lines; ++l) widen(in + l * in_ld, out + l * out_ld, count, scale, isa);
}

}  // namespace plinth::kernel
