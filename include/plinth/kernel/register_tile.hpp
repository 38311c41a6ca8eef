// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <utility>

#include "plinth/core/index.hpp"
#include "plinth/kernel/simd.hpp"

namespace plinth::kernel {

/// Square tiles of L x L elements in L vectors of `bytes` bytes, L elements each, of the compiler's
/// own, which it maps to what the CPU has.
template <class T, int bytes>
struct RegisterTile {
  static constexpr int lanes = bytes / sizeof(T);
  typedef T Vector __attribute__((vector_size(bytes)));

  Vector row[lanes];

  /// Row r := the elements from `from` on.
  PLINTH_SIMD_BODY void load(int r, const T* from) { std::memcpy(&row[r], from, bytes); }
  PLINTH_SIMD_BODY void store(int r, T* to) const { std::memcpy(to, &row[r], bytes); }

  /// The tile's transpose in its place. Each round interleaves rows of the upper half with those of
  /// the lower; after log2(L) of them every element has moved across the diagonal.
  PLINTH_SIMD_BODY void transpose() {
#pragma GCC unroll 8
    for (int round = 1; round < lanes; round *= 2) {
      Vector next[lanes];
#pragma GCC unroll 16
      for (int i = 0; i < lanes / 2; ++i) {
        interleave<0>(row[i], row[i + lanes / 2], next[2 * i], Lanes{});
        interleave<lanes / 2>(row[i], row[i + lanes / 2], next[2 * i + 1], Lanes{});
      }
#pragma GCC unroll 16
      for (int i = 0; i < lanes; ++i) row[i] = next[i];
    }
  }

 private:
  using Lanes = std::make_integer_sequence<int, lanes>;

  /// to := a[first], b[first], a[first + 1], ...
  template <int first, int... l>
  PLINTH_SIMD_BODY static void interleave(const Vector& a, const Vector& b, Vector& to,
                                          std::integer_sequence<int, l...>) {
#if defined(__NVCC__)  // which does not hand a pack on to that function
    Vector both = {};
    ((both[l] = l % 2 == 0 ? a[first + l / 2] : b[first + l / 2]), ...);
    to = both;
#else
    to = __builtin_shufflevector(a, b, (first + l / 2 + (l % 2) * lanes)...);
#endif
  }
};

/// to(j, i) = from(i, j) for tiles of L x L elements, `down` of them by `across`; rows of `from`
/// and of `to` are contiguous, from_lead and to_lead apart.
template <class T, int bytes>
struct TransposeTiles {
  const T* from;
  Index from_lead;
  T* to;
  Index to_lead;
  Index down, across;

  PLINTH_SIMD_BODY void operator()() const {
    constexpr int lanes = RegisterTile<T, bytes>::lanes;
    for (Index i = 0; i < down * lanes; i += lanes)
      for (Index j = 0; j < across * lanes; j += lanes) {
        RegisterTile<T, bytes> tile;
#pragma GCC unroll 16
        for (int r = 0; r < lanes; ++r) tile.load(r, from + (i + r) * from_lead + j);
        tile.transpose();
#pragma GCC unroll 16
        for (int r = 0; r < lanes; ++r) tile.store(r, to + (j + r) * to_lead + i);
      }
  }
};

}  // namespace plinth::kernel
