// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "plinth/core/error.hpp"
#include "plinth/kernel/entries/source.hpp"
#include "plinth/kernel/simd.hpp"

namespace plinth::kernel {

/// The vectors of a product with A, by local row (r, row_sums) or column (x, col_sums): `count`
/// columns of x and r with leading dimensions. The sums are wanted both, or not at all: then both
/// are null, as those of no rows or columns may be.
struct EntryVectors {
  Index count = 1;
  const double* x = nullptr;
  Index x_ld = 0;
  double* r = nullptr;
  Index r_ld = 0;
  double* row_sums = nullptr;
  double* col_sums = nullptr;
};

/// A tile of entries, by columns, times vectors: r_i -= sum_j a_ij x_j.
struct TileProduct {
  const double* tile;
  Index rows, cols, ld;
  EntryVectors v;  ///< from the tile's first row and column on

  PLINTH_SIMD_BODY void operator()() const {
    for (Index c = 0; c < v.count; ++c) {
      double* const __restrict r = v.r + c * v.r_ld;
      const double* const x = v.x + c * v.x_ld;
      Index j = 0;
      for (; j + 4 <= cols; j += 4) {
        const double* const a = tile + j * ld;
        const double x0 = x[j], x1 = x[j + 1], x2 = x[j + 2], x3 = x[j + 3];
        for (Index i = 0; i < rows; ++i)
          r[i] -= (a[i] * x0 + a[i + ld] * x1) + (a[i + 2 * ld] * x2 + a[i + 3 * ld] * x3);
      }
      for (; j < cols; ++j)
        for (Index i = 0; i < rows; ++i) r[i] -= tile[i + j * ld] * x[j];
    }
  }
};

/// row_sums_i += |a_ij|, col_sums_j += |a_ij| over a tile.
struct TileSums {
  const double* tile;
  Index rows, cols, ld;
  double *row_sums, *col_sums;

  PLINTH_SIMD_BODY void operator()() const {
    for (Index j = 0; j < cols; ++j) {
      constexpr int lanes = 8;
      double sum[lanes] = {};
      const double* const a = tile + j * ld;
      Index i = 0;
      for (; i + lanes <= rows; i += lanes)
        for (int l = 0; l < lanes; ++l) sum[l] += std::fabs(a[i + l]);
      for (; i < rows; ++i) sum[0] += std::fabs(a[i]);
      for (int l = 0; l < lanes; ++l) col_sums[j] += sum[l];
      for (i = 0; i < rows; ++i) row_sums[i] += std::fabs(a[i]);
    }
  }
};

/// Room for a tile of doubles, by columns.
struct ProductTile {
  static constexpr Index rows = 128, cols = 32;
  alignas(64) double entries[rows * cols];
};

/// The diagonal entries in the given rows and columns, by local row; 0 for other rows.
template <EntrySource Source>
std::vector<double> local_diagonal(const Source& source, std::span<const IndexRun> rows,
                                   std::span<const IndexRun> cols, Isa isa = best_isa()) {
  Index end = 0;
  for (const IndexRun& run : rows) end = std::max(end, run.local + run.length);
  std::vector<double> diagonal(static_cast<std::size_t>(end), 0.0);
  for_each_diagonal(rows, cols, [&](const IndexRun& row, const IndexRun&) {
    source.diagonal(isa, {row.global, row.global + row.length}, diagonal.data() + row.local);
  });
  return diagonal;
}

/// r := r - A x with A regenerated and never stored, restricted to the rows and columns of the
/// runs; `diagonal` holds the diagonal entries that are among them, by local row. On request
/// row_sums_i += sum_j |a_ij| and col_sums_j += sum_i |a_ij|.
/// Of a distributed matrix each process does its own part and the processes of a row, or of a
/// column for col_sums, add up.
///
/// One pass over the entries, 2 operations each and vector, in tiles of 32 KiB, one a thread; with
/// sums as many more, and a vector of column sums a thread. The bits depend on the number of
/// threads in col_sums only, and on the instruction set.
/// Preconditions: `space` reaches host memory; the columns are columns of A.
template <class Space, EntrySource Source>
void subtract_product(const Space& space, const Source& source, std::span<const IndexRun> rows,
                      std::span<const IndexRun> cols, const double* diagonal,
                      const EntryVectors& v, Isa isa = best_isa()) {
  static_assert(Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible,
                "subtract_product runs on the host");
  constexpr Index tile_rows = ProductTile::rows, tile_cols = ProductTile::cols;
  const Index row_count = total_length(rows), col_count = total_length(cols);
  const bool sums = v.row_sums != nullptr || v.col_sums != nullptr;
  require(!sums || ((v.row_sums != nullptr || row_count == 0) &&
                    (v.col_sums != nullptr || col_count == 0)),
          "subtract_product: row sums and column sums are computed together");
  const Index threads = std::max<Index>(1, space.concurrency());
  // With sums each part has its own, so as few as there are threads.
  const Index parts = std::min(row_count, sums ? threads : 8 * threads);
  Index col_end = 0;
  for (const IndexRun& run : cols) col_end = std::max(col_end, run.local + run.length);
  std::vector<double> col_sums(sums ? static_cast<std::size_t>(parts * col_end) : 0);
  const auto tiles = source.tiles();

  const auto do_tile = [&](const IndexRun& row, const IndexRun& col, double* part_sums) {
    ProductTile room;
    double* const tile = room.entries;
    const Range i{row.global, row.global + row.length}, j{col.global, col.global + col.length};
    tiles(isa, i, j, EntryTile{tile, 1, tile_rows});
    for (Index k = std::max(i.begin, j.begin); k < std::min(i.end, j.end); ++k)
      tile[k - i.begin + (k - j.begin) * tile_rows] = diagonal[row.local + k - i.begin];
    const EntryVectors mine{v.count, v.x + col.local, v.x_ld, v.r + row.local, v.r_ld};
    run_simd(isa, TileProduct{tile, row.length, col.length, tile_rows, mine});
    if (sums)
      run_simd(isa, TileSums{tile, row.length, col.length, tile_rows, v.row_sums + row.local,
                             part_sums + col.local});
  };
  const auto do_part = [&](Index part) {
    double* const part_sums = col_sums.data() + (sums ? part * col_end : 0);
    for_each_piece(rows, part_of(row_count, part, parts), tile_rows, [&](const IndexRun& row) {
      for_each_piece(cols, {0, col_count}, tile_cols,
                     [&](const IndexRun& col) { do_tile(row, col, part_sums); });
    });
  };
  using Policy =
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>, Kokkos::Schedule<Kokkos::Dynamic>>;
  Kokkos::parallel_for("plinth::subtract_product", Policy(space, 0, parts, Kokkos::ChunkSize(1)),
                       do_part);
  space.fence();
  if (!sums) return;
  for (const IndexRun& run : cols)
    for (Index j = run.local; j < run.local + run.length; ++j)
      for (Index part = 0; part < parts; ++part)
        v.col_sums[j] += col_sums[static_cast<std::size_t>(part * col_end + j)];
}

}  // namespace plinth::kernel
