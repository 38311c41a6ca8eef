// SPDX-License-Identifier: BSD-3-Clause
//
// What is particular about picking the pivots of a panel by a tournament, and about policies with
// members.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/matrices.hpp"
#include "support/message_counter.hpp"
#include "support/pivoting.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using plinth::GridShape;
using plinth::PartialPivoting;
using plinth::ProcessGrid;
using plinth::RowMajorGrid;
using plinth::ThresholdPivoting;
using plinth::TournamentPivoting;
using plinth::lu::FactorOptions;

namespace {

struct Left {
  Dense<double> lu{0, 0};
  std::vector<Index> pivots;
  Index zero = -1;
};

template <class Pivoting>
Left factor(const ProcessGrid& grid, const Dense<double>& a, Index nb, const Pivoting& pivoting,
            const FactorOptions& options = {}) {
  const auto factors =
      plinth::lu_factor(Exec(), distribute(grid, a, {.mb = nb, .nb = nb}), pivoting, options);
  if (!grid.active()) return {};
  return {gather(factors.matrix()), gather_pivots(factors),
          factors.first_zero_pivot().value_or(-1)};
}

Dense<double> uniform(Index n, std::uint64_t seed = 7) {
  return make_dense<double>(n, n, [=](Index i, Index j) { return noise(i, j, seed); });
}

double largest_of_u(const Dense<double>& lu) {
  double most = 0;
  for (Index j = 0; j < lu.cols; ++j)
    for (Index i = 0; i <= j; ++i) most = std::max(most, std::abs(lu(i, j)));
  return most;
}

long of_all_ranks(long mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return mine;
}

/// Rows stay in their group of 6.
struct WithinGroup {
  static constexpr bool exchanges_rows = true;
  double merit(double magnitude, Index row, Index column) const noexcept {
    return row / 6 == column / 6 ? magnitude : 0;
  }
};

/// A policy that answers nonsense.
struct Nonsense {
  static constexpr bool exchanges_rows = true;
  double answer = 0;
  Index fingerprint() const { return std::isnan(answer) ? 1 : 2; }
  double merit(double, Index, Index) const noexcept { return answer; }
};

}  // namespace

TEST_CASE("tournament: the rows of permutations are found wherever they are",
          "[lu][tournament][exact]") {
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    INFO("grid " << shape.rows << "x" << shape.cols);
    for (const Index n : {7, 23, 40}) {
      std::vector<Index> backward(static_cast<std::size_t>(n));
      for (Index i = 0; i < n; ++i) backward[static_cast<std::size_t>(i)] = n - 1 - i;
      for (const auto& rows : {backward, shuffled(n, 5), shuffled(n, 6)})
        for (const Index nb : {1, 3, 8})
          for (const Index radix : {2, 3}) {
            INFO("n " << n << ", nb " << nb << ", radix " << radix);
            const auto exact = permutation_matrix<double>(rows);
            const Left got = factor(grid, exact.a, nb, TournamentPivoting{.radix = radix});
            if (!grid.active()) continue;
            CHECK(got.pivots == exact.pivots);
            CHECK(got.lu.data == exact.lu.data);
          }
    }
  }
}

TEST_CASE("tournament: partial pivoting on one process row, and with panels of one column",
          "[lu][tournament]") {
  const auto a = uniform(37);
  const ProcessGrid row(MPI_COMM_WORLD, RowMajorGrid{1, world_size()});
  const Left one = factor(row, a, 5, TournamentPivoting{});
  const Left other = factor(row, a, 5, PartialPivoting{});
  CHECK(same_bits(one.lu, other.lu));
  CHECK(one.pivots == other.pivots);
  const ProcessGrid column(MPI_COMM_WORLD, RowMajorGrid{world_size(), 1});
  CHECK(factor(column, a, 1, TournamentPivoting{}).pivots ==
        factor(column, a, 1, PartialPivoting{}).pivots);
}

TEST_CASE("tournament: U grows as with partial pivoting", "[lu][tournament]") {
  const int ranks = world_size();
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{ranks, 1});
  const Index n = 240;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto a = uniform(n, seed);
    const double partial = largest_of_u(factor(grid, a, 16, PartialPivoting{}).lu);
    for (const Index radix : {2, 8}) {
      INFO("seed " << seed << ", radix " << radix);
      const Left got = factor(grid, a, 16, TournamentPivoting{.radix = radix});
      CHECK(largest_of_u(got.lu) < 4 * partial);
      CHECK(factor_ratio(a, got.lu, got.pivots) < 30);
      double l = 0;
      for (Index j = 0; j < n; ++j)
        for (Index i = j + 1; i < n; ++i) l = std::max(l, std::abs(got.lu(i, j)));
      CHECK(l < 16);
    }
  }
}

TEST_CASE("tournament: two messages per panel and process, however wide it is",
          "[lu][tournament][comm]") {
  const int ranks = world_size();
  const ProcessGrid column(MPI_COMM_WORLD, RowMajorGrid{ranks, 1});
  for (const Index nb : {4, 32})
    for (const Index radix : {2, 3, 64}) {
      INFO("nb " << nb << ", radix " << radix);
      // One panel: nothing else to send.
      auto matrix = distribute(column, uniform(nb), {.mb = nb, .nb = nb});
      const auto one = count_messages([&] {
        plinth::lu_factor(Exec(), std::move(matrix), TournamentPivoting{.radix = radix});
      });
      CHECK(of_all_ranks(one.sends) == ranks - 1);
      CHECK(one.sends <= 1);
      CHECK(one.broadcasts == (ranks > 1 ? 1 : 0));
      CHECK(one.allreduces == 1);  // the agreement at the entry
    }
  // Several panels: the interchanges come in addition, the same with every policy.
  const Index n = 48, nb = 16;
  const auto count = [&](const auto& pivoting) {
    auto matrix =
        distribute(column, permutation_matrix<double>(shuffled(n)).a, {.mb = nb, .nb = nb});
    return count_messages([&] { plinth::lu_factor(Exec(), std::move(matrix), pivoting); });
  };
  const auto partial = count(PartialPivoting{});
  const auto tournament = count(TournamentPivoting{});
  int power = 1, doublings = 0;
  for (; power * 2 <= ranks; power *= 2) ++doublings;
  const long per_column = static_cast<long>(power) * doublings + 2 * (ranks - power);
  CHECK(of_all_ranks(partial.sends) - n * per_column ==
        of_all_ranks(tournament.sends) - (n / nb) * (ranks - 1));
  CHECK(tournament.broadcasts == (ranks > 1 ? n / nb : 0));
}

TEST_CASE("tournament: the same bits twice, by every option that only sends, in short messages",
          "[lu][tournament][options]") {
  const int ranks = world_size();
  const auto a = uniform(43);
  for (const GridShape shape : {GridShape{ranks, 1}, GridShape{ranks / 2, 2}}) {
    if (shape.rows < 1) continue;
    const RowMajorGrid layout{shape.rows, shape.cols};
    const ProcessGrid grid(MPI_COMM_WORLD, layout);
    const ProcessGrid chunked(MPI_COMM_WORLD, layout, {.max_message = 100});
    INFO("grid " << shape.rows << "x" << shape.cols);
    const Left expected = factor(grid, a, 5, TournamentPivoting{});
    if (!grid.active()) {
      for (int again = 0; again < 2; ++again) (void)factor(grid, a, 5, TournamentPivoting{});
      (void)factor(chunked, a, 5, TournamentPivoting{});
      continue;
    }
    for (const FactorOptions& options :
         {FactorOptions{},
          FactorOptions{.broadcast = plinth::comm::BroadcastAlgorithm::ibcast}}) {
      const Left got = factor(grid, a, 5, TournamentPivoting{}, options);
      CHECK(same_bits(got.lu, expected.lu));
      CHECK(got.pivots == expected.pivots);
    }
    Left in_pieces;
    const auto count =
        count_messages([&] { in_pieces = factor(chunked, a, 5, TournamentPivoting{}); });
    CHECK(same_bits(in_pieces.lu, expected.lu));
    CHECK(count.longest <= 100);
  }
}

TEST_CASE("tournament: pivots too small for a reciprocal", "[lu][tournament]") {
  // A subnormal column in the middle of a panel: 1 / pivot overflows, the quotients do not.
  const Index n = 24, tiny = 3;
  const auto a = make_dense<double>(n, n, [=](Index i, Index j) {
    return j == tiny ? std::ldexp(noise(i, j), -1030) : noise(i, j) + (i == j ? 2.0 : 0.0);
  });
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    INFO("grid " << shape.rows << "x" << shape.cols);
    const Left got = factor(grid, a, 8, TournamentPivoting{});
    if (!grid.active()) continue;
    CHECK(factor_ratio(a, got.lu, got.pivots) < 30);
    bool finite = true;
    for (const double entry : got.lu.data) finite = finite && plinth::is_finite(entry);
    CHECK(finite);
  }
}

TEST_CASE("threshold pivoting: a row stays while it is good enough", "[lu][threshold]") {
  // In column 0 the entry in place is a quarter of the largest one; the rest is diagonal.
  const Index n = 9;
  auto a = make_dense<double>(n, n, [](Index i, Index j) { return i == j ? 1.0 : 0.0; });
  a(0, 0) = 0.25;
  a(n - 1, 0) = -1;
  const double nothing = std::numeric_limits<double>::denorm_min();
  const double infinite = std::numeric_limits<double>::infinity();
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    INFO("grid " << shape.rows << "x" << shape.cols);
    const auto first_pivot = [&](const Dense<double>& matrix, double threshold) {
      const Left got = factor(grid, matrix, 2, ThresholdPivoting{.threshold = threshold});
      return grid.active() ? got.pivots[0] : -1;
    };
    const auto expect = [&](Index pivot) { return grid.active() ? pivot : -1; };
    CHECK(first_pivot(a, 0.25) == expect(0));
    CHECK(first_pivot(a, 0.26) == expect(n - 1));
    CHECK(first_pivot(a, 1) == expect(n - 1));
    auto b = a;
    b(0, 0) = 0;  // a zero stays only where nothing else is there
    b(n - 1, 0) = nothing;
    CHECK(first_pivot(b, 0.1) == expect(n - 1));
    b(0, 0) = std::numeric_limits<double>::max();  // an infinite entry outdoes the largest number
    b(n - 1, 0) = infinite;
    CHECK(first_pivot(b, 0.1) == expect(n - 1));
  }
}

TEST_CASE("own pivoting: rows stay in their group where the merit of others is zero",
          "[lu][pivoting]") {
  // Groups of 6 rows lie across blocks of 4.
  const Index n = 30;
  auto a = make_dense<double>(
      n, n, [](Index i, Index j) { return noise(i, j) * (i / 6 == j / 6 ? 20 : 1); });
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    INFO("grid " << shape.rows << "x" << shape.cols);
    const Left got = factor(grid, a, 4, WithinGroup{});
    if (!grid.active()) continue;
    bool inside = true, moved = false;
    for (Index k = 0; k < n; ++k) {
      const Index pivot = got.pivots[static_cast<std::size_t>(k)];
      inside = inside && pivot / 6 == k / 6 && pivot >= k;
      moved = moved || pivot != k;
    }
    CHECK(inside);
    CHECK(moved);
    CHECK(factor_ratio(a, got.lu, got.pivots) < 30);
    // A column that is zero within its group has no pivot there, whatever others offer.
    auto b = a;
    for (Index i = 0; i < 6; ++i) b(i, 0) = 0;
    const Left broken = factor(grid, b, 4, WithinGroup{});
    CHECK(broken.zero == 0);
    CHECK(broken.pivots[0] == 0);
  }
}

TEST_CASE("own pivoting: a merit that is no merit counts as zero", "[lu][pivoting]") {
  const Index n = 12;
  const auto a = make_dense<double>(
      n, n, [](Index i, Index j) { return noise(i, j) + (i == j ? 8.0 : 0.0); });
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    INFO("grid " << shape.rows << "x" << shape.cols);
    for (const double answer : {0.0, -1.0, std::nan("")}) {
      INFO("merit " << answer);
      const Left got = factor(grid, a, 4, Nonsense{answer});
      if (!grid.active()) continue;
      bool in_place = true;
      for (Index k = 0; k < n; ++k)
        in_place = in_place && got.pivots[static_cast<std::size_t>(k)] == k;
      CHECK(in_place);
      CHECK(factor_ratio(a, got.lu, got.pivots) < 30);
    }
  }
}

TEST_CASE("pivoting policies: wrong ones are refused on every rank", "[lu][pivoting][error]") {
  const int ranks = world_size();
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{ranks, 1});
  const auto a = uniform(8);
  const bool odd = world_rank() == ranks - 1;
  const auto refused = [&](const auto& pivoting, const char* why) {
    return everywhere(error_of([&] { (void)factor(grid, a, 4, pivoting); }).find(why) !=
                      std::string::npos);
  };
  CHECK(refused(TournamentPivoting{.radix = 1}, "radix"));
  CHECK(refused(TournamentPivoting{.radix = -2}, "radix"));
  CHECK(refused(TournamentPivoting{.radix = odd ? 1 : 2}, "radix"));
  for (const double wrong : {0.0, -0.5, 1.5, std::nan("")}) {
    CHECK(refused(ThresholdPivoting{.threshold = wrong}, "threshold"));
    CHECK(refused(ThresholdPivoting{.threshold = odd ? wrong : 0.5}, "threshold"));
  }
  if (ranks == 1) return;
  CHECK(refused(TournamentPivoting{.radix = odd ? 2 : 3}, "different arguments"));
  CHECK(refused(ThresholdPivoting{.threshold = odd ? 0.5 : 0.25}, "different arguments"));
  CHECK(refused(PreferNear{.group = odd ? 2 : 3}, "different arguments"));
  // One rank with another policy.
  CHECK(everywhere(error_of([&] {
                     if (odd)
                       (void)factor(grid, a, 4, TournamentPivoting{});
                     else
                       (void)factor(grid, a, 4, PartialPivoting{});
                   }).find("different arguments") != std::string::npos));
  CHECK_NOTHROW((void)factor(grid, a, 4, TournamentPivoting{}));  // all are still in step
}
