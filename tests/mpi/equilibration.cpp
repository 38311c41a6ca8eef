// SPDX-License-Identifier: BSD-3-Clause
//
// Scaling by powers of two where it pays, against LAPACK's geequ.
#include <cmath>
#include <limits>

#include "plinth/solve/equilibration.hpp"
#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/lapack_reference.hpp"
#include "support/problems.hpp"
#include "support/refined.hpp"

using namespace plinth_test;
using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::Equilibrated;
using plinth::MatrixLayoutOptions;
using plinth::ProcessGrid;
using ComplexDouble = Kokkos::complex<double>;

namespace {

/// Noise with a modulus of 1/2 at least on the diagonal.
template <class T>
Dense<T> balanced(Index n) {
  return make_dense<T>(
      n, n, [](Index i, Index j) { return noise_as<T>(i, j, 91) + T(i == j ? 2 : 0); });
}
/// Row i times 2^row(i), column j times 2^col(j).
template <class T, class Row, class Col>
Dense<T> scaled(const Dense<T>& a, const Row& row, const Col& col) {
  return make_dense<T>(a.rows, a.cols, [&](Index i, Index j) {
    return a(i, j) * static_cast<plinth::RealOf<T>>(std::ldexp(1.0, row(i) + col(j)));
  });
}
constexpr auto level = [](Index) { return 0; };
constexpr auto uneven = [](Index i) { return static_cast<int>(i * 7 % 23) - 11; };

template <class Layout, class T>
struct Result {
  Equilibrated applied;
  double row_condition, column_condition;
  Dense<T> a;
};
template <class Layout, class T>
Result<Layout, T> equilibrated(const ProcessGrid& grid, const Dense<T>& whole, Index nb) {
  const MatrixLayoutOptions layout{nb, nb, grid.shape().rows - 1, grid.shape().cols / 2};
  auto a = distribute<Layout>(grid, whole, layout);
  plinth::RowColumnScaling<Exec, TestMatrix<T, Layout>> scaling(Exec(), a);
  scaling.equilibrate(a);
  // R A S again, from R and S as right-hand sides and solutions see them.
  auto r = distribute<Layout>(grid, Dense<T>(whole.rows, 1), {nb, 1, layout.source_row, 0});
  auto s = distribute<Layout>(grid, Dense<T>(whole.rows, 1), {nb, 1, layout.source_row, 0});
  for (auto* v : {&r, &s})
    plinth::generate(Exec(), *v, [](Index, Index) noexcept { return T(1); });
  scaling.scale_rhs(r);
  scaling.scale_solution(s);
  const auto rows = gather(r), cols = gather(s), found = gather(a);
  Index wrong = 0;
  for (Index i = 0; i < whole.rows; ++i)
    for (Index j = 0; j < whole.cols; ++j)
      wrong += found(i, j) != whole(i, j) * rows(i, 0) * cols(j, 0);
  CHECK(wrong == 0);
  return {scaling.applied(), scaling.row_condition(), scaling.column_condition(), found};
}

}  // namespace

TEMPLATE_TEST_CASE("equilibration: where it pays, as geequ says", "[equilibration]",
                   PLINTH_TEST_TYPES(double, float, ComplexDouble)) {
  using T = TestType;
  using Real = plinth::RealOf<T>;
  for (const Index n : {1, 7, 34})
    for (const int kind : {0, 1, 2, 3}) {
      const bool rows = kind % 2 == 1 && n > 1, cols = kind >= 2 && n > 1;
      const auto row = [&](Index i) { return rows ? uneven(i) : level(i); };
      const auto col = [&](Index j) { return cols ? uneven(j) : level(j); };
      const auto whole = scaled(balanced<T>(n), row, col);
      std::vector<Real> r(static_cast<std::size_t>(n)), c(r.size());
      Real row_condition = 0, column_condition = 0, largest = 0;
      int info = -1;
      lapack::geequ(static_cast<int>(n), whole.data.data(), r.data(), c.data(), &row_condition,
                    &column_condition, &largest, &info);
      REQUIRE(info == 0);
      on_every_active_grid([&](const ProcessGrid& grid) {
        INFO("n " << n << ", rows " << rows << ", columns " << cols);
        const auto found = equilibrated<LayoutRight>(grid, whole, 5);
        // geequ measures complex numbers by |re| + |im|.
        CHECK(found.row_condition <= 2 * static_cast<double>(row_condition));
        CHECK(found.row_condition >= static_cast<double>(row_condition) / 2);
        const bool scales_rows = row_condition < Real(0.1);
        if (rows) CHECK(scales_rows);
        CHECK((found.applied == Equilibrated::rows || found.applied == Equilibrated::both) ==
              scales_rows);
        for (Index i = 0; i < n; ++i) {
          double most = 0;
          for (Index j = 0; j < n; ++j)
            most = std::max<double>(most, plinth::modulus(found.a(i, j)));
          if (found.applied == Equilibrated::rows) CHECK((most >= 1 && most < 2));
        }
        for (Index j = 0; j < n; ++j) {
          double most = 0;
          for (Index i = 0; i < n; ++i)
            most = std::max<double>(most, plinth::modulus(found.a(i, j)));
          if (found.applied == Equilibrated::both || found.applied == Equilibrated::columns)
            CHECK((most >= 1 && most < 2));
        }
        if (!rows && !cols) CHECK(found.applied == Equilibrated::none);
        if (rows && !cols) CHECK(found.applied == Equilibrated::rows);
        if (cols) CHECK(found.applied != Equilibrated::none);
      });
    }
}

TEST_CASE("equilibration: near underflow and overflow", "[equilibration]") {
  const auto a = balanced<double>(20);
  on_every_active_grid([&](const ProcessGrid& grid) {
    for (const int exponent : {-1000, 1000}) {
      const auto found = equilibrated<LayoutLeft>(grid,
                                                  scaled(
                                                      a, [=](Index) { return exponent; }, level),
                                                  6);
      CHECK(found.applied == Equilibrated::rows);
      CHECK(found.row_condition > 0.1);
    }
    CHECK(equilibrated<LayoutLeft>(grid,
                                   scaled(
                                       a, [](Index) { return 100; }, level),
                                   6)
              .applied == Equilibrated::none);
    // A range of 2^2000.
    const auto wide = scaled(
        a, [](Index i) { return i < 10 ? -1000 : 1000; }, level);
    const auto found = equilibrated<LayoutLeft>(grid, wide, 6);
    CHECK(found.applied == Equilibrated::rows);
    CHECK(found.row_condition < 1e-300);
  });
}

TEST_CASE("equilibration: rows and columns of zeros, NaN, nothing", "[equilibration]") {
  on_every_active_grid([&](const ProcessGrid& grid) {
    const auto base = scaled(balanced<double>(15), uneven, level);
    auto a = base;
    for (Index j = 0; j < 15; ++j) a(4, j) = 0;
    CHECK(equilibrated<LayoutRight>(grid, a, 4).applied == Equilibrated::none);
    a = base;
    for (Index i = 0; i < 15; ++i) a(i, 4) = 0;
    CHECK(equilibrated<LayoutRight>(grid, a, 4).applied == Equilibrated::rows);
    a = base;
    a(3, 12) = std::numeric_limits<double>::infinity();
    CHECK(equilibrated<LayoutRight>(grid, a, 4).applied == Equilibrated::none);
    CHECK(equilibrated<LayoutRight>(grid, Dense<double>(0, 0), 4).applied == Equilibrated::none);
  });
}
