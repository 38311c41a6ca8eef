// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "plinth/comm/grid.hpp"
#include "plinth/comm/mpi.hpp"
#include "plinth/lu/plan.hpp"
#include "plinth/lu/row_permutation.hpp"

namespace plinth::lu {

/// The pivots of a factorization, dealt like the rows of the matrix: each process row holds those
/// of its own diagonal blocks, in every process column. As in ScaLAPACK (there counted from 1),
/// the entry of row i is the global row that was interchanged with row i at its turn.
class Pivots {
 public:
  Pivots() = default;
  /// No interchanges, for rows dealt like those of the matrix.
  Pivots(const BlockCyclic& rows, int process_row)
      : rows_(rows),
        process_row_(process_row),
        local_(static_cast<std::size_t>(rows.local_size(process_row))) {
    for (std::size_t l = 0; l < local_.size(); ++l)
      local_[l] = rows_.global(static_cast<Index>(l), process_row_);
  }

  /// Keeps the pivots of a step if they are this process row's.
  void record(const Step& step, const Index* pivots) {
    if (step.owner_row != process_row_) return;
    std::copy_n(pivots, step.width(), local_.begin() + rows_.local(step.cols.begin));
  }

  /// This process row's entries, local_size(process_row) of them.
  const std::vector<Index>& local() const { return local_; }

  /// Whether an interchange of this process row's moves anything.
  bool moves_rows() const {
    for (std::size_t l = 0; l < local_.size(); ++l)
      if (local_[l] != rows_.global(static_cast<Index>(l), process_row_)) return true;
    return false;
  }

  /// The pivots of a step, on every process of the column. Collective over the process column:
  /// one broadcast of step.width() indices.
  void fetch(const ProcessGrid& grid, const Step& step, Index* pivots) const {
    if (step.owner_row == process_row_)
      std::copy_n(local_.begin() + rows_.local(step.cols.begin), step.width(), pivots);
    comm::check(MPI_Bcast(pivots, to_int(step.width(), "block size"), MPI_INT64_T, step.owner_row,
                          grid.column_vectors().handle()),
                "MPI_Bcast");
  }

 private:
  BlockCyclic rows_;
  int process_row_ = 0;
  std::vector<Index> local_;
};

}  // namespace plinth::lu
