// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plinth/comm/schedule.hpp"
#include "plinth/core/index.hpp"

namespace plinth::lu {

/// How the rows of an interchange travel within a process column. All give the same bits.
///
/// | algorithm       | pivot rows, to all processes            | displaced rows to their places |
/// |-----------------|-----------------------------------------|--------------------------------|
/// | direct          | each to each, one round, P - 1 messages | each from the top's owner      |
/// | binary_exchange | recursive doubling, log2 P rounds       | each from the top's owner      |
/// | spread_roll     | around a ring, P - 1 rounds             | spread down a binary tree      |
/// | collective      | MPI_Iallgatherv                         | MPI_Iscatterv                  |
///
/// The three of HPL.dat (line 26) are binary_exchange, spread_roll and mix.
enum class SwapAlgorithm {
  automatic,        ///< direct up to 4 process rows, mix beyond
  binary_exchange,  ///< few messages: for a few columns
  spread_roll,      ///< neighbours only: for many columns
  mix,              ///< spread_roll for more columns than a threshold, else binary_exchange
  collective,       ///< MPI's own
  direct,           ///< all messages at once: for a few processes
};

/// In words, for people.
constexpr const char* to_string(SwapAlgorithm algorithm) {
  switch (algorithm) {
    case SwapAlgorithm::automatic:
      return "automatic";
    case SwapAlgorithm::binary_exchange:
      return "binary exchange";
    case SwapAlgorithm::spread_roll:
      return "spread-roll";
    case SwapAlgorithm::mix:
      return "mix";
    case SwapAlgorithm::collective:
      return "collective";
    case SwapAlgorithm::direct:
      return "direct";
  }
  return "?";
}

/// How rows are interchanged.
struct RowSwap {
  /// Which of the table above, or how to choose one.
  SwapAlgorithm algorithm = SwapAlgorithm::automatic;
  /// Columns, counted on one process, above which mix (and automatic) rolls.
  Index threshold = 64;
  /// Whether rolling starts by evening out the rows over the processes, so that each step moves
  /// the same amount everywhere. Without, each process's own rows go round.
  bool equilibrate = true;

  /// Whether the threshold makes sense.
  constexpr bool valid() const { return threshold >= 0; }

  /// What is done for so many columns in a column of so many processes: one of the four of the
  /// table above.
  constexpr SwapAlgorithm choose(Index cols, int processes) const {
    switch (algorithm) {
      case SwapAlgorithm::automatic:
        if (processes <= 4) return SwapAlgorithm::direct;
        [[fallthrough]];
      case SwapAlgorithm::mix:
        return cols > threshold ? SwapAlgorithm::spread_roll : SwapAlgorithm::binary_exchange;
      default:
        return algorithm;
    }
  }
};

/// How a chosen algorithm gathers and scatters by messages of our own.
constexpr comm::GatherAlgorithm gather_of(SwapAlgorithm chosen) {
  return chosen == SwapAlgorithm::binary_exchange ? comm::GatherAlgorithm::doubling
         : chosen == SwapAlgorithm::spread_roll   ? comm::GatherAlgorithm::ring
                                                  : comm::GatherAlgorithm::direct;
}
/// And how it scatters.
constexpr comm::ScatterAlgorithm scatter_of(SwapAlgorithm chosen) {
  return chosen == SwapAlgorithm::spread_roll ? comm::ScatterAlgorithm::tree
                                              : comm::ScatterAlgorithm::direct;
}

}  // namespace plinth::lu
