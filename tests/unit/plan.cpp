// SPDX-License-Identifier: BSD-3-Clause
#include "plinth/lu/plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "plinth/lu/row_permutation.hpp"
#include "support/catch.hpp"

using plinth::BlockCyclic;
using plinth::Distribution;
using plinth::GridCoord;
using plinth::GridShape;
using plinth::Index;
using plinth::Range;
using plinth::lu::Plan;
using plinth::lu::Step;

namespace {

Plan make_plan(Index m, Index n, Index block, GridShape grid = {1, 1}, Index lookahead = 0,
               double split = 0) {
  return Plan({BlockCyclic(m, block, grid.rows, 0), BlockCyclic(n, block, grid.cols, 0)},
              lookahead, split);
}

/// Flops of an LU of an m x n matrix, counted operation by operation.
double counted_flops(Index m, Index n) {
  double flops = 0;
  for (Index k = 0; k < std::min(m, n); ++k)
    flops += static_cast<double>(m - k - 1) * (1 + 2 * static_cast<double>(n - k - 1));
  return flops;
}

double planned_flops(const Plan& plan) {
  double flops = 0;
  for (Index k = 0; k < plan.steps(); ++k) flops += plan.flops(plan.step(k)).total();
  return flops;
}

}  // namespace

TEST_CASE("a plan's steps cover the columns once", "[plan]") {
  struct Row {
    Index m, n, block, steps;
  };
  constexpr Row rows[] = {
      {0, 0, 4, 0},                                    // nothing
      {1, 1, 4, 1},                                    // one element
      {12, 12, 4, 3}, {13, 13, 4, 4}, {13, 14, 4, 4},  // [A | b]
      {20, 6, 4, 2},                                   // tall
      {6, 20, 4, 2},                                   // wide
      {3, 3, 100, 1},                                  // block larger than all
  };
  for (const auto& row : rows) {
    INFO(row.m << "x" << row.n << ", block " << row.block);
    const Plan plan = make_plan(row.m, row.n, row.block, {2, 3});
    CHECK(plan.steps() == row.steps);
    CHECK(plan.order() == std::min(row.m, row.n));
    Index next = 0;
    for (Index k = 0; k < plan.steps(); ++k) {
      const Step step = plan.step(k);
      CHECK(step.k == k);
      CHECK(step.cols.begin == next);
      CHECK(step.width() > 0);
      CHECK(step.width() <= row.block);
      CHECK(step.owner_row == k % 2);
      CHECK(step.owner_col == k % 3);
      next = step.cols.end;
    }
    CHECK(next == plan.order());
  }
  CHECK_THROWS_WITH(Plan({BlockCyclic(4, 2, 1, 0), BlockCyclic(4, 3, 1, 0)}, 0),
                    plinth_test::contains("square blocks"));
  CHECK_THROWS_WITH(make_plan(4, 4, 2, {1, 1}, -1), plinth_test::contains("look-ahead"));
}

TEST_CASE("local shapes of a step add up over the grid", "[plan]") {
  struct Row {
    Index m, n, block;
    GridShape grid;
  };
  constexpr Row rows[] = {
      {37, 37, 5, {2, 3}},      // small enough to see
      {23, 24, 4, {3, 2}},      // a right-hand side in the last block
      {1000, 1001, 7, {9, 8}},  // a large grid
      {(Index(1) << 33) + 5, (Index(1) << 33) + 6, 1 << 28, {9, 8}},  // beyond 2^31
  };
  for (const auto& row : rows) {
    INFO(row.m << "x" << row.n << ", block " << row.block);
    const Plan plan = make_plan(row.m, row.n, row.block, row.grid);
    bool good = true;
    for (Index k = 0; k < plan.steps(); ++k) {
      const Step step = plan.step(k);
      Index top = 0, below = 0, panel = 0, right = 0;
      for (int p = 0; p < row.grid.rows; ++p) {
        const auto mine = plan.local(step, {p, 0});
        good = good && mine.has_diagonal_rows == (p == step.owner_row) &&
               mine.has_diagonal_rows == !mine.top.empty() && mine.top.end == mine.below.begin;
        top += mine.top.size();
        below += mine.below.size();
        const GridCoord at{p, 0};
        good =
            good &&
            plan.panel_elements(step, at) == step.width() * (step.width() + mine.below.size()) &&
            plan.panel_elements(step, at) <= plan.max_panel_elements(at);
      }
      for (int q = 0; q < row.grid.cols; ++q) {
        const auto mine = plan.local(step, {0, q});
        good = good && mine.has_panel == (q == step.owner_col) &&
               mine.has_panel == !mine.panel.empty();
        panel += mine.panel.size();
        right += plan.local_cols({step.cols.end, row.n}, {0, q}).size();
      }
      good = good && top == step.width() && panel == step.width() &&
             below == row.m - step.cols.end && right == row.n - step.cols.end;
    }
    CHECK(good);
  }
}

TEST_CASE("a plan's flops are those of the factorization", "[plan][flops]") {
  for (const auto& [m, n] : {std::pair<Index, Index>{0, 0},
                             {1, 1},
                             {2, 2},
                             {30, 30},
                             {30, 31},
                             {30, 12},
                             {12, 30},
                             {17, 40}})
    for (const Index block : {1, 3, 8, 100}) {
      INFO(m << "x" << n << ", block " << block);
      CHECK(planned_flops(make_plan(m, n, block)) == counted_flops(m, n));
    }
  // (2/3) n^3 - n^2 / 2 - n / 6, in closed form, for a system of the size of a large run.
  const double n = 1.0e6;
  const double closed = 2.0 / 3.0 * n * n * n - n * n / 2 - n / 6;
  CHECK(planned_flops(make_plan(1000000, 1000000, 500)) == Catch::Approx(closed).epsilon(1e-12));
}

namespace {

/// Checks the order of a walk while it happens.
class Recorder {
 public:
  explicit Recorder(const Plan& plan)
      : plan_(plan), applied_(static_cast<std::size_t>(plan.distribution().cols.size()), 0) {}

  void factor(const Step& step) {
    good_ = good_ && step.k == factored_++;
    // Every panel before must have been applied to these columns.
    for (Index j = step.cols.begin; j < step.cols.end; ++j)
      good_ = good_ && applied_[static_cast<std::size_t>(j)] == step.k;
    ++alive_;
    most_alive_ = std::max(most_alive_, alive_);
  }
  void update(const Step& step, Range cols) {
    good_ = good_ && step.k < factored_ && step.k >= finished_;
    for (Index j = cols.begin; j < cols.end; ++j) {
      good_ = good_ && j >= step.cols.end && applied_[static_cast<std::size_t>(j)] == step.k;
      ++applied_[static_cast<std::size_t>(j)];
    }
  }
  void finish(const Step& step) {
    good_ = good_ && step.k == finished_++;
    for (Index j = step.cols.end; j < plan_.distribution().cols.size(); ++j)
      good_ = good_ && applied_[static_cast<std::size_t>(j)] > step.k;
    --alive_;
  }

  /// Whether everything was done, once and in order, with so many panels at a time.
  bool complete() const {
    bool all = good_ && alive_ == 0 && factored_ == plan_.steps() && finished_ == plan_.steps();
    for (std::size_t j = 0; j < applied_.size(); ++j)
      all = all && applied_[j] == (static_cast<Index>(j) < plan_.order()
                                       ? static_cast<Index>(j) / plan_.block()
                                       : plan_.steps());
    return all;
  }
  Index most_alive() const { return most_alive_; }

 private:
  const Plan& plan_;
  std::vector<Index> applied_;  ///< panels applied to each column, in order from 0
  Index factored_ = 0, finished_ = 0, alive_ = 0, most_alive_ = 0;
  bool good_ = true;
};

/// The same of a walk that loads panels, for whose way there is an update.
class LoadRecorder : public Recorder {
 public:
  explicit LoadRecorder(const Plan& plan) : Recorder(plan), plan_(plan) {}

  void load(const Step& step) {
    good_ = good_ && loaded_ == factored_ && step.k == loaded_++;
    is_hidden_ = false;
  }
  void factor(const Step& step) {
    const Index before = step.k - plan_.lookahead();  // the step that it is factored in
    const bool more = before >= 0 && step.cols.end < plan_.distribution().cols.size();
    good_ = good_ && step.k == factored_++ && is_hidden_ == (plan_.lookahead() > 0 && more);
    Recorder::factor(step);
  }
  void update(const Step& step, Range cols, plinth::lu::Section section) {
    if (section != plinth::lu::Section::panel) is_hidden_ = true;
    Recorder::update(step, cols);
  }
  bool complete() const { return good_ && loaded_ == plan_.steps() && Recorder::complete(); }

 private:
  const Plan& plan_;
  Index loaded_ = 0, factored_ = 0;
  bool is_hidden_ = false;
  bool good_ = true;
};

}  // namespace

TEST_CASE("a walk applies every panel to every column, once and in order", "[plan][lookahead]") {
  struct Row {
    Index m, n, block;
  };
  constexpr Row rows[] = {
      {0, 0, 4},                 // nothing
      {4, 4, 4},                 // one step
      {5, 5, 4},                 // a short last one
      {40, 40, 4}, {40, 41, 4},  // [A | b], b in a block of its own
      {39, 40, 4},               // b in the last panel's block
      {12, 40, 4}, {40, 12, 4},  // wide, tall
      {40, 45, 7},
  };
  for (const auto& row : rows)
    for (const Index lookahead : {0, 1, 2, 5, 50}) {
      INFO(row.m << "x" << row.n << ", block " << row.block << ", look-ahead " << lookahead);
      const auto check = [&](const Plan& plan, auto recorder) {
        plinth::lu::walk(plan, recorder);
        CHECK(recorder.complete());
        CHECK(recorder.most_alive() == std::min(lookahead + 1, plan.steps()));
      };
      for (const double split : {0.0, 0.5}) {
        const Plan plan = make_plan(row.m, row.n, row.block, {1, 1}, lookahead, split);
        check(plan, Recorder(plan));
        check(plan, LoadRecorder(plan));
      }
    }
}

namespace {

using plinth::lu::Interchanges;

std::vector<Index> swapped_one_by_one(Index size, const Interchanges& swaps) {
  std::vector<Index> content(static_cast<std::size_t>(size));
  for (Index i = 0; i < size; ++i) content[static_cast<std::size_t>(i)] = i;
  for (Index n = 0; n < swaps.width; ++n) {
    const Index t = swaps.inverse ? swaps.width - 1 - n : n;
    std::swap(content[static_cast<std::size_t>(swaps.first + t)],
              content[static_cast<std::size_t>(swaps.rows[t])]);
  }
  return content;
}

std::vector<Index> swapped_at_once(Index size, const Interchanges& swaps) {
  std::vector<Index> content(static_cast<std::size_t>(size));
  for (Index i = 0; i < size; ++i) content[static_cast<std::size_t>(i)] = i;
  const auto p = plinth::lu::row_permutation(swaps);
  for (Index t = 0; t < p.width(); ++t)
    content[static_cast<std::size_t>(p.first + t)] = p.source[static_cast<std::size_t>(t)];
  for (std::size_t b = 0; b < p.target.size(); ++b)
    content[static_cast<std::size_t>(p.target[b])] = p.origin[b];
  return content;
}

}  // namespace

TEST_CASE("a panel's interchanges at once are those one by one", "[plan][pivots]") {
  struct Case {
    const char* name;
    std::vector<Index> rows;
  };
  constexpr Index first = 3, size = 20;
  const Case cases[] = {
      {"none", {}},
      {"nothing moves", {3, 4, 5, 6}},
      {"all remote", {10, 11, 12, 13}},
      {"the same remote row again and again", {19, 19, 19, 19}},
      {"within the top block, backwards", {6, 5, 5, 6}},
      {"a cycle through the top block", {4, 5, 6, 6}},
      {"a remote row that comes back up", {10, 10, 5, 10}},
      {"a mixture", {5, 12, 5, 12}},
  };
  for (const auto& c : cases)
    for (const bool inverse : {false, true}) {
      INFO(c.name << (inverse ? ", inverse" : ""));
      const Interchanges swaps{first, c.rows.data(), static_cast<Index>(c.rows.size()), inverse};
      CHECK(swapped_at_once(size, swaps) == swapped_one_by_one(size, swaps));
      const auto p = plinth::lu::row_permutation(swaps);
      CHECK(std::is_sorted(p.target.begin(), p.target.end()));
      bool only_top_rows_leave = true;
      for (const Index row : p.origin)
        only_top_rows_leave = only_top_rows_leave && row >= first && row < first + swaps.width;
      CHECK(only_top_rows_leave);
    }
  std::uint64_t state = 1;
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<Index> rows;
    const Index width = 1 + trial % 9;
    for (Index t = 0; t < width; ++t) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const Index low = first + t;
      rows.push_back(low + static_cast<Index>((state >> 33) % static_cast<unsigned>(size - low)));
    }
    const Interchanges swaps{first, rows.data(), width, trial % 2 == 1};
    CHECK(swapped_at_once(size, swaps) == swapped_one_by_one(size, swaps));
  }
}
