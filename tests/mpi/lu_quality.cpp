// SPDX-License-Identifier: BSD-3-Clause
//
// Condition estimates and error bounds: what LAPACK's gecon and gerfs say of the whole system, and
// what is true of systems whose solution or inverse is known.
#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/lapack_reference.hpp"
#include "support/problems.hpp"
#include "support/refined.hpp"

using namespace plinth_test;
using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::MatrixLayoutOptions;
using plinth::Norm;
using plinth::ProcessGrid;
using ComplexDouble = Kokkos::complex<double>;
using ComplexFloat = Kokkos::complex<float>;

namespace {

struct Case {
  Index n, nb;
};
constexpr Case cases[] = {{1, 4}, {2, 1}, {7, 16}, {37, 5}, {48, 12}};

template <class T>
double norm_of(const Dense<T>& a, Norm which) {
  if (which == Norm::one) return norm1(a);
  return norm1(make_dense<T>(a.cols, a.rows, [&](Index i, Index j) { return a(j, i); }));
}

template <class Layout = LayoutRight, class T>
double condition_on(const ProcessGrid& grid, const Dense<T>& a, Index nb, Norm which) {
  const MatrixLayoutOptions layout{nb, nb, grid.shape().rows - 1, grid.shape().cols / 2};
  auto d = distribute<Layout>(grid, a, layout);
  const double a_norm = static_cast<double>(plinth::norm(Exec(), d, which));
  const auto factors = plinth::lu_factor(Exec(), std::move(d));
  return plinth::condition(Exec(), factors, a_norm, which);
}

/// Solves and takes `steps` steps of refinement in the same precision; then error bounds.
template <class Layout = LayoutRight, class T>
plinth::ErrorBounds bounds_on(const ProcessGrid& grid, const Dense<T>& a, const Dense<T>& b,
                              Dense<T>& x, Index nb, int steps, Index at_once = 128) {
  const MatrixLayoutOptions square{nb, nb, grid.shape().rows - 1, grid.shape().cols / 2};
  const MatrixLayoutOptions tall{nb, 2, grid.shape().rows - 1, 0};
  const auto da = distribute<Layout>(grid, a, square);
  const auto db = distribute<Layout>(grid, b, tall);
  auto dx = distribute<Layout>(grid, b, tall), dr = distribute<Layout>(grid, b, tall);
  const auto factors = plinth::lu_factor(Exec(), distribute<Layout>(grid, a, square));
  plinth::lu_solve(Exec(), factors, dx);
  for (int step = 0; step < steps; ++step) {
    plinth::residual(Exec(), da, dx, db, dr);
    plinth::lu_solve(Exec(), factors, dr);
    const auto from = dr.local(), to = dx.local();
    [[maybe_unused]] const auto scope = Exec().enter();
    for (Index i = 0; i < dx.local_extents().rows; ++i)
      for (Index j = 0; j < dx.local_extents().cols; ++j) to(i, j) += from(i, j);
  }
  const auto bounds = plinth::error_bounds(Exec(), da, factors, db, dx, at_once);
  CHECK(same_bits(gather(da), a));
  CHECK(same_bits(gather(db), b));
  x = gather(dx);
  return bounds;
}

}  // namespace

TEMPLATE_TEST_CASE("condition: near the truth and gecon's estimate", "[condition]",
                   PLINTH_TEST_TYPES(double, float, ComplexDouble, ComplexFloat)) {
  using T = TestType;
  using Real = plinth::RealOf<T>;
  for (const Case& c : cases)
    for (const Norm which : {Norm::one, Norm::inf}) {
      const auto a = random_matrix<T>(c.n, c.n);
      const Getrf<T> f(a);
      const double a_norm = norm_of(a, which);
      const double truth = 1 / (a_norm * norm_of(f.inverse(), which));
      const double lapack = lapack::gecon(which == Norm::one ? '1' : 'I', static_cast<int>(c.n),
                                          f.lu.data.data(), static_cast<Real>(a_norm));
      const double slack = 1 + 1000 * plinth::ScalarTraits<T>::epsilon * c.n;
      on_every_active_grid([&](const ProcessGrid& grid) {
        INFO("n " << c.n << ", nb " << c.nb);
        const double found = condition_on(grid, a, c.nb, which);
        CHECK(found * slack >= truth);
        CHECK(found <= 3 * truth);
        CHECK(found <= 3 * lapack);
        CHECK(found >= lapack / 3);
      });
    }
}

TEST_CASE("condition: exact where the inverse has no negative entry", "[condition]") {
  // The second difference: its inverse is positive, so the first step finds the largest column.
  const Index n = 33;
  const auto a = make_dense<double>(n, n, [](Index i, Index j) {
    return i == j ? 2.0 : std::abs(i - j) == 1 ? -1.0 : 0.0;
  });
  const double truth = 1 / (4 * norm1(Getrf<double>(a).inverse()));
  on_every_active_grid([&](const ProcessGrid& grid) {
    for (const Norm which : {Norm::one, Norm::inf}) {
      CHECK(condition_on<LayoutRight>(grid, a, 4, which) == Catch::Approx(truth).epsilon(1e-12));
      CHECK(condition_on<LayoutLeft>(grid, a, 5, which) == Catch::Approx(truth).epsilon(1e-12));
    }
  });
}

TEST_CASE("condition: inverses that hide from vectors of ones and unit vectors", "[condition]") {
  // A^-1 = I + theta u u^T with u orthogonal to (1, ..., 1), and to the first unit vectors.
  const Index n = 16;
  const auto u = [](Index i) { return i < 8 ? 0.0 : i % 2 == 0 ? 1.0 : -1.0; };
  const double gamma = (1 - 0x1p-20) / 8;
  const auto a = make_dense<double>(
      n, n, [&](Index i, Index j) { return (i == j ? 1.0 : 0.0) - gamma * u(i) * u(j); });
  const double truth = 1 / (norm1(a) * norm1(Getrf<double>(a).inverse()));
  on_every_active_grid([&](const ProcessGrid& grid) {
    const double found = condition_on(grid, a, 3, Norm::one);
    CHECK(found <= 10 * truth);
    CHECK(found >= 0.9 * truth);
  });
}

TEST_CASE("condition: swept until beyond the precision", "[condition]") {
  for (const double wanted : {1e2, 1e8, 1e14}) {
    const auto a = svd_type(40, wanted);
    on_every_active_grid([&](const ProcessGrid& grid) {
      INFO("condition " << wanted);
      const double found = condition_on(grid, a, 8, Norm::inf);
      CHECK(found > 1 / wanted / 40 / 2);
      CHECK(found < 3 * 40 / wanted);
    });
  }
}

TEST_CASE("condition: nothing, zero pivots, overflow, NaN", "[condition]") {
  on_every_active_grid([&](const ProcessGrid& grid) {
    for (const Norm which : {Norm::one, Norm::inf}) {
      CHECK(condition_on(grid, Dense<double>(0, 0), 3, which) == 1);
      CHECK(condition_on(grid, Dense<double>(9, 9), 3, which) == 0);
      auto a = random_matrix<double>(9, 9);
      for (Index i = 0; i < 9; ++i) a(i, 6) = 0;
      CHECK(condition_on(grid, a, 2, which) == 0);
      a(4, 6) = std::nan("");
      CHECK(plinth::is_nan(condition_on(grid, a, 2, which)));
      a(4, 6) = std::numeric_limits<double>::infinity();
      CHECK(plinth::is_nan(condition_on(grid, a, 2, which)));
      const auto diagonal = [&](double last) {
        return make_dense<double>(9, 9, [=](Index i, Index j) {
          return i != j ? 0.0 : i == 8 ? last : 1.0;
        });
      };
      CHECK(condition_on(grid, diagonal(0x1p-1070), 2, which) == 0);  // the inverse overflows
      CHECK(condition_on(grid, diagonal(0x1p-1000), 2, which) == Catch::Approx(0x1p-1000));
      CHECK(condition_on(grid, diagonal(1), 2, which) == Catch::Approx(1));
    }
  });
}

TEST_CASE("condition and error bounds: misuse", "[condition][errorbounds][misuse]") {
  on_every_active_grid([&](const ProcessGrid& grid) {
    const bool guilty = grid.all().rank() == grid.all().size() - 1;
    const MatrixLayoutOptions four{4, 4};
    const auto a = distribute(grid, random_matrix<double>(8, 8), four);
    const auto factors =
        plinth::lu_factor(Exec(), distribute(grid, random_matrix<double>(8, 8), four));
    const auto condition = [&](double a_norm, Norm which) {
      return error_of([&] { (void)plinth::condition(Exec(), factors, a_norm, which); });
    };
    CHECK_THAT(condition(guilty ? -1 : 1, Norm::one), contains("not negative"));
    CHECK_THAT(condition(1, guilty ? Norm::max : Norm::one), contains("one or infinity"));
    if (grid.all().size() > 1) {
      CHECK_THAT(condition(guilty ? 2 : 1, Norm::one), contains("different arguments"));
      CHECK_THAT(condition(guilty ? std::nan("") : 1, Norm::one),
                 contains("different arguments"));
      CHECK_THAT(condition(1, guilty ? Norm::inf : Norm::one), contains("different arguments"));
    }

    const ProcessGrid other(grid.all().handle(),
                            plinth::RowMajorGrid{grid.shape().rows, grid.shape().cols});
    const auto b = distribute(grid, Dense<double>(8, 2), four);
    const auto wide = distribute(grid, Dense<double>(8, 3), four);
    const auto elsewhere = distribute(other, Dense<double>(8, 2), four);
    const auto odd_blocks = distribute(grid, Dense<double>(8, 2), {3, 4});
    const auto oblong = distribute(grid, Dense<double>(8, 9), four);
    const auto thin = distribute(grid, random_matrix<double>(8, 8), {2, 2});
    const auto bounds = [&](const auto& m, const auto& rhs, const auto& x, Index at_once = 4) {
      return error_of([&] { (void)plinth::error_bounds(Exec(), m, factors, rhs, x, at_once); });
    };
    CHECK_THAT(bounds(guilty ? oblong : a, b, b), contains("square"));
    CHECK_THAT(bounds(a, b, guilty ? elsewhere : b), contains("different grids"));
    CHECK_THAT(bounds(guilty ? thin : a, b, b), contains("factors are not distributed"));
    CHECK_THAT(bounds(a, guilty ? wide : b, b), contains("dealt alike"));
    const auto& dealt = guilty ? odd_blocks : b;
    CHECK_THAT(bounds(a, dealt, dealt), contains("dealt alike"));
    CHECK_THAT(bounds(a, b, b, guilty ? 0 : 4), contains("at least one"));
    CHECK(bounds(a, b, b) == "(no error)");  // all are in step
  });
}

TEMPLATE_TEST_CASE("error bounds: above the true errors, and as gerfs' own", "[errorbounds]",
                   PLINTH_TEST_TYPES(double, float, ComplexDouble, ComplexFloat)) {
  using T = TestType;
  using Real = plinth::RealOf<T>;
  const double u = plinth::ScalarTraits<T>::epsilon;
  for (const Case& c : cases)
    for (const Index nrhs : {1, 5}) {
      const auto a = whole_numbers<T>(c.n, c.n, 51);
      const auto truth = whole_numbers<T>(c.n, nrhs, 53);
      const auto b = product(a, truth);
      const Getrf<T> f(a);
      Dense<T> by_lapack = b;
      int info = -1;
      lapack::getrs('N', static_cast<int>(c.n), static_cast<int>(nrhs), f.lu.data.data(),
                    f.pivots.data(), by_lapack.data.data(), &info);
      std::vector<Real> ferr(static_cast<std::size_t>(nrhs)), berr(ferr.size());
      lapack::gerfs(static_cast<int>(c.n), static_cast<int>(nrhs), a.data.data(),
                    f.lu.data.data(), f.pivots.data(), b.data.data(), by_lapack.data.data(),
                    ferr.data(), berr.data());
      on_every_active_grid([&](const ProcessGrid& grid) {
        INFO("n " << c.n << ", nb " << c.nb << ", nrhs " << nrhs);
        for (const int steps : {0, 1}) {
          Dense<T> x(0, 0);
          const auto bounds = bounds_on(grid, a, b, x, c.nb, steps, 3);
          REQUIRE(static_cast<Index>(bounds.forward.size()) == nrhs);
          REQUIRE(static_cast<Index>(bounds.backward.size()) == nrhs);
          for (Index k = 0; k < nrhs; ++k) {
            const auto at = static_cast<std::size_t>(k);
            CHECK(bounds.forward[at] >= column_difference(x, truth, k));
            CHECK(bounds.forward[at] < 1e6 * u);
            if (steps == 1) {
              CHECK(bounds.backward[at] <= static_cast<double>(c.n + 1) * u);
              CHECK(bounds.forward[at] <= 3 * static_cast<double>(ferr[at]));
              CHECK(bounds.forward[at] >= static_cast<double>(ferr[at]) / 3);
            }
          }
        }
      });
    }
}

TEST_CASE("error bounds: a wrong solution is found out", "[errorbounds]") {
  const Index n = 20;
  const auto a = whole_numbers<double>(n, n, 51), truth = whole_numbers<double>(n, 3, 53);
  const auto b = product(a, truth);
  on_every_active_grid([&](const ProcessGrid& grid) {
    auto wrong = truth;
    wrong(7, 1) += 0x1p-20;
    const MatrixLayoutOptions square{4, 4}, tall{4, 1};
    const auto factors = plinth::lu_factor(Exec(), distribute<LayoutLeft>(grid, a, square));
    const auto bounds = plinth::error_bounds(Exec(), distribute<LayoutLeft>(grid, a, square),
                                             factors, distribute<LayoutLeft>(grid, b, tall),
                                             distribute<LayoutLeft>(grid, wrong, tall));
    double most = 0, backward = 0;
    for (Index i = 0; i < n; ++i) {
      most = std::max(most, std::abs(truth(i, 1)));
      double scale = std::abs(b(i, 1)), r = std::abs(a(i, 7)) * 0x1p-20;
      for (Index j = 0; j < n; ++j) scale += std::abs(a(i, j)) * std::abs(wrong(j, 1));
      backward = std::max(backward, r / scale);
    }
    CHECK(bounds.backward[0] == 0);
    CHECK(bounds.backward[2] == 0);
    CHECK(bounds.backward[1] == Catch::Approx(backward).epsilon(1e-9));
    CHECK(bounds.forward[1] >= 0x1p-20 / most);
    CHECK(bounds.forward[1] < 1e4 * 0x1p-20 / most);
    CHECK(bounds.forward[0] < 1e-10);
  });
}

TEST_CASE("error bounds: zeros, tiny numbers, singular and non-finite systems", "[errorbounds]") {
  const Index n = 12;
  const double u = 0x1p-53;
  on_every_active_grid([&](const ProcessGrid& grid) {
    Dense<double> x(0, 0);
    const auto a = whole_numbers<double>(n, n, 51);
    // b = 0, so x = 0: no error, and bounds of the error itself.
    auto bounds = bounds_on(grid, a, Dense<double>(n, 2), x, 5, 0);
    for (const std::size_t c : {0u, 1u}) {
      CHECK(bounds.backward[c] == 0);
      CHECK(bounds.forward[c] == 0);
    }
    // An equation apart from the others, whose unknown and right-hand side are 0.
    auto lone = a;
    for (Index j = 0; j < n; ++j) lone(3, j) = lone(j, 3) = j == 3 ? 2 : 0;
    auto truth = whole_numbers<double>(n, 1, 53);
    truth(3, 0) = 0;
    bounds = bounds_on(grid, lone, product(lone, truth), x, 5, 1);
    CHECK(bounds.backward[0] <= (n + 1) * u);
    CHECK(bounds.forward[0] >= column_difference(x, truth, 0));
    // A zero row in A and b.
    auto empty = lone;
    empty(3, 3) = 0;
    const MatrixLayoutOptions five{5, 5};
    const auto factors = plinth::lu_factor(Exec(), distribute(grid, empty, five));
    const auto of_truth = plinth::error_bounds(Exec(), distribute(grid, empty, five), factors,
                                               distribute(grid, product(empty, truth), five),
                                               distribute(grid, truth, five));
    CHECK(of_truth.backward[0] == 0);
    CHECK(of_truth.forward[0] == std::numeric_limits<double>::infinity());

    // A row whose products with x all underflow to 0: nothing is known of it, so it counts as
    // wholly wrong, while the row of zeros above does not.
    auto lost = lone;
    lost(3, 3) = 0x1p-700;
    auto far = truth;
    far(3, 0) = 0x1p-700;
    const auto of_far = plinth::error_bounds(
        Exec(), distribute(grid, lost, five),
        plinth::lu_factor(Exec(), distribute(grid, lost, five)),
        distribute(grid, product(lost, far), five), distribute(grid, far, five));
    CHECK(product(lost, far)(3, 0) == 0);
    CHECK(of_far.backward[0] == 1);

    // A row so small that rounding |A| |x| + |b| may underflow.
    auto tiny = a;
    for (Index j = 0; j < n; ++j) tiny(5, j) *= 0x1p-1015;
    truth = whole_numbers<double>(n, 1, 53);
    bounds = bounds_on(grid, tiny, product(tiny, truth), x, 5, 1);
    CHECK(bounds.backward[0] <= 1);  // what is added makes it large
    CHECK(bounds.forward[0] >= column_difference(x, truth, 0));

    // All of it near underflow and near overflow: as before.
    for (const double scale : {0x1p-900, 0x1p900}) {
      auto scaled = a;
      for (double& e : scaled.data) e *= scale;
      bounds = bounds_on(grid, scaled, product(scaled, truth), x, 5, 1);
      CHECK(bounds.backward[0] <= (n + 1) * u);
      CHECK(bounds.forward[0] >= column_difference(x, truth, 0));
      CHECK(bounds.forward[0] < 1e-9);
    }

    auto bad = product(a, whole_numbers<double>(n, 3, 53));
    bad(4, 1) = std::nan("");
    bounds = bounds_on(grid, a, bad, x, 5, 0);
    CHECK(plinth::is_nan(bounds.backward[1]));
    CHECK(plinth::is_nan(bounds.forward[1]));
    for (const std::size_t c : {0u, 2u}) {
      CHECK(bounds.backward[c] <= 1e-14);
      CHECK(bounds.forward[c] <= 1e-9);
    }
    CHECK(bounds_on(grid, Dense<double>(0, 0), Dense<double>(0, 2), x, 5, 0).forward ==
          std::vector<double>{0, 0});
    CHECK(bounds_on(grid, a, Dense<double>(n, 0), x, 5, 0).forward.empty());
  });
}

TEST_CASE("error bounds of a solution in double from factors in float", "[errorbounds]") {
  const Index n = 30;
  const auto a = whole_numbers<double>(n, n, 51), truth = whole_numbers<double>(n, 2, 53);
  on_every_active_grid([&](const ProcessGrid& grid) {
    const MatrixLayoutOptions square{7, 7};
    const auto da = distribute(grid, a, square), db = distribute(grid, product(a, truth), square);
    auto x = distribute(grid, Dense<double>(n, 2), square);
    CHECK(plinth::solve<plinth::DoubleSingle>(Exec(), da, db, x));
    TestMatrix<float, LayoutRight> rounded(grid, n, n, square);
    plinth::copy(Exec(), da, rounded);
    const auto factors = plinth::lu_factor(Exec(), std::move(rounded));
    const auto bounds = plinth::error_bounds(Exec(), da, factors, db, x);
    for (const Index k : {0, 1}) {
      CHECK(bounds.forward[static_cast<std::size_t>(k)] >=
            column_difference(gather(x), truth, k));
      CHECK(bounds.forward[static_cast<std::size_t>(k)] < 1e-9);
    }
  });
}
