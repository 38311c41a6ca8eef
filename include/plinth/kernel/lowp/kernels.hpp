// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <concepts>
#include <vector>

#include "plinth/core/cpu.hpp"
#include "plinth/core/error.hpp"
#include "plinth/kernel/lowp/micro_amx_bf16.hpp"
#include "plinth/kernel/lowp/micro_avx2.hpp"
#include "plinth/kernel/lowp/micro_avx512.hpp"
#include "plinth/kernel/lowp/micro_avx512_bf16.hpp"
#include "plinth/kernel/lowp/micro_avx512_fp16.hpp"
#include "plinth/kernel/lowp/micro_kernel.hpp"
#include "plinth/kernel/lowp/micro_portable.hpp"

namespace plinth::kernel::lowp {

/// The micro-kernels for operands of type T that this build has and this CPU runs, the fastest of
/// each accumulation last. "portable-fp16" is a model of AVX512-FP16's arithmetic, and slow.
///
/// | name          | operands | sums | tile    | asks for                 |
/// |---------------|----------|------|---------|--------------------------|
/// | portable      | both     | FP32 | 8 x 4   | nothing                  |
/// | portable-fp16 | half     | FP16 | 8 x 4   | nothing                  |
/// | AVX2          | both     | FP32 | 16 x 6  | AVX2, FMA, F16C          |
/// | AVX-512       | both     | FP32 | 32 x 12 | AVX-512 F, DQ, BW, VL    |
/// | AVX512-FP16   | half     | FP16 | 32 x 12 | AVX512-FP16              |
/// | AVX512-BF16   | bfloat16 | FP32 | 32 x 12 | AVX512-BF16              |
/// | AMX-BF16      | bfloat16 | FP32 | 32 x 32 | AMX, and Linux's consent |
template <Scalar16 T>
std::vector<MicroKernel> available_kernels() {
  constexpr bool is_half = std::same_as<T, half>;
  std::vector<MicroKernel> kernels{portable::single_kernel<T>()};
  if constexpr (is_half) kernels.push_back(portable::half_kernel());
#if PLINTH_X86_KERNELS
  const CpuFeatures& cpu = cpu_features();
  if (cpu.fma_f16c) kernels.push_back(avx2::single_kernel<T>());
  const bool slow_dot = !is_half && cpu.avx512_bf16 && !cpu.fast_bf16_dot;
  if (slow_dot) kernels.push_back(avx512_bf16::single_kernel());
  if (cpu.avx512_core) kernels.push_back(avx512::single_kernel<T>());
#if PLINTH_FP16_KERNELS
  if (is_half && cpu.avx512_fp16) kernels.push_back(avx512_fp16::half_kernel());
#endif
  if (!is_half && cpu.fast_bf16_dot) kernels.push_back(avx512_bf16::single_kernel());
#if PLINTH_AMX_KERNELS
  if (!is_half && amx_bf16::is_available()) kernels.push_back(amx_bf16::single_kernel());
#endif
#endif
  return kernels;
}

/// Whether this CPU has arithmetic in half, so that summing in it is faster.
inline bool has_half_arithmetic() {
#if PLINTH_X86_KERNELS && PLINTH_FP16_KERNELS
  return cpu_features().avx512_fp16;
#else
  return false;
#endif
}

/// The fastest micro-kernel for operands of type T. Accumulate::half says that sums in half are
/// good enough: where the CPU has no arithmetic in half, they are floats.
template <Scalar16 T>
MicroKernel best_kernel(Accumulate accumulate = Accumulate::single) {
  const auto kernels = available_kernels<T>();
  const bool in_half =
      accumulate == Accumulate::half && std::same_as<T, half> && has_half_arithmetic();
  const Accumulate sums = in_half ? Accumulate::half : Accumulate::single;
  return *std::find_if(kernels.rbegin(), kernels.rend(),
                       [=](const MicroKernel& k) { return k.accumulate == sums; });
}

}  // namespace plinth::kernel::lowp
