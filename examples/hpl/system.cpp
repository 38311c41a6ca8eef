// SPDX-License-Identifier: BSD-3-Clause
#include "system.hpp"

#include <algorithm>

#include "options.hpp"
#include "plinth/kernel/lcg.hpp"
#include "plinth/matrix/generate.hpp"
#include "plinth/matrix/norm.hpp"
#include "plinth/refine/residual.hpp"

namespace hpl {

using plinth::Index;

namespace {

/// NB, or all columns if they are fewer: workspace is for a whole block.
Index block_size(const linpack::Case& c) { return std::min<Index>(c.nb, c.n + 1); }

}  // namespace

double System::bytes_needed(const linpack::Case& c) {
  const Index block = block_size(c);
  const auto most = [&](Index size, int processes) {
    return static_cast<double>(plinth::BlockCyclic(size, block, processes, 0).local_size(0));
  };
  const double rows = most(c.n, c.grid.rows);
  const double cols = most(c.n + 1, c.grid.cols);
  const double panels =
      static_cast<double>(std::min<Index>(c.depth, plinth::ceil_div(c.n, block)) + 2);
  const auto nb = static_cast<double>(block);
  return 8 * (rows * (cols + 8) + nb * (panels * rows + 2 * cols + nb));
}

System::System(const Exec& exec, const plinth::ProcessGrid& grid, const linpack::Case& c)
    : exec_(exec),
      n_(c.n),
      nb_(block_size(c)),
      ab_(grid, n_, n_ + 1, {.mb = nb_, .nb = nb_}),
      x_(grid, n_, 1, column_layout()),
      r_(grid, n_, 1, column_layout()),
      pivots_(ab_.distribution().rows, grid.coord().row),
      factorization_(exec, grid, ab_.distribution(), factor_options(c), off_),
      blocks_(exec, grid, ab_.distribution(), 1),
      substitution_(exec, grid, ab_.distribution(), 1) {}

void System::generate() { plinth::generate(exec_, ab_, plinth::HplGenerator{n_}); }

plinth::lu::PanelOutcome System::factor() { return factorization_(ab_, pivots_); }

void System::back_substitute() {
  blocks_.import_columns(ab_.local(), ab_.distribution().cols, {n_, n_ + 1});
  substitution_(plinth::Uplo::upper, plinth::Diag::non_unit, plinth::Op::none, ab_.local(),
                blocks_);
  blocks_.export_columns(x_.local(), x_.distribution().cols, {0, 1});
}

linpack::Norms System::norms() {
  using plinth::Norm;
  generate();
  const Matrix a = square();
  const Matrix b = right_hand_side();
  plinth::residual(exec_, a, x_, b, r_);
  return {.residual_inf = plinth::norm(exec_, r_, Norm::inf),
          .a_inf = plinth::norm(exec_, a, Norm::inf),
          .a_one = plinth::norm(exec_, a, Norm::one),
          .x_inf = plinth::norm(exec_, x_, Norm::inf),
          .x_one = plinth::norm(exec_, x_, Norm::one),
          .b_inf = plinth::norm(exec_, b, Norm::inf)};
}

System::Matrix System::square() const {
  return {ab_.grid(),
          n_,
          n_,
          {.mb = nb_, .nb = nb_},
          ab_.local().data(),
          plinth::kernel::leading_dimension(ab_.local())};
}

System::Matrix System::right_hand_side() const {
  const plinth::BlockCyclic& cols = ab_.distribution().cols;
  const bool mine = cols.owner(n_) == ab_.grid().coord().col && ab_.local_extents().rows > 0;
  return {ab_.grid(),
          n_,
          1,
          column_layout(),
          mine ? &ab_.local()(0, cols.local(n_)) : nullptr,
          plinth::kernel::leading_dimension(ab_.local())};
}

plinth::MatrixLayoutOptions System::column_layout() const {
  return {.mb = nb_, .nb = nb_, .source_row = 0, .source_col = ab_.distribution().cols.owner(n_)};
}

}  // namespace hpl
