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

using Complex = Kokkos::complex<double>;
struct ComplexSingle {
  using Working = Complex;
  using Factor = Kokkos::complex<float>;
};

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

template <class Precision, class Options>
void check_answers(const ProcessGrid& grid, Options options) {
  const Index n = 34;
  const auto a = whole_numbers<double>(n, n, 51), truth = whole_numbers<double>(n, 2, 53);
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
    CHECK(answer.report.error_bounds->forward[at] >= column_difference(answer.x, truth, c));
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
      const MatrixLayoutOptions layout{4, 4};
      auto x = distribute(grid, rhs, layout);
      const auto plain =
          plinth::solve(Exec(), distribute(grid, a, layout), distribute(grid, rhs, layout), x);
      CHECK(plain);
      CHECK(plain.equilibrated == answer.report.equilibrated);
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
    auto a = whole_numbers<double>(n, n, 51);
    const auto b = whole_numbers<double>(n, 1, 52);
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

TEST_CASE("solve: answers where a narrower type has none", "[solve][questions]") {
  const Index n = 12;
  on_every_active_grid([&](const ProcessGrid& grid) {
    const auto b = whole_numbers<double>(n, 1, 52);
    const auto in_float = [&](const Dense<double>& a, bool fall_back = false) {
      return ask<plinth::DoubleSingle>(grid, a, b, 5,
                                       SolveOptions<>{.fall_back = fall_back, .ask = all})
          .report;
    };
    auto a = whole_numbers<double>(n, n, 51);
    for (Index i = 0; i < n; ++i) a(i, 7) = 0;
    const auto singular = in_float(a);
    CHECK(singular.outcome == Outcome::singular);
    CHECK(singular.condition == 0.0);
    CHECK_FALSE(singular.error_bounds);
    CHECK(plinth::is_nan(singular.backward_error));

    a = whole_numbers<double>(n, n, 51);
    a(2, 3) = 1e200;  // float does not hold it
    const auto overflow = in_float(a);
    CHECK(overflow.outcome == Outcome::overflow);
    REQUIRE(overflow.condition);
    CHECK(plinth::is_nan(*overflow.condition));
    CHECK_FALSE(overflow.error_bounds);
    CHECK(plinth::is_nan(overflow.backward_error));
    const auto safe = in_float(a, true);
    CHECK(safe);
    CHECK(safe.condition.value() > 0);
    CHECK(safe.error_bounds);

    a(2, 3) = std::nan("");
    const auto bad = in_float(a, true);
    CHECK(bad.outcome == Outcome::non_finite);
    CHECK_FALSE(bad.fell_back_from);
    CHECK(plinth::is_nan(bad.condition.value()));
  });
}

TEST_CASE("solve: the condition of nothing is condition()'s", "[solve][questions]") {
  on_every_active_grid([&](const ProcessGrid& grid) {
    const Dense<double> nothing(0, 0), none(0, 2);
    CHECK(ask<plinth::Uniform<double>>(grid, nothing, none, 5, InOwnType{.ask = all})
              .report.condition == 1.0);
    CHECK(ask<plinth::DoubleSingle>(grid, nothing, none, 5, SolveOptions<>{.ask = all})
              .report.condition == 1.0);
  });
}

TEST_CASE("solve: a finite A whose norm overflows is not called non-finite", "[solve][refined]") {
  // Four entries of a row add up to more than a double holds.
  const Index n = 12;
  const auto a = make_dense<double>(n, n, [](Index i, Index j) {
    return i == 4 ? (j % 3 == 1 ? 0x1.8p1022 : 0x1p1000) : noise(i, j, 91) + (i == j ? 2 : 0);
  });
  const auto b = whole_numbers<double>(n, 1, 52);
  on_every_active_grid([&](const ProcessGrid& grid) {
    const auto answer = ask<plinth::DoubleSingle>(grid, a, b, 5, SolveOptions<>{.ask = all});
    CHECK(answer.report.outcome == Outcome::overflow);
    const auto safe = ask<plinth::DoubleSingle>(grid, a, b, 5, SolveOptions<>{.fall_back = true});
    CHECK(safe.report.fell_back_from == Outcome::overflow);
    CHECK(safe.report.outcome == Outcome::solved);
  });
}

TEST_CASE("solve: complex matrices are scaled before they are rounded",
          "[solve][equilibration]") {
  const Index n = 20;
  const auto a = make_dense<Complex>(n, n, [](Index i, Index j) {
    return (noise_as<Complex>(i, j, 5) + Complex(i == j ? 2 : 0)) *
           std::ldexp(1.0, static_cast<int>(60 * (i % 5) - 40 * (j % 7)));
  });
  const auto b =
      make_dense<Complex>(n, 1, [](Index i, Index) { return noise_as<Complex>(i, 0); });
  on_every_active_grid([&](const ProcessGrid& grid) {
    const MatrixLayoutOptions square{4, 4};
    const auto da = distribute(grid, a, square), db = distribute(grid, b, square);
    auto dx = distribute(grid, b, square);
    const auto plain = plinth::solve<ComplexSingle>(Exec(), da, db, dx, SolveOptions<>{});
    CHECK(plain.outcome == Outcome::overflow);
    const auto scaled =
        plinth::solve<ComplexSingle>(Exec(), da, db, dx, SolveOptions<>{.equilibrate = true});
    CHECK(scaled.outcome == Outcome::solved);
    CHECK(scaled.equilibrated == Equilibrated::both);
    CHECK(solve_ratio(a, gather(dx), b, plinth::Op::none) < 30);
  });
}
