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
    default:
      return BroadcastAlgorithm::ring1_modified;
  }
}

}  // namespace

linpack::Case effective(const linpack::Case& asked) {
  linpack::Case runs = asked;
  // Rows are interchanged by one gathering of all of them in each process column; a matrix is
  // stored by rows, which are L1 and U transposed, and padded to cache lines.
  runs.swap = linpack::SwapAlgorithm::spread_roll;
  runs.equilibration = linpack::Equilibration::off;
  runs.l1 = linpack::Form::transposed;
  runs.u = linpack::Form::transposed;
  runs.alignment = 8;
  return runs;
}

plinth::lu::FactorOptions factor_options(const linpack::Case& c) {
  return {.lookahead = c.depth,
          .panel = {.variant = variant(c.rfact),
                    .base = variant(c.pfact),
                    .ndiv = c.ndiv,
                    .nbmin = c.nbmin},
          .broadcast = broadcast(c.bcast),
          .keep_l = plinth::lu::KeepL::no};
}

plinth::ProcessGrid make_grid(MPI_Comm comm, const linpack::Case& c) {
  if (c.mapping == linpack::Mapping::row_major)
    return {comm, plinth::RowMajorGrid{c.grid.rows, c.grid.cols}};
  return {comm, plinth::ColumnMajorGrid{c.grid.rows, c.grid.cols}};
}

}  // namespace hpl
