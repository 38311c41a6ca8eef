// SPDX-License-Identifier: BSD-3-Clause
//
// Vectors that live with the diagonal blocks: to there and back, spread and summed; reductions.
#include <limits>

#include "plinth/comm/agree.hpp"
#include "plinth/comm/allreduce.hpp"
#include "plinth/comm/reduce.hpp"
#include "plinth/lu/pivot_exchange.hpp"
#include "plinth/matrix/diagonal_blocks.hpp"
#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::DiagonalBlocks;
using plinth::ProcessGrid;
using plinth::Range;
using plinth::RowMajorGrid;

namespace {

/// A number that says where it is.
double place(Index i, Index j) { return static_cast<double>(1 + i + 1000 * j); }

struct Row {
  Index n, nb, cols;
  int source_row, source_col;  // from the far end of the grid, if 1
};
constexpr Row rows[] = {
    {0, 3, 2, 0, 0},   // no blocks
    {2, 3, 1, 0, 0},   // one short block
    {12, 3, 4, 0, 0},  // full blocks
    {29, 3, 5, 0, 0},  // ragged
    {29, 1, 2, 1, 0},  // a block each, from another process row on
    {31, 4, 3, 1, 1},  // from other rows and columns on
};

}  // namespace

TEMPLATE_TEST_CASE("diagonal blocks: columns come in, and go out unchanged", "[vectors]",
                   LayoutRight, LayoutLeft) {
  const Host exec;
  on_every_active_grid([&](const ProcessGrid& grid) {
    const auto shape = grid.shape();
    for (const auto& row : rows) {
      INFO("n " << row.n << ", nb " << row.nb << ", " << row.cols << " columns");
      const int p0 = row.source_row * (shape.rows - 1), q0 = row.source_col * (shape.cols - 1);
      const plinth::Distribution matrix{plinth::BlockCyclic(row.n, row.nb, shape.rows, p0),
                                        plinth::BlockCyclic(row.n, row.nb, shape.cols, q0)};
      DiagonalBlocks<double, Host, TestType> blocks(exec, grid, matrix, row.cols);
      CHECK(blocks.order() == row.n);
      for (const Index block_cols : {1, 2, 100}) {
        const auto whole = make_dense<double>(row.n, row.cols, place);
        const plinth::MatrixLayoutOptions layout{
            .mb = row.nb, .nb = block_cols, .source_row = p0, .source_col = shape.cols - 1};
        const auto b = distribute<TestType>(grid, whole, layout);
        auto out = distribute<TestType>(grid, Dense<double>(row.n, row.cols), layout);
        // All columns, and some in the middle.
        for (const Range which :
             {Range{0, row.cols}, Range{row.cols / 3, row.cols - row.cols / 3}}) {
          blocks.import_columns(b.local(), b.distribution().cols, which);
          CHECK(blocks.cols() == which.size());
          bool right = true;
          blocks.for_each_own([&](Index k) {
            for (Index i = 0; i < blocks.range(k).size(); ++i)
              for (Index j = 0; j < which.size(); ++j)
                right =
                    right && blocks[k](i, j) == place(blocks.range(k).begin + i, which.begin + j);
          });
          CHECK(right);
          plinth::kernel::fill(exec, out.local(), -1.0);
          blocks.export_columns(out.local(), out.distribution().cols, which);
          const auto back = gather(out);
          for (Index i = 0; i < row.n; ++i)
            for (Index j = 0; j < row.cols; ++j)
              right =
                  right && back(i, j) == (j >= which.begin && j < which.end ? place(i, j) : -1.0);
          CHECK(right);
        }
      }
    }
  });
}

TEMPLATE_TEST_CASE("diagonal blocks: spread along columns, summed along rows", "[vectors]",
                   LayoutRight, LayoutLeft) {
  const Host exec;
  on_every_active_grid([&](const ProcessGrid& grid) {
    const auto shape = grid.shape();
    const auto at = grid.coord();
    for (const auto& row : rows) {
      INFO("n " << row.n << ", nb " << row.nb << ", " << row.cols << " columns");
      const plinth::Distribution matrix{
          plinth::BlockCyclic(row.n, row.nb, shape.rows, row.source_row * (shape.rows - 1)),
          plinth::BlockCyclic(row.n, row.nb, shape.cols, row.source_col * (shape.cols - 1))};
      const plinth::Extents mine = matrix.local_extents(at);
      DiagonalBlocks<double, Host, TestType> blocks(exec, grid, matrix, row.cols);
      blocks.set_cols(row.cols);
      blocks.for_each_own([&](Index k) {
        for (Index i = 0; i < blocks.range(k).size(); ++i)
          for (Index j = 0; j < row.cols; ++j)
            blocks[k](i, j) = place(blocks.range(k).begin + i, j);
      });
      std::vector<double> storage(
          static_cast<std::size_t>(std::max(mine.rows, mine.cols) * row.cols));
      const auto view = [&](Index lines) {
        return plinth::kernel::wrap<TestType, Kokkos::HostSpace>(
            storage.data(), lines, row.cols,
            std::max<Index>(1, plinth::kernel::is_row_major<TestType> ? row.cols : lines));
      };
      blocks.spread_to_columns(view(mine.cols));
      bool right = true;
      for (Index l = 0; l < mine.cols; ++l)
        for (Index j = 0; j < row.cols; ++j)
          right = right && view(mine.cols)(l, j) == place(matrix.cols.global(l, at.col), j);
      CHECK(right);

      // Process column q contributes (q + 1) times the place.
      for (Index l = 0; l < mine.rows; ++l)
        for (Index j = 0; j < row.cols; ++j)
          view(mine.rows)(l, j) = (at.col + 1) * place(matrix.rows.global(l, at.row), j);
      blocks.fill(-1);
      blocks.sum_from_rows(view(mine.rows));
      const double times = shape.cols * (shape.cols + 1) / 2.0;
      blocks.for_each_own([&](Index k) {
        for (Index i = 0; i < blocks.range(k).size(); ++i)
          for (Index j = 0; j < row.cols; ++j)
            right = right && blocks[k](i, j) == times * place(blocks.range(k).begin + i, j);
      });
      CHECK(right);
    }
  });
}

TEMPLATE_TEST_CASE("reductions keep a NaN, whoever has it", "[comm]", float, double) {
  using T = TestType;
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{1, world_size()});
  const int rank = world_rank(), last = world_size() - 1;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  constexpr T infinity = std::numeric_limits<T>::infinity();
  constexpr T tiny = std::numeric_limits<T>::denorm_min();
  std::vector<T> values{T(1 + rank), rank == last ? -nan : infinity, rank == 0 ? nan : T(5),
                        T(0),        rank == last ? infinity : T(7), rank == last ? tiny : T(0)};
  plinth::comm::max_of_all(grid.all(), values);
  CHECK(values[0] == T(1 + last));
  CHECK(plinth::is_nan(values[1]));
  CHECK(plinth::is_nan(values[2]));
  CHECK(values[3] == 0);
  CHECK(values[4] == infinity);
  CHECK(values[5] == tiny);
  std::vector<T> none;
  plinth::comm::max_of_all(grid.all(), none);
  std::vector<T> sums{T(1), T(rank)};
  plinth::comm::sum_of_all(grid.all(), sums);
  CHECK(sums[0] == T(world_size()));
  CHECK(sums[1] == T(world_size()) * T(last) / 2);
}

TEST_CASE("what narrowing lost is summed over the processes", "[comm]") {
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{1, world_size()});
  const Index ranks = world_size(), pairs = ranks * (ranks - 1) / 2;
  plinth::kernel::NarrowingCounts lost{world_rank(), 3, Index(1) << 40};
  plinth::comm::sum_of_all(grid.all(), lost);
  CHECK(lost == plinth::kernel::NarrowingCounts{pairs, 3 * ranks, ranks << 40});
}

TEST_CASE("a pivot message finds the winner, its row and the current row", "[comm][pivots]") {
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{world_size(), 1});
  const int me = world_rank(), ranks = world_size();
  constexpr Index width = 3;
  plinth::lu::PivotMessage<double> message(width);
  plinth::comm::SmallAllreduce allreduce(static_cast<Index>(message.bytes()));
  const auto run = [&](plinth::kernel::PivotCandidate<double> candidate, int owner) {
    for (Index j = 0; j < width; ++j) {
      message.winner_row()[j] = 100 * me + static_cast<double>(j);
      message.current_row()[j] = me == owner ? 7000 + static_cast<double>(j) : -1;
    }
    message.set(candidate, me == owner);
    message.reduce(grid.column_pivots(), allreduce);
    CHECK(message.current_row()[2] == 7002);
    return message.candidate().row;
  };
  for (int owner = 0; owner < ranks; ++owner)
    for (int winner = 0; winner < ranks; ++winner) {
      INFO("owner " << owner << ", winner " << winner);
      CHECK(run({me == winner ? 9.0 : 1.0, 10 + me, false}, owner) == 10 + winner);
      CHECK(message.winner_row()[1] == 100 * winner + 1);
      CHECK(run({9.0 - me, 10 + me, me == winner}, owner) == 10 + winner);  // a NaN wins
      CHECK(message.winner_row()[0] == 100 * winner);
      CHECK(run({2.0, 10 + (me + winner) % ranks, false}, owner) == 10);  // ties: smallest row
      // Only one has rows left.
      CHECK(run(me == winner ? plinth::kernel::PivotCandidate<double>{0.0, 5, false}
                             : plinth::kernel::PivotCandidate<double>{},
                owner) == 5);
    }
}

TEST_CASE("agreement: the lowest rank that complains speaks, on all", "[comm][error]") {
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{1, world_size()});
  using plinth::ErrorKind;
  using plinth::comm::agree_on;
  const int last = world_size() - 1;
  CHECK_NOTHROW(agree_on(grid.all(), "call", 7, [] {}));
  CHECK(error_of(
            [&] {
              agree_on(grid.all(), "call", 0, [&] {
                if (world_rank() == last) throw plinth::Error("mine alone", ErrorKind::memory);
              });
            },
            ErrorKind::memory) == "call: mine alone");
  CHECK(error_of([&] {
          agree_on(grid.all(), "call", 0,
                   [&] { throw plinth::Error("rank " + std::to_string(world_rank())); });
        }) == "call: rank 0");
  CHECK(error_of(
            [&] {
              agree_on(grid.all(), "call", 0, [&] {
                if (world_rank() == last) throw std::bad_alloc();
              });
            },
            ErrorKind::memory) == "call: out of memory");
  if (last > 0)
    CHECK_THAT(error_of([&] { agree_on(grid.all(), "call", world_rank(), [] {}); }),
               contains("different arguments"));
}
