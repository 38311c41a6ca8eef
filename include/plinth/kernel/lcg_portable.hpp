// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "plinth/core/cpu.hpp"
#include "plinth/kernel/lcg_steps.hpp"

/// The generator's kernels in portable C++; the meaning of what they compute, for the vector
/// kernels as well (lcg_avx2.hpp, lcg_avx512.hpp).
namespace plinth::kernel {

/// A tile to fill: `lines` lines of `count` consecutive entries, line k from out + k ld.
/// x is the state of the first entry, `along` steps from entry to entry of a line, `across` from
/// line to line.
template <class T>
struct LcgTile {
  T* out;
  Index lines, count, ld;
  std::uint64_t x;
};

/// A tile to multiply: rows x cols entries a_ij, generated as they are needed. x is the state of
/// the first, `down` steps from row to row, `right` from column to column. For each row i, in the
/// order of the columns, with each product and each difference rounded to double:
///     r_i -= a_ij v_j
/// and, unless row_sums is null, for each entry in the same order
///     row_sums_i += |a_ij|,    col_sums_j += fixed_point(|a_ij|).
/// rows <= 8192, so that col_sums do not overflow.
struct LcgProduct {
  Index rows, cols;
  std::uint64_t x;
  const double* v;
  double* r;
  double* row_sums;
  std::uint64_t* col_sums;
};

/// `value`, rounded to double and visible to no optimisation that would merge the operation that
/// made it with the next one (contraction, re-association under -ffast-math).
inline double rounded(double value) {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  __asm__("" : "+x"(value));
#elif defined(__aarch64__) && (defined(__GNUC__) || defined(__clang__))
  __asm__("" : "+w"(value));
#endif
  return value;
}

/// |a| for |a| <= 1/2 as a whole number of 2^-52, rounded to nearest even, plus an offset, the
/// bits of 1. Sums modulo 2^64 of such numbers are exact, so they depend on no order.
inline std::uint64_t fixed_point(double magnitude) {
  return std::bit_cast<std::uint64_t>(magnitude + 1.0);
}

/// lcg_value for CPUs that convert only signed integers: the last bit of a number beyond 2^63 is
/// moved to the right and kept, which leaves the rounding of the conversion as it is.
inline double lcg_value_host(std::uint64_t x) {
  const std::uint64_t top = x >> 63;
  const auto half = static_cast<std::int64_t>((x >> top) | (x & top));
  const double unit = std::bit_cast<double>(0x3bf0000000000000u + (top << 52));  // 2^-64, 2^-63
  return 0.5 - static_cast<double>(half) * unit;
}

/// Fills one line.
template <class T>
void lcg_strip_portable(T* out, Index count, std::uint64_t x, const LcgSteps& along) {
  std::uint64_t x0 = x, x1 = along[1](x), x2 = along[2](x), x3 = along[3](x);
  const Affine step = along[4];
  Index j = 0;
  for (; j + 4 <= count; j += 4) {
    out[j] = static_cast<T>(lcg_value_host(x0));
    out[j + 1] = static_cast<T>(lcg_value_host(x1));
    out[j + 2] = static_cast<T>(lcg_value_host(x2));
    out[j + 3] = static_cast<T>(lcg_value_host(x3));
    x0 = step(x0);
    x1 = step(x1);
    x2 = step(x2);
    x3 = step(x3);
  }
  for (; j < count; ++j, x0 = along[1](x0)) out[j] = static_cast<T>(lcg_value_host(x0));
}

template <class T>
void lcg_fill_portable(const LcgTile<T>& tile, const LcgSteps& along, Affine across) {
  std::uint64_t x = tile.x;
  for (Index k = 0; k < tile.lines; ++k, x = across(x))
    lcg_strip_portable(tile.out + k * tile.ld, tile.count, x, along);
}

/// One row of a product, or as many as Lanes: their chains are independent.
template <class T, bool Sums, int Lanes>
void lcg_rows_portable(const LcgProduct& p, Index row, std::uint64_t x, const LcgSteps& down,
                       Affine right) {
  std::uint64_t state[Lanes];
  double r[Lanes], sum[Lanes];
  for (int l = 0; l < Lanes; ++l) {
    state[l] = down[l](x);
    r[l] = p.r[row + l];
    sum[l] = Sums ? p.row_sums[row + l] : 0.0;
  }
  for (Index j = 0; j < p.cols; ++j) {
    std::uint64_t column = 0;
    for (int l = 0; l < Lanes; ++l) {
      const double a = static_cast<double>(static_cast<T>(lcg_value_host(state[l])));
      r[l] -= rounded(a * p.v[j]);
      if constexpr (Sums) {
        const double magnitude = std::fabs(a);  // no branch: signs are random
        sum[l] += magnitude;
        column += fixed_point(magnitude);
      }
      state[l] = right(state[l]);
    }
    if constexpr (Sums) p.col_sums[j] += column;
  }
  for (int l = 0; l < Lanes; ++l) {
    p.r[row + l] = r[l];
    if constexpr (Sums) p.row_sums[row + l] = sum[l];
  }
}

template <class T, bool Sums>
void lcg_product_portable(const LcgProduct& p, const LcgSteps& down, Affine right) {
  std::uint64_t x = p.x;
  Index i = 0;
  for (; i + 4 <= p.rows; i += 4, x = down[4](x))
    lcg_rows_portable<T, Sums, 4>(p, i, x, down, right);
  for (; i < p.rows; ++i, x = down[1](x)) lcg_rows_portable<T, Sums, 1>(p, i, x, down, right);
}

}  // namespace plinth::kernel
