// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of a refinement that need no processes: criteria, verdicts, reports, the least-squares
// problem of GMRES, policies.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "plinth/policy/refinement.hpp"
#include "plinth/refine/criterion.hpp"
#include "plinth/refine/least_squares.hpp"
#include "plinth/refine/report.hpp"
#include "plinth/refine/verdict.hpp"
#include "support/catch.hpp"

using plinth::ColumnState;
using plinth::RefinementOutcome;

TEST_CASE("criteria: the bounds that they name", "[refine]") {
  const auto state = [](double backward_error) {
    return ColumnState{
        .n = 100, .a_norm = 3, .x_norm = 2, .b_norm = 4, .r_norm = 10 * backward_error};
  };
  CHECK(state(0.25).backward_error() == 0.25);
  constexpr double u = 0x1p-53;
  const plinth::BackwardErrorBelow below{.factor = 2};
  CHECK(below(state(19.9 * u)));
  CHECK_FALSE(below(state(20.1 * u)));
  CHECK(below.goal(100, u) == 20 * u);
  CHECK(below.goal(0, u) == 2 * u);
  CHECK(plinth::BackwardErrorBelow{}.goal(100, 0x1p-24) == 10 * 0x1p-24);
  const plinth::HplResidualBelow hpl{.bound = 16};
  CHECK(hpl(state(1599 * u)));
  CHECK_FALSE(hpl(state(1601 * u)));
  CHECK(hpl.goal(100, 0x1p-24) == 1600 * u);  // whatever the working precision
}

TEST_CASE("criteria: what is not finite is not small", "[refine]") {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const ColumnState& bad : {ColumnState{.n = 4, .a_norm = inf, .x_norm = 1, .r_norm = 1},
                                 ColumnState{.n = 4, .a_norm = 1e200, .x_norm = 1e200},
                                 ColumnState{.n = 4, .a_norm = 1, .x_norm = 1, .r_norm = nan},
                                 ColumnState{.n = 4, .a_norm = 1, .x_norm = 1, .r_norm = inf}}) {
    CHECK(plinth::is_nan(bad.backward_error()));
    CHECK_FALSE(plinth::BackwardErrorBelow{}(bad));
    CHECK_FALSE(plinth::HplResidualBelow{}(bad));
  }
  CHECK(ColumnState{}.backward_error() == 0);  // 0 x = 0
}

TEST_CASE("verdicts: what ends a column, and what is taken back", "[refine]") {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  struct Row {
    std::vector<double> before;  // errors until now, the last one kept
    double error;
    bool done, broken;
    RefinementOutcome outcome;
    bool goes_on, take_back;
    double kept;
  };
  using enum RefinementOutcome;
  for (const Row& row : {
           Row{{}, 1e-3, false, false, iteration_limit, true, false, 1e-3},
           Row{{}, 1e-16, true, false, converged, false, false, 1e-16},
           Row{{}, inf, false, false, iteration_limit, true, false, inf},
           Row{{}, nan, false, false, non_finite, false, false, nan},
           Row{{1}, 0.4, false, false, iteration_limit, true, false, 0.4},
           Row{{1}, 0.5, false, false, stagnated, false, false, 0.5},
           Row{{1}, 1.5, false, false, stagnated, false, true, 1},
           Row{{1}, 1.5, true, false, converged, false, false, 1.5},
           Row{{1}, 0.1, false, true, non_finite, false, false, 0.1},
           Row{{1}, 0.1, true, true, converged, false, false, 0.1},
           Row{{1}, nan, false, true, non_finite, false, true, 1},
       }) {
    INFO(row.error << " after " << row.before.size() << ", done " << row.done << ", broken "
                   << row.broken);
    plinth::ColumnHistory history;
    history.backward_errors = row.before;
    if (!row.before.empty()) history.backward_error = row.before.back();
    const auto verdict =
        plinth::refine::judge(history, row.error, row.done, row.broken, 0.5);
    CHECK(history.outcome == row.outcome);
    CHECK(verdict.goes_on == row.goes_on);
    CHECK(verdict.take_back == row.take_back);
    CHECK(history.backward_errors.size() == row.before.size() + 1);
    CHECK((plinth::is_nan(row.kept) ? plinth::is_nan(history.backward_error)
                                    : history.backward_error == row.kept));
  }
}

TEST_CASE("refinement policies: what is valid", "[refine]") {
  CHECK(plinth::NoRefinement{}.valid());
  CHECK(plinth::ClassicalRefinement{}.valid());
  CHECK(plinth::ClassicalRefinement{.max_steps = 0}.valid());
  CHECK_FALSE(plinth::ClassicalRefinement{.max_steps = -1}.valid());
  CHECK_FALSE(plinth::ClassicalRefinement{.stagnation_ratio = 0}.valid());
  CHECK_FALSE(plinth::ClassicalRefinement{.stagnation_ratio = 1.5}.valid());
  CHECK(plinth::GmresRefinement{}.valid());
  CHECK(plinth::GmresRefinement{.max_cycles = 0}.valid());
  CHECK_FALSE(plinth::GmresRefinement{.restart = 0}.valid());
  CHECK_FALSE(plinth::GmresRefinement{.max_cycles = -1}.valid());
  CHECK_FALSE(plinth::GmresRefinement{.cycle_tolerance = 0}.valid());
  CHECK_FALSE(plinth::GmresRefinement{.cycle_tolerance = 1}.valid());
  CHECK_FALSE(plinth::GmresRefinement{.stagnation_ratio = 0}.valid());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(plinth::GmresRefinement{.cycle_tolerance = nan}.valid());
  CHECK_FALSE(plinth::ClassicalRefinement{.stagnation_ratio = nan}.valid());
}

TEST_CASE("refinement reports sum up their columns", "[refine]") {
  plinth::RefinementReport report;
  CHECK(report.converged());  // no right-hand side, nothing left to do
  CHECK(report.iterations() == 0);
  CHECK(report.backward_error() == 0);
  report.columns.resize(2);
  report.columns[0] = {
      .outcome = RefinementOutcome::converged, .backward_error = 1e-16, .iterations = 5};
  report.columns[1] = {
      .outcome = RefinementOutcome::stagnated, .backward_error = 1e-9, .iterations = 3};
  CHECK_FALSE(report.converged());
  CHECK(report.iterations() == 5);
  CHECK(report.backward_error() == 1e-9);
  report.columns[0].backward_error = std::numeric_limits<double>::quiet_NaN();
  CHECK(plinth::is_nan(report.backward_error()));
  report.columns[1].outcome = RefinementOutcome::converged;
  CHECK(report.converged());
  CHECK(std::string(plinth::to_string(RefinementOutcome::converged)) == "converged");
  CHECK(std::string(plinth::to_string(RefinementOutcome::stagnated)) == "stagnated");
  CHECK(std::string(plinth::to_string(RefinementOutcome::iteration_limit)) == "iteration limit");
  CHECK(std::string(plinth::to_string(RefinementOutcome::non_finite)) == "non-finite");
}

TEMPLATE_TEST_CASE("least squares of a Hessenberg matrix", "[refine]", double,
                   Kokkos::complex<double>) {
  using T = TestType;
  using plinth::modulus;
  constexpr std::size_t most = 6;
  const auto entry = [](std::size_t i, std::size_t j) {
    const double x = std::sin(static_cast<double>(3 * i + 7 * j + 1));
    if constexpr (plinth::ScalarTraits<T>::is_complex)
      return T(x, std::cos(static_cast<double>(5 * i + j)));
    else
      return T(x);
  };
  const double beta = 2.5;
  plinth::refine::HessenbergLeastSquares<T> problem;
  problem.begin(beta);
  CHECK(problem.start() == beta);
  CHECK(problem.solve().empty());
  double before = beta;
  for (std::size_t k = 0; k < most; ++k) {
    std::vector<T> h(k + 2);
    for (std::size_t i = 0; i < k + 2; ++i) h[i] = entry(i, k);
    h[k + 1] = T(modulus(h[k + 1]));
    const double left = problem.append(h);
    CHECK(problem.columns() == k + 1);
    CHECK(left <= before * (1 + 1e-14));
    before = left;

    // r = beta e_1 - H y has the norm that was said, and is orthogonal to H's columns.
    const std::vector<T> y = problem.solve();
    std::vector<T> r(k + 2, T(0));
    r[0] = T(beta);
    const auto of_h = [&](std::size_t i, std::size_t j) {
      return i > j + 1 ? T(0) : i == j + 1 ? T(modulus(entry(i, j))) : entry(i, j);
    };
    for (std::size_t i = 0; i < k + 2; ++i)
      for (std::size_t j = 0; j <= k; ++j) r[i] -= of_h(i, j) * y[j];
    double squares = 0;
    for (const T& e : r) squares += modulus(e) * modulus(e);
    CHECK(std::sqrt(squares) == Catch::Approx(left).margin(1e-13));
    for (std::size_t j = 0; j <= k; ++j) {
      T product(0);
      for (std::size_t i = 0; i < k + 2; ++i) product += plinth::conjugate(of_h(i, j)) * r[i];
      CHECK(modulus(product) < 1e-13);
    }
  }

  // Taking the last column back, and putting another one in its place, leaves no trace.
  const std::vector<T> with_last = problem.solve();
  problem.drop_last();
  std::vector<T> bad(most + 1, T(std::numeric_limits<double>::quiet_NaN()));
  problem.append(bad);
  problem.drop_last();
  CHECK(problem.columns() == most - 1);
  std::vector<T> h(most + 1);
  for (std::size_t i = 0; i <= most; ++i) h[i] = entry(i, most - 1);
  h[most] = T(modulus(h[most]));
  problem.append(h);
  CHECK(problem.solve() == with_last);
}

TEST_CASE("least squares: exact solution, and nothing to solve", "[refine]") {
  plinth::refine::HessenbergLeastSquares<double> problem;
  problem.begin(6);
  CHECK(problem.append({2, 0}) == 0);  // a lucky breakdown
  CHECK(problem.solve() == std::vector<double>{3});
  problem.begin(6);
  CHECK(problem.append({0, 0}) == 6);  // H does not determine y
  CHECK(problem.solve() == std::vector<double>{0});
}
