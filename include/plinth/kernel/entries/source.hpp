// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "plinth/core/cpu.hpp"
#include "plinth/core/index.hpp"
#include "plinth/kernel/lcg_steps.hpp"

namespace plinth::kernel {

/// Where host code puts the entries of a few rows and columns: entry (k, l) of them at
/// out[k row_stride + l col_stride]. One stride is 1.
struct EntryTile {
  double* out;
  Index row_stride, col_stride;
  constexpr double& operator()(Index k, Index l) const {
    return out[k * row_stride + l * col_stride];
  }
};

/// The entries of an n x (n + 1) system [A | b] as a function of their indices, b being column n,
/// with what bulk kernels on a host want besides:
///
///   s.order()                      n
///   s(i, j)                        the entry, in FP64; callable on any device
///   s.bound()                      no entry of A is larger in magnitude
///   s.key()                        four words that tell it from other systems
///   s.diagonal(isa, rows, out)     out[k] = s(rows.begin + k, rows.begin + k)
///   s.right_hand_side(rows, out)   out[k] = s(rows.begin + k, n)
///   s.tiles()                      a function t(isa, rows, cols, tile) that writes the entries of
///                                  these rows and columns of A; what it writes on the diagonal of
///                                  A is anything finite. What is costly to prepare is prepared.
///
/// The bits depend on nothing but the system and the indices.
template <class S>
concept EntrySource = requires(const S& s, Index i, Range range, double* out, EntryTile tile) {
  { s.order() } -> std::convertible_to<Index>;
  { s(i, i) } -> std::convertible_to<double>;
  { s.bound() } -> std::convertible_to<double>;
  { s.key() } -> std::convertible_to<std::array<std::uint64_t, 4>>;
  s.diagonal(Isa::portable, range, out);
  s.right_hand_side(range, out);
  s.tiles()(Isa::portable, range, range, tile);
};

/// Calls f(row, col) for the stretches of the matrix's diagonal in the given rows and columns:
/// runs of equal length and the same global indices. Both spans ascend.
template <class F>
void for_each_diagonal(std::span<const IndexRun> rows, std::span<const IndexRun> cols,
                       const F& f) {
  std::size_t r = 0, c = 0;
  while (r < rows.size() && c < cols.size()) {
    const IndexRun &row = rows[r], &col = cols[c];
    const Index row_end = row.global + row.length, col_end = col.global + col.length;
    const Index begin = std::max(row.global, col.global), end = std::min(row_end, col_end);
    if (begin < end)
      f(IndexRun{row.local + begin - row.global, begin, end - begin},
        IndexRun{col.local + begin - col.global, begin, end - begin});
    if (row_end <= col_end) ++r;
    if (col_end <= row_end) ++c;
  }
}

}  // namespace plinth::kernel
