// SPDX-License-Identifier: BSD-3-Clause
//
// solve<DoubleSingle>: FP32 factors, an FP64 answer; what becomes of systems for which that is too
// little.
#include <limits>

#include "support/locked_device.hpp"
#include "support/refined.hpp"

using namespace plinth_test;
using plinth::ClassicalRefinement;
using plinth::DoubleSingle;
using plinth::GmresRefinement;
using plinth::Outcome;
using plinth::ProcessGrid;
using plinth::RefinementOutcome;
using plinth::SolveOptions;
using Matrix = TestMatrix<double, Kokkos::LayoutRight>;

namespace {

double entry(Index i, Index j) { return noise(i, j, 91); }
double rhs_entry(Index i, Index j) { return noise(i, j, 92); }

}  // namespace

TEST_CASE("DoubleSingle: every right-hand side to its own backward error", "[refined]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    struct Size {
      Index n, nb, nrhs;
    };
    for (const Size s : {Size{0, 4, 2}, {1, 4, 1}, {37, 8, 0}, {37, 5, 1}, {50, 6, 5}}) {
      INFO("n " << s.n << ", nb " << s.nb << ", nrhs " << s.nrhs);
      const auto a = make_dense<double>(s.n, s.n, entry);
      const int exponents[] = {0, -800, 800, 30};
      const auto b = make_dense<double>(s.n, s.nrhs, [&](Index i, Index j) {
        return j == 4 ? 0.0 : std::ldexp(rhs_entry(i, j), exponents[j]);
      });
      const auto gmres = solve_and_check<DoubleSingle>(grid, a, b, s.nb, SolveOptions<>{});
      CHECK(gmres.outcome == Outcome::solved);
      CHECK(gmres.refinement.iterations() <= 6);
      const auto classical =
          solve_and_check<DoubleSingle>(grid, a, b, s.nb, SolveOptions<ClassicalRefinement>{});
      CHECK(classical.outcome == Outcome::solved);
      CHECK(classical.refinement.iterations() <= 6);
      CHECK_FALSE(classical.fell_back_from);
    }
  });
}

TEST_CASE("DoubleSingle: conditions up to and beyond what FP32 can do", "[refined]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 45;
    const double u = 0x1p-24;
    const auto b = make_dense<double>(n, 3, rhs_entry);
    for (const double condition : {1.0, 1 / std::sqrt(u), 0.1 / u, 10 / u, 1e16}) {
      INFO("condition " << condition);
      const auto a = svd_type(n, condition);
      const auto gmres = solve_and_check<DoubleSingle>(grid, a, b, 7, SolveOptions<>{});
      if (condition < 1 / u) CHECK(gmres.outcome == Outcome::solved);
      const auto classical =
          solve_and_check<DoubleSingle>(grid, a, b, 7, SolveOptions<ClassicalRefinement>{});
      if (condition < 1e4) CHECK(classical.outcome == Outcome::solved);
      for (const auto* report : {&gmres, &classical})
        CHECK((report->outcome == Outcome::solved || report->outcome == Outcome::not_converged));
      // With FP64 to fall back to there is always an answer.
      const auto safe = solve_and_check<DoubleSingle>(
          grid, a, b, 7, SolveOptions<ClassicalRefinement>{.fall_back = true});
      CHECK(safe.outcome == Outcome::solved);
      CHECK(safe.fell_back_from.has_value() == !classical);
    }
  });
}

TEST_CASE("DoubleSingle: falling back is reported", "[refined]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 30;
    const auto b = make_dense<double>(n, 2, rhs_entry);
    const auto run = [&](const Dense<double>& a, SolveOptions<> options) {
      options.fall_back = false;
      const auto alone = solve_and_check<DoubleSingle>(grid, a, b, 4, options);
      CHECK_FALSE(alone.fell_back_from);
      options.fall_back = true;
      const auto with = solve_and_check<DoubleSingle>(grid, a, b, 4, options);
      CHECK(with.outcome == Outcome::solved);
      CHECK(with.column == -1);
      CHECK(with.fell_back_from == alone.outcome);
      CHECK(with.backward_error <= static_cast<double>(n + 1) * 0x1p-53);
      CHECK(with.refinement.columns.size() == alone.refinement.columns.size());
      return alone;
    };
    const auto good = make_dense<double>(n, n, entry);
    // No refinement allowed: not converged, the plain solution and its error are there.
    const auto limited = run(good, {.refinement = {.max_cycles = 0}});
    CHECK(limited.outcome == Outcome::not_converged);
    CHECK(limited.backward_error > 1e-12);
    CHECK(limited.backward_error < 1e-4);
    CHECK(limited.refinement.columns[1].outcome == RefinementOutcome::iteration_limit);

    // An entry that FP32 cannot hold; equilibration makes it fit.
    auto large = good;
    for (Index j = 0; j < n; ++j) large(3, j) *= 0x1p200;
    const auto overflow = run(large, {});
    CHECK(overflow.outcome == Outcome::overflow);
    CHECK(overflow.lost.overflowed > 0);
    CHECK(overflow.refinement.columns.empty());
    const auto scaled =
        solve_and_check<DoubleSingle>(grid, large, b, 4, SolveOptions<>{.equilibrate = true});
    CHECK(scaled.outcome == Outcome::solved);
    CHECK(scaled.lost.overflowed == 0);

    // Rows that differ by less than FP32 sees: singular there, not in FP64.
    auto close = make_dense<double>(n, n, [](Index i, Index j) { return i == j ? 1.0 : 0.0; });
    close(1, 0) = 1;
    close(0, 1) = 1;
    close(1, 1) = 1 + 0x1p-30;
    const auto singular = run(close, {});
    CHECK(singular.outcome == Outcome::singular);
    CHECK(singular.column == 1);
  });
}

TEST_CASE("DoubleSingle: singular and non-finite systems", "[refined]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 22;
    const auto good = make_dense<double>(n, n, entry);
    const auto b = make_dense<double>(n, 2, rhs_entry);
    for (const bool fall_back : {false, true}) {
      INFO("fall back " << fall_back);
      const SolveOptions<> options{.fall_back = fall_back};
      auto a = good;
      for (Index i = 0; i < n; ++i) a(i, 9) = 0;
      const auto singular = solve_and_check<DoubleSingle>(grid, a, b, 4, options);
      CHECK(singular.outcome == Outcome::singular);
      CHECK(singular.column == 9);
      CHECK(singular.fell_back_from.has_value() == fall_back);

      a = good;
      a(n - 1, 13) = std::numeric_limits<double>::quiet_NaN();
      const auto nan = solve_and_check<DoubleSingle>(grid, a, b, 4, options);
      CHECK(nan.outcome == Outcome::non_finite);
      CHECK(nan.column == 13);
      CHECK_FALSE(nan.fell_back_from);  // in FP64 it is one too

      auto bad = b;
      bad(n / 2, 0) = std::numeric_limits<double>::infinity();
      const auto inf = solve_and_check<DoubleSingle>(grid, good, bad, 4, options);
      CHECK(inf.outcome == Outcome::non_finite);
      CHECK(inf.column == -1);
      CHECK_FALSE(inf.fell_back_from);
      CHECK(inf.refinement.columns[0].outcome == RefinementOutcome::non_finite);
      CHECK(inf.refinement.columns[1].outcome == RefinementOutcome::converged);
    }
  });
}

TEST_CASE("DoubleSingle on the stand-in device", "[refined][device]") {
  using DeviceMatrix = plinth::DistributedMatrix<double, LockedMemory, Kokkos::LayoutRight>;
  const LockedDevice device;
  const int ranks = world_size(), p = ranks % 2 == 0 ? 2 : 1;
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{p, ranks / p});
  const Index n = 21;
  const plinth::MatrixLayoutOptions square{.mb = 4, .nb = 4}, tall{.mb = 4, .nb = 1};
  DeviceMatrix a(grid, n, n, square), b(grid, n, 2, tall), x(grid, n, 2, tall);
  HostMatrix<double, Kokkos::LayoutRight> ha(grid, n, n, square), hb(grid, n, 2, tall),
      hx(grid, n, 2, tall);
  plinth::generate(device, a, [](Index i, Index j) noexcept { return entry(i, j); });
  plinth::generate(device, b, [](Index i, Index j) noexcept { return rhs_entry(i, j); });
  plinth::generate(Host(), ha, [](Index i, Index j) noexcept { return entry(i, j); });
  plinth::generate(Host(), hb, [](Index i, Index j) noexcept { return rhs_entry(i, j); });
  for (const bool equilibrate : {false, true}) {
    const SolveOptions<> options{.equilibrate = equilibrate};
    const auto on_device = plinth::solve<DoubleSingle>(device, a, b, x, options);
    const auto on_host = plinth::solve<DoubleSingle>(Host(), ha, hb, hx, options);
    CHECK(on_device.outcome == Outcome::solved);
    CHECK(on_device.backward_error == on_host.backward_error);
    CHECK(on_device.lost == on_host.lost);
    CHECK(has_waited(device));
  }
}

TEST_CASE("DoubleSingle: misuse, also by one rank alone", "[refined][misuse]") {
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, world_size()});
  const Index n = 12;
  const plinth::MatrixLayoutOptions square{.mb = 4, .nb = 4};
  const auto a = distribute(grid, make_dense<double>(n, n, entry), square);
  const auto wide = distribute(grid, make_dense<double>(n, n + 2, entry), square);
  const auto b = distribute(grid, make_dense<double>(n, 2, rhs_entry), square);
  Matrix x(grid, n, 2, square), narrow(grid, n, 1, square);
  const bool guilty = world_rank() == world_size() - 1;
  const auto call = [&](const Matrix& m, Matrix& out, const SolveOptions<>& options) {
    return error_of([&] { (void)plinth::solve<DoubleSingle>(Exec(), m, b, out, options); });
  };
  for (const bool wrong : {true, guilty}) {
    CHECK_THAT(call(a, x, {.refinement = {.restart = wrong ? 0 : 5}}), contains("restart >= 1"));
    CHECK_THAT(call(a, wrong ? narrow : x, {}), contains("not distributed alike"));
    CHECK(call(a, x, {.factor = {.lookahead = wrong ? -1 : 1}}) != "(no error)");
  }
  CHECK_THAT(call(a, x, {.factor = {.lookahead = -1}}), contains("look-ahead"));
  CHECK_THAT(call(wide, x, {}), contains("square"));
  if (world_size() > 1) {
    CHECK_THAT(call(guilty ? wide : a, x, {}), contains("different arguments"));
    CHECK_THAT(call(a, x, {.fall_back = guilty}), contains("different arguments"));
    CHECK_THAT(call(a, x, {.equilibrate = guilty}), contains("different arguments"));
    CHECK_THAT(call(a, x, {.refinement = {.restart = guilty ? 4 : 5}}),
               contains("different arguments"));
  }
  CHECK(plinth::solve<DoubleSingle>(Exec(), a, b, x));  // all ranks are still in step
}
