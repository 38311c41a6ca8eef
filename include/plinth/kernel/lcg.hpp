// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "plinth/core/index.hpp"

namespace plinth {

/// The map x -> a x + c modulo 2^64. Such maps are closed under composition, so any number of
/// steps of a linear congruential generator, forwards or backwards, is one of them.
struct Affine {
  std::uint64_t a = 1;
  std::uint64_t c = 0;

  KOKKOS_INLINE_FUNCTION constexpr std::uint64_t operator()(std::uint64_t x) const {
    return a * x + c;
  }

  /// The map that applies *this first and `next` second.
  KOKKOS_INLINE_FUNCTION constexpr Affine then(const Affine& next) const {
    return Affine{next.a * a, next.a * c + next.c};
  }

  /// *this applied k times, by binary powering: at most 64 squarings.
  /// For an LCG of full period 2^64, k counts modulo 2^64: power(-1) is one step back.
  /// Source: F. B. Brown, Random number generation with arbitrary strides, 1994.
  KOKKOS_INLINE_FUNCTION constexpr Affine power(std::uint64_t k) const {
    Affine result{};
    for (Affine square = *this; k != 0; k >>= 1) {
      if (k & 1) result = result.then(square);
      square = square.then(square);
    }
    return result;
  }

  constexpr bool operator==(const Affine&) const = default;
};

/// netlib HPL's generator since its version 2.0: X' = a X + 1 modulo 2^64, with Knuth's
/// multiplier (MMIX). Its period is 2^64.
struct Lcg64 {
  static constexpr std::uint64_t multiplier = 6364136223846793005u;
  static constexpr std::uint64_t increment = 1;

  KOKKOS_INLINE_FUNCTION static constexpr Affine step() { return {multiplier, increment}; }

  /// k steps at once; k counts modulo 2^64.
  KOKKOS_INLINE_FUNCTION static constexpr Affine jump(std::uint64_t k) { return step().power(k); }
};

/// netlib HPL's value of a state: 1/2 - u with u = X 2^-64 rounded once, to nearest even; from
/// -1/2 to 1/2, both possible. Fused or not, scaling is exact and the bits are the same.
KOKKOS_INLINE_FUNCTION constexpr double lcg_value(std::uint64_t x) {
  return 0.5 - static_cast<double>(x) * 0x1p-64;
}

/// netlib HPL's random matrix as a pure function: entry (i, j) of the n x (n+1) system [A | b],
/// b being column n. The state of (i, j) is X_{1 + i + j n}, with X_0 = seed: the matrix depends
/// on n and the seed only, not on its distribution. Callable on any device.
///
/// A call takes up to 64 squarings. Whole matrices are filled by kernel::fill_lcg
/// (lcg_fill.hpp), with two multiplications an entry or fewer and the same bits.
struct HplGenerator {
  Index n = 0;
  std::uint64_t seed = 100;

  KOKKOS_INLINE_FUNCTION constexpr std::uint64_t state(Index i, Index j) const {
    const auto row = static_cast<std::uint64_t>(i), col = static_cast<std::uint64_t>(j);
    return Lcg64::jump(1 + row + col * static_cast<std::uint64_t>(n))(seed);
  }

  KOKKOS_INLINE_FUNCTION constexpr double operator()(Index i, Index j) const {
    return lcg_value(state(i, j));
  }
};

}  // namespace plinth
