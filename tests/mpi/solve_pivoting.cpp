// SPDX-License-Identifier: BSD-3-Clause
//
// solve() with every pivoting policy, in A's own type and with factors in a narrower one.
#include <string>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"
#include "support/mixed_instances.hpp"
#include "support/pivoting.hpp"
#include "support/problems.hpp"
#include "support/refined.hpp"

using namespace plinth_test;
using plinth::MatrixLayoutOptions;
using plinth::NoPivoting;
using plinth::NoRefinement;
using plinth::Outcome;
using plinth::PartialPivoting;
using plinth::ProcessGrid;
using plinth::SolveOptions;
using plinth::ThresholdPivoting;
using plinth::TournamentPivoting;

namespace {

/// Random numbers; with a dominant diagonal where LU has to do without interchanges.
template <class T>
Dense<T> matrix(Index n, bool dominant) {
  using Real = plinth::RealOf<T>;
  return make_dense<T>(n, n, [=](Index i, Index j) {
    return noise_as<T>(i, j, 61) + T(i == j && dominant ? static_cast<Real>(n) : Real(0));
  });
}

/// Calls f(name, policy) for every kind of policy.
template <class F>
void with_every_policy(const F& f) {
  f("partial", PartialPivoting{});
  f("none", NoPivoting{});
  f("threshold", ThresholdPivoting{.threshold = 0.25});
  f("tournament", TournamentPivoting{});
  f("own", PreferNear{.group = 3});
}

/// A A^-1 B by a solve on a grid, judged by the ratios.
template <class Precision, class Pivoting, class Options>
void check_solve(const ProcessGrid& grid, const Pivoting& pivoting, const Options& options) {
  using T = typename plinth::PrecisionRoles<Precision>::Working;
  struct Size {
    Index n, nb, nrhs;
  };
  for (const Size s : {Size{0, 4, 1}, Size{1, 4, 2}, Size{37, 5, 3}}) {
    INFO("n " << s.n << ", nb " << s.nb);
    const auto a = matrix<T>(s.n, !Pivoting::exchanges_rows);
    const auto b =
        make_dense<T>(s.n, s.nrhs, [](Index i, Index j) { return noise_as<T>(i, j, 62); });
    const MatrixLayoutOptions square{s.nb, s.nb, grid.shape().rows - 1, 0};
    const MatrixLayoutOptions tall{s.nb, 2, grid.shape().rows - 1, 0};
    const auto da = distribute(grid, a, square), db = distribute(grid, b, tall);
    auto dx = distribute(grid, Dense<T>(s.n, s.nrhs), tall);
    const auto report = plinth::solve<Precision>(Host(), da, db, dx, pivoting, options);
    CHECK(report.outcome == Outcome::solved);
    CHECK(same_bits(gather(da), a));
    CHECK(same_bits(gather(db), b));
    const double u = static_cast<double>(plinth::ScalarTraits<T>::epsilon);
    CHECK(report.backward_error <= static_cast<double>(s.n + 1) * u);
    CHECK(solve_ratio(a, gather(dx), b, plinth::Op::none) < 30);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("solve: every pivoting policy in A's own type", "[solve][pivoting]", double,
                   float, Kokkos::complex<double>, Kokkos::complex<float>) {
  using Precision = plinth::Uniform<TestType>;
  on_every_active_grid([](const ProcessGrid& grid) {
    with_every_policy([&](const char* name, const auto& pivoting) {
      INFO(name);
      check_solve<Precision>(grid, pivoting, SolveOptions<NoRefinement>{});
      check_solve<Precision>(grid, pivoting, plinth::lu::FactorOptions{.lookahead = 0});
    });
  });
}

TEST_CASE("solve: every pivoting policy with factors in float", "[solve][pivoting][refined]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    with_every_policy([&](const char* name, const auto& pivoting) {
      INFO(name);
      check_solve<plinth::DoubleSingle>(grid, pivoting, SolveOptions<>{});
    });
  });
}

TEST_CASE("solve: 16-bit operands without pivoting", "[solve][pivoting][refined]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    check_solve<plinth::DoubleHalf>(grid, NoPivoting{}, SolveOptions<>{});
    check_solve<plinth::DoubleHalf>(grid, PartialPivoting{}, SolveOptions<>{});
  });
}

TEST_CASE("solve: the policy that is given is the one that picks", "[solve][pivoting]") {
  // Without interchanges the first pivot is 0; with a policy of its own, which prefers rows near
  // the diagonal, or with a tournament, it is not.
  auto a = matrix<double>(12, true);
  a(0, 0) = 0;
  const auto b = make_dense<double>(12, 1, [](Index i, Index j) { return noise(i, j, 62); });
  const MatrixLayoutOptions layout{3, 3};
  on_every_active_grid([&](const ProcessGrid& grid) {
    const auto da = distribute(grid, a, layout), db = distribute(grid, b, layout);
    auto dx = distribute(grid, b, layout);
    with_every_policy([&](const char* name, const auto& pivoting) {
      INFO(name);
      const bool none = !std::decay_t<decltype(pivoting)>::exchanges_rows;
      const auto own = plinth::solve(Host(), da, db, dx, pivoting);
      CHECK(own.outcome == (none ? Outcome::singular : Outcome::solved));
      CHECK(own.column == (none ? 0 : -1));
      const auto narrow = plinth::solve<plinth::DoubleSingle>(Host(), da, db, dx, pivoting);
      CHECK(narrow.outcome == own.outcome);
      // Falling back, too, pivots as was said.
      const auto safe = plinth::solve<plinth::DoubleSingle>(Host(), da, db, dx, pivoting,
                                                            SolveOptions<>{.fall_back = true});
      CHECK(safe.outcome == own.outcome);
      CHECK(safe.fell_back_from.has_value() == none);
    });
  });
}

TEST_CASE("solve: pivoting policies that are not valid, or differ", "[solve][pivoting][misuse]") {
  const MatrixLayoutOptions layout{3, 3};
  on_every_active_grid([&](const ProcessGrid& grid) {
    const bool guilty = grid.all().rank() == grid.all().size() - 1;
    const auto da = distribute(grid, matrix<double>(9, false), layout);
    const auto db = distribute(grid, Dense<double>(9, 1), layout);
    auto dx = distribute(grid, Dense<double>(9, 1), layout);
    const auto error = [&](const auto& pivoting) {
      const auto own = error_of([&] { (void)plinth::solve(Host(), da, db, dx, pivoting); });
      const auto narrow = error_of(
          [&] { (void)plinth::solve<plinth::DoubleSingle>(Host(), da, db, dx, pivoting); });
      CHECK(own == narrow);
      return own;
    };
    CHECK_THAT(error(ThresholdPivoting{.threshold = guilty ? 2.0 : 0.5}), contains("threshold"));
    CHECK_THAT(error(TournamentPivoting{.radix = guilty ? 1 : 2}), contains("radix"));
    if (grid.all().size() > 1)
      CHECK_THAT(error(ThresholdPivoting{.threshold = guilty ? 0.25 : 0.5}),
                 contains("different arguments"));
  });
}
