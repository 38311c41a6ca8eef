// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>

#include "plinth/core/index.hpp"

namespace plinth {

/// One dimension of a block-cyclic distribution: `size` elements in blocks of `block`, dealt in
/// turn to `processes` processes, beginning with process `source`. The last block may be short.
///
/// Index kinds: an element is global (g) or local to its process (l); a block likewise (G, L).
///
/// |                      | from | to               | meaning                                    |
/// |----------------------|------|------------------|--------------------------------------------|
/// | block_of(g)          | g    | G                | the block that holds g                     |
/// | owner_of_block(G)    | G    | process          |                                            |
/// | owner(g)             | g    | process          |                                            |
/// | local(g)             | g    | l on owner(g)    |                                            |
/// | global(l, p)         | l, p | g                |                                            |
/// | block_range(G)       | G    | g range          | the elements of a block                    |
/// | first_local(g, p)    | g, p | l                | how many elements before g process p owns, |
/// |                      |      |                  | that is its first one at or after g        |
/// | local_size(p)        | p    | count            | first_local(size, p)                       |
///
/// All are O(1). Preconditions: 0 <= g < size (first_local: <= size), 0 <= l < local_size(p),
/// 0 <= p < processes.
class BlockCyclic {
 public:
  constexpr BlockCyclic() = default;
  /// Preconditions: size >= 0, block >= 1, processes >= 1, 0 <= source < processes.
  BlockCyclic(Index size, Index block, int processes, int source)
      : size_(size), block_(block), processes_(processes), source_(source) {
    require(size >= 0, "matrix extent must not be negative, got " + std::to_string(size));
    require(block >= 1, "block size must be positive, got " + std::to_string(block));
    require(processes >= 1, "number of processes must be positive");
    require(source >= 0 && source < processes,
            "source process " + std::to_string(source) + " is not on the grid");
  }

  constexpr Index size() const { return size_; }  ///< number of elements
  constexpr Index block() const { return block_; }  ///< elements of a block
  constexpr int processes() const { return processes_; }  ///< number of processes
  constexpr int source() const { return source_; }  ///< owner of the first block
  constexpr Index blocks() const { return ceil_div(size_, block_); }  ///< number of blocks

  /// The block that holds g.
  constexpr Index block_of(Index g) const { return g / block_; }
  /// The process that a block is dealt to.
  constexpr int owner_of_block(Index block) const {
    return static_cast<int>((block + source_) % processes_);
  }
  /// The process that g is dealt to; ScaLAPACK's indxg2p.
  constexpr int owner(Index g) const { return owner_of_block(block_of(g)); }
  /// Where its owner has g; ScaLAPACK's indxg2l.
  constexpr Index local(Index g) const { return block_of(g) / processes_ * block_ + g % block_; }
  /// The element that a process has at l; ScaLAPACK's indxl2g.
  constexpr Index global(Index l, int process) const {
    return (l / block_ * processes_ + distance(process)) * block_ + l % block_;
  }
  /// The elements of a block.
  constexpr Range block_range(Index block) const {
    return {std::min(block * block_, size_), std::min((block + 1) * block_, size_)};
  }
  /// How many elements before g a process owns.
  constexpr Index first_local(Index g, int process) const {
    const Index block = block_of(g);
    const Index rounds = block / processes_;
    const Index position = block % processes_;
    const Index mine = distance(process);
    if (mine < position) return (rounds + 1) * block_;
    if (mine > position) return rounds * block_;
    return rounds * block_ + g % block_;
  }
  /// How many elements a process owns; ScaLAPACK's numroc.
  constexpr Index local_size(int process) const { return first_local(size_, process); }

  constexpr bool operator==(const BlockCyclic&) const = default;

 private:
  /// How many processes after the source `process` comes.
  constexpr int distance(int process) const {
    return (process - source_ + processes_) % processes_;
  }

  Index size_ = 0;
  Index block_ = 1;
  int processes_ = 1;
  int source_ = 0;
};

/// Distribution of a matrix over a grid: one BlockCyclic for rows, one for columns.
struct Distribution {
  BlockCyclic rows;  ///< how rows are dealt to process rows
  BlockCyclic cols;  ///< how columns are dealt to process columns

  /// Rows and columns that the process at `at` owns.
  constexpr Extents local_extents(GridCoord at) const {
    return {rows.local_size(at.row), cols.local_size(at.col)};
  }
  constexpr bool operator==(const Distribution&) const = default;
};

}  // namespace plinth
