// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "plinth/core/index.hpp"
#include "plinth/matrix/distribution.hpp"

namespace plinth::lu {

/// Step k of a factorization, as everybody sees it: panel k is block column k, below and with its
/// diagonal block.
struct Step {
  Index k = 0;
  Range cols;         ///< global columns of the panel, and global rows of its diagonal block
  int owner_row = 0;  ///< process row of the diagonal block
  int owner_col = 0;  ///< process column of the panel
  Index width() const { return cols.size(); }
};

/// Step k, as the process at one place of the grid sees it. Local indices.
struct LocalStep {
  bool has_diagonal_rows = false;  ///< this process row owns the diagonal block's rows
  bool has_panel = false;          ///< this process column owns the panel
  Range top;      ///< rows of the diagonal block; empty unless has_diagonal_rows
  Range below;    ///< rows below the diagonal block
  Range panel;    ///< columns of the panel; empty unless has_panel
};

/// Number of floating-point operations (a multiplication and an addition count one each).
struct StepFlops {
  double panel = 0;
  double triangular_solve = 0;
  double update = 0;
  double total() const { return panel + triangular_solve + update; }
};

/// The schedule of a right-looking LU of an m x n matrix, as data: which step works on which part,
/// who owns it, what it costs. Columns beyond min(m, n) are right-hand sides that travel along.
///
/// Pure: no MPI, no storage; O(1) per question. Precondition: square blocks (mb = nb).
class Plan {
 public:
  Plan(const Distribution& distribution, Index lookahead)
      : distribution_(distribution), lookahead_(lookahead) {
    require(distribution.rows.block() == distribution.cols.block(),
            "LU wants square blocks: mb = " + std::to_string(distribution.rows.block()) +
                ", nb = " + std::to_string(distribution.cols.block()));
    require(lookahead >= 0, "look-ahead depth must not be negative");
  }

  const Distribution& distribution() const { return distribution_; }
  Index lookahead() const { return lookahead_; }
  Index block() const { return distribution_.rows.block(); }
  /// How many columns are factored: min(m, n).
  Index order() const { return std::min(distribution_.rows.size(), distribution_.cols.size()); }
  Index steps() const { return ceil_div(order(), block()); }

  /// Precondition: 0 <= k < steps().
  Step step(Index k) const {
    return {k,
            {k * block(), std::min((k + 1) * block(), order())},
            distribution_.rows.owner_of_block(k),
            distribution_.cols.owner_of_block(k)};
  }

  LocalStep local(const Step& step, GridCoord at) const {
    const BlockCyclic& rows = distribution_.rows;
    const BlockCyclic& cols = distribution_.cols;
    LocalStep mine;
    mine.has_diagonal_rows = step.owner_row == at.row;
    mine.has_panel = step.owner_col == at.col;
    mine.top = local_rows(step.cols, at);
    mine.below = {rows.first_local(step.cols.end, at.row), rows.local_size(at.row)};
    mine.panel = {cols.first_local(step.cols.begin, at.col),
                  cols.first_local(step.cols.end, at.col)};
    return mine;
  }

  /// Local rows, or local columns, of a process that fall into a range of global ones.
  Range local_rows(Range global, GridCoord at) const {
    return {distribution_.rows.first_local(global.begin, at.row),
            distribution_.rows.first_local(global.end, at.row)};
  }
  Range local_cols(Range global, GridCoord at) const {
    return {distribution_.cols.first_local(global.begin, at.col),
            distribution_.cols.first_local(global.end, at.col)};
  }

  /// Elements of the panel that travel along a process row at a step: its top block and this
  /// process row's part below.
  Index panel_elements(const Step& step, GridCoord at) const {
    return step.width() * (step.width() + local(step, at).below.size());
  }

  /// The largest panel_elements of any step at one place: what a panel buffer must hold.
  Index max_panel_elements(GridCoord at) const {
    return steps() == 0 ? 0
                        : std::min(block(), order()) *
                              (std::min(block(), order()) +
                               distribution_.rows.local_size(at.row));
  }

  /// Flops of a step, over all processes, the right-hand sides included.
  StepFlops flops(const Step& step) const {
    const double jb = static_cast<double>(step.width());
    const double m = static_cast<double>(distribution_.rows.size() - step.cols.begin);
    const double right = static_cast<double>(distribution_.cols.size() - step.cols.end);
    // Columns j of an m x jb panel: m - j - 1 divisions, then an update of 2 (m-j-1) (jb-j-1).
    const double triangle = jb * (jb - 1) / 2;
    const double squares = (jb - 1) * jb * (2 * jb - 1) / 6;
    StepFlops f;
    f.panel = jb * m - triangle - jb +
              2 * ((m - 1) * triangle - ((jb - 1) * triangle - squares));
    f.triangular_solve = jb * (jb - 1) * right;
    f.update = 2 * jb * (m - jb) * right;
    return f;
  }

 private:
  Distribution distribution_;
  Index lookahead_ = 0;
};

/// Walks the plan in an order that is right for its look-ahead depth d: with d = 0 each step is
/// done when the next begins; with d > 0 panel k + d is brought up to date, factored and sent
/// before the update with panel k, so that up to d panels are under way. `run` offers
///
///   factor(Step)                  factor the panel (its owner column), start its broadcast (all)
///   update(Step, Range cols)      apply the panel to global columns `cols`: interchange,
///                                 triangular solve, product
///   finish(Step)                  the panel has been applied everywhere
///
/// Every process makes the same calls in the same order; those without a part in one do nothing.
template <class Run>
void walk(const Plan& plan, Run&& run) {
  const Index steps = plan.steps();
  const Index depth = plan.lookahead();
  const Index all_cols = plan.distribution().cols.size();
  const auto advance = [&](Index j) {
    for (Index k = std::max<Index>(0, j - depth); k < j; ++k)
      run.update(plan.step(k), plan.step(j).cols);
    run.factor(plan.step(j));
  };
  for (Index j = 0; j < std::min(depth, steps); ++j) advance(j);
  for (Index k = 0; k < steps; ++k) {
    if (k + depth < steps) advance(k + depth);
    const Index reached = std::min(k + depth, steps - 1);
    run.update(plan.step(k), {plan.step(reached).cols.end, all_cols});
    run.finish(plan.step(k));
  }
}

}  // namespace plinth::lu
