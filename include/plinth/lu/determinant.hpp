// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "plinth/comm/agree.hpp"
#include "plinth/comm/reduce.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/lu/factors.hpp"

namespace plinth {

/// A determinant, in a form that neither overflows nor underflows: sign e^log_modulus.
template <class Sign>
struct Determinant {
  /// 1, -1 or 0; complex: a number of modulus 1, or 0. NaN where a pivot is not finite.
  Sign sign = Sign(1);
  /// Natural logarithm of the modulus; -infinity for 0.
  double log_modulus = 0;

  /// The determinant itself, where a double holds it.
  Sign value() const { return sign == Sign(0) ? Sign(0) : sign * std::exp(log_modulus); }
};

namespace lu {

/// mantissa 2^exponent, the modulus of the mantissa's larger part in [1, 2): a product of any
/// length, with an error of one rounding per factor, and none for powers of two.
template <class Number>
class LongProduct {
 public:
  /// Precondition: neither 0 nor non-finite.
  void operator*=(Number factor) { mantissa_ = scaled(mantissa_) * scaled(factor); }
  /// Brought to the range above.
  Number mantissa() {
    mantissa_ = scaled(mantissa_);
    return mantissa_;
  }
  /// Multiplies by 2^exponent.
  void add_exponent(Index exponent) { exponent_ += exponent; }
  /// After mantissa().
  Index exponent() const { return exponent_; }

 private:
  /// x without its exponent, which is noted. Precondition: neither 0 nor non-finite.
  Number scaled(Number x) {
    if constexpr (std::is_floating_point_v<Number>) {
      const int e = std::ilogb(x);
      exponent_ += e;
      return std::ldexp(x, -e);
    } else {
      const int e = std::ilogb(std::max(std::abs(x.real()), std::abs(x.imag())));
      exponent_ += e;
      return Number(std::ldexp(x.real(), -e), std::ldexp(x.imag(), -e));
    }
  }

  Number mantissa_ = Number(1);
  Index exponent_ = 0;
};

/// room[i] := the diagonal entry in local row i, readable on the host, where it is this process's.
/// Precondition: room for the local rows.
template <ExecutionPolicy Exec, class Matrix>
void fetch_diagonal(const Exec& exec, const Matrix& a,
                    const kernel::Staged<typename Matrix::value_type, Exec>& room) {
  const BlockCyclic &rows = a.distribution().rows, &cols = a.distribution().cols;
  const GridCoord at = a.grid().coord();
  const auto view = a.local();
  auto* const out = room.device();
  kernel::for_each<Kokkos::LayoutLeft>(
      exec, kernel::rows_of(view), 1, KOKKOS_LAMBDA(const Index i, const Index) {
        const Index g = rows.global(i, at.row);
        if (cols.owner(g) == at.col) out[i] = view(i, cols.local(g));
      });
  room.to_host(exec, 0, kernel::rows_of(view));
}

}  // namespace lu

/// The determinant of the matrix that was factored: that of P^T L U, where the factors are rounded
/// or scaled (mixed_lu_factor) with the scaling undone. Collective over the factors' grid: one
/// reduction after the entry check. On idle ranks that of nothing, 1.
/// Precondition, an Error on every rank: enough memory (n/P elements).
/// Outcomes: exactly 0 if there is a zero pivot, NaN if there is one that is not finite.
/// n flops. The error of log_modulus beyond that of the factors is about n roundings of 1 and one
/// of its own size; none for powers of two.
template <ExecutionPolicy Exec, class Matrix>
auto determinant(const Exec& exec, const LuFactors<Matrix>& factors) {
  using T = typename Matrix::value_type;
  constexpr bool is_complex = ScalarTraits<T>::is_complex;
  using Number = std::conditional_t<is_complex, Kokkos::complex<double>, double>;
  const Matrix& a = factors.matrix();
  const ProcessGrid& grid = a.grid();
  const BlockCyclic &rows = a.distribution().rows, &cols = a.distribution().cols;
  kernel::Staged<T, Exec> diagonal;
  comm::Fingerprint arguments;
  arguments << a.distribution();
  comm::agree_on(grid.all(), "determinant", arguments.value(),
                 [&] { diagonal.reserve(a.local_extents().rows); });
  Determinant<Number> result;
  if (!grid.active()) return result;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (factors.first_nonfinite_pivot()) return Determinant<Number>{Number(nan), nan};
  if (factors.first_zero_pivot())
    return Determinant<Number>{Number(0), -std::numeric_limits<double>::infinity()};

  lu::fetch_diagonal(exec, a, diagonal);
  lu::LongProduct<Number> product;
  const std::vector<Index>& pivots = factors.pivots().local();
  for (Index i = 0; i < a.local_extents().rows; ++i) {
    const Index g = a.global_row(i);
    if (cols.owner(g) != grid.coord().col) continue;
    if (pivots[static_cast<std::size_t>(i)] != g) product *= Number(-1);
    if constexpr (is_complex) {
      product *= Number(diagonal.host()[i].real(), diagonal.host()[i].imag());
    } else {
      product *= static_cast<double>(diagonal.host()[i]);
    }
    product.add_exponent(-factors.exponents().of_u(rows.block_of(g)));
  }
  // Exponents are whole numbers, so their sum is exact, and so is the number of signs.
  const Number mantissa = product.mantissa();
  std::vector<double> sums(3, 0.0);
  if constexpr (is_complex) {
    sums = {std::log(std::hypot(mantissa.real(), mantissa.imag())),
            static_cast<double>(product.exponent()),
            std::atan2(mantissa.imag(), mantissa.real())};
  } else {
    sums = {std::log(std::abs(mantissa)), static_cast<double>(product.exponent()),
            mantissa < 0 ? 1.0 : 0.0};
  }
  comm::sum_of_all(grid.all(), sums);
  result.log_modulus = sums[0] + sums[1] * std::log(2.0);
  if constexpr (is_complex) {
    result.sign = Number(std::cos(sums[2]), std::sin(sums[2]));
  } else {
    result.sign = std::fmod(sums[2], 2.0) == 0 ? 1 : -1;
  }
  return result;
}

}  // namespace plinth
