// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// 1 where functions for AVX2 and AVX-512 can be compiled beside portable ones, each with its own
/// target attribute (GCC and Clang on x86-64), and chosen at run time. Elsewhere the portable
/// functions are all there is.
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define PLINTH_X86_KERNELS 1
#else
#define PLINTH_X86_KERNELS 0
#endif

namespace plinth {

/// Instruction sets that kernels are written for, each including the ones before it.
///   portable  what the compiler was asked for
///   avx2      x86-64 with AVX2: vectors of 256 bits
///   avx512    x86-64 with AVX-512 F and DQ: vectors of 512 bits, 64-bit products, conversions
enum class Isa { portable, avx2, avx512 };

/// Whether this build has kernels for `isa` and this CPU and its operating system run them.
inline bool is_available(Isa isa) {
#if PLINTH_X86_KERNELS
  switch (isa) {
    case Isa::portable:
      return true;
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") != 0;
    case Isa::avx512:
      return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("avx512f") != 0 &&
             __builtin_cpu_supports("avx512dq") != 0;
  }
  return false;
#else
  return isa == Isa::portable;
#endif
}

/// The widest instruction set that is available.
inline Isa best_isa() {
  if (is_available(Isa::avx512)) return Isa::avx512;
  if (is_available(Isa::avx2)) return Isa::avx2;
  return Isa::portable;
}

constexpr const char* to_string(Isa isa) {
  switch (isa) {
    case Isa::portable:
      return "portable";
    case Isa::avx2:
      return "AVX2";
    case Isa::avx512:
      return "AVX-512";
  }
  return "unknown";
}

}  // namespace plinth
