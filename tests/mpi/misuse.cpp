// SPDX-License-Identifier: BSD-3-Clause
//
// Misuse throws plinth::Error on every rank of the grid, also where one rank alone is at fault,
// and nobody waits for ever (the watchdog of these tests would say so).
#include <limits>

#include "plinth/plinth.hpp"
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

using Matrix = HostMatrix<double, LayoutRight>;
constexpr MatrixLayoutOptions square{.mb = 4, .nb = 4};

/// A grid of all ranks.
ProcessGrid everybody(plinth::GridOptions options = {}) {
  return ProcessGrid(MPI_COMM_WORLD, RowMajorGrid{1, world_size()}, options);
}
ProcessGrid two_rows() {
  const int ranks = world_size();
  return ProcessGrid(MPI_COMM_WORLD,
                     RowMajorGrid{ranks % 2 == 0 ? 2 : 1, ranks % 2 == 0 ? ranks / 2 : ranks});
}
/// The last rank does wrong, the others do right.
bool guilty() { return world_rank() == world_size() - 1; }

/// f() must throw an Error with `text` in it on every rank.
template <class F>
void check_refused(const std::string& text, F&& f) {
  CHECK_THAT(error_of(f), contains(text));
}

double entry(Index i, Index j) { return noise(i, j, 61); }

Matrix filled(const ProcessGrid& grid, Index rows, Index cols,
              const MatrixLayoutOptions& options = square) {
  Matrix a(grid, rows, cols, options);
  plinth::generate(Host(), a, [](Index i, Index j) noexcept { return entry(i, j); });
  return a;
}

}  // namespace

TEST_CASE("misuse: grids", "[misuse][grid]") {
  const int ranks = world_size();
  check_refused("MPI_COMM_NULL", [] { ProcessGrid(MPI_COMM_NULL, RowMajorGrid{1, 1}); });
  check_refused("needs", [&] { ProcessGrid(MPI_COMM_WORLD, RowMajorGrid{2, ranks}); });
  check_refused("needs", [] { ProcessGrid(MPI_COMM_WORLD, RowMajorGrid{1 << 16, 1 << 16}); });
  check_refused("not a valid", [] { ProcessGrid(MPI_COMM_WORLD, RowMajorGrid{0, 1}); });
  check_refused("not a valid", [] { ProcessGrid(MPI_COMM_WORLD, RowMajorGrid{-1, -1}); });
  check_refused("not a valid", [] {
    ProcessGrid(MPI_COMM_WORLD, plinth::ColumnMajorGrid{1, 0});
  });
  check_refused("not a valid", [] {
    ProcessGrid(MPI_COMM_WORLD, plinth::NodeBlockedGrid{1, 1, 2, 1});
  });
  check_refused("max_message", [] { everybody({.max_message = 0}); });
  check_refused("max_message", [] { everybody({.max_message = (Index(1) << 30) + 1}); });
}

TEST_CASE("misuse: grids that one rank sees differently", "[misuse][grid]") {
  const int ranks = world_size();
  if (ranks == 1) return;
  check_refused("different arguments", [&] {
    ProcessGrid(MPI_COMM_WORLD, guilty() ? RowMajorGrid{1, ranks} : RowMajorGrid{ranks, 1});
  });
  check_refused("different arguments", [&] {
    ProcessGrid(MPI_COMM_WORLD, RowMajorGrid{guilty() ? 0 : 1, ranks});
  });
  check_refused("different arguments", [] { everybody({.max_message = guilty() ? 100 : 1000}); });
  if (ranks < 4) return;
  // The same shape, but other places.
  check_refused("different arguments", [&] {
    if (guilty())
      ProcessGrid(MPI_COMM_WORLD, plinth::ColumnMajorGrid{2, 2});
    else
      ProcessGrid(MPI_COMM_WORLD, RowMajorGrid{2, 2});
  });
}

TEST_CASE("misuse: matrices", "[misuse][matrix]") {
  const ProcessGrid grid = everybody();
  const int ranks = world_size();
  check_refused("-1", [&] { Matrix(grid, -1, 4, square); });
  check_refused("block size", [&] { Matrix(grid, 4, 4, {.mb = 0, .nb = 4}); });
  check_refused("block size", [&] { Matrix(grid, 4, 4, {.mb = 4, .nb = -4}); });
  check_refused("source process",
                [&] { Matrix(grid, 4, 4, {.mb = 4, .nb = 4, .source_row = 1}); });
  check_refused("source process",
                [&] { Matrix(grid, 4, 4, {.mb = 4, .nb = 4, .source_col = ranks}); });
  // One rank alone.
  if (ranks > 1)
    check_refused("different arguments", [&] { Matrix(grid, guilty() ? 5 : 4, 4, square); });
  check_refused("block size", [&] { Matrix(grid, 4, 4, {.mb = guilty() ? 0 : 4, .nb = 4}); });

  // Storage of the caller's: one rank's is no good.
  const Index n = 8 * ranks;
  std::vector<double> storage(static_cast<std::size_t>(n * n));
  check_refused("leading dimension 7 is less than 8", [&] {
    Matrix(grid, n, n, {.mb = 8, .nb = 8}, storage.data(), guilty() ? 7 : 8);
  });
  check_refused("leading dimension", [&] {
    HostMatrix<double, LayoutLeft>(grid, n, n, {.mb = 8, .nb = 8}, storage.data(),
                                   guilty() ? n - 1 : n);
  });
  check_refused("must be named", [&] { Matrix(grid, n, n, {}, storage.data(), n); });
  check_refused("null", [&] {
    Matrix(grid, n, n, {.mb = 8, .nb = 8}, guilty() ? nullptr : storage.data(), n);
  });
}

TEST_CASE("misuse: more than there is memory for", "[misuse][matrix]") {
  const ProcessGrid grid = everybody();
  // Sizes whose number of bytes does not fit 64 bits, or wraps to something small.
  for (const Index n : {Index(1) << 31, Index(1) << 34, Index(1) << 60}) {
    INFO("n " << n);
    CHECK(error_of([&] { Matrix(grid, n * world_size(), n * world_size(), {.mb = n, .nb = n}); },
                   plinth::ErrorKind::memory) != "(no error)");
  }
}

TEST_CASE("misuse: factorization", "[misuse][lu]") {
  const ProcessGrid grid = two_rows();
  const auto factor = [](Matrix a, plinth::lu::FactorOptions options = {}) {
    (void)plinth::lu_factor(Host(), std::move(a), plinth::PartialPivoting{}, options);
  };
  check_refused("not square", [&] { factor(filled(grid, 8, 9)); });
  check_refused("blocks are not square", [&] { factor(filled(grid, 8, 8, {.mb = 4, .nb = 2})); });
  check_refused("look-ahead", [&] { factor(filled(grid, 8, 8), {.lookahead = -1}); });
  check_refused("ndiv", [&] { factor(filled(grid, 8, 8), {.panel = {.ndiv = 1}}); });
  check_refused("nbmin", [&] { factor(filled(grid, 8, 8), {.panel = {.nbmin = 0}}); });
  check_refused("with L", [&] { factor(filled(grid, 8, 8), {.keep_l = plinth::lu::KeepL::no}); });

  // One rank alone: it takes another matrix, or other options.
  if (world_size() == 1) return;
  check_refused("", [&] {
    auto right = filled(grid, 8, 8), wrong = filled(grid, 8, 9);
    factor(std::move(guilty() ? wrong : right));
  });
  check_refused("", [&] {
    auto right = filled(grid, 8, 8), wrong = filled(grid, 8, 8, {.mb = 4, .nb = 2});
    factor(std::move(guilty() ? wrong : right));
  });
  check_refused("different arguments", [&] {
    auto right = filled(grid, 8, 8), wrong = filled(grid, 12, 12);
    factor(std::move(guilty() ? wrong : right));
  });
  check_refused("look-ahead",
                [&] { factor(filled(grid, 8, 8), {.lookahead = guilty() ? -1 : 1}); });
  check_refused("different arguments",
                [&] { factor(filled(grid, 8, 8), {.lookahead = guilty() ? 2 : 1}); });
  check_refused("different arguments", [&] {
    factor(filled(grid, 8, 8), {.broadcast = guilty() ? plinth::comm::BroadcastAlgorithm::ring1
                                                      : plinth::comm::BroadcastAlgorithm::ring2});
  });
}

TEST_CASE("misuse: solving with factors", "[misuse][lu][solve]") {
  const ProcessGrid grid = two_rows(), other_grid = two_rows();
  const auto factors = plinth::lu_factor(Host(), filled(grid, 8, 8));
  auto good = filled(grid, 8, 2), long_one = filled(grid, 9, 2),
       other_blocks = filled(grid, 8, 2, {.mb = 3, .nb = 4}),
       elsewhere = filled(other_grid, 8, 2);
  const auto solve = [&](Matrix& b, plinth::Op op = plinth::Op::none, Index at_once = 128) {
    plinth::lu_solve(Host(), factors, b, op, at_once);
  };
  check_refused("9 rows", [&] { solve(long_one); });
  check_refused("not dealt like", [&] { solve(other_blocks); });
  check_refused("another grid", [&] { solve(elsewhere); });
  check_refused("at least one", [&] { solve(good, plinth::Op::none, 0); });
  if (grid.shape().rows == 2) {
    auto from_row_1 = filled(grid, 8, 2, {.mb = 4, .nb = 4, .source_row = 1});
    check_refused("not dealt like", [&] { solve(from_row_1); });
  }
  if (world_size() > 1) {
    check_refused("9 rows", [&] { solve(guilty() ? long_one : good); });
    check_refused("not dealt like", [&] { solve(guilty() ? other_blocks : good); });
    check_refused("another grid", [&] { solve(guilty() ? elsewhere : good); });
    check_refused("at least one", [&] { solve(good, plinth::Op::none, guilty() ? 0 : 4); });
    check_refused("different arguments",
                  [&] { solve(good, guilty() ? plinth::Op::transpose : plinth::Op::none); });
  }
  CHECK_NOTHROW(solve(good));  // all ranks are still in step
}

TEST_CASE("misuse: solve, residual and back substitution", "[misuse][solve]") {
  const ProcessGrid grid = two_rows(), other_grid = two_rows();
  const auto a = filled(grid, 8, 8), wide = filled(grid, 8, 10),
             odd = filled(grid, 8, 8, {.mb = 4, .nb = 2});
  const auto b = filled(grid, 8, 2), long_b = filled(grid, 9, 2);
  auto x = filled(grid, 8, 2), narrow = filled(grid, 8, 1), elsewhere = filled(other_grid, 8, 2);
  const auto solve = [](const Matrix& m, const Matrix& rhs, Matrix& out) {
    (void)plinth::solve(Host(), m, rhs, out);
  };
  const plinth::lu::FactorOptions without_l{.keep_l = plinth::lu::KeepL::no};
  check_refused("needs L", [&] { (void)plinth::solve(Host(), a, b, x, without_l); });
  check_refused("needs L",
                [&] { (void)plinth::solve<plinth::DoubleSingle>(Host(), a, b, x, without_l); });
  check_refused("different grids", [&] { solve(a, b, elsewhere); });
  check_refused("not distributed alike", [&] { solve(a, b, narrow); });
  check_refused("not distributed alike", [&] { solve(a, long_b, x); });
  check_refused("not square", [&] { solve(wide, b, x); });

  const auto residual = [](const Matrix& m, const Matrix& v, const Matrix& rhs, Matrix& out,
                           Index at_once = 128) {
    plinth::residual(Host(), m, v, rhs, out, at_once);
  };
  check_refused("square", [&] { residual(wide, b, b, x); });
  check_refused("square", [&] { residual(odd, b, b, x); });
  check_refused("different grids", [&] { residual(a, b, b, elsewhere); });
  check_refused("dealt alike", [&] { residual(a, b, b, narrow); });
  check_refused("at least one", [&] { residual(a, b, b, x, 0); });

  const auto back = [](const Matrix& m, Matrix& out) {
    plinth::lu::back_substitute(Host(), m, out);
  };
  const auto tall = filled(grid, 9, 8);
  check_refused("no right-hand side", [&] { back(tall, x); });
  check_refused("not square", [&] { back(odd, x); });
  check_refused("another grid", [&] { back(wide, elsewhere); });
  check_refused("shape", [&] { back(wide, narrow); });

  if (world_size() > 1) {
    check_refused("not distributed alike", [&] { solve(a, b, guilty() ? narrow : x); });
    check_refused("different grids", [&] { solve(a, b, guilty() ? elsewhere : x); });
    check_refused("", [&] { solve(guilty() ? wide : a, b, x); });
    check_refused("square", [&] { residual(guilty() ? wide : a, b, b, x); });
    check_refused("dealt alike", [&] { residual(a, b, b, guilty() ? narrow : x); });
    check_refused("different arguments", [&] { residual(a, b, b, x, guilty() ? 1 : 2); });
    check_refused("shape", [&] { back(wide, guilty() ? narrow : x); });
  }
  (void)plinth::solve(Host(), a, b, x);  // all ranks are still in step
  CHECK(solve_ratio(make_dense<double>(8, 8, entry),
                    grid.active() ? gather(x) : make_dense<double>(8, 2, entry),
                    make_dense<double>(8, 2, entry), plinth::Op::none) < 30);
}

TEST_CASE("misuse: HPL's residual", "[misuse][hpl]") {
  const ProcessGrid grid = two_rows();
  const auto system = filled(grid, 8, 9);
  const auto x = filled(grid, 8, 1), wide = filled(grid, 8, 2);
  const auto judge = [&](Index n, const Matrix& v, const Matrix& s) {
    (void)plinth::hpl_residual(Host(), plinth::HplMatrix{{.n = n, .seed = 1}}, s.distribution(),
                               v);
  };
  check_refused("n x (n + 1)", [&] { judge(7, x, system); });
  check_refused("n x 1", [&] { judge(8, wide, system); });
  check_refused("n x (n + 1)", [&] { judge(8, x, x); });
  if (world_size() > 1) check_refused("n x 1", [&] { judge(8, guilty() ? wide : x, system); });
}
