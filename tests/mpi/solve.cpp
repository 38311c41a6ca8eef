// SPDX-License-Identifier: BSD-3-Clause
//
// solve(), residual(), norm(), copy() and generate(): what they report, and what they leave
// alone.
#include "plinth/solve/solve.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::ErrorKind;
using plinth::Outcome;
using plinth::ProcessGrid;

namespace {

constexpr double eps = plinth::ScalarTraits<double>::epsilon;

double entry(Index i, Index j) { return noise(i, j, 31); }
double rhs_entry(Index i, Index j) { return noise(i, j, 32); }

/// ||b - A x|| / (||A|| ||x|| + ||b||) in the infinity norm, the plain way.
double backward_error(const Dense<double>& a, const Dense<double>& x, const Dense<double>& b) {
  double r_most = 0, a_most = 0, x_most = 0, b_most = 0;
  for (Index i = 0; i < a.rows; ++i) {
    double r_sum = 0, a_sum = 0, x_sum = 0, b_sum = 0;
    for (Index c = 0; c < b.cols; ++c) {
      long double r = b(i, c);
      for (Index j = 0; j < a.cols; ++j) r -= static_cast<long double>(a(i, j)) * x(j, c);
      r_sum += std::abs(static_cast<double>(r));
      x_sum += std::abs(x(i, c));
      b_sum += std::abs(b(i, c));
    }
    for (Index j = 0; j < a.cols; ++j) a_sum += std::abs(a(i, j));
    r_most = std::max(r_most, r_sum);
    a_most = std::max(a_most, a_sum);
    x_most = std::max(x_most, x_sum);
    b_most = std::max(b_most, b_sum);
  }
  return r_most == 0 ? 0 : r_most / (a_most * x_most + b_most);
}

}  // namespace

TEST_CASE("solve: a small backward error, A and B kept", "[solve]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    struct Size {
      Index n, nb, nrhs;
    };
    for (const Size s : {Size{0, 4, 2},      // nothing
                         Size{1, 4, 1},      // a division
                         Size{40, 8, 0},     // no right-hand side
                         Size{40, 8, 1},     // one
                         Size{61, 6, 7}}) {  // several, ragged
      INFO("n " << s.n << ", nb " << s.nb << ", nrhs " << s.nrhs);
      const auto a = make_dense<double>(s.n, s.n, entry);
      const auto b = make_dense<double>(s.n, s.nrhs, rhs_entry);
      const plinth::MatrixLayoutOptions tall{.mb = s.nb, .nb = 3};
      const auto da = distribute(grid, a, {.mb = s.nb, .nb = s.nb});
      const auto db = distribute(grid, b, tall);
      TestMatrix<double, LayoutRight> dx(grid, s.n, s.nrhs, tall);
      const auto report = plinth::solve(Exec(), da, db, dx);
      CHECK(report.outcome == Outcome::solved);
      CHECK(static_cast<bool>(report));
      CHECK(report.column == -1);
      CHECK(same_bits(gather(da), a));
      CHECK(same_bits(gather(db), b));
      const double bound = static_cast<double>(s.n + 1) * eps;
      CHECK(report.backward_error <= bound);
      CHECK(backward_error(a, gather(dx), b) <= bound);
    }
  });
}

TEST_CASE("solve: complex, single precision, columns contiguous", "[solve]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const auto check = [&]<class T, class Layout>(T, Layout) {
      const Index n = 35;
      const auto a = make_dense<T>(n, n, [](Index i, Index j) { return noise_as<T>(i, j); });
      const auto b = make_dense<T>(n, 2, [](Index i, Index j) { return noise_as<T>(i, j, 4); });
      const auto da = distribute<Layout>(grid, a, {.mb = 5, .nb = 5});
      const auto db = distribute<Layout>(grid, b, {.mb = 5, .nb = 1});
      TestMatrix<T, Layout> dx(grid, n, 2, {.mb = 5, .nb = 1});
      const auto report = plinth::solve(Exec(), da, db, dx);
      CHECK(report.outcome == Outcome::solved);
      CHECK(report.backward_error <=
            static_cast<double>(n + 1) * static_cast<double>(plinth::ScalarTraits<T>::epsilon));
      CHECK(solve_ratio(a, gather(dx), b, plinth::Op::none) < 30);
    };
    check(double(), LayoutLeft());
    check(float(), LayoutRight());
    check(Kokkos::complex<double>(), LayoutRight());
    check(Kokkos::complex<float>(), LayoutRight());
  });
}

TEST_CASE("solve: singular and non-finite systems are outcomes, on every rank", "[solve]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 22;
    const auto run = [&](const Dense<double>& a, const Dense<double>& b) {
      const auto da = distribute(grid, a, {.mb = 4, .nb = 4});
      const auto db = distribute(grid, b, {.mb = 4, .nb = 4});
      TestMatrix<double, LayoutRight> dx(grid, n, 1, {.mb = 4, .nb = 4});
      const auto report = plinth::solve(Exec(), da, db, dx);
      CHECK(same_bits(gather(da), a));
      CHECK(same_bits(gather(db), b));
      return report;
    };
    const auto good = make_dense<double>(n, n, entry);
    const auto b = make_dense<double>(n, 1, rhs_entry);

    auto singular = good;
    for (Index i = 0; i < n; ++i) singular(i, 9) = 0;
    const auto zero = run(singular, b);
    CHECK(zero.outcome == Outcome::singular);
    CHECK(zero.column == 9);
    CHECK_FALSE(static_cast<bool>(zero));
    CHECK(plinth::is_nan(zero.backward_error));

    auto poisoned = good;
    poisoned(n - 1, 13) = std::numeric_limits<double>::quiet_NaN();
    const auto nan = run(poisoned, b);
    CHECK(nan.outcome == Outcome::non_finite);
    CHECK(nan.column == 13);
    CHECK(plinth::is_nan(nan.backward_error));

    auto infinite = b;
    infinite(n / 2, 0) = std::numeric_limits<double>::infinity();
    const auto inf = run(good, infinite);
    CHECK(inf.outcome == Outcome::non_finite);
    CHECK(inf.column == -1);
    CHECK(plinth::is_nan(inf.backward_error));
  });
}

TEST_CASE("solve: ranks without a place on the grid have measured nothing", "[solve][grid]") {
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, std::max(1, world_size() - 1)});
  const plinth::MatrixLayoutOptions square{.mb = 4, .nb = 4};
  const auto da = distribute(grid, make_dense<double>(9, 9, entry), square);
  const auto db = distribute(grid, make_dense<double>(9, 2, rhs_entry), square);
  auto dx = distribute(grid, make_dense<double>(9, 2, rhs_entry), square);
  for (const auto& report : {plinth::solve(Exec(), da, db, dx),
                             plinth::solve<plinth::DoubleSingle>(Exec(), da, db, dx)}) {
    CHECK(report.outcome == Outcome::solved);
    CHECK(plinth::is_nan(report.backward_error) == !grid.active());
  }
}

TEST_CASE("solve: systems near underflow and near overflow", "[solve]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 20;
    struct Scale {
      int a, b;
    };
    for (const Scale s : {Scale{-960, -960}, Scale{-960, 0}, Scale{960, 0}, Scale{500, 900}}) {
      INFO("A by 2^" << s.a << ", b by 2^" << s.b);
      const auto a = make_dense<double>(
          n, n, [&](Index i, Index j) { return std::ldexp(entry(i, j), s.a); });
      const auto b = make_dense<double>(
          n, 1, [&](Index i, Index j) { return std::ldexp(rhs_entry(i, j), s.b); });
      const auto da = distribute(grid, a, {.mb = 4, .nb = 4});
      const auto db = distribute(grid, b, {.mb = 4, .nb = 4});
      TestMatrix<double, LayoutRight> dx(grid, n, 1, {.mb = 4, .nb = 4});
      const auto report = plinth::solve(Exec(), da, db, dx);
      CHECK(report.outcome == Outcome::solved);
      CHECK(report.backward_error <= static_cast<double>(n + 1) * eps);
      CHECK(backward_error(a, gather(dx), b) <= static_cast<double>(n + 1) * eps);
    }
  });
}

TEST_CASE("outcomes have names", "[solve]") {
  CHECK(std::string(plinth::to_string(Outcome::solved)) == "solved");
  CHECK(std::string(plinth::to_string(Outcome::singular)) == "singular");
  CHECK(std::string(plinth::to_string(Outcome::non_finite)) == "non-finite");
}

TEST_CASE("residual: exact where arithmetic is", "[residual]") {
  // Small integers: every order of summation gives the same.
  const auto whole_number = [](Index i, Index j) { return std::floor(16 * noise(i, j, 40)); };
  on_every_active_grid([&](const ProcessGrid& grid) {
    const Index n = 27;
    for (const Index nrhs : {0, 1, 5}) {
      const auto a = make_dense<double>(n, n, whole_number);
      const auto x =
          make_dense<double>(n, nrhs, [&](Index i, Index j) { return whole_number(i, j + 99); });
      const auto b =
          make_dense<double>(n, nrhs, [&](Index i, Index j) { return whole_number(i + 99, j); });
      auto expected = b;
      for (Index c = 0; c < nrhs; ++c)
        for (Index i = 0; i < n; ++i)
          for (Index j = 0; j < n; ++j) expected(i, c) -= a(i, j) * x(j, c);
      const auto check = [&]<class Layout>(Layout) {
        const plinth::MatrixLayoutOptions square{
            .mb = 4, .nb = 4, .source_row = grid.shape().rows - 1, .source_col = 0};
        const plinth::MatrixLayoutOptions tall{
            .mb = 4, .nb = 2, .source_row = grid.shape().rows - 1, .source_col = 0};
        const auto da = distribute<Layout>(grid, a, square);
        const auto dx = distribute<Layout>(grid, x, tall), db = distribute<Layout>(grid, b, tall);
        TestMatrix<double, Layout> dr(grid, n, nrhs, tall);
        plinth::residual(Exec(), da, dx, db, dr, 2);
        CHECK(gather(dr).data == expected.data);
        CHECK(same_bits(gather(dx), x));
        CHECK(same_bits(gather(db), b));
      };
      check(LayoutRight());
      check(LayoutLeft());
    }
  });
}

TEST_CASE("norms: exact where arithmetic is, NaN where there is one", "[norm]") {
  using plinth::Norm;
  using Z = Kokkos::complex<double>;
  on_every_active_grid([](const ProcessGrid& grid) {
    struct Size {
      Index m, n;
    };
    for (const Size s :
         {Size{0, 0}, Size{0, 5}, Size{5, 0}, Size{1, 1}, Size{13, 200}, Size{150, 7}}) {
      INFO(s.m << "x" << s.n);
      const auto f = [](Index i, Index j) { return std::floor(16 * noise(i, j, 50)); };
      const auto a = make_dense<double>(s.m, s.n, f);
      const auto at = make_dense<double>(s.n, s.m, [&](Index i, Index j) { return f(j, i); });
      const auto check = [&](const auto& d) {
        CHECK(plinth::norm(Exec(), d, Norm::one) == norm1(a));
        CHECK(plinth::norm(Exec(), d, Norm::inf) == norm1(at));
      };
      check(distribute<LayoutRight>(grid, a, {.mb = 3, .nb = 4}));
      check(distribute<LayoutLeft>(grid, a, {.mb = 3, .nb = 4}));
    }
    // Moduli, not sums of parts.
    const auto z = make_dense<Z>(3, 3, [](Index, Index) { return Z(3, -4); });
    CHECK(plinth::norm(Exec(), distribute(grid, z, {.mb = 1, .nb = 1}), Norm::one) == 15);
    auto bad = make_dense<double>(9, 9, entry);
    bad(8, 2) = std::numeric_limits<double>::quiet_NaN();
    for (const auto which : {Norm::one, Norm::inf})
      CHECK(
          plinth::is_nan(plinth::norm(Exec(), distribute(grid, bad, {.mb = 2, .nb = 2}), which)));
    bad(8, 2) = -std::numeric_limits<double>::infinity();
    CHECK(plinth::norm(Exec(), distribute(grid, bad, {.mb = 2, .nb = 2}), Norm::inf) ==
          std::numeric_limits<double>::infinity());
  });
}

TEST_CASE("copy keeps bits, and converts types", "[copy]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    auto a = make_dense<double>(11, 14, entry);
    a(3, 4) = std::numeric_limits<double>::quiet_NaN();
    a(4, 4) = -0.0;
    const plinth::MatrixLayoutOptions layout{
        .mb = 3, .nb = 2, .source_row = grid.shape().rows - 1};
    const auto da = distribute(grid, a, layout);
    CHECK(plinth::layout_of(da).mb == 3);
    CHECK(plinth::layout_of(da).source_row == grid.shape().rows - 1);
    TestMatrix<double, LayoutRight> same(grid, 11, 14, layout);
    plinth::copy(Exec(), da, same);
    CHECK(same_bits(gather(same), gather(da)));
    TestMatrix<float, LayoutRight> single(grid, 11, 14, layout);
    plinth::copy(Exec(), da, single);
    const auto s = gather(single);
    CHECK(s(0, 0) == static_cast<float>(a(0, 0)));
    CHECK(s(10, 13) == static_cast<float>(a(10, 13)));
    TestMatrix<double, LayoutRight> other(grid, 11, 14, {.mb = 2, .nb = 2});
    CHECK_THROWS_WITH(plinth::copy(Exec(), da, other), contains("different distributions"));
  });
}

TEST_CASE("generate: independent of the grid, and of how blocks are dealt", "[generate]") {
  const Index m = 19, n = 23;
  const auto expected = make_dense<double>(m, n, entry);
  on_every_active_grid([&](const ProcessGrid& grid) {
    for (const auto& layout : {plinth::MatrixLayoutOptions{.mb = 1, .nb = 1},
                               plinth::MatrixLayoutOptions{.mb = 4,
                               .nb = 7,
                               .source_row = grid.shape().rows - 1,
                               .source_col = grid.shape().cols - 1},
                               plinth::MatrixLayoutOptions{.mb = 128, .nb = 128}}) {
      TestMatrix<double, LayoutRight> right(grid, m, n, layout);
      TestMatrix<double, LayoutLeft> left(grid, m, n, layout);
      plinth::generate(Exec(), right, entry);  // may throw, for all that is known
      plinth::generate(Exec(), left, [](Index i, Index j) noexcept { return entry(i, j); });
      CHECK(same_bits(gather(right), expected));
      CHECK(same_bits(gather(left), expected));
    }
  });
}

#ifndef PLINTH_TEST_ON_STAND_IN  // what devices call throws nothing
TEST_CASE("generate: an exception on one rank becomes an Error on all", "[generate][error]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    TestMatrix<double, LayoutRight> a(grid, 30, 30, {.mb = 4, .nb = 4});
    // One entry is bad, so one rank's callback throws.
    const auto bad_entry = [](Index i, Index j) -> double {
      if (i == 29 && j == 17) throw std::out_of_range("no such entry");
      return 1;
    };
    CHECK(error_of([&] { plinth::generate(Exec(), a, bad_entry); }, ErrorKind::user_callback) ==
          "generate: no such entry");
    const auto strange = [](Index i, Index) -> double {
      if (i == 0) throw 42;
      return 1;
    };
    CHECK_THAT(error_of([&] { plinth::generate(Exec(), a, strange); }, ErrorKind::user_callback),
               contains("unknown type"));
    plinth::generate(Exec(), a, [](Index, Index) { return 2.0; });  // and life goes on
    CHECK(plinth::norm(Exec(), a, plinth::Norm::one) == 60);
  });
}

TEST_CASE("generate: an exception without a message is one all the same", "[generate][error]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    TestMatrix<double, LayoutRight> a(grid, 6, 6, {.mb = 2, .nb = 2});
    const auto silent = [](Index, Index) -> double { throw std::runtime_error(""); };
    CHECK_THAT(error_of([&] { plinth::generate(Exec(), a, silent); }, ErrorKind::user_callback),
               contains("without a message"));
  });
}
#endif

TEST_CASE("solve: a norm that overflows does not make a small backward error", "[solve]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    // ||A|| is beyond the largest double although no entry is.
    const auto huge = [](Index i, Index j) {
      return 1.5e308 * (i == j ? 1.0 : std::cos(static_cast<double>(i * j)));
    };
    const auto da = distribute(grid, make_dense<double>(12, 12, huge), {.mb = 2, .nb = 2});
    const auto b = make_dense<double>(12, 1, entry);
    const auto db = distribute(grid, b, {.mb = 2, .nb = 2});
    auto dx = distribute(grid, b, {.mb = 2, .nb = 2});
    const auto report = plinth::solve(Exec(), da, db, dx);
    CHECK(report.outcome == plinth::Outcome::solved);
    CHECK(plinth::is_nan(report.backward_error));
    auto db_nan = distribute(grid, make_dense<double>(12, 1, [](Index i, Index) {
                               return i == 3 ? std::nan("") : 1.0;
                             }),
                             {.mb = 2, .nb = 2});
    CHECK(plinth::solve(Exec(), da, db_nan, dx).outcome == plinth::Outcome::non_finite);
  });
}
