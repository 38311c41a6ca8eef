// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// 1 where functions for AVX2 and AVX-512 can be compiled beside portable ones, each with its own
/// target attribute (GCC and Clang on x86-64), and chosen at run time. Elsewhere the portable
/// functions are all there is.
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define PLINTH_X86_KERNELS 1
#include <cpuid.h>
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

/// In words, for people.
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

/// What 16-bit kernels ask of a CPU (and of its operating system) beyond Isa.
struct CpuFeatures {
  bool fma_f16c = false;     ///< AVX2 with FMA and F16C (conversion of half)
  bool avx512_core = false;  ///< AVX-512 F, DQ, BW and VL, and the above
  bool avx512_bf16 = false;  ///< AVX512-BF16: dot products of pairs of bfloat16; and the above
  /// These dot products are faster than products of floats: on AMD's CPUs. Intel's take twice the
  /// time per instruction, and more than it takes to convert the operands to float.
  bool fast_bf16_dot = false;
  bool avx512_fp16 = false;   ///< AVX512-FP16: arithmetic in half; and avx512_core
  bool amx_bf16_cpu = false;  ///< AMX-BF16: tiles; a process has to ask for them (see lowp)
};

#if PLINTH_X86_KERNELS
/// Asks CPUID, which is slow in a virtual machine: use cpu_features().
inline CpuFeatures detect_cpu_features() {
  struct Registers {
    unsigned a = 0, b = 0, c = 0, d = 0;
  } one, seven, seven_one;
  CpuFeatures f;
  if (__get_cpuid_max(0, nullptr) < 7) return f;
  __cpuid(1, one.a, one.b, one.c, one.d);
  __cpuid_count(7, 0, seven.a, seven.b, seven.c, seven.d);
  if (seven.a >= 1) __cpuid_count(7, 1, seven_one.a, seven_one.b, seven_one.c, seven_one.d);
  const auto has = [](unsigned word, int bit) { return ((word >> bit) & 1u) != 0; };
  f.fma_f16c = is_available(Isa::avx2) && has(one.c, 12) && has(one.c, 29);
  f.avx512_core = f.fma_f16c && is_available(Isa::avx512) && has(seven.b, 30) && has(seven.b, 31);
  f.avx512_bf16 = f.avx512_core && has(seven_one.a, 5);
  f.fast_bf16_dot = f.avx512_bf16 && __builtin_cpu_is("amd") != 0;
  f.avx512_fp16 = f.avx512_core && has(seven.d, 23);
  f.amx_bf16_cpu = f.avx512_core && has(seven.d, 22) && has(seven.d, 24);
  return f;
}
#endif

/// The features of this CPU, asked for once.
inline const CpuFeatures& cpu_features() {
#if PLINTH_X86_KERNELS
  static const CpuFeatures features = detect_cpu_features();
#else
  static const CpuFeatures features;
#endif
  return features;
}

}  // namespace plinth
