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
using plinth::ScaleWhen;
using ComplexDouble = Kokkos::complex<double>;
using ComplexFloat = Kokkos::complex<float>;

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
  const auto a = distribute<Layout>(grid, whole, layout);
  auto scaled_a = distribute<Layout>(grid, Dense<T>(whole.rows, whole.cols), layout);
  plinth::Equilibration<Exec, TestMatrix<T, Layout>> scaling(Exec(), a);
  scaling.find(a, ScaleWhen::it_pays);
  scaling.scale(a, scaled_a);
  CHECK(same_bits(gather(a), whole));
  // R A S again, from R and S as right-hand sides and solutions see them.
  auto r = distribute<Layout>(grid, Dense<T>(whole.rows, 1), {nb, 1, layout.source_row, 0});
  auto s = distribute<Layout>(grid, Dense<T>(whole.rows, 1), {nb, 1, layout.source_row, 0});
  for (auto* v : {&r, &s})
    plinth::generate(Exec(), *v, [](Index, Index) noexcept { return T(1); });
  scaling.scale_rhs(r);
  scaling.scale_solution(s);
  const auto rows = gather(r), cols = gather(s), found = gather(scaled_a);
  Index wrong = 0;
  for (Index i = 0; i < whole.rows; ++i)
    for (Index j = 0; j < whole.cols; ++j)
      wrong += found(i, j) != whole(i, j) * rows(i, 0) * cols(j, 0);
  CHECK(wrong == 0);
  return {scaling.applied(), scaling.row_condition(), scaling.column_condition(), found};
}

}  // namespace

TEMPLATE_TEST_CASE("equilibration: where it pays, as geequ says", "[equilibration]",
                   PLINTH_TEST_TYPES(double, float, ComplexDouble, ComplexFloat)) {
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

TEST_CASE("equilibration: conditions are quotients of two numbers", "[equilibration]") {
  // Rows of 1, but for one of 3, one of 7 and one of 5; 3/7 has no short binary form.
  const auto a = make_dense<double>(12, 12, [](Index i, Index j) {
    return i != j ? 0.0 : i == 4 ? 7.0 : i == 9 ? 3.0 : 5.0;
  });
  on_every_active_grid([&](const ProcessGrid& grid) {
    const auto found = equilibrated<LayoutRight>(grid, a, 5);
    CHECK(found.row_condition == 3.0 / 7.0);
    CHECK(found.column_condition == 3.0 / 7.0);
    const auto wide = equilibrated<LayoutLeft>(
        grid,
        scaled(
            a, [](Index i) { return i == 4   ? 1000
                                    : i == 9 ? -1000
                                             : 0; }, level),
        5);
    CHECK(wide.row_condition == 3.0 * 0x1p-1000 / (7.0 * 0x1p1000));
  });
}

TEST_CASE("equilibration: an object used again begins anew", "[equilibration]") {
  const auto plain = balanced<double>(18);
  const auto rough = scaled(plain, uneven, uneven);
  on_every_active_grid([&](const ProcessGrid& grid) {
    const MatrixLayoutOptions layout{4, 4};
    auto a = distribute(grid, rough, layout), once = distribute(grid, rough, layout),
         again = distribute(grid, rough, layout);
    using Matrix = TestMatrix<double, LayoutRight>;
    for (const auto when : {ScaleWhen::it_pays, ScaleWhen::always}) {
      plinth::Equilibration<Exec, Matrix> fresh(Exec(), a), used(Exec(), a);
      const auto other = distribute(grid, scaled(plain, level, uneven), layout);
      used.find(other, when);
      fresh.find(a, when);
      used.find(a, when);
      fresh.scale(a, once);
      used.scale(a, again);
      CHECK(same_bits(gather(once), gather(again)));
      CHECK(used.applied() == Equilibrated::both);
      // Where little is gained, too, or not.
      fresh.find(distribute(grid, plain, layout), when);
      CHECK((fresh.applied() != Equilibrated::none) == (when == ScaleWhen::always));
    }
  });
}

TEMPLATE_TEST_CASE("equilibration: always, each row below 2, each column in [1, 2)",
                   "[equilibration]",
                   PLINTH_TEST_TYPES(double, float, ComplexDouble, ComplexFloat)) {
  using T = TestType;
  const Index n = 34;
  const auto whole = scaled(balanced<T>(n), uneven, [](Index j) { return uneven(j + 5); });
  on_every_active_grid([&](const ProcessGrid& grid) {
    const MatrixLayoutOptions layout{5, 5, grid.shape().rows - 1, 0};
    const auto a = distribute(grid, whole, layout);
    auto to = distribute(grid, whole, layout);
    plinth::Equilibration<Exec, TestMatrix<T, LayoutRight>> scaling(Exec(), a);
    scaling.find(a, ScaleWhen::always);
    scaling.scale(a, to, 3);
    const auto found = gather(to);
    for (Index j = 0; j < n; ++j) {
      double column = 0, row = 0;
      for (Index i = 0; i < n; ++i) {
        column = std::max<double>(column, plinth::modulus(found(i, j)));
        row = std::max<double>(row, plinth::modulus(found(j, i)));
      }
      CHECK((column >= 8 && column < 16));
      CHECK(row < 16);
    }
  });
}
