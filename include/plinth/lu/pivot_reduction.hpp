// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace plinth::lu {

/// How the processes of a column find the pivot of a column of the panel. All find the same.
enum class PivotReduction {
  point_to_point,  ///< recursive doubling, log2 P messages of our own per process
  collective,      ///< MPI_Allreduce with an operation of ours
  hybrid,          ///< the first column of each panel, where processes arrive at different times,
                   ///< point to point, the rest collective
};

/// In words, for people.
constexpr const char* to_string(PivotReduction reduction) {
  switch (reduction) {
    case PivotReduction::point_to_point:
      return "point-to-point";
    case PivotReduction::collective:
      return "collective";
    case PivotReduction::hybrid:
      return "hybrid";
  }
  return "?";
}

}  // namespace plinth::lu
