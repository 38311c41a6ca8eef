// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <vector>

#include "plinth/kernel/lcg.hpp"
#include "plinth/kernel/lcg_fill.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/policy/execution.hpp"

namespace plinth {

/// The indices of [range) that a process owns, as runs of consecutive ones: one per block.
inline std::vector<kernel::IndexRun> index_runs(const BlockCyclic& map, int process,
                                                Range range) {
  std::vector<kernel::IndexRun> runs;
  const Index end = map.first_local(range.end, process);
  for (Index local = map.first_local(range.begin, process); local < end;) {
    const Index global = map.global(local, process);
    const Index length = std::min(map.block() - global % map.block(), end - local);
    runs.push_back({local, global, length});
    local += length;
  }
  return runs;
}

/// netlib HPL's n x (n + 1) system [A | b], bit for bit: entry (i, j) as a function for any device,
/// and on a host whole local parts at once (kernel/lcg_fill.hpp).
struct HplMatrix : HplGenerator {
  /// Fills the local part of `a`, of which any rows and columns of [A | b] may be wanted.
  template <ExecutionPolicy Exec, class Matrix>
  requires(is_host_accessible<Exec>&& std::floating_point<typename Matrix::value_type>) void fill(
      const Exec& exec, const Matrix& a) const {
    const auto view = a.local();
    const GridCoord at = a.grid().coord();
    const auto rows = index_runs(a.distribution().rows, at.row, {0, a.rows()});
    const auto cols = index_runs(a.distribution().cols, at.col, {0, a.cols()});
    [[maybe_unused]] auto scope = exec.enter();
    kernel::fill_lcg(exec.space(),
                     kernel::LcgTarget<typename Matrix::value_type>{
                         view.data(), static_cast<Index>(view.stride(0)),
                         static_cast<Index>(view.stride(1)), rows, cols},
                     n, seed);
  }
};

}  // namespace plinth
