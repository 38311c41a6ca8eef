// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plinth/core/cpu.hpp"
#include "plinth/core/error.hpp"
#include "plinth/kernel/lcg_tile.hpp"

namespace plinth::kernel {

/// The vectors of residual_lcg, indexed by local row (r, row_sums) or column (x, col_sums).
/// The sums are wanted both, or not at all: then both are null.
struct LcgResidual {
  const double* x;
  double* r;
  double* row_sums = nullptr;
  double* col_sums = nullptr;
};

/// Sums of fixed_point() numbers, of any length, as two counters that any number of threads add
/// to, in any order.
class LcgColumnSums {
 public:
  explicit LcgColumnSums(Index columns) : words_(2 * static_cast<std::size_t>(columns)) {}

  std::uint64_t* words() { return words_.data(); }

  /// Adds a sum of `rows` numbers to column j of `words`. rows <= 8192.
  static void add(std::uint64_t* words, Index j, std::uint64_t sum, Index rows) {
    sum -= static_cast<std::uint64_t>(rows) * std::bit_cast<std::uint64_t>(1.0);
    Kokkos::atomic_add(words + 2 * j, sum & 0xffffffffu);
    Kokkos::atomic_add(words + 2 * j + 1, sum >> 32);
  }

  /// The sum of column j, rounded once.
  double get(Index j) const {
    const std::uint64_t* const word = words_.data() + 2 * j;
    const std::uint64_t low = word[0], high = word[1] + (low >> 32);
    return static_cast<double>(high) * 0x1p-20 + static_cast<double>(low & 0xffffffffu) * 0x1p-52;
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// r = r - A x with A = HplGenerator{n, seed}, rounded to T, regenerated and never stored; A is
/// restricted to the rows and columns of the runs. Of a matrix that is distributed, each process
/// does its own columns, and the processes of a row add up what they get.
///
/// r_i is updated column by column, in the order of the runs, every product and difference
/// rounded to double. On request, row_sums_i = sum_j |a_ij|, summed in the same order, and
/// col_sums_j = sum_i |a_ij|, each |a_ij| rounded to a multiple of 2^-52 and their sum exact but
/// for one rounding at the end. Entries that no run names stay as they are.
///
/// Complexity: one integer multiplication, a conversion and two to five floating-point operations
/// per entry. Allocates two words per local column if sums are wanted.
/// Preconditions: `space` reaches host memory; the sums are wanted both or not at all (those of
/// no rows or no columns may be null); is_available(isa); no local row or column is in two runs.
/// However runs are cut, and whatever the threads and isa, the bits are the same.
template <std::floating_point T = double, class Space>
void residual_lcg(const Space& space, std::span<const IndexRun> rows,
                  std::span<const IndexRun> cols, const LcgResidual& vectors, Index n,
                  std::uint64_t seed = 100, Isa isa = best_isa()) {
  static_assert(Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible,
                "residual_lcg runs on the host; on a device, call HplGenerator");
  const Index row_count = total_length(rows), col_count = total_length(cols);
  const bool sums = vectors.row_sums != nullptr || vectors.col_sums != nullptr;
  require(!sums || ((vectors.row_sums != nullptr || row_count == 0) &&
                    (vectors.col_sums != nullptr || col_count == 0)),
          "residual_lcg: row sums and column sums are computed together");
  require(is_available(isa), "residual_lcg: this CPU does not have the instruction set");
  constexpr Index longest_rows = 1024, longest_cols = 256;

  Index col_end = 0;
  for (const IndexRun& run : cols) col_end = std::max(col_end, run.local + run.length);
  LcgColumnSums col_sums(sums ? col_end : 0);
  std::uint64_t* const words = col_sums.words();

  const Affine down = Lcg64::step(), right = Lcg64::jump(static_cast<std::uint64_t>(n));
  const LcgSteps steps(down);
  const std::uint64_t first = Lcg64::step()(seed);  // of entry (0, 0)

  const auto do_part = [=](Index part, Index parts) {
    LcgWalk row_walk(first, down);
    for_each_piece(rows, part_of(row_count, part, parts), longest_rows, [&](const IndexRun& row) {
      double* const r = vectors.r + row.local;
      double* const row_sums = sums ? vectors.row_sums + row.local : nullptr;
      if (sums) std::fill(row_sums, row_sums + row.length, 0.0);
      LcgWalk walk(row_walk.at(row.global), right);
      for_each_piece(cols, {0, col_count}, longest_cols, [&](const IndexRun& col) {
        std::uint64_t sum[longest_cols] = {};
        lcg_product_tile<T>(isa,
                            LcgProduct{row.length, col.length, walk.at(col.global),
                                       vectors.x + col.local, r, row_sums, sum},
                            steps, right);
        if (!sums) return;
        for (Index j = 0; j < col.length; ++j)
          LcgColumnSums::add(words, col.local + j, sum[j], row.length);
      });
    });
  };
  // Several parts a thread, so that a busy core delays the others little.
  const Index parts = std::min(row_count, 8 * std::max<Index>(1, space.concurrency()));
  using Policy =
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>, Kokkos::Schedule<Kokkos::Dynamic>>;
  Kokkos::parallel_for("plinth::residual_lcg", Policy(space, 0, parts, Kokkos::ChunkSize(1)),
                       [=](Index part) { do_part(part, parts); });
  space.fence();

  if (!sums) return;
  for (const IndexRun& run : cols)
    for (Index j = run.local; j < run.local + run.length; ++j)
      vectors.col_sums[j] = col_sums.get(j);
}

}  // namespace plinth::kernel
