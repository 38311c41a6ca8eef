// SPDX-License-Identifier: BSD-3-Clause
//
// What solve() says when it is asked: condition, error bounds, and what was scaled.
#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/mixed_instances.hpp"
#include "support/problems.hpp"
#include "support/refined.hpp"

using namespace plinth_test;
using Kokkos::LayoutRight;
using plinth::Equilibrated;
using plinth::MatrixLayoutOptions;
using plinth::NoRefinement;
using plinth::Outcome;
using plinth::ProcessGrid;
using plinth::SolveOptions;

namespace {

using InOwnType = SolveOptions<NoRefinement>;
constexpr plinth::Questions all{.condition = true, .error_bounds = true};

struct Answer {
  plinth::SolveReport report;
  Dense<double> x;
};
template <class Precision, class Options>
Answer ask(const ProcessGrid& grid, const Dense<double>& a, const Dense<double>& b, Index nb,
           const Options& options) {
  const MatrixLayoutOptions square{nb, nb, grid.shape().rows - 1, grid.shape().cols / 2};
  const MatrixLayoutOptions tall{nb, 1, grid.shape().rows - 1, 0};
  const auto da = distribute(grid, a, square), db = distribute(grid, b, tall);
  auto dx = distribute(grid, b, tall);
  const auto report = plinth::solve<Precision>(Exec(), da, db, dx, options);
  CHECK(same_bits(gather(da), a));
  CHECK(same_bits(gather(db), b));
  return {report, gather(dx)};
}

/// Small whole numbers, so that A x = b holds without rounding.
Dense<double> whole_numbers(Index m, Index n, std::uint64_t seed) {
  return make_dense<double>(
      m, n, [=](Index i, Index j) { return std::round(16 * noise(i, j, seed)) + 0.0; });
}
Dense<double> product(const Dense<double>& a, const Dense<double>& x) {
  Dense<double> b(a.rows, x.cols);
  for (Index c = 0; c < x.cols; ++c)
    for (Index j = 0; j < a.cols; ++j)
      for (Index i = 0; i < a.rows; ++i) b(i, c) += a(i, j) * x(j, c);
  return b;
}
double relative_error(const Dense<double>& x, const Dense<double>& truth, Index c) {
  double most = 0, difference = 0;
  for (Index i = 0; i < x.rows; ++i) {
    most = std::max(most, std::abs(x(i, c)));
    difference = std::max(difference, std::abs(x(i, c) - truth(i, c)));
  }
  return difference / most;
}

template <class Precision, class Options>
void check_answers(const ProcessGrid& grid, Options options) {
  const Index n = 34;
  const auto a = whole_numbers(n, n, 51), truth = whole_numbers(n, 2, 53);
  options.ask = all;
  const auto answer = ask<Precision>(grid, a, product(a, truth), 5, options);
  REQUIRE(answer.report);
  // The condition as condition() sees it, in double.
  auto d = distribute(grid, a, {5, 5});
  const double a_norm = plinth::norm(Exec(), d, plinth::Norm::inf);
  const double expected = plinth::condition(Exec(), plinth::lu_factor(Exec(), std::move(d)),
                                            a_norm, plinth::Norm::inf);
  REQUIRE(answer.report.condition);
  CHECK(*answer.report.condition > expected / 3);
  CHECK(*answer.report.condition < expected * 3);
  REQUIRE(answer.report.error_bounds);
  for (Index c = 0; c < 2; ++c) {
    const auto at = static_cast<std::size_t>(c);
    CHECK(answer.report.error_bounds->forward[at] >= relative_error(answer.x, truth, c));
    CHECK(answer.report.error_bounds->forward[at] < 1e-9);
    CHECK(answer.report.error_bounds->backward[at] < 1e-12);
  }
  options.ask = {};
  const auto silent = ask<Precision>(grid, a, product(a, truth), 5, options).report;
  CHECK_FALSE(silent.condition);
  CHECK_FALSE(silent.error_bounds);
}

}  // namespace

TEST_CASE("solve: condition and error bounds where they are asked for", "[solve][questions]") {
  on_every_active_grid([&](const ProcessGrid& grid) {
    check_answers<plinth::Uniform<double>>(grid, InOwnType{});
    check_answers<plinth::DoubleSingle>(grid, SolveOptions<>{});
    check_answers<plinth::DoubleSingle>(grid, SolveOptions<>{.equilibrate = true});
#ifndef PLINTH_TEST_ON_STAND_IN  // locked_device_mixed.cpp has that
    check_answers<plinth::DoubleHalf>(grid, SolveOptions<>{});
#endif
  });
}

TEST_CASE("solve: rows and columns are scaled where it pays", "[solve][equilibration]") {
  const Index n = 30;
  const auto base = make_dense<double>(
      n, n, [](Index i, Index j) { return noise(i, j, 91) + (i == j ? 2 : 0); });
  const auto rhs = make_dense<double>(n, 1, [](Index i, Index) { return noise(i, 0, 92); });
  on_every_active_grid([&](const ProcessGrid& grid) {
    for (const int kind : {0, 1, 2, 3}) {
      const auto a = make_dense<double>(n, n, [&](Index i, Index j) {
        return std::ldexp(base(i, j), (kind % 2 == 1 && i % 3 == 0 ? 60 : 0) +
                                          (kind >= 2 && j % 4 == 0 ? -70 : 0));
      });
      INFO("kind " << kind);
      const auto answer =
          ask<plinth::Uniform<double>>(grid, a, rhs, 4, InOwnType{.ask = {.error_bounds = true}});
      REQUIRE(answer.report);
      CHECK(answer.report.equilibrated ==
            std::vector{Equilibrated::none, Equilibrated::rows, Equilibrated::columns,
                        Equilibrated::both}[static_cast<std::size_t>(kind)]);
      CHECK(answer.report.error_bounds->backward[0] <= 30 * 0x1p-53 * n);
      const auto off =
          ask<plinth::Uniform<double>>(grid, a, rhs, 4, InOwnType{.equilibrate = false});
      CHECK(off.report.equilibrated == Equilibrated::none);
    }
    // Without scaling the inverse of this one overflows.
    const auto tiny = make_dense<double>(
        n, n, [&](Index i, Index j) { return std::ldexp(base(i, j), i < 15 ? -1040 : 0); });
    const auto answer =
        ask<plinth::Uniform<double>>(grid, tiny, Dense<double>(n, 1), 4, InOwnType{});
    CHECK(answer.report.equilibrated == Equilibrated::rows);
    CHECK(answer.report);
  });
}

TEST_CASE("solve: answers about singular and non-finite systems, misuse", "[solve][questions]") {
  const Index n = 12;
  on_every_active_grid([&](const ProcessGrid& grid) {
    auto a = whole_numbers(n, n, 51);
    const auto b = whole_numbers(n, 1, 52);
    for (Index i = 0; i < n; ++i) a(i, 7) = 0;
    auto report = ask<plinth::Uniform<double>>(grid, a, b, 5, InOwnType{.ask = all}).report;
    CHECK(report.outcome == Outcome::singular);
    CHECK(report.column == 7);
    CHECK(report.condition == 0.0);
    CHECK_FALSE(report.error_bounds);
    a(3, 7) = std::nan("");
    report = ask<plinth::Uniform<double>>(grid, a, b, 5, InOwnType{.ask = all}).report;
    CHECK(report.outcome == Outcome::non_finite);
    CHECK(plinth::is_nan(report.condition.value()));

    const bool guilty = grid.all().rank() == grid.all().size() - 1;
    CHECK_THAT(error_of([&] {
                 (void)ask<plinth::Uniform<double>>(grid, a, b, 5,
                                                    InOwnType{.fall_back = guilty});
               }),
               contains("nothing to fall back to"));
    if (grid.all().size() > 1)
      CHECK_THAT(error_of([&] {
                   (void)ask<plinth::Uniform<double>>(grid, a, b, 5,
                                                      InOwnType{.ask = {.condition = guilty}});
                 }),
                 contains("different arguments"));
  });
}
