// SPDX-License-Identifier: BSD-3-Clause
//
// Solves with factors from 16-bit operands: equilibrated, pivoted, refined; what becomes of systems
// for which that is too little.
#include <algorithm>
#include <cmath>
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
using Matrix = TestMatrix<double, Kokkos::LayoutRight>;

namespace {

double entry(Index i, Index j) { return noise(i, j, 101); }
double rhs_entry(Index i, Index j) { return noise(i, j, 102); }

/// The conditions of interest for operands of unit roundoff u.
template <class Precision>
void check_conditions() {
  const auto check = [](const ProcessGrid& grid) {
    const Index n = 41;
    const double u = static_cast<double>(
        plinth::ScalarTraits<typename plinth::PrecisionRoles<Precision>::Operand>::epsilon);
    const int exponents[] = {0, -700, 700};
    const auto b = make_dense<double>(
        n, 3, [&](Index i, Index j) { return std::ldexp(rhs_entry(i, j), exponents[j]); });
    for (const double condition : {1.0, 1 / std::sqrt(u), 0.1 / u, 10 / u, 1e16}) {
      INFO("u " << u << ", condition " << condition);
      const auto a = svd_type(n, condition);
      const auto report = solve_and_check<Precision>(grid, a, b, 6, SolveOptions<>{});
      if (condition < 1 / u) CHECK(report.outcome == Outcome::solved);
      CHECK((report.outcome == Outcome::solved || report.outcome == Outcome::not_converged));
      const auto safe = solve_and_check<Precision>(
          grid, a, b, 6, SolveOptions<ClassicalRefinement>{.fall_back = true});
      CHECK(safe.outcome == Outcome::solved);
    }
  };
#ifdef PLINTH_TEST_ON_STAND_IN  // there so many solves take minutes
  on_few_grids(check);
#else
  on_every_active_grid(check);
#endif
}

}  // namespace

TEMPLATE_TEST_CASE("16-bit operands: conditions up to and beyond what they can do",
                   "[refined][mixed]",
                   PLINTH_TEST_TYPES(DoubleHalf, DoubleBfloat16, DoubleSingleHalf)) {
  check_conditions<TestType>();
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

TEST_CASE("16-bit operands: multipliers of -1, whose inverses are beyond FP32", "[refined]") {
  const Index n = 200, nb = 192;
  const auto b = make_dense<double>(n, 2, rhs_entry);
  const auto lower = make_dense<double>(n, n, [](Index i, Index j) {
    return i == j ? 1.0 : i > j ? -1.0 : 0.0;
  });
  // Wilkinson's matrix: the last column of U doubles from row to row.
  auto growing = lower;
  for (Index i = 0; i < n; ++i) growing(i, n - 1) = 1;
  on_every_active_grid([&](const ProcessGrid& grid) {
    const auto harmless = solve_and_check<DoubleHalf>(grid, lower, b, nb, SolveOptions<>{});
    CHECK(harmless.outcome == Outcome::solved);
    REQUIRE(harmless.factorization);
    CHECK(harmless.factorization->growth() == 1);
    CHECK(harmless.factorization->first_overflow == -1);

    const auto grown = solve_and_check<DoubleHalf>(grid, growing, b, nb, SolveOptions<>{});
    CHECK(grown.outcome == Outcome::overflow);
    CHECK(grown.column == n - 1);
    REQUIRE(grown.factorization);
    CHECK(grown.factorization->first_overflow == n - 1);
    CHECK(grown.factorization->lost.overflowed > 0);
    CHECK(grown.lost.overflowed == 0);
    const SolveOptions<> safe{.fall_back = true};
    const plinth::MatrixLayoutOptions square{.mb = nb, .nb = nb};
    const auto da = distribute(grid, growing, square), db = distribute(grid, b, square);
    Matrix x(grid, n, 2, square);
    const auto again = plinth::solve<DoubleHalf>(Exec(), da, db, x, safe);
    CHECK(again.fell_back_from == Outcome::overflow);
    CHECK(again.factorization);
  });
}

TEST_CASE("16-bit operands: the outcome is the same on every rank", "[refined][mixed]") {
  const Index n = 24;
  const auto b = make_dense<double>(n, 1, rhs_entry);
  on_every_active_grid([&](const ProcessGrid& grid) {
    // Columns 5 and 15 of U grow to 2^5 and 2^8 times the largest of A, which is rounded as 2^10:
    // half holds the former.
    auto a = make_dense<double>(n, n, [](Index i, Index j) { return i == j ? 1.0 : 0.0; });
    for (const Index j : {5, 15})
      for (Index i = j - 8 < 0 ? 0 : j - 8; i < j; ++i) {
        for (Index k = i + 1; k <= j; ++k) a(k, i) = -1;
        a(i, j) = 1;
      }
    const auto report = solve_and_check<DoubleHalf>(grid, a, b, 2, SolveOptions<>{});
    REQUIRE(report.factorization);
    double mine[] = {static_cast<double>(report.outcome), static_cast<double>(report.column),
                     report.factorization->largest_a,
                     static_cast<double>(report.factorization->first_overflow),
                     static_cast<double>(report.factorization->lost.overflowed)};
    double first[5];
    std::copy(mine, mine + 5, first);
    MPI_Bcast(first, 5, MPI_DOUBLE, 0, grid.all().handle());
    for (int i = 0; i < 5; ++i) CHECK(mine[i] == first[i]);
    CHECK(report.outcome == Outcome::overflow);
    CHECK(report.column == 15);
  });
}

TEST_CASE("16-bit operands: an infinity or NaN leaves its row and column unscaled",
          "[refined][mixed]") {
  const Index n = 20;
  const auto b = make_dense<double>(n, 1, [](Index, Index) { return 1.0; });
  on_every_active_grid([&](const ProcessGrid& grid) {
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()})
      for (const int exponent : {-100, 3, 300}) {
        INFO("entry " << bad << ", row of 2^" << exponent);
        auto a = make_dense<double>(n, n, entry);
        for (Index j = 0; j < n; ++j) a(6, j) = std::ldexp(a(6, j), exponent);
        a(6, 17) = bad;
        const plinth::MatrixLayoutOptions square{.mb = 3, .nb = 3};
        const auto da = distribute(grid, a, square);
        auto r = distribute(grid, b, square);
        plinth::Equilibration<Exec, Matrix> scaling(Exec(), da);
        scaling.find(da, plinth::ScaleWhen::always);
        scaling.scale_rhs(r);
        const auto scales = gather(r);
        CHECK(scales(6, 0) == 1);
        CHECK(scales(5, 0) > 1);
        const auto ones = distribute(grid, b, square);
        scaling.scale_solution(ones);
        CHECK(gather(ones)(17, 0) == 1);
        const auto report = solve_and_check<DoubleHalf>(grid, a, b, 3, SolveOptions<>{});
        CHECK(report.outcome == Outcome::non_finite);
      }
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
    return error_of([&] { (void)plinth::solve<DoubleHalf>(Exec(), a, b, x, options); });
  };
  for (const bool wrong : {true, guilty}) {
    CHECK_THAT(call({.factor = {.reproducible = wrong}}), contains("16-bit operands"));
    CHECK_THAT(call({.factor = {.split = wrong ? 0.5 : 0}}), contains("16-bit operands"));
  }
}
