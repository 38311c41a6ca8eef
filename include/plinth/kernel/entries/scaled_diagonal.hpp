// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "plinth/core/error.hpp"
#include "plinth/kernel/entries/lcg_tiles.hpp"
#include "plinth/kernel/entries/walks.hpp"

namespace plinth {

/// netlib HPL's system (HplGenerator) with sigma sqrt(n) added to the diagonal. What is off the
/// diagonal has a 2-norm of about 0.58 sqrt(n), so from sigma = 0.6 on LU without pivoting is
/// stable with high probability, and the condition number stays below 10. The default of HPL-MxP,
/// whose rules allow a mild scaling of the diagonal.
/// Precondition: n >= 0, sigma finite.
class ScaledDiagonal {
 public:
  ScaledDiagonal() = default;
  explicit ScaledDiagonal(Index n, double sigma = 1, std::uint64_t seed = 100)
      : hpl_{.n = n, .seed = seed}, shift_(sigma * std::sqrt(static_cast<double>(n))) {
    require(n >= 0, "the order of a matrix must not be negative");
    require(std::isfinite(shift_), "sigma must be finite");
  }

  KOKKOS_INLINE_FUNCTION Index order() const { return hpl_.n; }
  KOKKOS_INLINE_FUNCTION double operator()(Index i, Index j) const {
    return hpl_(i, j) + (i == j ? shift_ : 0.0);
  }
  double bound() const { return std::abs(shift_) + 0.5; }
  std::array<std::uint64_t, 4> key() const {
    return {1, static_cast<std::uint64_t>(hpl_.n), hpl_.seed,
            std::bit_cast<std::uint64_t>(shift_)};
  }

  void diagonal(Isa, Range rows, double* out) const {
    const auto step = Lcg64::jump(1 + static_cast<std::uint64_t>(hpl_.n));
    std::uint64_t x = hpl_.state(rows.begin, rows.begin);
    for (Index k = 0; k < rows.size(); ++k, x = step(x)) out[k] = lcg_value(x) + shift_;
  }
  void right_hand_side(Range rows, double* out) const {
    std::uint64_t x = hpl_.state(rows.begin, hpl_.n);
    for (Index k = 0; k < rows.size(); ++k, x = Lcg64::step()(x)) out[k] = lcg_value(x);
  }
  kernel::LcgTiles<kernel::HplValue> tiles() const { return {hpl_.n, hpl_.seed}; }
  auto walks() const { return kernel::LcgWalks<kernel::HplValue>(hpl_); }

  /// The system to which the shift is added: its own kernels make products without tiles.
  const HplGenerator& unshifted() const { return hpl_; }

 private:
  HplGenerator hpl_;
  double shift_ = 0;
};

static_assert(kernel::WalkedSource<ScaledDiagonal>);

}  // namespace plinth
