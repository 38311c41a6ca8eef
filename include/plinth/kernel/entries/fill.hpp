// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "plinth/core/error.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/kernel/convert.hpp"
#include "plinth/kernel/entries/source.hpp"
#include "plinth/kernel/lcg_fill.hpp"
#include "plinth/kernel/view.hpp"

namespace plinth::kernel {

/// Room for a few lines of doubles.
struct FillTile {
  static constexpr Index long_side = 512, short_side = 8;
  alignas(64) double entries[long_side * short_side];
  double diagonal[short_side];
};

/// a_ij = s(i, j) scale, rounded once to T, for the entries that `target` names; its columns may
/// include the right-hand side, column n. T is double, float, half or bfloat16. Returns what was
/// lost in rounding (kernel/convert_runs.hpp).
/// No copy in FP64 is made but for tiles of 32 KiB, one a thread.
/// Preconditions: `space` reaches host memory; one stride is 1; scale is a power of two.
template <class Space, EntrySource Source, class T>
NarrowingCounts fill_entries(const Space& space, const Source& source, const LcgTarget<T>& target,
                             double scale = 1, Isa isa = best_isa()) {
  static_assert(Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible,
                "fill_entries runs on the host; on a device, call the source");
  require(target.row_stride == 1 || target.col_stride == 1,
          "fill_entries: neither rows nor columns are contiguous");
  const Index n = source.order(), rows = total_length(target.rows);
  const Index cols = total_length(target.cols);
  if (rows == 0 || cols == 0) return {};
  const bool by_rows = target.col_stride == 1 && (target.row_stride != 1 || cols >= rows);
  const Index row_step = by_rows ? FillTile::short_side : FillTile::long_side;
  const Index col_step = by_rows ? FillTile::long_side : FillTile::short_side;
  const auto tiles = source.tiles();

  // Each thread has its rows or columns, whichever are the lines.
  const Index line_count = by_rows ? rows : cols;
  const Index parts = std::min(std::max<Index>(1, space.concurrency()), line_count);
  std::vector<NarrowingCounts> counts(static_cast<std::size_t>(parts));
  NarrowingCounts* const count_of = counts.data();
  const auto fill_piece = [&](const IndexRun& row, const IndexRun& col, Index part) {
    FillTile room;
    double* const entries = room.entries;
    const EntryTile tile{entries, by_rows ? col.length : 1, by_rows ? 1 : row.length};
    const Range i{row.global, row.global + row.length}, j{col.global, col.global + col.length};
    if (j.begin == n) {
      source.right_hand_side(i, entries);  // one column: contiguous either way
    } else {
      tiles(isa, i, j, tile);
      const Index begin = std::max(i.begin, j.begin), end = std::min(i.end, j.end);
      if (begin < end) source.diagonal(isa, {begin, end}, room.diagonal);
      for (Index k = begin; k < end; ++k)
        tile(k - i.begin, k - j.begin) = room.diagonal[k - begin];
    }
    count_of[part] += convert_lines(
        entries, by_rows ? tile.row_stride : tile.col_stride,
        target.data + row.local * target.row_stride + col.local * target.col_stride,
        by_rows ? target.row_stride : target.col_stride, by_rows ? row.length : col.length,
        by_rows ? col.length : row.length, scale, isa);
  };
  const auto fill_part = [&](Index part) {
    const Range lines = part_of(line_count, part, parts);
    for_each_piece(target.rows, by_rows ? lines : Range{0, rows}, row_step, [&](IndexRun row) {
      for_each_piece(target.cols, by_rows ? Range{0, cols} : lines, col_step, [&](IndexRun col) {
        // The right-hand side is a piece of its own.
        IndexRun last = col;
        if (n > col.global && n < col.global + col.length) {
          col.length = n - col.global;
          last = {col.local + col.length, n, last.length - col.length};
          fill_piece(row, last, part);
        }
        fill_piece(row, col, part);
      });
    });
  };
  Kokkos::parallel_for("plinth::fill_entries",
                       Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, parts),
                       fill_part);
  space.fence();
  NarrowingCounts sum;
  for (const NarrowingCounts& c : counts) sum += c;
  return sum;
}

}  // namespace plinth::kernel
