// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plinth/core/cpu.hpp"

/// On the call operator of a body that run_simd() compiles several times: being inlined is what
/// makes it take on its caller's instruction set.
#if defined(__GNUC__) || defined(__clang__)
#define PLINTH_SIMD_BODY [[gnu::always_inline]] inline
#else
#define PLINTH_SIMD_BODY inline
#endif

/// On a function that is to use vectors of 512 bits, which compilers spare otherwise.
#if defined(__clang__)
#define PLINTH_AVX512_VECTORS \
  [[gnu::target("avx512f,avx512dq"), clang::min_vector_width(512)]]
#else
#define PLINTH_AVX512_VECTORS [[gnu::target("avx512f,avx512dq,prefer-vector-width=512")]]
#endif

namespace plinth::kernel {

#if PLINTH_X86_KERNELS
template <class Body>
[[gnu::target("avx2")]] void run_avx2(const Body& body) {
  body();
}
template <class Body>
PLINTH_AVX512_VECTORS void run_avx512(const Body& body) {
  body();
}
#endif

/// body(), compiled for `isa`: plain loops that the compiler vectorizes run with the vectors that
/// this CPU has, in a program that is built for any x86-64. The body is an object whose call
/// operator is a PLINTH_SIMD_BODY (a lambda would keep the instruction set of the build).
/// Precondition: is_available(isa).
template <class Body>
void run_simd(Isa isa, const Body& body) {
#if PLINTH_X86_KERNELS
  if (isa == Isa::avx512) return run_avx512(body);
  if (isa == Isa::avx2) return run_avx2(body);
#endif
  static_cast<void>(isa);
  body();
}

}  // namespace plinth::kernel
