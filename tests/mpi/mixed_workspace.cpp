// SPDX-License-Identifier: BSD-3-Clause
//
// The reusable factorization in mixed precision: matrices wider than high, block rows of several
// pieces, its memory, its phases, and the messages that it sends.
#include <algorithm>
#include <cmath>

#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/message_counter.hpp"
#include "support/mixed_instances.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using plinth::half;
using plinth::ProcessGrid;
using plinth::lu::MixedOptions;
using plinth::trace::Phase;
using plinth::trace::PhaseClock;

namespace {

using Matrix = HostMatrix<half, Kokkos::LayoutRight>;
using Factorization = plinth::lu::MixedFactorization<Matrix, Host, plinth::DoubleHalf,
                                                     plinth::NoPivoting, PhaseClock>;

/// Entries of L (below the diagonal) and U that make no rounding error.
double entry(Index i, Index j) {
  const int choice = static_cast<int>((noise(i, j, 33) + 0.5) * 8);
  const double sign = choice % 2 == 0 ? 1 : -1;
  if (i > j) return choice < 5 ? 0 : sign * 0.5;
  return i == j ? sign * 2 : choice < 4 ? 0 : sign;
}
double product(Index i, Index j) {
  double sum = i <= j ? entry(i, j) : 0;
  for (Index k = 0; k < std::min(i, j + 1); ++k) sum += entry(i, k) * entry(k, j);
  return sum;
}

}  // namespace

TEST_CASE("Mixed LU of a wide matrix, whose block rows are cut in pieces", "[mixed]") {
  const Index m = 30, n = 3100, nb = 7;
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{shape.rows, shape.cols});
    Matrix a(grid, m, n, {.mb = nb, .nb = nb});
    if (!grid.active()) continue;
    INFO("grid " << shape.rows << "x" << shape.cols);
    PhaseClock clock;
    clock.reset(5);
    Factorization factorization(Host(), grid, a.distribution(), {.lookahead = 2}, clock);
    plinth::lu::Pivots pivots(a.distribution().rows, grid.coord().row);
    plinth::lu::BlockExponents exponents;
    for (int use = 0; use < 2; ++use) {
      plinth::generate(Host(), a, [](Index i, Index j) noexcept { return product(i, j); });
      const auto report = factorization(a, pivots, exponents);
      CHECK(report.lost == plinth::kernel::NarrowingCounts{});
      CHECK(report.largest_u == 2);
      Index wrong = 0;
      const auto mine = a.local_extents();
      for (Index i = 0; i < mine.rows; ++i)
        for (Index j = 0; j < mine.cols; ++j) {
          const Index row = a.global_row(i), col = a.global_col(j);
          const int e = row > col ? exponents.of_l(col / nb) : exponents.of_u(row / nb);
          wrong += std::ldexp(static_cast<double>(a.local()(i, j)), -e) != entry(row, col);
        }
      CHECK(wrong == 0);
    }
    for (const Phase phase : {Phase::panel, Phase::update}) CHECK(clock.seconds(phase) > 0);
    CHECK(clock.seconds(Phase::interchange) == 0);
    CHECK(clock.steps()[0][static_cast<std::size_t>(Phase::update)] > 0);
  }
}

TEST_CASE("Mixed LU: panels under way are 16 bits wide, and memory is bounded", "[mixed]") {
  const Index n = 1600, nb = 32;
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{shape.rows, shape.cols});
    if (!grid.active()) continue;
    INFO("grid " << shape.rows << "x" << shape.cols);
    const plinth::Distribution d{plinth::BlockCyclic(n, nb, shape.rows, 0),
                                 plinth::BlockCyclic(n, nb, shape.cols, 0)};
    PhaseClock clock;
    clock.reset();
    for (const Index depth : {0, 1, 3}) {
      const Factorization factorization(Host(), grid, d, {.lookahead = depth}, clock);
      const double rows = static_cast<double>(ceil(double(n) / nb / shape.rows) * nb);
      const double cols = static_cast<double>(ceil(double(n) / nb / shape.cols) * nb);
      const double threads = std::max(1, Host().space().concurrency());
      // What grows with N, and little besides: slivers for each thread's micro-kernel.
      const double bound =
          4 * nb * (rows + cols) + 2 * static_cast<double>(depth + 2) * nb * (rows + cols);
      CHECK(static_cast<double>(factorization.workspace_bytes()) <
            bound + 4.0 * nb * 2048 + threads * (1 << 20));
      // An inverse, and rows on their way to be multiplied by it.
      const Factorization inverting(Host(), grid, d,
                                    {.lookahead = depth, .invert_diagonal = true}, clock);
      CHECK(inverting.workspace_bytes() - factorization.workspace_bytes() == 4 * nb * (nb + 256));
    }
  }
  if (world_size() < 2) return;
  // Along a process row one message per panel, with L21 in 16 bits.
  const ProcessGrid row(MPI_COMM_WORLD, plinth::RowMajorGrid{1, world_size()});
  Matrix a(row, 256, 256, {.mb = 16, .nb = 16});
  plinth::generate(Host(), a, [](Index i, Index j) noexcept { return i == j ? 1.0 : 0.0; });
  PhaseClock clock;
  clock.reset();
  Factorization factorization(Host(), row, a.distribution(), {}, clock);
  plinth::lu::Pivots pivots(a.distribution().rows, 0);
  plinth::lu::BlockExponents exponents;
  const auto count = count_messages([&] { factorization(a, pivots, exponents); });
  Index sends = count.sends;
  MPI_Allreduce(MPI_IN_PLACE, &sends, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sends == 16 * (world_size() - 1));
  CHECK(count.allreduces == 2);  // the report's
  CHECK(count.longest <= 64 + 16 * 8 + 16 * 16 * 4 + 16 * 2 * (240 + 64));
  CHECK(count.broadcasts == 0);
}

TEST_CASE("Mixed LU: U12 travels packed down the process column", "[mixed][comm]") {
  const int ranks = world_size();
  if (ranks < 2) return;
  const ProcessGrid column(MPI_COMM_WORLD, plinth::RowMajorGrid{ranks, 1});
  const Index n = 256, nb = 16, steps = n / nb;
  Matrix a(column, n, n, {.mb = nb, .nb = nb});
  plinth::generate(Host(), a, [](Index i, Index j) noexcept { return i == j ? 1.0 : 0.0; });
  PhaseClock clock;
  clock.reset();
  Factorization factorization(Host(), column, a.distribution(), {.lookahead = 0}, clock);
  plinth::lu::Pivots pivots(a.distribution().rows, column.coord().row);
  plinth::lu::BlockExponents exponents;
  const auto count = count_messages([&] { factorization(a, pivots, exponents); });
  Index sends = count.sends;
  MPI_Allreduce(MPI_IN_PLACE, &sends, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sends == (steps - 1) * (ranks - 1));  // the last step has no U12
  CHECK(count.longest <= 64 + nb * 2 * (n + 64));
  CHECK(count.broadcasts == steps);      // the diagonal block
  CHECK(count.allreduces == steps + 2);  // the largest of L, the report
}
