// SPDX-License-Identifier: BSD-3-Clause
//
// LinearSolver with every pivoting policy, in A's own type and with factors in a narrower one.
#include <cstdint>
#include <type_traits>

#include "plinth/solve/linear_solver.hpp"
#include "support/catch.hpp"
#include "support/pivoting.hpp"
#include "support/problems.hpp"
#include "support/refined.hpp"

using namespace plinth_test;
using Kokkos::LayoutRight;
using plinth::LinearSolver;
using plinth::LinearSolverOptions;
using plinth::MatrixLayoutOptions;
using plinth::NoPivoting;
using plinth::Op;
using plinth::Outcome;
using plinth::ProcessGrid;
using plinth::ThresholdPivoting;
using plinth::TournamentPivoting;

namespace {

struct ComplexSingle {
  using Working = Kokkos::complex<double>;
  using Factor = Kokkos::complex<float>;
};

template <class Precision>
using WorkingOf = typename plinth::PrecisionRoles<Precision>::Working;
template <class Precision>
using FactorOf = typename plinth::PrecisionRoles<Precision>::Factor;

/// A solver's own factors are those of lu_factor, where that takes their type.
template <class Precision, class Solver, class Pivoting>
void check_factors(const Solver& solver, const ProcessGrid& grid,
                   const Dense<WorkingOf<Precision>>& whole, const MatrixLayoutOptions& square,
                   const Pivoting& pivoting) {
  if constexpr (!plinth::Scalar16<typename plinth::PrecisionRoles<Precision>::Operand>) {
    using T = FactorOf<Precision>;
    const auto rounded = make_dense<T>(
        whole.rows, whole.cols, [&](Index i, Index j) { return static_cast<T>(whole(i, j)); });
    const auto expected = plinth::lu_factor(Exec(), distribute(grid, rounded, square), pivoting);
    CHECK(gather_pivots(solver.factors()) == gather_pivots(expected));
    CHECK(same_bits(gather(solver.factors().matrix()), gather(expected.matrix())));
  }
}

/// One solver on every grid: one matrix after another, copied and given away, and every op; then
/// singular ones, and a good one again.
template <class Precision, class Pivoting>
void check_policy(const Pivoting& pivoting) {
  using T = WorkingOf<Precision>;
  constexpr bool exchanges = Pivoting::exchanges_rows;
  const Index n = 22, nrhs = 3;
  on_every_active_grid([&](const ProcessGrid& grid) {
    const MatrixLayoutOptions square{4, 4, grid.shape().rows - 1, grid.shape().cols / 2};
    const MatrixLayoutOptions tall{4, 2, grid.shape().rows - 1, 0};
    const auto matrix = [&](std::uint64_t seed) {
      return make_dense<T>(n, n, [=](Index i, Index j) {
        return noise_as<T>(i, j, seed) + T(i == j && !exchanges ? 22.0 : 0.0);
      });
    };
    const auto rhs = make_dense<T>(n, nrhs, [](Index i, Index j) { return noise_as<T>(i, j, 9); });
    const auto b = distribute(grid, rhs, tall);
    auto x = distribute(grid, rhs, tall);
    const auto like = distribute(grid, matrix(1), square);
    LinearSolver solver(Exec(), like, Precision{}, LinearSolverOptions<>{}, pivoting);
    const double u = plinth::ScalarTraits<T>::epsilon;
    const auto solve_and_judge = [&](const Dense<T>& whole, Op op) {
      INFO("op " << plinth::to_char(op));
      const auto report = solver.solve(b, x, op);
      REQUIRE(report);
      CHECK(solve_ratio(whole, gather(x), rhs, op) < 30);
      if constexpr (!std::is_same_v<T, FactorOf<Precision>>) {
        CHECK(report.refinement.converged());
        CHECK(report.backward_error <= plinth::BackwardErrorBelow{}.goal(n, u));
      }
    };
    for (const std::uint64_t seed : {2u, 3u}) {
      INFO("matrix " << seed);
      const auto whole = matrix(seed);
      const auto copied = distribute(grid, whole, square);
      REQUIRE((seed == 2 ? solver.factor(copied)
                         : solver.factor(distribute(grid, whole, square))));
      check_factors<Precision>(solver, grid, whole, square, pivoting);
      solve_and_judge(whole, Op::conj_transpose);
      solve_and_judge(whole, Op::none);
    }
    auto whole = matrix(5);
    whole(0, 0) = 0;  // singular where rows stay
    const auto first = solver.factor(distribute(grid, whole, square));
    CHECK(first.outcome == (exchanges ? Outcome::solved : Outcome::singular));
    CHECK(first.column == (exchanges ? -1 : 0));
    CHECK(solver.solve(b, x).outcome == first.outcome);
    for (Index i = 0; i < n; ++i) whole(i, 13) = 0;
    const auto second = solver.factor(distribute(grid, whole, square));
    CHECK(second.outcome == Outcome::singular);
    CHECK(second.column == (exchanges ? 13 : 0));
    const auto last = matrix(6);
    REQUIRE(solver.factor(distribute(grid, last, square)));
    solve_and_judge(last, Op::transpose);
  });
}

template <class Precision>
void check_policies() {
  {
    INFO("none");
    check_policy<Precision>(NoPivoting{});
  }
  {
    INFO("threshold");
    check_policy<Precision>(ThresholdPivoting{.threshold = 0.25});
  }
  {
    INFO("tournament");
    check_policy<Precision>(TournamentPivoting{.radix = 3});
  }
  {
    INFO("own");
    check_policy<Precision>(PreferNear{.group = 3});
  }
}

}  // namespace

TEST_CASE("LinearSolver: every pivoting policy in A's own type", "[linearsolver][pivoting]") {
  check_policies<plinth::Uniform<double>>();
}

TEST_CASE("LinearSolver: every pivoting policy with factors in float",
          "[linearsolver][pivoting][refined]") {
  check_policies<plinth::DoubleSingle>();
}

TEST_CASE("LinearSolver: complex factors by a tournament, 16-bit operands without interchanges",
          "[linearsolver][pivoting][refined]") {
  check_policy<ComplexSingle>(TournamentPivoting{});
  check_policy<plinth::DoubleHalf>(NoPivoting{});
}

TEST_CASE("LinearSolver: pivoting policies that are not valid, or differ",
          "[linearsolver][pivoting][misuse]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const bool guilty = grid.all().rank() == grid.all().size() - 1;
    const auto a = distribute(grid, Dense<double>(9, 9), {3, 3});
    const auto error = [&](auto precision, const auto& pivoting) {
      return error_of(
          [&] { LinearSolver(Exec(), a, precision, LinearSolverOptions<>{}, pivoting); });
    };
    const auto refused = [&](const char* why, const auto& pivoting) {
      CHECK_THAT(error(plinth::Uniform<double>{}, pivoting), contains(why));
      CHECK_THAT(error(plinth::DoubleSingle{}, pivoting), contains(why));
    };
    refused("threshold", ThresholdPivoting{.threshold = guilty ? 2.0 : 0.5});
    refused("radix", TournamentPivoting{.radix = guilty ? 1 : 2});
    if (grid.all().size() == 1) return;
    refused("different arguments", ThresholdPivoting{.threshold = guilty ? 0.25 : 0.5});
    refused("different arguments", TournamentPivoting{.radix = guilty ? 2 : 3});
  });
}
