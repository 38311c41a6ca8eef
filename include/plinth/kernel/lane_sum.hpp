// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <concepts>

#include "plinth/core/index.hpp"
#include "plinth/kernel/simd.hpp"

/// Sums over adjacent numbers, as bodies for run_simd().
namespace plinth::kernel {

/// *sum += term(0) + ... + term(count - 1). Partial sums stand in registers: as many for every
/// instruction set, so that all give the same bits (unless a product is fused with its addition,
/// where there is an instruction for that).
template <std::floating_point T, class Term>
struct LaneSum {
  Term term;  ///< its call operator is a PLINTH_SIMD_BODY
  Index count;
  T* sum;

  PLINTH_SIMD_BODY void operator()() const {
    constexpr int lanes = 64 / sizeof(T);
    T lane[lanes] = {}, total = 0;
    Index i = 0;
    for (; i + lanes <= count; i += lanes)
      for (int l = 0; l < lanes; ++l) lane[l] += term(i + l);
    for (; i < count; ++i) total += term(i);
    for (int l = 0; l < lanes; ++l) total += lane[l];
    *sum += total;
  }
};

/// |x[i]|
template <std::floating_point T>
struct ModulusOf {
  const T* x;
  PLINTH_SIMD_BODY T operator()(Index i) const { return std::abs(x[i]); }
};
/// x[i] y[i]
template <std::floating_point T>
struct ProductOf {
  const T* x;
  const T* y;
  PLINTH_SIMD_BODY T operator()(Index i) const { return x[i] * y[i]; }
};

/// *sum += the moduli of `count` adjacent numbers. Precondition: is_available(isa).
template <std::floating_point T>
void sum_moduli(Isa isa, const T* x, Index count, T* sum) {
  run_simd(isa, LaneSum<T, ModulusOf<T>>{{x}, count, sum});
}
/// *sum += x . y, likewise.
template <std::floating_point T>
void sum_products(Isa isa, const T* x, const T* y, Index count, T* sum) {
  run_simd(isa, LaneSum<T, ProductOf<T>>{{x, y}, count, sum});
}

}  // namespace plinth::kernel
