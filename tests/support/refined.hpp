// SPDX-License-Identifier: BSD-3-Clause
//
// What the tests of solves with refinement share: matrices of a wanted condition, and the judgement
// of an answer.
#pragma once

#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "plinth/solve/solve.hpp"
#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/problems.hpp"

namespace plinth_test {

/// Dense, with singular values from 1 down to 1 / condition in geometric progression: reflections
/// of a diagonal matrix from both sides.
inline Dense<double> svd_type(Index n, double condition, std::uint64_t seed = 90) {
  Dense<double> a(n, n);
  for (Index i = 0; i < n; ++i)
    a(i, i) =
        n == 1 ? 1 : std::pow(condition, -static_cast<double>(i) / static_cast<double>(n - 1));
  std::vector<double> v(static_cast<std::size_t>(n));
  for (int reflection = 0; reflection < 4; ++reflection) {
    double squares = 0;
    for (Index i = 0; i < n; ++i) {
      const double e = noise(i, reflection, seed);
      v[static_cast<std::size_t>(i)] = e;
      squares += e * e;
    }
    for (Index j = 0; j < n; ++j) {
      const bool left = reflection % 2 == 0;
      double product = 0;
      for (Index i = 0; i < n; ++i)
        product += v[static_cast<std::size_t>(i)] * (left ? a(i, j) : a(j, i));
      for (Index i = 0; i < n; ++i)
        (left ? a(i, j) : a(j, i)) -= 2 * product / squares * v[static_cast<std::size_t>(i)];
    }
  }
  return a;
}

/// Checks that a report says the same on every rank of a grid. Collective.
inline void check_same_everywhere(const plinth::ProcessGrid& grid,
                                  const plinth::SolveReport& report) {
  std::vector<double> mine{
      static_cast<double>(report.outcome),
      static_cast<double>(report.column),
      report.backward_error,
      static_cast<double>(report.lost.overflowed),
      static_cast<double>(report.lost.flushed),
      static_cast<double>(report.lost.subnormal),
      report.fell_back_from ? static_cast<double>(*report.fell_back_from) : -1,
      static_cast<double>(report.refinement.columns.size())};
  for (const auto& column : report.refinement.columns) {
    mine.push_back(static_cast<double>(column.outcome));
    mine.push_back(column.backward_error);
    mine.push_back(column.iterations);
  }
  for (double& x : mine)
    if (plinth::is_nan(x)) x = -2;
  std::vector<double> first = mine;
  auto count = static_cast<int>(first.size());
  MPI_Bcast(&count, 1, MPI_INT, 0, grid.all().handle());
  first.resize(static_cast<std::size_t>(count));
  MPI_Bcast(first.data(), count, MPI_DOUBLE, 0, grid.all().handle());
  CHECK(mine == first);
}

/// Solves A X = B on a grid and checks that the report tells the truth, on every rank the same, and
/// that A and B are kept.
template <class Precision, class Options>
plinth::SolveReport solve_and_check(const plinth::ProcessGrid& grid, const Dense<double>& a,
                                    const Dense<double>& b, Index nb, const Options& options) {
  const plinth::MatrixLayoutOptions square{
      .mb = nb, .nb = nb, .source_row = grid.shape().rows - 1};
  const plinth::MatrixLayoutOptions tall{.mb = nb, .nb = 2, .source_row = grid.shape().rows - 1};
  const auto da = distribute(grid, a, square);
  const auto db = distribute(grid, b, tall);
  TestMatrix<double, Kokkos::LayoutRight> dx(grid, b.rows, b.cols, tall);
  const auto report = plinth::solve<Precision>(Exec(), da, db, dx, options);
  check_same_everywhere(grid, report);
  CHECK(same_bits(gather(da), a));
  CHECK(same_bits(gather(db), b));
  if (report) {
    const auto x = gather(dx);
    const double goal = plinth::BackwardErrorBelow{}.goal(a.rows, 0x1p-53);
    if (!report.fell_back_from) {
      CHECK(static_cast<Index>(report.refinement.columns.size()) == b.cols);
      CHECK(report.refinement.converged());
      CHECK(report.backward_error <= goal);
    }
    // A solve in double is as good as (n + 1) u; rounding in the judgement itself comes on top.
    const double bound =
        report.fell_back_from ? static_cast<double>(a.rows + 1) * 0x1p-53 : 2 * goal;
    for (Index c = 0; c < b.cols; ++c) {
      INFO("column " << c);
      CHECK(column_error(a, x, b, c) <= bound);
    }
  } else {
    CHECK((report.refinement.columns.empty() || !report.refinement.converged()));
  }
  return report;
}

}  // namespace plinth_test
