// SPDX-License-Identifier: BSD-3-Clause
//
// netlib HPL's system on grids: the matrix, the way of its right-hand side, and the verdict.
#include <limits>

#include "plinth/matrix/hpl_matrix.hpp"
#include "plinth/refine/hpl_residual.hpp"
#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::HplMatrix;
using plinth::ProcessGrid;
using plinth::RowMajorGrid;

namespace {

plinth::MatrixLayoutOptions square(Index nb) { return {.mb = nb, .nb = nb}; }

/// The norms, the plain way.
plinth::SystemNorms naive(const HplMatrix& f, const std::vector<double>& x) {
  const Index n = f.n;
  plinth::SystemNorms norms;
  std::vector<double> columns(static_cast<std::size_t>(n), 0.0);
  for (Index i = 0; i < n; ++i) {
    long double r = f(i, n);
    double sum = 0;
    for (Index j = 0; j < n; ++j) {
      r -= static_cast<long double>(f(i, j)) * x[static_cast<std::size_t>(j)];
      sum += std::abs(f(i, j));
      columns[static_cast<std::size_t>(j)] += std::abs(f(i, j));
    }
    norms.residual_inf = std::max(norms.residual_inf, std::abs(static_cast<double>(r)));
    norms.a_inf = std::max(norms.a_inf, sum);
    norms.b_inf = std::max(norms.b_inf, std::abs(f(i, n)));
    norms.x_inf = std::max(norms.x_inf, std::abs(x[static_cast<std::size_t>(i)]));
    norms.x_one += std::abs(x[static_cast<std::size_t>(i)]);
  }
  for (const double sum : columns) norms.a_one = std::max(norms.a_one, sum);
  return norms;
}

}  // namespace

TEST_CASE("HPL's matrix on a grid is the pure function, bit for bit", "[hpl][generate]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 53;
    const HplMatrix f{{.n = n, .seed = 7}};
    const auto expected = make_dense<double>(n, n + 1, f);
    for (const Index nb : {1, 5, 64}) {
      INFO("nb " << nb);
      TestMatrix<double, LayoutRight> right(grid, n, n + 1, square(nb));
      TestMatrix<double, LayoutLeft> left(
          grid, n, n + 1,
          {.mb = nb, .nb = nb, .source_row = grid.shape().rows - 1, .source_col = 0});
      TestMatrix<float, LayoutRight> single(grid, n, n + 1, square(nb));
      plinth::generate(Exec(), right, f);
      plinth::generate(Exec(), left, f);
      plinth::generate(Exec(), single, f);
      CHECK(same_bits(gather(right), expected));
      CHECK(same_bits(gather(left), expected));
      const auto rounded = gather(single);
      CHECK(rounded(n - 1, n) == static_cast<float>(expected(n - 1, n)));
    }
  });
}

TEST_CASE("HPL's way: factor [A | b], back-substitute, judge", "[hpl][lu]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    struct Size {
      Index n, nb, lookahead;
    };
    for (const Size s : {Size{0, 4, 1},       // nothing
                         Size{1, 4, 0},       // b in the first block
                         Size{8, 4, 1},       // b in a block of its own
                         Size{31, 4, 0},      // b in the last panel's block
                         Size{64, 8, 2},      // several rounds
                         Size{50, 64, 1}}) {  // all in one block
      INFO("n " << s.n << ", nb " << s.nb << ", look-ahead " << s.lookahead);
      const HplMatrix f{{.n = s.n, .seed = 100}};
      TestMatrix<double, LayoutRight> a(grid, s.n, s.n + 1, square(s.nb));
      TestMatrix<double, LayoutRight> x(grid, s.n, 1, square(s.nb));
      plinth::generate(Exec(), a, f);
      const auto outcome = factor_travelling(Exec(), a, {.lookahead = s.lookahead});
      CHECK(outcome.first_zero_pivot == -1);
      CHECK(outcome.first_nonfinite == -1);
      plinth::lu::back_substitute(Exec(), a, x);
      const auto norms = plinth::hpl_residual(Exec(), f, a.distribution(), x);
      CHECK(norms.scaled_residual(s.n) < 16);
      const auto whole = gather(x);
      const auto expected = naive(f, whole.data);
      CHECK(norms.a_inf == Catch::Approx(expected.a_inf).epsilon(1e-13));
      CHECK(norms.a_one == Catch::Approx(expected.a_one).epsilon(1e-13));
      CHECK(norms.x_inf == expected.x_inf);
      CHECK(norms.x_one == Catch::Approx(expected.x_one).epsilon(1e-13));
      CHECK(norms.b_inf == expected.b_inf);
      if (s.n > 0)
        CHECK(solve_ratio(make_dense<double>(s.n, s.n, f), whole,
                          make_dense<double>(s.n, 1, [&](Index i, Index) { return f(i, s.n); }),
                          plinth::Op::none) < 30);
    }
  });
}

TEST_CASE("several right-hand sides travel along", "[lu]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 30, nrhs = 6, nb = 4;
    const auto system =
        make_dense<double>(n, n + nrhs, [](Index i, Index j) { return noise(i, j, 91); });
    auto a = distribute(grid, system, square(nb));
    TestMatrix<double, LayoutRight> x(grid, n, nrhs, {.mb = nb, .nb = 2});
    CHECK(factor_travelling(Exec(), a, {}).first_zero_pivot == -1);
    plinth::lu::back_substitute(Exec(), a, x);
    CHECK(solve_ratio(
              make_dense<double>(n, n, [&](Index i, Index j) { return system(i, j); }), gather(x),
              make_dense<double>(n, nrhs, [&](Index i, Index j) { return system(i, n + j); }),
              plinth::Op::none) < 30);
  });
}

TEST_CASE("HPL's residual of any x is b - A x", "[hpl][residual]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 47;
    const HplMatrix f{{.n = n, .seed = 3}};
    const auto x = make_dense<double>(n, 1, [](Index i, Index j) { return noise(i, j, 95); });
    for (const Index nb : {1, 6, 100}) {
      const auto dx = distribute(grid, x, square(nb));
      TestMatrix<double, LayoutRight> a(grid, n, n + 1, square(nb));
      const auto norms = plinth::hpl_residual(Exec(), f, a.distribution(), dx);
      const auto expected = naive(f, x.data);
      INFO("nb " << nb);
      CHECK(norms.residual_inf == Catch::Approx(expected.residual_inf).epsilon(1e-13));
      CHECK(norms.scaled_residual(n) > 16);  // x solves nothing
    }
  });
}

TEST_CASE("HPL's residual is never small when something is not finite", "[hpl][residual]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 20;
    const HplMatrix f{{.n = n, .seed = 3}};
    TestMatrix<double, LayoutRight> a(grid, n, n + 1, square(4));
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
          -std::numeric_limits<double>::infinity()})
      for (const Index where : {Index(0), Index(7), n - 1}) {
        auto x = make_dense<double>(n, 1, [](Index i, Index j) { return noise(i, j, 96); });
        x(where, 0) = bad;
        const auto norms =
            plinth::hpl_residual(Exec(), f, a.distribution(), distribute(grid, x, square(4)));
        CHECK_FALSE(norms.scaled_residual(n) < 16);
        CHECK(plinth::is_nan(norms.scaled_residual(n)));
      }
  });
}
