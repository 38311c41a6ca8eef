// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>

#include "plinth/core/cpu.hpp"
#include "plinth/core/error.hpp"
#include "plinth/kernel/lcg_tile.hpp"

namespace plinth::kernel {

/// The local part of a matrix in host memory, for the generator's kernels: entry
/// (rows[..].local + k, cols[..].local + l) is at data[i row_stride + j col_stride] for its local
/// indices (i, j). One stride is 1, the other is the leading dimension.
/// The runs say which global rows and columns the local ones are. They may be cut anywhere, and
/// they may name a part of the local rows and columns only.
template <class T>
struct LcgTarget {
  T* data;
  Index row_stride, col_stride;
  std::span<const IndexRun> rows, cols;
};

/// a_ij = HplGenerator{n, seed}(i, j), rounded to T, for the entries that `target` names: netlib
/// HPL's matrix, bit for bit (its generator of version 2.0; jump-ahead: F. B. Brown, 1994).
///
/// Complexity: one 64-bit multiplication and one conversion per entry; one jump of at most 64
/// squarings per change of the distance between runs. No allocation.
/// Preconditions: `space` reaches host memory; one stride is 1; is_available(isa).
/// The bits depend on nothing but n, seed, i and j.
template <class Space, std::floating_point T>
void fill_lcg(const Space& space, const LcgTarget<T>& target, Index n, std::uint64_t seed = 100,
              Isa isa = best_isa()) {
  static_assert(Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible,
                "fill_lcg runs on the host; on a device, call HplGenerator");
  require(target.row_stride == 1 || target.col_stride == 1,
          "fill_lcg: neither rows nor columns are contiguous");
  require(is_available(isa), "fill_lcg: this CPU does not have the instruction set");
  const Index rows = total_length(target.rows), cols = total_length(target.cols);
  if (rows == 0 || cols == 0) return;

  // Lines are contiguous; `along` leads from entry to entry of a line, `across` to the next line.
  const bool row_lines = target.col_stride == 1 && (target.row_stride != 1 || cols >= rows);
  const Affine down = Lcg64::step(), right = Lcg64::jump(static_cast<std::uint64_t>(n));
  const Affine along = row_lines ? right : down, across = row_lines ? down : right;
  const LcgSteps steps(along);
  const auto lines = row_lines ? target.rows : target.cols;
  const auto entries = row_lines ? target.cols : target.rows;
  const Index ld = row_lines ? target.row_stride : target.col_stride;
  const Index line_count = row_lines ? rows : cols, entry_count = row_lines ? cols : rows;
  const std::uint64_t first = Lcg64::step()(seed);  // of entry (0, 0)
  T* const data = target.data;

  // Each thread has its lines; where there are too few, they are cut as well.
  const Index threads = std::max<Index>(1, space.concurrency());
  const Index line_parts = std::min(threads, line_count);
  const Index entry_parts = std::min(threads / line_parts, entry_count);
  const auto fill_part = [=](Index part) {
    const Range my_lines = part_of(line_count, part / entry_parts, line_parts);
    const Range my_entries = part_of(entry_count, part % entry_parts, entry_parts);
    LcgWalk line_walk(first, across);
    for_each_piece(lines, my_lines, 32, [&](const IndexRun& line) {
      LcgWalk walk(line_walk.at(line.global), along);
      for_each_piece(entries, my_entries, entry_count, [&](const IndexRun& entry) {
        T* const out = data + line.local * ld + entry.local;
        lcg_fill_tile(isa, LcgTile<T>{out, line.length, entry.length, ld, walk.at(entry.global)},
                      steps, across);
      });
    });
  };
  Kokkos::parallel_for(
      "plinth::fill_lcg",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, line_parts * entry_parts),
      fill_part);
  space.fence();
}

}  // namespace plinth::kernel
