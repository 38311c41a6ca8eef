// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

namespace hpl {

namespace {

plinth::PanelVariant variant(linpack::PanelVariant v) {
  switch (v) {
    case linpack::PanelVariant::left:
      return plinth::PanelVariant::left;
    case linpack::PanelVariant::crout:
      return plinth::PanelVariant::crout;
    default:
      return plinth::PanelVariant::right;
  }
}

plinth::comm::BroadcastAlgorithm broadcast(linpack::Broadcast b) {
  using plinth::comm::BroadcastAlgorithm;
  switch (b) {
    case linpack::Broadcast::ring1:
      return BroadcastAlgorithm::ring1;
    case linpack::Broadcast::ring2:
      return BroadcastAlgorithm::ring2;
    case linpack::Broadcast::ring2_modified:
      return BroadcastAlgorithm::ring2_modified;
    case linpack::Broadcast::long_:
      return BroadcastAlgorithm::long_;
    case linpack::Broadcast::long_modified:
      return BroadcastAlgorithm::long_modified;
    case linpack::Broadcast::mpi:
      return BroadcastAlgorithm::bcast;
    case linpack::Broadcast::mpi_nonblocking:
      return BroadcastAlgorithm::ibcast;
    default:
      return BroadcastAlgorithm::ring1_modified;
  }
}

plinth::lu::RowSwap swap(const linpack::Case& c) {
  using plinth::lu::SwapAlgorithm;
  plinth::lu::RowSwap swap{.threshold = c.swap_threshold,
                           .equilibrate = c.equilibration == linpack::Equilibration::on};
  switch (c.swap) {
    case linpack::SwapAlgorithm::binary_exchange:
      swap.algorithm = SwapAlgorithm::binary_exchange;
      break;
    case linpack::SwapAlgorithm::spread_roll:
      swap.algorithm = SwapAlgorithm::spread_roll;
      break;
    case linpack::SwapAlgorithm::mix:
      swap.algorithm = SwapAlgorithm::mix;
      break;
    case linpack::SwapAlgorithm::automatic:
      swap.algorithm = SwapAlgorithm::automatic;
      break;
    case linpack::SwapAlgorithm::mpi:
      swap.algorithm = SwapAlgorithm::collective;
      break;
  }
  return swap;
}

plinth::lu::PivotReduction reduction(linpack::PivotReduction r) {
  switch (r) {
    case linpack::PivotReduction::mpi:
      return plinth::lu::PivotReduction::collective;
    case linpack::PivotReduction::hybrid:
      return plinth::lu::PivotReduction::hybrid;
    default:
      return plinth::lu::PivotReduction::point_to_point;
  }
}

}  // namespace

linpack::Case effective(const linpack::Case& asked) {
  linpack::Case runs = asked;
  // The panel is stored by columns and U as the matrix is, which settles the forms: by rows is
  // transposed, seen from HPL's matrices by columns.
  runs.l1 = linpack::Form::not_transposed;
  runs.u = asked.extensions.storage == linpack::Storage::by_rows ? linpack::Form::transposed
                                                                 : linpack::Form::not_transposed;
  if (asked.grid.rows == 1) runs.extensions.split = 0;  // no rows travel
  return runs;
}

plinth::lu::FactorOptions factor_options(const linpack::Case& c) {
  return {.lookahead = c.depth,
          .panel = {.variant = variant(c.rfact),
                    .base = variant(c.pfact),
                    .ndiv = c.ndiv,
                    .nbmin = c.nbmin},
          .broadcast = broadcast(c.bcast),
          .swap = swap(c),
          .pivot_reduction = reduction(c.extensions.pivot_reduction),
          .reproducible = c.extensions.reproducible == linpack::Switch::on,
          .split = c.extensions.split,
          .keep_l = plinth::lu::KeepL::no};
}

plinth::ProcessGrid make_grid(MPI_Comm comm, const linpack::Case& c) {
  const plinth::GridOptions options{.transport = c.extensions.transport};
  if (c.mapping == linpack::Mapping::row_major)
    return {comm, plinth::RowMajorGrid{c.grid.rows, c.grid.cols}, options};
  return {comm, plinth::ColumnMajorGrid{c.grid.rows, c.grid.cols}, options};
}

}  // namespace hpl
