// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "plinth/core/index.hpp"
#include "plinth/matrix/distribution.hpp"

namespace plinth::lu {

/// Step k of a factorization, as everybody sees it: panel k is block column k, below and with its
/// diagonal block.
struct Step {
  Index k = 0;  ///< number of the step
  Range cols;         ///< global columns of the panel, and global rows of its diagonal block
  int owner_row = 0;  ///< process row of the diagonal block
  int owner_col = 0;  ///< process column of the panel
  Index width() const { return cols.size(); }  ///< columns of the panel
};

/// Step k, as the process at one place of the grid sees it. Local indices.
struct LocalStep {
  bool has_diagonal_rows = false;  ///< this process row owns the diagonal block's rows
  bool has_panel = false;          ///< this process column owns the panel
  Range top;                       ///< rows of the diagonal block; empty unless has_diagonal_rows
  Range below;                     ///< rows below the diagonal block
  Range panel;                     ///< columns of the panel; empty unless has_panel
};

/// Number of floating-point operations (a multiplication and an addition count one each).
struct StepFlops {
  double panel = 0;  ///< factoring the panel
  double triangular_solve = 0;  ///< U12
  double update = 0;  ///< A22
  double total() const { return panel + triangular_solve + update; }  ///< all three
};

/// Which columns an update works on: the next panel's, for look-ahead, or a section of the
/// trailing ones. Interchanges of different sections may be under way at a time.
enum class Section { panel, left, right };
inline constexpr int section_count = 3;  ///< how many sections there are

/// The trailing columns of a step that are not updated ahead, global.
struct Sections {
  Range left;  ///< columns of the left section
  Range right;  ///< columns of the right section
};

/// The schedule of a right-looking LU of an m x n matrix, as data: which step works on which
/// part, who owns it, what it costs. Columns beyond min(m, n) are right-hand sides that travel
/// along.
///
/// Pure: no MPI, no storage; O(1) per question. Precondition: square blocks (mb = nb).
class Plan {
 public:
  /// `split`: the fraction of all columns that makes the right section; 0: there is none.
  Plan(const Distribution& distribution, Index lookahead, double split = 0)
      : distribution_(distribution), lookahead_(lookahead), boundary_(distribution.cols.size()) {
    require(distribution.rows.block() == distribution.cols.block(),
            "LU wants square blocks: mb = " + std::to_string(distribution.rows.block()) +
                ", nb = " + std::to_string(distribution.cols.block()));
    require(lookahead >= 0, "look-ahead depth must not be negative");
    require(split >= 0 && split < 1, "the split must be a fraction in [0, 1)");
    const Index blocks = distribution.cols.blocks();
    const auto right = static_cast<Index>(std::ceil(split * static_cast<double>(blocks)));
    if (blocks > 1)
      boundary_ = std::min(boundary_, (blocks - std::min(right, blocks - 1)) * block());
  }

  /// Of the matrix.
  const Distribution& distribution() const { return distribution_; }
  Index lookahead() const { return lookahead_; }  ///< depth of the look-ahead
  Index block() const { return distribution_.rows.block(); }  ///< NB
  /// First column of the right section; the number of columns if there is none.
  Index boundary() const { return boundary_; }
  /// Whether there is a right section.
  bool is_split() const { return boundary_ < distribution_.cols.size(); }
  /// How many columns are factored: min(m, n).
  Index order() const { return std::min(distribution_.rows.size(), distribution_.cols.size()); }
  /// How many panels there are.
  Index steps() const { return ceil_div(order(), block()); }
  /// Columns of the widest panel: what workspace is for.
  Index max_width() const { return std::min(block(), order()); }

  /// Precondition: 0 <= k < steps().
  Step step(Index k) const {
    return {k,
            {k * block(), std::min((k + 1) * block(), order())},
            distribution_.rows.owner_of_block(k),
            distribution_.cols.owner_of_block(k)};
  }

  /// A step as the process at `at` sees it.
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
  /// Likewise for columns.
  Range local_cols(Range global, GridCoord at) const {
    return {distribution_.cols.first_local(global.begin, at.col),
            distribution_.cols.first_local(global.end, at.col)};
  }

  /// The columns that are not updated ahead at a step, right of panel k + lookahead, cut at the
  /// boundary. The boundary stays where it is: the left section shrinks to nothing, then the
  /// right one, as in rocHPL, so that the next step's left rows are up to date before this step's
  /// right ones are.
  Sections sections(Index k) const {
    const Index begin = step(std::min(k + lookahead_, steps() - 1)).cols.end;
    const Index middle = std::max(begin, boundary_);
    return {{begin, middle}, {middle, distribution_.cols.size()}};
  }

  /// End of the slice of columns that holds global column j: block columns, and the right-hand
  /// sides in the last panel's block apart. The same for every look-ahead depth and split.
  Index slice_end(Index j) const {
    const Index end = std::min((j / block() + 1) * block(), distribution_.cols.size());
    return j < order() ? std::min(end, order()) : end;
  }

  /// Elements of the panel that travel along a process row at a step: its top block and this
  /// process row's part below.
  Index panel_elements(const Step& step, GridCoord at) const {
    return step.width() * (step.width() + local(step, at).below.size());
  }

  /// The largest panel_elements of any step at one place: what a panel buffer must hold.
  Index max_panel_elements(GridCoord at) const {
    return steps() == 0 ? 0 : max_width() * (max_width() + distribution_.rows.local_size(at.row));
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
    f.panel = jb * m - triangle - jb + 2 * ((m - 1) * triangle - ((jb - 1) * triangle - squares));
    f.triangular_solve = jb * (jb - 1) * right;
    f.update = 2 * jb * (m - jb) * right;
    return f;
  }

 private:
  Distribution distribution_;
  Index lookahead_ = 0;
  Index boundary_ = 0;
};

/// Walks the plan in an order that is right for its look-ahead depth d: with d = 0 each step is
/// done when the next begins; with d > 0 panel k + d is brought up to date, factored and sent
/// before the update with panel k, so that up to d panels are under way. `run` offers
///
///   load(Step)                             start bringing the panel's columns to who factors it:
///                                          where that is another one than who updates, or not
///                                          offered
///   factor(Step)                           factor the panel (its owner column), start its
///                                          broadcast (all)
///   fetch(Step, Range cols, Section)       start the interchange of rows in global columns `cols`
///   update(Step, Range cols, Section)      complete it, triangular solve, product
///   finish(Step)                           the panel has been applied everywhere
///
/// Every update is fetched before, with the same columns; between the two, other sections are
/// updated and panels factored, but the columns are not touched. With a split, the right
/// section's rows travel behind the left one's product, and the next step's left ones behind the
/// right one's product (with d = 0 the next panel is not there yet, so only the former):
///
///     fetch left k | advance k + d | fetch right k | update left k | fetch left k + 1 |
///     update right k | finish k
///
/// with `advance k + d` bringing panel k + d up to date and factoring it. Where panels are loaded
/// for somebody else, updates are started and not waited for: panel k + d is then loaded when it
/// is up to date and factored once the left section's update has been started (the right one's,
/// if the left one is empty), which hides its way and its factorization:
///
///     fetch left k | update and load panel k + d | fetch right k | update left k |
///     factor panel k + d | fetch left k + 1 | update right k | finish k
///
/// Every process makes the same calls in the same order; those without a part in one do nothing.
/// A `run` that does not care may offer update(Step, Range) alone.
/// Source of the split: rocHPL (Chalmers et al. 2023).
template <class Run>
void walk(const Plan& plan, Run&& run) {
  const Index steps = plan.steps();
  const Index depth = plan.lookahead();
  const auto fetch = [&](Index k, Range cols, Section section) {
    if constexpr (requires { run.fetch(plan.step(k), cols, section); })
      if (!cols.empty()) run.fetch(plan.step(k), cols, section);
  };
  const auto update = [&](Index k, Range cols, Section section) {
    if constexpr (requires { run.update(plan.step(k), cols, section); }) {
      if (!cols.empty()) run.update(plan.step(k), cols, section);
    } else {
      run.update(plan.step(k), cols);
    }
  };
  constexpr bool loads = requires(Run& r, const Step& step) { r.load(step); };
  const auto advance = [&](Index j) {
    const Range panel = plan.step(j).cols;
    for (Index k = std::max<Index>(0, j - depth); k < j; ++k) {
      fetch(k, panel, Section::panel);
      update(k, panel, Section::panel);
    }
    if constexpr (loads) run.load(plan.step(j));
  };
  bool left_is_fetched = false;
  for (Index j = 0; j < std::min(depth, steps); ++j) {
    advance(j);
    run.factor(plan.step(j));
  }
  for (Index k = 0; k < steps; ++k) {
    const Sections now = plan.sections(k);
    // Which update hides the panel's factorization.
    enum { none, left, right } behind = none;
    if (loads && depth > 0) behind = now.left.empty() ? right : left;
    const auto factor_ahead = [&] {
      if (k + depth < steps) run.factor(plan.step(k + depth));
    };
    if (k + depth < steps) advance(k + depth);
    if (behind == none) factor_ahead();
    if (!left_is_fetched) fetch(k, now.left, Section::left);
    fetch(k, now.right, Section::right);
    update(k, now.left, Section::left);
    if (behind == left) factor_ahead();
    left_is_fetched = plan.is_split() && depth > 0 && k + 1 < steps;
    if (left_is_fetched) fetch(k + 1, plan.sections(k + 1).left, Section::left);
    update(k, now.right, Section::right);
    if (behind == right) factor_ahead();
    run.finish(plan.step(k));
  }
}

}  // namespace plinth::lu
