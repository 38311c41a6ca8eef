// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "plinth/core/error.hpp"
#include "plinth/kernel/entries/walks.hpp"
#include "plinth/kernel/lcg.hpp"
#include "plinth/kernel/simd.hpp"

namespace plinth {

namespace kernel {

/// out[k] = c + slope (first + k).
struct Ramp {
  double* out;
  Index count, first;
  double c, slope;
  PLINTH_SIMD_BODY void operator()() const {
    const auto from = static_cast<double>(first);
    for (Index k = 0; k < count; ++k)
      out[k] = c + slope * (from + static_cast<double>(static_cast<int>(k)));
  }
};

/// c + slope k for the k from `at` on, with two values of c, the second one from k = turn on, where
/// k stays what it is.
struct BentRamp {
  double before, after, slope;
  Index at, turn;
  KOKKOS_FUNCTION double operator()() {
    const double value =
        (at < turn ? before : after) + slope * static_cast<double>(at < turn ? at : turn);
    ++at;
    return value;
  }
};

}  // namespace kernel

/// A = L U with a known condition number: L is unit lower triangular with -alpha below the
/// diagonal, U unit upper triangular with -beta above it. b is netlib HPL's.
/// Source: M. Fasi and N. J. Higham, Matrices with tunable infinity-norm condition number and no
/// need for pivoting in LU factorization, 2021.
///
///     a_ij = -beta + alpha beta i (i < j), 1 + alpha beta i (i = j), alpha beta j - alpha (i > j)
///
/// alpha and beta are rounded to 14 bits. So alpha beta i is exact up to i = 2^25, every entry is
/// rounded once, and the bits are the same whether or not a compiler fuses product and sum.
class FasiHigham {
 public:
  FasiHigham() = default;
  /// Preconditions: n >= 0; 0 <= alpha, beta <= 2^30.
  FasiHigham(Index n, double alpha, double beta)
      : b_{.n = n}, alpha_(few_bits(alpha)), beta_(few_bits(beta)), product_(alpha_ * beta_) {
    require(n >= 0, "the order of a matrix must not be negative");
    require(alpha >= 0 && alpha <= 0x1p30 && beta >= 0 && beta <= 0x1p30,
            "alpha and beta from 0 to 2^30 wanted");
  }

  /// The matrix with alpha = rho beta and cond_inf() = kappa up to the rounding of alpha and beta
  /// (a relative error of about 2^-13 n beta), or with alpha = 1 if that does not take it so far.
  /// Bisection on beta, O(n) per step.
  /// Preconditions: n >= 0, kappa >= 1, 2^-20 <= rho <= 1.
  static FasiHigham with_condition(Index n, double kappa, double rho) {
    require(kappa >= 1 && std::isfinite(kappa), "a condition number is finite and at least 1");
    require(rho >= 0x1p-20 && rho <= 1, "rho from 2^-20 to 1 wanted");
    double low = 0, high = 1 / rho;
    if (condition(n, rho * high, high) <= kappa) return FasiHigham(n, 1, high);
    while (high - low > 0x1p-40 * high) {
      const double middle = (low + high) / 2;
      (condition(n, rho * middle, middle) <= kappa ? low : high) = middle;
    }
    return FasiHigham(n, rho * low, low);
  }

  double alpha() const { return alpha_; }
  double beta() const { return beta_; }
  /// ||A||_inf ||A^-1||_inf, by formulas. O(n). Precondition: alpha <= beta.
  double cond_inf() const { return condition(b_.n, alpha_, beta_); }

  KOKKOS_INLINE_FUNCTION Index order() const { return b_.n; }
  KOKKOS_INLINE_FUNCTION double operator()(Index i, Index j) const {
    if (j == b_.n) return b_(i, j);
    const Index least = i < j ? i : j;
    return (i < j ? -beta_ : i == j ? 1.0 : -alpha_) + product_ * static_cast<double>(least);
  }
  double bound() const {
    return std::max({1.0, alpha_, beta_}) + product_ * static_cast<double>(b_.n);
  }
  std::array<std::uint64_t, 4> key() const {
    return {3, static_cast<std::uint64_t>(b_.n), std::bit_cast<std::uint64_t>(alpha_),
            std::bit_cast<std::uint64_t>(beta_)};
  }

  void diagonal(Isa isa, Range rows, double* out) const {
    kernel::run_simd(isa, kernel::Ramp{out, rows.size(), rows.begin, 1.0, product_});
  }
  void right_hand_side(Range rows, double* out) const {
    std::uint64_t x = b_.state(rows.begin, b_.n);
    for (Index k = 0; k < rows.size(); ++k, x = Lcg64::step()(x)) out[k] = lcg_value(x);
  }
  auto tiles() const {
    return [*this](Isa isa, Range rows, Range cols, kernel::EntryTile tile) {
      // Along a line the entries rise up to the diagonal, and beyond it they are all the same.
      const bool by_rows = tile.col_stride == 1;
      const Range lines = by_rows ? rows : cols, along = by_rows ? cols : rows;
      const double rising = by_rows ? -alpha_ : -beta_, level = by_rows ? -beta_ : -alpha_;
      const Index ld = by_rows ? tile.row_stride : tile.col_stride;
      for (Index line = lines.begin; line < lines.end; ++line) {
        double* const out = tile.out + (line - lines.begin) * ld;
        const Index turn = std::clamp(line, along.begin, along.end) - along.begin;
        kernel::run_simd(isa, kernel::Ramp{out, turn, along.begin, rising, product_});
        std::fill(out + turn, out + along.size(), level + product_ * static_cast<double>(line));
      }
    };
  }

  struct Walks {
    double alpha, beta, product;
    KOKKOS_FUNCTION kernel::BentRamp right(Index i, Index j) const {
      return {-alpha, -beta, product, j, i};
    }
    KOKKOS_FUNCTION kernel::BentRamp down(Index i, Index j) const {
      return {-beta, -alpha, product, i, j};
    }
  };
  Walks walks() const { return {alpha_, beta_, product_}; }

 private:
  /// x to 14 bits.
  static double few_bits(double x) {
    int exponent = 0;
    const double fraction = std::frexp(x, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(fraction, 14)), exponent - 14);
  }

  /// L^-1 and U^-1 have entries alpha (1 + alpha)^k and beta (1 + beta)^k, none negative, so row
  /// sums of A^-1 are U^-1 (L^-1 e); for alpha <= beta the first one is the largest.
  static double condition(Index n, double alpha, double beta) {
    if (n == 0) return 1;
    const double growth = (1 + alpha) * (1 + beta), m = static_cast<double>(n - 1);
    // sum_{k < n - 1} growth^k
    const double sum = growth > 1 ? std::expm1(m * std::log1p(growth - 1)) / (growth - 1) : m;
    const double inverse = 1 + beta * (1 + alpha) * sum;
    double norm = 0, left = 0;  // left: sum of |alpha beta j - alpha| for j < i
    for (Index i = 0; i < n; ++i) {
      const auto di = static_cast<double>(i);
      const double right = std::abs(alpha * beta * di - beta) * (m - di);
      norm = std::max(norm, left + 1 + alpha * beta * di + right);
      left += std::abs(alpha * beta * di - alpha);
    }
    return norm * inverse;
  }

  HplGenerator b_;
  double alpha_ = 0, beta_ = 0, product_ = 0;
};

static_assert(kernel::WalkedSource<FasiHigham>);

}  // namespace plinth
