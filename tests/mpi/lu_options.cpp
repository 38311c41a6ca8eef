// SPDX-License-Identifier: BSD-3-Clause
//
// Every option of a factorization does what it says, and only that.
#include <mpi.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/message_counter.hpp"
#include "support/problems.hpp"

using Kokkos::LayoutRight;
using plinth::GridShape;
using plinth::Index;
using plinth::ProcessGrid;
using plinth::RowMajorGrid;
using plinth::comm::BroadcastAlgorithm;
using plinth::lu::FactorOptions;
using plinth::lu::PivotReduction;
using plinth::lu::SwapAlgorithm;
using namespace plinth_test;

namespace {

constexpr BroadcastAlgorithm broadcasts[] = {
    BroadcastAlgorithm::ring1, BroadcastAlgorithm::ring1_modified,
    BroadcastAlgorithm::ring2, BroadcastAlgorithm::ring2_modified,
    BroadcastAlgorithm::long_, BroadcastAlgorithm::long_modified,
    BroadcastAlgorithm::bcast, BroadcastAlgorithm::ibcast};
constexpr PivotReduction reductions[] = {PivotReduction::point_to_point,
                                         PivotReduction::collective, PivotReduction::hybrid};

/// Every way to move rows; a threshold of 5 columns makes mix do both.
std::vector<plinth::lu::RowSwap> swaps() {
  std::vector<plinth::lu::RowSwap> all;
  for (const auto algorithm :
       {SwapAlgorithm::automatic, SwapAlgorithm::binary_exchange, SwapAlgorithm::spread_roll,
        SwapAlgorithm::mix, SwapAlgorithm::collective, SwapAlgorithm::direct})
    for (const bool equilibrate : {false, true})
      all.push_back({.algorithm = algorithm, .threshold = 5, .equilibrate = equilibrate});
  return all;
}

/// Everything that a factorization leaves behind.
struct Left {
  Dense<double> lu{0, 0};
  std::vector<Index> pivots;
  bool operator==(const Left& other) const {
    return same_bits(lu, other.lu) && pivots == other.pivots;
  }
};

constexpr Index nb = 5;

Left factor(const ProcessGrid& grid, const Dense<double>& whole, const FactorOptions& options,
            std::optional<Index> align = {}) {
  const auto factors =
      plinth::lu_factor(Exec(), distribute(grid, whole, {.mb = nb, .nb = nb, .align = align}),
                        plinth::PartialPivoting{}, options);
  if (!grid.active()) return {};
  return {gather(factors.matrix()), gather_pivots(factors)};
}

Dense<double> some_matrix(Index n) {
  return make_dense<double>(n, n, [](Index i, Index j) { return noise(i, j, 7); });
}

/// All ranks in one row, in one column, and as near to a square as can be.
std::vector<GridShape> full_grids() {
  const int ranks = world_size();
  std::vector<GridShape> full{{1, ranks}};
  if (ranks > 1) full.push_back({ranks, 1});
  if (ranks >= 4 && ranks % 2 == 0) full.push_back({2, ranks / 2});
  if (ranks >= 6 && ranks % 2 == 0) full.push_back({ranks / 2, 2});
  return full;
}

std::string name(GridShape shape) {
  return std::to_string(shape.rows) + "x" + std::to_string(shape.cols);
}

}  // namespace

TEST_CASE("LU options: communication never changes a bit", "[lu][options]") {
  const auto whole = some_matrix(43);
  for (const auto shape : full_grids()) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    const Left expected = factor(grid, whole, {});
    INFO("grid " << name(shape));
    for (const auto broadcast : broadcasts) {
      INFO("broadcast " << to_string(broadcast));
      CHECK(factor(grid, whole, {.broadcast = broadcast}) == expected);
    }
    for (const auto& swap : swaps()) {
      INFO("swap " << to_string(swap.algorithm) << ", equilibration " << swap.equilibrate);
      CHECK(factor(grid, whole, {.swap = swap}) == expected);
    }
    for (const auto reduction : reductions) {
      INFO("pivot reduction " << to_string(reduction));
      CHECK(factor(grid, whole, {.pivot_reduction = reduction}) == expected);
    }
    for (const Index align : {1, 3, 8, 512}) {
      INFO("alignment " << align);
      CHECK(factor(grid, whole, {}, align) == expected);
    }
  }
}

TEST_CASE("LU options: messages of any length", "[lu][options][comm]") {
  constexpr auto few = PivotReduction::collective;  // of all those messages
  for (const auto shape : full_grids()) {
    const RowMajorGrid layout{shape.rows, shape.cols};
    for (const Index limit : {100, 1}) {
      const auto whole = some_matrix(limit > 1 ? 17 : 6);
      const Left expected = factor(ProcessGrid(MPI_COMM_WORLD, layout), whole, {});
      const ProcessGrid grid(MPI_COMM_WORLD, layout, {.max_message = limit});
      INFO("grid " << name(shape) << ", at most " << limit << " bytes");
      const auto check = [&](const FactorOptions& options) {
        const auto count =
            count_messages([&] { CHECK(factor(grid, whole, options) == expected); });
        CHECK(count.longest <= limit);
      };
      for (const auto broadcast : broadcasts) {
        INFO("broadcast " << to_string(broadcast));
        check({.broadcast = broadcast, .pivot_reduction = few});
      }
      for (const auto& swap : swaps()) {
        INFO("swap " << to_string(swap.algorithm) << ", equilibration " << swap.equilibrate);
        check({.swap = swap, .pivot_reduction = few});
      }
      for (const auto reduction : reductions) {
        INFO("pivot reduction " << to_string(reduction));
        check({.pivot_reduction = reduction});
      }
    }
  }
}

TEST_CASE("LU options: reproducible means every look-ahead depth and split alike",
          "[lu][options]") {
  const auto whole = some_matrix(67);
  for (const auto shape : full_grids()) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    const Left expected = factor(grid, whole, {.lookahead = 0, .reproducible = true});
    for (const Index lookahead : {0, 1, 2, 5})
      for (const double split : {0.0, 0.4, 0.9}) {
        INFO("grid " << name(shape) << ", look-ahead " << lookahead << ", split " << split);
        CHECK(factor(grid, whole,
                     {.lookahead = lookahead, .reproducible = true, .split = split}) == expected);
      }
  }
}

TEST_CASE("LU options: reproducible with right-hand sides in the last panel's block",
          "[lu][options]") {
  const Index n = 43;
  for (const auto shape : full_grids()) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    const auto left = [&](FactorOptions options) {
      TestMatrix<double, LayoutRight> a(grid, n, n + 1, {.mb = nb, .nb = nb});
      plinth::generate(Exec(), a, [](Index i, Index j) noexcept { return noise(i, j, 3); });
      options.reproducible = true;
      options.keep_l = plinth::lu::KeepL::no;
      factor_travelling(Exec(), a, options);
      auto all = gather(a);
      for (Index j = 0; j < n; ++j)
        for (Index i = j + 1; i < n; ++i) all(i, j) = 0;  // what is not kept
      return all;
    };
    const auto expected = left({.lookahead = 0});
    for (const Index lookahead : {1, 2, 5}) {
      INFO("grid " << name(shape) << ", look-ahead " << lookahead);
      CHECK(same_bits(left({.lookahead = lookahead}), expected));
      CHECK(same_bits(left({.lookahead = lookahead, .split = 0.5}), expected));
    }
  }
}

TEST_CASE("LU options: split updates with every way to move rows", "[lu][options]") {
  const auto exact = powers_of_two<double>(33);
  for (const auto shape : full_grids()) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    // Tiny messages: interchanges in pieces of columns.
    const ProcessGrid chunked(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols},
                              {.max_message = 100});
    for (const auto& swap : swaps())
      for (const double split : {0.2, 0.5}) {
        const Index lookahead = split < 0.5 ? 1 : 2;
        INFO("grid " << name(shape) << ", swap " << to_string(swap.algorithm)
                     << ", equilibration " << swap.equilibrate << ", split " << split
                     << ", look-ahead " << lookahead);
        const FactorOptions options{.lookahead = lookahead, .swap = swap, .split = split};
        for (const auto& on : {grid, chunked}) {
          const Left got = factor(on, exact.a, options);
          CHECK(got.lu.data == exact.lu.data);
          CHECK(got.pivots == exact.pivots);
        }
      }
  }
}

TEST_CASE("LU options: a split larger than the matrix, and matrices of few blocks",
          "[lu][options]") {
  for (const auto shape : full_grids()) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    for (const Index n : {0, 1, 4, 5, 6, 11}) {
      const auto exact = powers_of_two<double>(n);
      for (const Index lookahead : {0, 1, 4}) {
        INFO("grid " << name(shape) << ", n " << n << ", look-ahead " << lookahead);
        const Left got = factor(grid, exact.a, {.lookahead = lookahead, .split = 0.5});
        CHECK(got.lu.data == exact.lu.data);
      }
    }
  }
}

TEST_CASE("LU options: how many messages each costs", "[lu][options][comm]") {
  const int ranks = world_size();
  // One panel, nothing to its right: only pivot reductions. One process column.
  const Index n = 5;
  const auto whole = some_matrix(n);
  const ProcessGrid column(MPI_COMM_WORLD, RowMajorGrid{ranks, 1});
  const auto count = [&](const ProcessGrid& grid, const Dense<double>& a,
                         const FactorOptions& options) {
    auto matrix = distribute(grid, a, {.mb = nb, .nb = nb});
    return count_messages([&] {
      plinth::lu_factor(Exec(), std::move(matrix), plinth::PartialPivoting{}, options);
    });
  };
  const bool many = ranks > 1;
  const auto everybody = [](long mine) {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return mine;
  };
  int power = 1, doublings = 0;
  for (; power * 2 <= ranks; power *= 2) ++doublings;
  const long per_reduction = static_cast<long>(power) * doublings + 2 * (ranks - power);
  const auto p2p = count(column, whole, {});
  CHECK(everybody(p2p.sends) == n * per_reduction);
  CHECK(p2p.allreduces == 1);  // the agreement at the entry
  const auto all = count(column, whole, {.pivot_reduction = PivotReduction::collective});
  CHECK(everybody(all.sends) == 0);
  CHECK(all.allreduces == 1 + (many ? n : 0));
  const auto hybrid = count(column, whole, {.pivot_reduction = PivotReduction::hybrid});
  CHECK(everybody(hybrid.sends) == per_reduction);
  CHECK(hybrid.allreduces == 1 + (many ? n - 1 : 0));

  // One panel that travels along a process row, received once by each.
  const auto wide = make_dense<double>(n, n, [](Index i, Index j) { return noise(i, j, 7); });
  const ProcessGrid row(MPI_COMM_WORLD, RowMajorGrid{1, ranks});
  for (const auto broadcast : {BroadcastAlgorithm::ring1, BroadcastAlgorithm::ring1_modified,
                               BroadcastAlgorithm::ring2, BroadcastAlgorithm::ring2_modified}) {
    INFO("broadcast " << to_string(broadcast));
    const auto panel = count(row, wide, {.broadcast = broadcast});
    CHECK(everybody(panel.sends) == ranks - 1);
    CHECK(panel.sends <= 3);
  }
  for (const auto broadcast : {BroadcastAlgorithm::bcast, BroadcastAlgorithm::ibcast}) {
    const auto panel = count(row, wide, {.broadcast = broadcast});
    CHECK(everybody(panel.sends) == 0);
    CHECK(panel.broadcasts == (many ? 1 : 0));
  }
  const auto rolled = count(row, wide, {.broadcast = BroadcastAlgorithm::long_});
  CHECK(rolled.sends <= ranks + 2);
  CHECK((ranks < 3 || rolled.longest < static_cast<long>(n * n + n + 2) * 8));

  // Interchanges: two panels, and pivots in one go, so that only rows travel.
  const auto two = some_matrix(2 * n);
  const auto rows = [&](SwapAlgorithm algorithm) {
    return count(column, two,
                 {.lookahead = 0,
                  .swap = {.algorithm = algorithm, .equilibrate = false},
                  .pivot_reduction = PivotReduction::collective});
  };
  const auto collective = rows(SwapAlgorithm::collective);
  CHECK(everybody(collective.sends) == 0);
  CHECK(collective.gathers <= 2);
  CHECK(collective.scatters <= collective.gathers);  // none where no row is displaced
  CHECK((collective.gathers > 0) == many);
  // Two interchanges (the right columns and those of L), at most so many messages each: blocks
  // without rows are not sent.
  CHECK(rows(SwapAlgorithm::spread_roll).sends <= 2 * (ranks - 1 + doublings + 1));
  CHECK(rows(SwapAlgorithm::direct).sends <= 2 * (ranks - 1 + ranks - 1));
  CHECK(rows(SwapAlgorithm::binary_exchange).sends <= 2 * (doublings + 2 + ranks - 1));
  CHECK((everybody(rows(SwapAlgorithm::direct).sends) > 0) == many);
}

TEST_CASE("LU options: wrong values are refused on every rank", "[lu][options][error]") {
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{1, world_size()});
  const auto whole = some_matrix(8);
  const bool last = world_rank() == world_size() - 1;
  const auto refused = [&](const FactorOptions& options) {
    const auto by = [&](bool wrong) {  // by all ranks, by one alone
      return error_of([&] { factor(grid, whole, wrong ? options : FactorOptions{}); })
                 .find("wanted") != std::string::npos;
    };
    return by(true) && by(last);
  };
  CHECK(refused({.lookahead = -1}));
  CHECK(refused({.panel = {.ndiv = 1}}));
  CHECK(refused({.panel = {.nbmin = 0}}));
  CHECK(refused({.swap = {.threshold = -1}}));
  CHECK(refused({.split = -0.1}));
  CHECK(refused({.split = 1.0}));
  CHECK(refused({.split = std::nan("")}));
  for (const Index align : {Index(0), Index(-8), Index(1) << 40})
    CHECK(error_of([&] { factor(grid, whole, {}, align); }).find("alignment") !=
          std::string::npos);
}

TEST_CASE("LU options: ranks that give different ones are told so", "[lu][options][error]") {
  if (world_size() == 1) return;
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{1, world_size()});
  const auto whole = some_matrix(8);
  const FactorOptions others[] = {{.lookahead = 2},
                                  {.panel = {.variant = plinth::PanelVariant::left}},
                                  {.panel = {.base = plinth::PanelVariant::crout}},
                                  {.panel = {.ndiv = 3}},
                                  {.panel = {.nbmin = 3}},
                                  {.broadcast = BroadcastAlgorithm::long_},
                                  {.swap = {.algorithm = SwapAlgorithm::mix}},
                                  {.swap = {.threshold = 3}},
                                  {.swap = {.equilibrate = false}},
                                  {.pivot_reduction = PivotReduction::hybrid},
                                  {.reproducible = true},
                                  {.split = 0.25},
                                  {.keep_l = plinth::lu::KeepL::no}};
  int which = 0;
  for (const auto& other : others) {
    INFO("option " << which++);
    CHECK(plinth::lu::fingerprint(other) != plinth::lu::fingerprint(plinth::lu::FactorOptions{}));
    const bool odd = world_rank() == world_size() - 1;
    // Factors without L are refused as such; the others are told apart.
    const bool has_l = other.keep_l == plinth::lu::KeepL::permuted;
    CHECK(error_of([&] {
            factor(grid, whole, odd ? other : FactorOptions{});
          }).find(has_l ? "different arguments" : "with L") != std::string::npos);
  }
}

TEST_CASE("the alignment of a matrix", "[matrix][options]") {
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{1, 1});
  struct Row {
    Index cols;
    std::optional<Index> align;
    Index lead;
  };
  const auto lead = [&](Index cols, std::optional<Index> align) {
    TestMatrix<double, LayoutRight> a(grid, 3, cols, {.mb = 8, .nb = 8, .align = align});
    return grid.active() ? plinth::kernel::leading_dimension(a.local()) : 0;
  };
  for (const Row row : {
           Row{1, {}, 8},        // a cache line
           Row{9, {}, 16},       //
           Row{512, {}, 520},    // not a page
           Row{511, {}, 520},    //
           Row{9, 1, 9},         //
           Row{9, 4, 12},        //
           Row{9, 100, 100},     //
           Row{512, 1, 513},     //
           Row{510, 256, 768},   // 512 would be a page
           Row{10, 512, 512},    // cannot be helped
           Row{513, 512, 1024},  //
           Row{0, 3, 3},         // nothing
       }) {
    INFO(row.cols << " columns, alignment " << row.align.value_or(0));
    CHECK(lead(row.cols, row.align) == (grid.active() ? row.lead : 0));
  }
}
