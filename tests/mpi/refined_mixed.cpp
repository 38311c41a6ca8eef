// SPDX-License-Identifier: BSD-3-Clause
//
// Solves with factors from 16-bit operands: equilibrated, pivoted, refined; what becomes of systems
// for which that is too little.
#include <limits>

#include "support/mixed_instances.hpp"
#include "support/refined.hpp"

using namespace plinth_test;
using plinth::ClassicalRefinement;
using plinth::DoubleBfloat16;
using plinth::DoubleHalf;
using plinth::DoubleSingleHalf;
using plinth::Outcome;
using plinth::ProcessGrid;
using plinth::RefinementOutcome;
using plinth::SolveOptions;
using Matrix = HostMatrix<double, Kokkos::LayoutRight>;

namespace {

double entry(Index i, Index j) { return noise(i, j, 101); }
double rhs_entry(Index i, Index j) { return noise(i, j, 102); }

/// The conditions of interest for operands of unit roundoff u.
template <class Precision>
void check_conditions() {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 41;
    const double u = static_cast<double>(
        plinth::ScalarTraits<typename plinth::PrecisionRoles<Precision>::Operand>::epsilon);
    const int exponents[] = {0, -700, 700};
    const auto b = make_dense<double>(
        n, 3, [&](Index i, Index j) { return std::ldexp(rhs_entry(i, j), exponents[j]); });
    for (const double condition : {1.0, 1 / std::sqrt(u), 0.1 / u, 10 / u}) {
      INFO("u " << u << ", condition " << condition);
      const auto a = svd_type(n, condition);
      const auto report = solve_and_check<Precision>(grid, a, b, 6, SolveOptions<>{});
      if (condition < 1 / u) CHECK(report.outcome == Outcome::solved);
      CHECK((report.outcome == Outcome::solved || report.outcome == Outcome::not_converged));
      const auto safe = solve_and_check<Precision>(
          grid, a, b, 6, SolveOptions<ClassicalRefinement>{.fall_back = true});
      CHECK(safe.outcome == Outcome::solved);
    }
  });
}

}  // namespace

TEST_CASE("16-bit operands: conditions up to and beyond what they can do", "[refined][mixed]") {
  check_conditions<DoubleHalf>();
  check_conditions<DoubleBfloat16>();
  check_conditions<DoubleSingleHalf>();
}

TEST_CASE("16-bit operands: equilibration makes badly scaled matrices fit", "[refined][mixed]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 35;
    // Rows and columns by powers of two between 2^-280 and 2^280.
    const auto a = make_dense<double>(n, n, [](Index i, Index j) {
      return std::ldexp(entry(i, j), static_cast<int>(40 * (i % 8) - 140 + 20 * (j % 15) - 140));
    });
    const auto b = make_dense<double>(n, 2, rhs_entry);
    for (const Index nb : {5, 40}) {
      INFO("nb " << nb);
      const auto report = solve_and_check<DoubleHalf>(grid, a, b, nb, SolveOptions<>{});
      CHECK(report.outcome == Outcome::solved);
      CHECK(report.lost.overflowed == 0);
      const SolveOptions<> without{.equilibrate = false};
      const auto plain = solve_and_check<DoubleHalf>(grid, a, b, nb, without);
      CHECK(plain.outcome == Outcome::overflow);
      CHECK(plain.lost.overflowed > 0);
      const SolveOptions<> safe{.fall_back = true, .equilibrate = false};
      CHECK(solve_and_check<DoubleHalf>(grid, a, b, nb, safe).fell_back_from ==
            Outcome::overflow);
    }
  });
}

TEST_CASE("16-bit operands: sizes, singular and non-finite systems", "[refined][mixed]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    for (const Index n : {0, 1, 20}) {
      const auto a = make_dense<double>(n, n, entry);
      for (const Index nrhs : {0, 1, 4}) {
        INFO("n " << n << ", nrhs " << nrhs);
        const auto b = make_dense<double>(n, nrhs, rhs_entry);
        CHECK(solve_and_check<DoubleHalf>(grid, a, b, 4, SolveOptions<>{}).outcome ==
              Outcome::solved);
      }
    }
    const Index n = 20;
    const auto good = make_dense<double>(n, n, entry);
    const auto b = make_dense<double>(n, 1, rhs_entry);
    auto a = good;
    for (Index i = 0; i < n; ++i) a(i, 7) = 0;
    const auto singular = solve_and_check<DoubleHalf>(grid, a, b, 4, SolveOptions<>{});
    CHECK(singular.outcome == Outcome::singular);
    CHECK(singular.column == 7);
    a = good;
    for (Index j = 0; j < n; ++j) a(5, j) = 0;  // a row of zeros: found at the end
    CHECK(solve_and_check<DoubleHalf>(grid, a, b, 4, SolveOptions<>{}).outcome ==
          Outcome::singular);
    a = good;
    a(n - 1, 13) = std::numeric_limits<double>::quiet_NaN();
    const auto nan =
        solve_and_check<DoubleHalf>(grid, a, b, 4, SolveOptions<>{.fall_back = true});
    CHECK(nan.outcome == Outcome::non_finite);
    CHECK_FALSE(nan.fell_back_from);
  });
}

TEST_CASE("16-bit operands: options that have no meaning are refused", "[refined][misuse]") {
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, world_size()});
  const plinth::MatrixLayoutOptions square{.mb = 4, .nb = 4};
  const auto a = distribute(grid, make_dense<double>(8, 8, entry), square);
  const auto b = distribute(grid, make_dense<double>(8, 1, rhs_entry), square);
  Matrix x(grid, 8, 1, square);
  const bool guilty = world_rank() == world_size() - 1;
  const auto call = [&](const SolveOptions<>& options) {
    return error_of([&] { (void)plinth::solve<DoubleHalf>(Host(), a, b, x, options); });
  };
  for (const bool wrong : {true, guilty}) {
    CHECK_THAT(call({.factor = {.reproducible = wrong}}), contains("16-bit operands"));
    CHECK_THAT(call({.factor = {.split = wrong ? 0.5 : 0}}), contains("16-bit operands"));
  }
}
