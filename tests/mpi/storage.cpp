// SPDX-License-Identifier: BSD-3-Clause
//
// Storage of the caller's, parts of communicators, several grids, ranks without work, lifetimes.
#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::MatrixLayoutOptions;
using plinth::ProcessGrid;
using plinth::RowMajorGrid;

namespace {

constexpr double canary = -12345.75;

double entry(Index i, Index j) { return noise(i, j, 71); }
double rhs_entry(Index i, Index j) { return noise(i, j, 72); }

/// A process's part of a matrix inside an array that is larger all around.
template <class Layout>
struct Padded {
  Index lines, length, lead;
  std::vector<double> storage;

  Padded(const plinth::Distribution& d, const ProcessGrid& grid, Index padding)
      : lines(lines_of(d, grid)),
        length(length_of(d, grid)),
        lead(std::max<Index>(1, length + padding)),
        storage(static_cast<std::size_t>((lines + 2) * lead + 16), canary) {}
  double* first() { return storage.data() + lead + 3; }
  bool padding_untouched() {
    double* const begin = first();
    for (std::size_t s = 0; s < storage.size(); ++s) {
      const auto offset = static_cast<Index>(storage.data() + s - begin);
      const bool inside = offset >= 0 && offset / lead < lines && offset % lead < length;
      if (!inside && storage[s] != canary) return false;
    }
    return true;
  }

 private:
  static constexpr bool row_major = plinth::kernel::is_row_major<Layout>;
  static Index lines_of(const plinth::Distribution& d, const ProcessGrid& grid) {
    const auto mine = d.local_extents(grid.coord());
    return row_major ? mine.rows : mine.cols;
  }
  static Index length_of(const plinth::Distribution& d, const ProcessGrid& grid) {
    const auto mine = d.local_extents(grid.coord());
    return row_major ? mine.cols : mine.rows;
  }
};

plinth::Distribution dealt(const ProcessGrid& grid, Index m, Index n,
                           const MatrixLayoutOptions& o) {
  return {plinth::BlockCyclic(m, *o.mb, grid.shape().rows, o.source_row),
          plinth::BlockCyclic(n, *o.nb, grid.shape().cols, o.source_col)};
}

/// Solves a random system on a grid and checks the answer.
void solve_something(const ProcessGrid& grid, Index n) {
  const auto a = make_dense<double>(n, n, entry);
  const auto b = make_dense<double>(n, 1, rhs_entry);
  const auto da = distribute(grid, a, {.mb = 3, .nb = 3});
  const auto db = distribute(grid, b, {.mb = 3, .nb = 3});
  HostMatrix<double, LayoutRight> dx(grid, n, 1, {.mb = 3, .nb = 3});
  const auto report = plinth::solve(Host(), da, db, dx);
  CHECK(report.outcome == plinth::Outcome::solved);
  if (grid.active()) CHECK(solve_ratio(a, gather(dx), b, plinth::Op::none) < 30);
}

}  // namespace

TEMPLATE_TEST_CASE("the caller's storage is used in place, its padding never", "[matrix][wrap]",
                   LayoutRight, LayoutLeft) {
  using Matrix = HostMatrix<double, TestType>;
  const Index n = 31, nrhs = 3;
  const auto whole = make_dense<double>(n, n, entry);
  const auto rhs = make_dense<double>(n, nrhs, rhs_entry);
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    if (!grid.active()) continue;
    for (const Index padding : {0, 5}) {
      const MatrixLayoutOptions square{
          .mb = 4, .nb = 4, .source_row = shape.rows - 1, .source_col = shape.cols / 2};
      const MatrixLayoutOptions tall{
          .mb = 4, .nb = 2, .source_row = shape.rows - 1, .source_col = 0};
      INFO("grid " << shape.rows << "x" << shape.cols << ", padding " << padding);
      Padded<TestType> a_storage(dealt(grid, n, n, square), grid, padding);
      Padded<TestType> b_storage(dealt(grid, n, nrhs, tall), grid, padding);
      Matrix a(grid, n, n, square, a_storage.first(), a_storage.lead);
      Matrix b(grid, n, nrhs, tall, b_storage.first(), b_storage.lead);
      CHECK(a.local().data() == a_storage.first());
      plinth::generate(Host(), a, [](Index i, Index j) noexcept { return entry(i, j); });
      plinth::generate(Host(), b, [](Index i, Index j) noexcept { return rhs_entry(i, j); });
      const auto factors = plinth::lu_factor(Host(), std::move(a));
      CHECK(factor_ratio(whole, gather(factors.matrix()), gather_pivots(factors)) < 30);
      for (const auto op : {plinth::Op::none, plinth::Op::transpose}) {
        plinth::generate(Host(), b, [](Index i, Index j) noexcept { return rhs_entry(i, j); });
        plinth::lu_solve(Host(), factors, b, op);
        CHECK(solve_ratio(whole, gather(b), rhs, op) < 30);
      }
      CHECK(a_storage.padding_untouched());
      CHECK(b_storage.padding_untouched());
    }
  }
}

TEST_CASE("blocks that nobody names suit the size, and vectors their matrix", "[matrix]") {
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{1, world_size()});
  for (const Index n : {Index(0), Index(1), Index(384), Index(385), Index(6000), Index(6001)}) {
    INFO("n " << n);
    const plinth::DistributedMatrix<float> x(grid, n, 1);
    CHECK(x.distribution().rows.block() == (n <= 384 ? 32 : n <= 6000 ? 64 : 128));
    CHECK(x.distribution().cols.block() == x.distribution().rows.block());
  }
  const plinth::DistributedMatrix<float> a(grid, 500, 500), b(grid, 500, 3);
  CHECK(a.distribution().rows.block() == a.distribution().cols.block());
  CHECK(b.distribution().rows == a.distribution().rows);
  // [A | b] has square blocks, too.
  const plinth::DistributedMatrix<float> ab(grid, 384, 385);
  CHECK(ab.distribution().cols.block() == 32);
  // One that is named serves for both.
  const plinth::DistributedMatrix<float> c(grid, 500, 500, {.mb = 7});
  CHECK(c.distribution().rows.block() == 7);
  CHECK(c.distribution().cols.block() == 7);
}

TEST_CASE("grids on a part of the communicator", "[grid]") {
  // Odd ranks among themselves, in the opposite order.
  const int color = world_rank() % 2 == 1 ? 1 : MPI_UNDEFINED;
  MPI_Comm odd = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, color, -world_rank(), &odd);
  if (odd != MPI_COMM_NULL) {
    int size = 0;
    MPI_Comm_size(odd, &size);
    const ProcessGrid grid(odd, RowMajorGrid{size, 1});
    MPI_Comm_free(&odd);  // the grid has its own
    CHECK(grid.coord().row ==
          (world_size() % 2 == 1 ? world_size() - 2 : world_size() - 1) / 2 - world_rank() / 2);
    solve_something(grid, 25);
  }
}

TEST_CASE("two grids at once", "[grid]") {
  const int ranks = world_size();
  const ProcessGrid row(MPI_COMM_WORLD, RowMajorGrid{1, ranks});
  const ProcessGrid column(MPI_COMM_WORLD, plinth::ColumnMajorGrid{ranks, 1});
  CHECK_FALSE(row == column);
  const ProcessGrid copy = row;
  CHECK(copy == row);
  solve_something(row, 20);
  solve_something(column, 21);
  solve_something(copy, 22);
  {
    const auto a = distribute(row, make_dense<double>(9, 9, entry), {.mb = 2, .nb = 2});
    const auto b = distribute(column, make_dense<double>(9, 9, entry), {.mb = 2, .nb = 2});
    CHECK(same_bits(gather(a), gather(b)));
  }
}

TEST_CASE("ranks beyond P x Q own nothing and are not waited for", "[grid]") {
  const int ranks = world_size();
  if (ranks == 1) return;
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{1, ranks - 1});
  CHECK(grid.active() == (world_rank() < ranks - 1));
  HostMatrix<double, LayoutRight> a(grid, 10, 10, {.mb = 2, .nb = 2});
  if (!grid.active()) CHECK(a.local_extents() == plinth::Extents{0, 0});
  CHECK(a.rows() == 10);
  solve_something(grid, 23);
  if (!grid.active()) {
    plinth::generate(Host(), a, [](Index, Index) -> double { throw 1; });
    CHECK(plinth::norm(Host(), a, plinth::Norm::one) == 0);
    const auto factors = plinth::lu_factor(Host(), std::move(a));  // alone, nobody else calls
    CHECK_FALSE(factors.first_zero_pivot());
  }
}

TEST_CASE("grids and matrices outlive each other", "[grid]") {
  auto grid = std::make_unique<ProcessGrid>(MPI_COMM_WORLD, RowMajorGrid{1, world_size()});
  HostMatrix<double, LayoutRight> a(*grid, 6, 6, {.mb = 2, .nb = 2});
  grid.reset();
  plinth::generate(Host(), a, [](Index i, Index j) noexcept { return i == j ? 2.0 : 0.0; });
  CHECK(plinth::norm(Host(), a, plinth::Norm::inf) == 2);
  const auto factors = plinth::lu_factor(Host(), std::move(a));
  const auto moved = factors.matrix().grid();
  CHECK(moved.active());
}

TEST_CASE("messages in pieces of any length give the same bits", "[comm]") {
  const int ranks = world_size();
  const Index n = 26;
  const auto a = make_dense<double>(n, n, entry);
  const auto b = make_dense<double>(n, 2, rhs_entry);
  const auto run = [&](Index max_message) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{ranks, 1}, {.max_message = max_message});
    const auto da = distribute(grid, a, {.mb = 4, .nb = 4});
    const auto db = distribute(grid, b, {.mb = 4, .nb = 4});
    HostMatrix<double, LayoutRight> dx(grid, n, 2, {.mb = 4, .nb = 4});
    (void)plinth::solve(Host(), da, db, dx);
    return gather(dx);
  };
  const auto expected = run(Index(1) << 30);
  for (const Index max_message : {1, 8, 100, 4096}) {
    INFO("at most " << max_message << " bytes");
    CHECK(same_bits(run(max_message), expected));
  }
}

TEST_CASE("a run repeated gives the same bits", "[reproducible]") {
  const int ranks = world_size();
  const ProcessGrid grid(
      MPI_COMM_WORLD, RowMajorGrid{ranks % 2 == 0 ? 2 : 1, ranks % 2 == 0 ? ranks / 2 : ranks});
  const Index n = 75;
  const auto a = make_dense<double>(n, n, entry);
  const auto b = make_dense<double>(n, 3, rhs_entry);
  const auto run = [&] {
    const auto da = distribute(grid, a, {.mb = 8, .nb = 8});
    const auto db = distribute(grid, b, {.mb = 8, .nb = 8});
    HostMatrix<double, LayoutRight> dx(grid, n, 3, {.mb = 8, .nb = 8});
    const auto report = plinth::solve(Host(), da, db, dx);
    return std::pair(gather(dx), report.backward_error);
  };
  const auto first = run();
  const auto second = run();
  CHECK(same_bits(first.first, second.first));
  CHECK(first.second == second.second);
}
