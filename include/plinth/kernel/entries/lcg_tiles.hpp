// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "plinth/kernel/entries/source.hpp"
#include "plinth/kernel/lcg.hpp"
#include "plinth/kernel/lcg_tile.hpp"
#include "plinth/kernel/simd.hpp"

namespace plinth::kernel {

/// What a state of the generator stands for, as an entry of a matrix.
///   HplValue        1/2 - u, u = X 2^-64 rounded once: netlib HPL's (lcg_value)
///   ReferenceValue  u - 1/2: HPL-MxP's reference code
///   SignedValue     X as a signed integer, rounded, times the number before 2^-64: OpenMxP
struct HplValue {
  KOKKOS_INLINE_FUNCTION static constexpr double of(std::uint64_t x) { return lcg_value(x); }
};
struct ReferenceValue {
  KOKKOS_INLINE_FUNCTION static constexpr double of(std::uint64_t x) {
    return static_cast<double>(x) * 0x1p-64 - 0.5;
  }
};
struct SignedValue {
  KOKKOS_INLINE_FUNCTION static constexpr double of(std::uint64_t x) {
    return static_cast<double>(static_cast<std::int64_t>(x)) * 0x1.fffffffffffffp-65;
  }
};

/// Lines of values, by plain loops: for values that have no kernel of their own.
template <class Value>
struct ValueLines {
  LcgTile<double> tile;
  const LcgSteps& along;
  Affine across;

  PLINTH_SIMD_BODY void operator()() const {
    constexpr int lanes = 16;
    const Affine all = along[lanes];
    std::uint64_t first = tile.x;
    for (Index line = 0; line < tile.lines; ++line, first = across(first)) {
      double* const out = tile.out + line * tile.ld;
      std::uint64_t x[lanes];
      for (int l = 0; l < lanes; ++l) x[l] = along.a[l] * first + along.c[l];
      Index j = 0;
      for (; j + lanes <= tile.count; j += lanes)
        for (int l = 0; l < lanes; ++l) {
          out[j + l] = Value::of(x[l]);
          x[l] = all.a * x[l] + all.c;
        }
      for (int l = 0; j + l < tile.count; ++l) out[j + l] = Value::of(x[l]);
    }
  }
};

/// Entry (i, j) is the value of state X_{1 + i + j n}, X_0 = seed, of Lcg64.
template <class Value>
class LcgTiles {
 public:
  LcgTiles(Index n, std::uint64_t seed)
      : n_(n),
        first_(Lcg64::step()(seed)),
        right_(Lcg64::jump(static_cast<std::uint64_t>(n))),
        down_steps_(Lcg64::step()),
        right_steps_(right_) {}

  std::uint64_t state(Index i, Index j) const {
    return Lcg64::jump(static_cast<std::uint64_t>(i) +
                       static_cast<std::uint64_t>(j) * static_cast<std::uint64_t>(n_))(first_);
  }

  void operator()(Isa isa, Range rows, Range cols, EntryTile tile) const {
    const bool by_rows = tile.col_stride == 1;
    const LcgTile<double> lines{
        tile.out, by_rows ? rows.size() : cols.size(), by_rows ? cols.size() : rows.size(),
        by_rows ? tile.row_stride : tile.col_stride, state(rows.begin, cols.begin)};
    const LcgSteps& along = by_rows ? right_steps_ : down_steps_;
    const Affine across = by_rows ? Lcg64::step() : right_;
    if constexpr (std::is_same_v<Value, HplValue>)
      lcg_fill_tile(isa, lines, along, across);
    else
      run_simd(isa, ValueLines<Value>{lines, along, across});
  }

 private:
  Index n_;
  std::uint64_t first_;
  Affine right_;
  LcgSteps down_steps_, right_steps_;
};

}  // namespace plinth::kernel
