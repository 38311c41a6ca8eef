// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "plinth/comm/agree.hpp"
#include "plinth/core/options.hpp"
#include "plinth/lu/lu_solve.hpp"
#include "plinth/solve/condition.hpp"
#include "plinth/solve/error_bounds.hpp"
#include "plinth/solve/report.hpp"

namespace plinth {

/// What a solve may be asked about its answer; each costs about 5 solves more.
struct Questions {
  bool condition = false;     ///< an estimate of 1 / (||A|| ||A^-1||), infinity norms
  bool error_bounds = false;  ///< bounds for each right-hand side (solve/error_bounds.hpp)

  /// Whether there is one.
  constexpr bool any() const { return condition || error_bounds; }
};

/// Answers questions about A X = B from factors of R A S, where R and S multiply the rows of
/// vectors: `left(v)` does v := R v, `right(v)` v := S v. Collective over A's grid, which is active
/// here. Preconditions: those of error_bounds, which were looked at. An Error on every rank: enough
/// memory.
template <ExecutionPolicy Exec, class Matrix, class FactorMatrix, class Rhs, class Left,
          class Right>
void answer(const Questions& questions, const Exec& exec, const Matrix& a, double a_norm,
            const LuFactors<FactorMatrix>& factors, const Left& left, const Right& right,
            const Rhs& b, const Rhs& x, SolveReport& report) {
  using Solver = LuSolver<Exec, FactorMatrix, Rhs>;
  const ProcessGrid& grid = a.grid();
  std::optional<Solver> solver;
  // A^-1 = S (R A S)^-1 R, and R and S are real.
  const auto solve = [&](Rhs& v, Op op) {
    op == Op::none ? left(v) : right(v);
    (*solver)(v, op);
    op == Op::none ? right(v) : left(v);
  };
  if (questions.condition) {
    const BlockCyclic& rows = a.distribution().rows;
    Rhs one(grid, a.rows(), 1, {rows.block(), 1, rows.source(), 0});
    std::optional<OneNormEstimator<Exec, Rhs>> estimator;
    comm::agree_on(grid.all(), "solve", 0, [&] {
      solver.emplace(exec, factors, one, 1);
      estimator.emplace(exec, one);
    });
    report.condition = reciprocal_condition(factors, *estimator, a_norm, Norm::inf, solve);
    solver.reset();
  }
  if (questions.error_bounds && report.column < 0) {
    ErrorBoundsWorkspace<Exec, Matrix, Rhs> workspace(exec, a, b, 128);
    comm::agree_on(grid.all(), "solve", 0, [&] { solver.emplace(exec, factors, b, 128); });
    report.error_bounds = workspace(b, x, solve, false);
  }
}

}  // namespace plinth
