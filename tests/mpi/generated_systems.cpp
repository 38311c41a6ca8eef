// SPDX-License-Identifier: BSD-3-Clause
//
// Generated systems on grids: filling in any precision, products without a matrix, the verdict.
#include "plinth/plinth.hpp"
#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/locked_device.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::ProcessGrid;

namespace {

using Vectors = HostMatrix<double, LayoutRight>;

plinth::MatrixLayoutOptions square(Index nb) { return {.mb = nb, .nb = nb}; }

/// f(system) for one of every kind.
template <class F>
void for_each_system(Index n, const F& f) {
  f(plinth::HplMatrix{{n}});
  f(plinth::ScaledDiagonal(n, 0.75));
  f(plinth::FasiHigham(n, 0.125, 0.3));
  f(plinth::DominantReference(n));
  f(plinth::DominantOpenmxp(n));
}

/// Whether the local part of a 16-bit matrix is the scaled function, rounded.
template <class Matrix, class Source>
bool is_rounded(const Matrix& a, const Source& s, double scale) {
  using T = typename Matrix::value_type;
  bool same = true;
  for (Index i = 0; i < a.local_extents().rows; ++i)
    for (Index j = 0; j < a.local_extents().cols; ++j)
      same =
          same && a.local()(i, j).bits() == T(scale * s(a.global_row(i), a.global_col(j))).bits();
  return same;
}

/// Infinity norm of a x - y, with an allowance: the rounding errors that a sum in any order makes.
struct Difference {
  double found = 0, allowed = 0, a_inf = 0;
};
template <class Source>
Difference difference(const Source& s, const Dense<double>& x, const Dense<double>& y,
                      double alpha) {
  Difference d;
  const Index n = s.order();
  for (Index c = 0; c < x.cols; ++c)
    for (Index i = 0; i < n; ++i) {
      double sum = 0, size = 0, row = 0;
      for (Index j = 0; j < n; ++j) {
        sum += s(i, j) * x(j, c);
        size += std::abs(s(i, j) * x(j, c));
        row += std::abs(s(i, j));
      }
      d.found = std::max(d.found, std::abs(alpha * sum - y(i, c)));
      d.allowed = std::max(d.allowed, std::abs(alpha) * size * 0x1p-52 * static_cast<double>(n));
      d.a_inf = std::max(d.a_inf, row);
    }
  return d;
}

}  // namespace

TEST_CASE("generated matrices do not depend on the grid", "[generate]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 53;
    for_each_system(n, [&](const auto& s) {
      const auto expected = make_dense<double>(n, n + 1, s);
      for (const Index nb : {1, 5, 64}) {
        INFO("system " << s.key()[0] << ", nb " << nb);
        HostMatrix<double, LayoutRight> right(grid, n, n + 1, square(nb));
        HostMatrix<double, LayoutLeft> left(
            grid, n, n + 1, {.mb = nb, .nb = nb, .source_row = grid.shape().rows - 1});
        plinth::generate(Host(), right, s);
        plinth::generate(Host(), left, s);
        CHECK(same_bits(gather(right), expected));
        CHECK(same_bits(gather(left), expected));
        HostMatrix<plinth::half, LayoutRight> narrow(grid, n, n, square(nb));
        plinth::generate_scaled(Host(), narrow, s, 0.25);
        CHECK(is_rounded(narrow, s, 0.25));
      }
    });
  });
}

TEST_CASE("what 16 bits lose is counted over the grid", "[generate]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 30;
    HostMatrix<plinth::half, LayoutRight> a(grid, n, n, square(4));
    const auto counts = [&](double sigma, double scale) {
      return plinth::generate_scaled(Host(), a, plinth::ScaledDiagonal(n, sigma), scale);
    };
    CHECK(counts(1, 1).overflowed == 0);
    CHECK(counts(1e6, 1).overflowed == n);
    CHECK(counts(1, 0x1p-30).flushed == n * n);
    CHECK(counts(1, 0x1p-10).subnormal > 0);
  });
}

TEST_CASE("filling on the stand-in device", "[generate][device]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 30;
    const plinth::ScaledDiagonal s(n, 3e5);
    plinth::DistributedMatrix<plinth::half, LockedMemory> device(grid, n, n, square(4));
    HostMatrix<plinth::half, LayoutRight> host(grid, n, n, square(4));
    const auto counts = plinth::generate_scaled(LockedDevice(), device, s, 0x1p-12);
    CHECK(counts == plinth::generate_scaled(Host(), host, s, 0x1p-12));
    CHECK(counts.subnormal > 0);
    plinth::DistributedMatrix<float, LockedMemory> single_on_device(grid, n, n, square(4));
    HostMatrix<float, LayoutRight> single(grid, n, n, square(4));
    const auto lost = plinth::generate_scaled(LockedDevice(), single_on_device, s, 0x1p-130);
    CHECK(lost == plinth::generate_scaled(Host(), single, s, 0x1p-130));
    CHECK(lost.subnormal == n * (n - 1));
    const LockedDevice exec;
    CHECK(has_waited(exec));
    const auto scope = exec.enter();
    CHECK(is_rounded(device, s, 0x1p-12));
  });
}

TEST_CASE("products with a regenerated matrix", "[operator]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 47, count = 3;
    const auto x = make_dense<double>(n, count, [](Index i, Index j) { return noise(i, j, 95); });
    for_each_system(n, [&](const auto& s) {
      for (const Index nb : {1, 6, 100}) {
        INFO("system " << s.key()[0] << ", nb " << nb);
        const auto dx = distribute(grid, x, {.mb = nb, .nb = 1});
        Vectors y(grid, n, count, {.mb = nb, .nb = 1});
        const plinth::Distribution a =
            HostMatrix<double, LayoutRight>(grid, n, n, square(nb)).distribution();
        plinth::RegeneratedOperator product(Host(), grid, a, s, 2);
        product(dx, y);
        const auto once = difference(s, x, gather(y), 1);
        CHECK(once.found <= once.allowed);
        product(dx, y, -0.5);
        CHECK(difference(s, x, gather(y), -0.5).found <= once.allowed);
        CHECK(product.norm_inf() == Catch::Approx(once.a_inf).epsilon(1e-13));
      }
    });
  });
}

TEST_CASE("products with a regenerated matrix on the stand-in device", "[operator][device]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 20;
    const plinth::ScaledDiagonal s(n);
    const LockedDevice exec;
    using Matrix = plinth::DistributedMatrix<double, LockedMemory>;
    Matrix x(grid, n, 1, square(3)), y(grid, n, 1, square(3)), a(grid, n, n, square(3));
    plinth::generate(exec, x, [](Index i, Index) noexcept { return noise(i, 0, 3); });
    plinth::RegeneratedOperator product(exec, grid, a.distribution(), s);
    product(x, y);
    CHECK(has_waited(exec));
    Vectors there(grid, n, 1, square(3));
    const plinth::Extents mine = y.local_extents();
    if (mine.rows > 0 && mine.cols > 0)
      for (Index i = 0; i < mine.rows; ++i)
        exec.to_host(&there.local()(i, 0), &y.local()(i, 0), sizeof(double));
    exec.fence();
    const auto d =
        difference(s, make_dense<double>(n, 1, [](Index i, Index) { return noise(i, 0, 3); }),
                   gather(there), 1);
    CHECK(d.found <= d.allowed);
  });
}

TEST_CASE("the residual of a generated system", "[residual]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 41, nb = 6;
    const auto x = make_dense<double>(n, 1, [](Index i, Index j) { return noise(i, j, 97); });
    for_each_system(n, [&](const auto& s) {
      INFO("system " << s.key()[0]);
      HostMatrix<double, LayoutRight> a(grid, n, n, square(nb)), ab(grid, n, n + 1, square(nb));
      const auto dx = distribute(grid, x, square(nb));
      plinth::SystemNorms want;
      std::vector<double> columns(static_cast<std::size_t>(n), 0.0);
      for (Index i = 0; i < n; ++i) {
        double r = s(i, n), row = 0;
        for (Index j = 0; j < n; ++j) {
          r -= s(i, j) * x(j, 0);
          row += std::abs(s(i, j));
          columns[static_cast<std::size_t>(j)] += std::abs(s(i, j));
        }
        want.residual_inf = std::max(want.residual_inf, std::abs(r));
        want.a_inf = std::max(want.a_inf, row);
        want.x_inf = std::max(want.x_inf, std::abs(x(i, 0)));
        want.x_one += std::abs(x(i, 0));
        want.b_inf = std::max(want.b_inf, std::abs(s(i, n)));
      }
      want.a_one = *std::max_element(columns.begin(), columns.end());
      for (const auto& distribution : {a.distribution(), ab.distribution()}) {
        const auto norms = plinth::hpl_residual(Host(), s, distribution, dx);
        CHECK(norms.residual_inf == Catch::Approx(want.residual_inf).epsilon(1e-12));
        CHECK(norms.a_inf == Catch::Approx(want.a_inf).epsilon(1e-13));
        CHECK(norms.a_one == Catch::Approx(want.a_one).epsilon(1e-13));
        CHECK(norms.x_inf == want.x_inf);
        CHECK(norms.x_one == Catch::Approx(want.x_one).epsilon(1e-13));
        CHECK(norms.b_inf == want.b_inf);
        CHECK(norms.scaled_residual(n) > 16);  // x solves nothing
      }
    });
  });
}

TEST_CASE("misuse: generated systems", "[misuse][generate]") {
  const int ranks = world_size();
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, ranks});
  const bool guilty = world_rank() == ranks - 1;
  HostMatrix<plinth::half, LayoutRight> a(grid, 8, 8, square(2));
  const auto fill = [&](double scale, Index n) {
    return error_of(
        [&] { plinth::generate_scaled(Host(), a, plinth::ScaledDiagonal(n), scale); });
  };
  for (const bool wrong : {true, guilty}) {
    for (const double scale : {3.0, 0.0, -2.0, HUGE_VAL})
      CHECK_THAT(fill(wrong ? scale : 2, 8), contains("power of two"));
    CHECK_THAT(fill(1, wrong ? 6 : 8), contains("larger than the system"));
  }
  if (ranks > 1) {
    CHECK_THAT(fill(guilty ? 4 : 2, 8), contains("different arguments"));
    CHECK_THAT(fill(1, guilty ? 9 : 8), contains("different arguments"));
  }
  CHECK(fill(1, 8) == "(no error)");
  CHECK_THAT(error_of([&] {
               plinth::RegeneratedOperator(Host(), grid, a.distribution(),
                                           plinth::ScaledDiagonal(7));
             }),
             contains("order"));
}
