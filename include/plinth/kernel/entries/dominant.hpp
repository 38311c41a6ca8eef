// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "plinth/core/error.hpp"
#include "plinth/kernel/entries/lcg_tiles.hpp"
#include "plinth/kernel/entries/walks.hpp"

namespace plinth {

namespace kernel {

/// Which magnitudes of a row add up to its diagonal entry, in the order of the columns; the bits
/// differ.
///   others           all but the diagonal's own: OpenMxP
///   all_without_own  all, then the diagonal's own is subtracted: HPL-MxP's reference code
enum class RowSum { others, all_without_own };

/// The diagonal entries of up to 16 rows.
template <class Value, RowSum Sum>
struct DominantDiagonal {
  static constexpr int lanes = 16;
  Index n, row;     ///< order; the first of the rows
  std::uint64_t x;  ///< state of (row, 0)
  LcgSteps down;
  Affine right;
  double* out;  ///< `lanes` entries

  PLINTH_SIMD_BODY void operator()() const {
    std::uint64_t state[lanes];
    double sum[lanes], own[lanes];
    for (int l = 0; l < lanes; ++l) {
      state[l] = down.a[l] * x + down.c[l];
      sum[l] = own[l] = 0;
    }
    for (Index j = 0; j < n; ++j)
      for (int l = 0; l < lanes; ++l) {
        const double magnitude = std::fabs(Value::of(state[l]));
        const bool on_diagonal = j == row + l;
        own[l] = on_diagonal ? magnitude : own[l];
        sum[l] += on_diagonal && Sum == RowSum::others ? 0.0 : magnitude;
        state[l] = right.a * state[l] + right.c;
      }
    for (int l = 0; l < lanes; ++l) out[l] = Sum == RowSum::others ? sum[l] : sum[l] - own[l];
  }
};

}  // namespace kernel

/// A random matrix whose diagonal entries are the sums of the magnitudes of their rows' other
/// entries. Too easy for a benchmark (the rules of HPL-MxP
/// keep it for tests): a diagonal matrix is a good approximation of its inverse.
///
/// A diagonal entry costs n values of the generator.
template <class Value, kernel::RowSum Sum>
class Dominant {
 public:
  Dominant() = default;
  /// Entry (i, j) of A is the value of state X_{1 + i + j n}, X_0 = seed; b is column n of such a
  /// matrix with seed b_seed, or its column 0 if b has a stream of its own.
  /// Precondition: n >= 0.
  Dominant(Index n, std::uint64_t seed, std::uint64_t b_seed, bool own_stream)
      : a_{n, seed}, b_{n, b_seed}, b_column_(own_stream ? 0 : n) {
    require(n >= 0, "the order of a matrix must not be negative");
  }

  KOKKOS_INLINE_FUNCTION Index order() const { return a_.n; }
  KOKKOS_INLINE_FUNCTION double operator()(Index i, Index j) const {
    if (j == a_.n) return Value::of(b_.state(i, b_column_));
    if (i != j) return Value::of(a_.state(i, j));
    const Affine right = Lcg64::jump(static_cast<std::uint64_t>(a_.n));
    std::uint64_t x = a_.state(i, 0);
    double sum = 0, own = 0;
    for (Index k = 0; k < a_.n; ++k, x = right(x)) {
      const double value = Value::of(x), magnitude = value < 0 ? -value : value;
      if (k == i) own = magnitude;
      if (k != i || Sum == kernel::RowSum::all_without_own) sum += magnitude;
    }
    return Sum == kernel::RowSum::others ? sum : sum - own;
  }
  double bound() const { return 0.5 * static_cast<double>(a_.n); }
  std::array<std::uint64_t, 4> key() const {
    return {2, static_cast<std::uint64_t>(a_.n), a_.seed, b_.seed};
  }

  void diagonal(Isa isa, Range rows, double* out) const {
    using Some = kernel::DominantDiagonal<Value, Sum>;
    double some[Some::lanes];
    for (Index i = rows.begin; i < rows.end; i += Some::lanes) {
      kernel::run_simd(isa, Some{a_.n, i, a_.state(i, 0), kernel::LcgSteps(Lcg64::step()),
                                 Lcg64::jump(static_cast<std::uint64_t>(a_.n)), some});
      for (Index k = i; k < std::min(i + Some::lanes, rows.end); ++k)
        out[k - rows.begin] = some[k - i];
    }
  }
  void right_hand_side(Range rows, double* out) const {
    std::uint64_t x = b_.state(rows.begin, b_column_);
    for (Index k = 0; k < rows.size(); ++k, x = Lcg64::step()(x)) out[k] = Value::of(x);
  }
  kernel::LcgTiles<Value> tiles() const { return {a_.n, a_.seed}; }
  auto walks() const { return kernel::LcgWalks<Value>(a_); }

 private:
  HplGenerator a_, b_;
  Index b_column_ = 0;
};

/// The system of HPL-MxP's reference code, bit for bit: A from seed 1, b from a stream of its own
/// with seed 2.
struct DominantReference : Dominant<kernel::ReferenceValue, kernel::RowSum::all_without_own> {
  DominantReference() = default;
  explicit DominantReference(Index n) : Dominant(n, 1, 2, true) {}
};

/// The system of OpenMxP and of RIKEN's code, bit for bit: seed 42, b is column n.
struct DominantOpenmxp : Dominant<kernel::SignedValue, kernel::RowSum::others> {
  DominantOpenmxp() = default;
  explicit DominantOpenmxp(Index n) : Dominant(n, 42, 42, false) {}
};

static_assert(kernel::WalkedSource<DominantReference> && kernel::WalkedSource<DominantOpenmxp>);

}  // namespace plinth
