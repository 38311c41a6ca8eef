// SPDX-License-Identifier: BSD-3-Clause
#include "plinth/lu/options.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "plinth/lu/plan.hpp"
#include "support/catch.hpp"

using plinth::BlockCyclic;
using plinth::Index;
using plinth::Range;
using plinth::lu::FactorOptions;
using plinth::lu::Plan;
using plinth::lu::RowSwap;
using plinth::lu::Section;
using plinth::lu::Step;
using plinth::lu::SwapAlgorithm;

namespace {

Plan make_plan(Index m, Index n, Index lookahead, double split, Index block = 4) {
  return Plan({BlockCyclic(m, block, 2, 0), BlockCyclic(n, block, 3, 0)}, lookahead, split);
}

/// Checks the order of a walk with sections while it happens.
class SectionRecorder {
 public:
  explicit SectionRecorder(const Plan& plan)
      : plan_(plan), applied_(static_cast<std::size_t>(plan.distribution().cols.size()), 0) {}

  void factor(const Step& step) {
    good_ = good_ && step.k == factored_++ && applied(step.cols, step.k);
    for (const auto& fetched : fetched_)
      good_ = good_ && (fetched.empty() || fetched.begin >= step.cols.end);
  }
  void fetch(const Step& step, Range cols, Section section) {
    Range& fetched = fetched_[static_cast<std::size_t>(section)];
    // The panel is there, the columns are up to date, and the section's last one is through.
    good_ =
        good_ && !cols.empty() && fetched.empty() && step.k < factored_ && applied(cols, step.k);
    fetched = cols;
    const auto busy = std::count_if(fetched_.begin(), fetched_.end(),
                                    [](const Range& r) { return !r.empty(); });
    most_under_way_ = std::max(most_under_way_, static_cast<int>(busy));
  }
  void update(const Step& step, Range cols, Section section) {
    Range& fetched = fetched_[static_cast<std::size_t>(section)];
    good_ = good_ && fetched == cols && applied(cols, step.k);
    if (section == Section::left && !fetched_[static_cast<std::size_t>(Section::right)].empty())
      ++right_behind_left_;
    if (section == Section::right && !fetched_[static_cast<std::size_t>(Section::left)].empty())
      ++left_behind_right_;
    fetched = {};
    for (Index j = cols.begin; j < cols.end; ++j) ++applied_[static_cast<std::size_t>(j)];
  }
  void finish(const Step& step) {
    good_ = good_ && step.k == finished_++;
    for (Index j = step.cols.end; j < plan_.distribution().cols.size(); ++j)
      good_ = good_ && applied_[static_cast<std::size_t>(j)] > step.k;
  }

  bool complete() const {
    bool all = good_ && factored_ == plan_.steps() && finished_ == plan_.steps();
    for (const auto& fetched : fetched_) all = all && fetched.empty();
    return all;
  }
  int most_under_way() const { return most_under_way_; }
  int right_behind_left() const { return right_behind_left_; }
  int left_behind_right() const { return left_behind_right_; }

 private:
  bool applied(Range cols, Index count) const {
    for (Index j = cols.begin; j < cols.end; ++j)
      if (applied_[static_cast<std::size_t>(j)] != count) return false;
    return true;
  }
  const Plan& plan_;
  std::vector<Index> applied_;  ///< panels applied to each column, in order from 0
  std::array<Range, plinth::lu::section_count> fetched_{};
  Index factored_ = 0, finished_ = 0;
  int most_under_way_ = 0, right_behind_left_ = 0, left_behind_right_ = 0;
  bool good_ = true;
};

}  // namespace

TEST_CASE("a split walk fetches rows of columns that are up to date, ahead of their update",
          "[plan][split]") {
  struct Size {
    Index m, n;
  };
  for (const Size size : {Size{0, 0}, Size{4, 4}, Size{5, 6}, Size{40, 40}, Size{40, 41},
                          Size{39, 40}, Size{12, 40}, Size{40, 12}})
    for (const Index lookahead : {0, 1, 2, 5, 50})
      for (const double split : {0.0, 0.01, 0.3, 0.5, 0.99}) {
        INFO(size.m << "x" << size.n << ", look-ahead " << lookahead << ", split " << split);
        const Plan plan = make_plan(size.m, size.n, lookahead, split);
        SectionRecorder recorder(plan);
        plinth::lu::walk(plan, recorder);
        CHECK(recorder.complete());
        if (split == 0) CHECK(recorder.most_under_way() <= 1);
      }
}

TEST_CASE("what a split hides", "[plan][split]") {
  // 10 block columns, 5 of them in the right section.
  for (const Index lookahead : {0, 1, 2}) {
    INFO("look-ahead " << lookahead);
    const Plan plan = make_plan(40, 40, lookahead, 0.5);
    SectionRecorder recorder(plan);
    plinth::lu::walk(plan, recorder);
    // As long as there is a left section, right of the panels that are under way.
    CHECK(recorder.right_behind_left() == 4 - lookahead);
    CHECK(recorder.left_behind_right() == (lookahead == 0 ? 0 : 3 - lookahead));
  }
}

TEST_CASE("a split cuts at a block, and leaves the left section something", "[plan][split]") {
  CHECK(make_plan(40, 40, 0, 0).boundary() == 40);
  CHECK_FALSE(make_plan(40, 40, 0, 0).is_split());
  CHECK(make_plan(40, 40, 0, 0.3).boundary() == 28);
  CHECK(make_plan(40, 40, 0, 0.01).boundary() == 36);
  CHECK(make_plan(40, 40, 0, 0.999).boundary() == 4);
  CHECK(make_plan(40, 41, 0, 0.01).boundary() == 40);
  CHECK_FALSE(make_plan(4, 4, 0, 0.5).is_split());  // a single block
  CHECK_THROWS_AS(make_plan(4, 4, 0, 1.0), plinth::Error);
  CHECK_THROWS_AS(make_plan(4, 4, 0, -0.1), plinth::Error);
}

TEST_CASE("slices are cut where no option can reach", "[plan]") {
  const Plan plan = make_plan(6, 11, 1, 0.5);
  std::vector<Index> ends;
  for (Index j = 0; j < 11; j = plan.slice_end(j)) ends.push_back(plan.slice_end(j));
  CHECK(ends == std::vector<Index>{4, 6, 8, 11});
}

TEST_CASE("how rows travel: mix and automatic", "[lu][options]") {
  constexpr RowSwap mix{.algorithm = SwapAlgorithm::mix, .threshold = 64};
  CHECK(mix.choose(64, 2) == SwapAlgorithm::binary_exchange);
  CHECK(mix.choose(65, 2) == SwapAlgorithm::spread_roll);
  CHECK(RowSwap{.algorithm = SwapAlgorithm::mix, .threshold = 0}.choose(1, 2) ==
        SwapAlgorithm::spread_roll);
  CHECK(RowSwap{}.choose(1000, 4) == SwapAlgorithm::direct);
  CHECK(RowSwap{}.choose(1000, 5) == SwapAlgorithm::spread_roll);
  CHECK(RowSwap{}.choose(10, 5) == SwapAlgorithm::binary_exchange);
  for (const auto algorithm : {SwapAlgorithm::binary_exchange, SwapAlgorithm::spread_roll,
                               SwapAlgorithm::collective, SwapAlgorithm::direct})
    CHECK(RowSwap{.algorithm = algorithm}.choose(1000, 7) == algorithm);
}

TEST_CASE("options of a factorization: defaults, limits, names", "[lu][options]") {
  STATIC_REQUIRE(FactorOptions{}.valid());
  STATIC_REQUIRE_FALSE(FactorOptions{.lookahead = -1}.valid());
  STATIC_REQUIRE_FALSE(FactorOptions{.split = 1}.valid());
  STATIC_REQUIRE_FALSE(FactorOptions{.swap = {.threshold = -1}}.valid());
  CHECK(plinth::lu::fingerprint({}) == plinth::lu::fingerprint(FactorOptions{}));
  CHECK(plinth::lu::fingerprint({.reproducible = true}) != plinth::lu::fingerprint({}));
  using plinth::lu::PivotReduction;
  CHECK(std::string(to_string(PivotReduction::hybrid)) == "hybrid");
  CHECK(std::string(to_string(SwapAlgorithm::mix)) == "mix");
  CHECK(std::string(to_string(plinth::lu::KeepL::no)) == "no");
  CHECK(std::string(to_string(plinth::PanelVariant::crout)) == "Crout");
}
