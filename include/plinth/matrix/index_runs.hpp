// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "plinth/kernel/entries/walk_kernels.hpp"
#include "plinth/kernel/lcg_steps.hpp"
#include "plinth/matrix/distribution.hpp"

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

/// The global index that a process has at a local one, for kernels.
struct LocalToGlobal {
  BlockCyclic map;
  int process = 0;
  KOKKOS_FUNCTION Index operator()(Index local) const { return map.global(local, process); }
};
/// Whether a process owns a global index, for kernels.
struct OwnedBy {
  BlockCyclic map;
  int process = 0;
  KOKKOS_FUNCTION bool operator()(Index global) const { return map.owner(global) == process; }
};
/// The indices that a process owns, for kernels.
inline kernel::DealtLines<LocalToGlobal> dealt_lines(const BlockCyclic& map, int process) {
  return {{map, process}, map.local_size(process), map.block()};
}

/// The rows and columns of a matrix that this process owns, as runs.
struct LocalRuns {
  std::vector<kernel::IndexRun> rows, cols;

  template <class Matrix>
  explicit LocalRuns(const Matrix& a)
      : rows(index_runs(a.distribution().rows, a.grid().coord().row, {0, a.rows()})),
        cols(index_runs(a.distribution().cols, a.grid().coord().col, {0, a.cols()})) {}
};

}  // namespace plinth
