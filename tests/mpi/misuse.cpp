// SPDX-License-Identifier: BSD-3-Clause
//
// Misuse throws plinth::Error on every rank of the grid, where all ranks are at fault and where
// one alone is, and nobody waits for ever (the watchdog of these tests would say so).
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

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
/// Whether this rank does wrong, in turn: all ranks do, the last one alone does.
std::vector<bool> turns() {
  if (world_size() == 1) return {true};
  return {true, guilty()};
}

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
  check_refused("different arguments", [&] {
    ProcessGrid(MPI_COMM_WORLD, RowMajorGrid{guilty() ? 2 : 1, ranks});
  });
  check_refused("different arguments", [] { everybody({.max_message = guilty() ? 100 : 1000}); });
  check_refused("different arguments", [] { everybody({.max_message = guilty() ? 0 : 1000}); });
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
  const auto make = [&](Index rows, Index cols, const MatrixLayoutOptions& options) {
    Matrix(grid, rows, cols, options);
  };
  if (ranks > 1) check_refused("different arguments", [&] { make(guilty() ? 5 : 4, 4, square); });
  const Index n = 8 * ranks;
  std::vector<double> storage(static_cast<std::size_t>(n * n));
  const MatrixLayoutOptions eight{.mb = 8, .nb = 8};
  for (const bool wrong : turns()) {
    check_refused("-1", [&] { make(wrong ? -1 : 4, 4, square); });
    check_refused("-1", [&] { make(4, wrong ? -1 : 4, square); });
    check_refused("block size", [&] { make(4, 4, {.mb = wrong ? 0 : 4, .nb = 4}); });
    check_refused("block size", [&] { make(4, 4, {.mb = 4, .nb = wrong ? -4 : 4}); });
    check_refused("source process",
                  [&] { make(4, 4, {.mb = 4, .nb = 4, .source_row = wrong ? 1 : 0}); });
    check_refused("source process",
                  [&] { make(4, 4, {.mb = 4, .nb = 4, .source_col = wrong ? ranks : 0}); });
    for (const Index align : {Index(0), Index(-8), Index(1) << 40})
      check_refused("alignment",
                    [&] { make(4, 4, {.mb = 4, .nb = 4, .align = wrong ? align : 8}); });

    // Storage of the caller's: one rank's is no good.
    const auto wrap = [&](const MatrixLayoutOptions& options, double* local, Index lead) {
      Matrix(grid, n, n, options, local, lead);
    };
    check_refused("leading dimension 7 is less than 8",
                  [&] { wrap(eight, storage.data(), wrong ? 7 : 8); });
    check_refused("leading dimension", [&] {
      HostMatrix<double, LayoutLeft>(grid, n, n, eight, storage.data(), wrong ? n - 1 : n);
    });
    check_refused("must be named",
                  [&] { wrap(wrong ? MatrixLayoutOptions{} : eight, storage.data(), n); });
    check_refused("null", [&] { wrap(eight, wrong ? nullptr : storage.data(), n); });
    double* const askew =
        reinterpret_cast<double*>(reinterpret_cast<char*>(storage.data()) + alignof(double) / 2);
    check_refused("aligned", [&] { wrap(eight, wrong ? askew : storage.data(), n); });
  }
}

TEST_CASE("misuse: what was given away", "[misuse][matrix]") {
  const ProcessGrid grid = everybody();
  Matrix a = filled(grid, 12, 12), b = filled(grid, 12, 1), x = filled(grid, 12, 1);
  const auto factors = plinth::lu_factor(Host(), std::move(a));
  check_refused("was moved from", [&] { (void)plinth::solve(Host(), a, b, x); });
  check_refused("was moved from", [&] { plinth::copy(Host(), b, a); });
  check_refused("was moved from", [&] { (void)plinth::norm(Host(), a, plinth::Norm::one); });
  check_refused("was moved from", [&] { (void)plinth::lu_factor(Host(), std::move(a)); });
  check_refused("was moved from", [&] { (void)a.local_extents(); });
  Matrix c = std::move(b);
  check_refused("was moved from", [&] { plinth::lu_solve(Host(), factors, b); });
  b = std::move(c);
  plinth::lu_solve(Host(), factors, b);
}

TEST_CASE("misuse: copies", "[misuse][matrix]") {
  const ProcessGrid grid = everybody(), other_grid = everybody();
  const auto a = filled(grid, 8, 8);
  auto alike = filled(grid, 8, 8), longer = filled(grid, 9, 8),
       elsewhere = filled(other_grid, 8, 8);
  HostMatrix<plinth::half, LayoutRight> rounded(grid, 8, 8, square);
  for (const bool wrong : turns()) {
    check_refused("different grids",
                  [&] { plinth::copy(Host(), a, wrong ? elsewhere : alike); });
    check_refused("different distributions",
                  [&] { plinth::copy(Host(), a, wrong ? longer : alike); });
    for (const int exponent : {-121, 121})
      check_refused("[-120, 120]",
                    [&] { (void)plinth::convert(Host(), a, rounded, wrong ? exponent : 0); });
  }
  if (world_size() > 1)
    check_refused("different arguments",
                  [&] { (void)plinth::norm(Host(), a, guilty() ? plinth::Norm::one
                                                               : plinth::Norm::inf); });
  CHECK_NOTHROW(plinth::copy(Host(), a, alike));  // all ranks are still in step
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
  using plinth::lu::FactorOptions;
  const auto factor = [](Matrix a, const FactorOptions& options = {}) {
    (void)plinth::lu_factor(Host(), std::move(a), plinth::PartialPivoting{}, options);
  };
  for (const bool wrong : turns()) {
    const auto instead = [&](Index rows, Index cols, const MatrixLayoutOptions& layout) {
      auto good = filled(grid, 8, 8), bad = filled(grid, rows, cols, layout);
      factor(std::move(wrong ? bad : good));
    };
    const auto with = [&](const FactorOptions& options) {
      factor(filled(grid, 8, 8), wrong ? options : FactorOptions{});
    };
    check_refused("not square", [&] { instead(8, 9, square); });
    check_refused("blocks are not square", [&] { instead(8, 8, {.mb = 4, .nb = 2}); });
    check_refused("look-ahead", [&] { with({.lookahead = -1}); });
    check_refused("ndiv", [&] { with({.panel = {.ndiv = 1}}); });
    check_refused("nbmin", [&] { with({.panel = {.nbmin = 0}}); });
    check_refused("with L", [&] { with({.keep_l = plinth::lu::KeepL::no}); });
  }
  if (world_size() == 1) return;
  check_refused("different arguments", [&] {
    auto right = filled(grid, 8, 8), larger = filled(grid, 12, 12);
    factor(std::move(guilty() ? larger : right));
  });
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
       from_the_end =
           filled(grid, 8, 2, {.mb = 4, .nb = 4, .source_row = grid.shape().rows - 1}),
       elsewhere = filled(other_grid, 8, 2);
  const auto solve = [&](Matrix& b, plinth::Op op = plinth::Op::none, Index at_once = 128) {
    plinth::lu_solve(Host(), factors, b, op, at_once);
  };
  for (const bool wrong : turns()) {
    check_refused("another grid", [&] { solve(wrong ? elsewhere : good); });
    check_refused("9 rows", [&] { solve(wrong ? long_one : good); });
    check_refused("not dealt like", [&] { solve(wrong ? other_blocks : good); });
    if (grid.shape().rows > 1)
      check_refused("not dealt like", [&] { solve(wrong ? from_the_end : good); });
    check_refused("at least one", [&] { solve(good, plinth::Op::none, wrong ? 0 : 4); });
  }
  if (world_size() > 1)
    check_refused("different arguments",
                  [&] { solve(good, guilty() ? plinth::Op::transpose : plinth::Op::none); });
  CHECK_NOTHROW(solve(good));  // all ranks are still in step
}

TEST_CASE("misuse: solve, residual and back substitution", "[misuse][solve]") {
  const ProcessGrid grid = two_rows(), other_grid = two_rows();
  const auto a = filled(grid, 8, 8), wide = filled(grid, 8, 10), tall = filled(grid, 9, 8),
             odd = filled(grid, 8, 8, {.mb = 4, .nb = 2});
  const auto b = filled(grid, 8, 2), long_b = filled(grid, 9, 2);
  auto x = filled(grid, 8, 2), narrow = filled(grid, 8, 1), elsewhere = filled(other_grid, 8, 2),
       long_x = filled(grid, 9, 2), same = filled(grid, 8, 2);
  const auto solve = [](const Matrix& m, const Matrix& rhs, Matrix& out) {
    (void)plinth::solve(Host(), m, rhs, out);
  };
  const auto residual = [](const Matrix& m, const Matrix& v, const Matrix& rhs, Matrix& out,
                           Index at_once = 128) {
    plinth::residual(Host(), m, v, rhs, out, at_once);
  };
  const auto back = [](const Matrix& m, Matrix& out) {
    plinth::lu::back_substitute(Host(), m, out);
  };
  for (const bool wrong : turns()) {
    const plinth::lu::FactorOptions options{.keep_l = wrong ? plinth::lu::KeepL::no
                                                            : plinth::lu::KeepL::permuted};
    check_refused("needs L", [&] { (void)plinth::solve(Host(), a, b, x, options); });
    check_refused("needs L",
                  [&] { (void)plinth::solve<plinth::DoubleSingle>(Host(), a, b, x, options); });
    check_refused("different grids", [&] { solve(a, b, wrong ? elsewhere : x); });
    check_refused("not distributed alike", [&] { solve(a, b, wrong ? narrow : x); });
    check_refused("not distributed alike", [&] { solve(a, wrong ? long_b : b, x); });
    check_refused("rows of B are not dealt",
                  [&] { solve(a, wrong ? long_b : b, wrong ? long_x : x); });
    check_refused("same matrix", [&] { solve(a, wrong ? same : b, same); });

    check_refused("square", [&] { residual(wrong ? wide : a, b, b, x); });
    check_refused("square", [&] { residual(wrong ? odd : a, b, b, x); });
    check_refused("different grids", [&] { residual(a, b, b, wrong ? elsewhere : x); });
    check_refused("dealt alike", [&] { residual(a, b, b, wrong ? narrow : x); });
    check_refused("at least one", [&] { residual(a, b, b, x, wrong ? 0 : 128); });

    check_refused("no right-hand side", [&] { back(wrong ? tall : wide, x); });
    check_refused("not square", [&] { back(wrong ? odd : wide, x); });
    check_refused("another grid", [&] { back(wide, wrong ? elsewhere : x); });
    check_refused("shape", [&] { back(wide, wrong ? narrow : x); });
  }
  check_refused("not square", [&] { solve(wide, b, x); });
  if (world_size() > 1) {
    check_refused("different arguments", [&] { solve(guilty() ? wide : a, b, x); });
    check_refused("different arguments", [&] { residual(a, b, b, x, guilty() ? 1 : 2); });
  }
  (void)plinth::solve(Host(), a, b, x);  // all ranks are still in step
  CHECK(solve_ratio(make_dense<double>(8, 8, entry),
                    grid.active() ? gather(x) : make_dense<double>(8, 2, entry),
                    make_dense<double>(8, 2, entry), plinth::Op::none) < 30);
}

TEST_CASE("misuse: HPL's residual", "[misuse][hpl]") {
  const ProcessGrid grid = two_rows();
  const auto system = filled(grid, 8, 9), odd = filled(grid, 8, 9, {.mb = 3, .nb = 4});
  const auto x = filled(grid, 8, 1), wide = filled(grid, 8, 2), long_x = filled(grid, 9, 1);
  const auto judge = [&](Index n, const Matrix& v, const Matrix& s) {
    (void)plinth::hpl_residual(Host(), plinth::HplMatrix{{.n = n, .seed = 1}}, s.distribution(),
                               v);
  };
  for (const bool wrong : turns()) {
    check_refused("n x (n + 1)", [&] { judge(wrong ? 7 : 8, x, system); });
    check_refused("n x (n + 1)", [&] { judge(8, x, wrong ? x : system); });
    check_refused("n x 1", [&] { judge(8, wrong ? wide : x, system); });
    check_refused("n x 1", [&] { judge(8, wrong ? long_x : x, system); });
    if (grid.shape().rows > 1) check_refused("n x 1", [&] { judge(8, x, wrong ? odd : system); });
  }
}
