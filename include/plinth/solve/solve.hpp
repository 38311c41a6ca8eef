// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "plinth/comm/agree.hpp"
#include "plinth/lu/lu_solve.hpp"
#include "plinth/matrix/copy.hpp"
#include "plinth/matrix/norm.hpp"
#include "plinth/policy/precision.hpp"
#include "plinth/refine/residual.hpp"

namespace plinth {

/// How a solve ended; the same on every rank of the grid.
enum class Outcome {
  solved,      ///< x is computed, see backward_error for how well
  singular,    ///< U has an exactly zero pivot, see column; x is unspecified
  non_finite,  ///< an infinity or NaN came up, first in the pivot of `column`, or in x (column -1)
};

constexpr const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::solved:
      return "solved";
    case Outcome::singular:
      return "singular";
    case Outcome::non_finite:
      return "non-finite";
  }
  return "?";
}

/// What a solve has to say about its answer; the same on every rank of the grid.
struct SolveReport {
  Outcome outcome = Outcome::solved;
  /// Global column of the pivot that `singular` or `non_finite` speak of, else -1.
  Index column = -1;
  /// ||b - A x|| / (||A|| ||x|| + ||b||) in the infinity norm over all right-hand sides together:
  /// a few times the unit roundoff for a stable solve.
  double backward_error = 0;
  explicit operator bool() const { return outcome == Outcome::solved; }
};

/// Solves A X = B for square A and any number of right-hand sides, in one call: a copy of A is
/// factored with partial pivoting, A and B are kept, X is filled, and the backward error measured.
/// Collective over A's grid.
///
/// Precision says in which type A is factored (policy/precision.hpp); A, B and X hold Working.
/// Preconditions, each an Error on every rank: those of lu_factor for A; X and B distributed alike,
/// their rows like A's rows; all on one grid; the same call on every rank.
/// Memory: one matrix in Factor precision, one of X's size, and the workspaces of lu_factor and
/// lu_solve. (2/3) n^3 + 4 n^2 nrhs flops.
template <PrecisionPolicy Precision, ExecutionPolicy Exec, class Matrix, class Rhs>
[[nodiscard]] SolveReport solve(const Exec& exec, const Matrix& a, const Rhs& b, Rhs& x,
                                const lu::FactorOptions& options = {}) {
  using Roles = PrecisionRoles<Precision>;
  using Working = typename Roles::Working;
  using Factor = typename Roles::Factor;
  static_assert(std::is_same_v<typename Matrix::value_type, Working> &&
                    std::is_same_v<typename Rhs::value_type, Working>,
                "plinth: solve: A, B and X must hold the precision policy's Working type");
  static_assert(std::is_same_v<Working, Factor>,
                "plinth: solve: this precision policy needs refinement, which is not in place");
  comm::agree_on(a.grid().all(), "solve", 0, [&] {
    require(b.grid() == a.grid() && x.grid() == a.grid(), "A, B and X are on different grids");
    require(x.distribution() == b.distribution(), "X and B are not distributed alike");
    require(b.distribution().rows == a.distribution().rows,
            "the rows of B are not dealt like those of A (mb, source row)");
    require(&x != &b, "X and B are the same matrix");
  });
  using FactorMatrix =
      DistributedMatrix<Factor, typename Matrix::memory, typename Matrix::layout>;
  FactorMatrix copy_of_a(a.grid(), a.rows(), a.cols(), layout_of(a));
  copy(exec, a, copy_of_a);
  const auto factors = lu_factor(exec, std::move(copy_of_a), PartialPivoting{}, options);

  SolveReport report;
  if (const auto column = factors.first_nonfinite_pivot()) {
    report.outcome = Outcome::non_finite;
    report.column = *column;
  } else if (const auto zero = factors.first_zero_pivot()) {
    report.outcome = Outcome::singular;
    report.column = *zero;
  }
  copy(exec, b, x);
  if (!report) return report;
  lu_solve(exec, factors, x);

  DistributedMatrix<Working, typename Rhs::memory, typename Rhs::layout> r(
      b.grid(), b.rows(), b.cols(), layout_of(b));
  residual(exec, a, x, b, r);
  const double r_norm = static_cast<double>(norm(exec, r, Norm::inf));
  const double x_norm = static_cast<double>(norm(exec, x, Norm::inf));
  const double scale = static_cast<double>(norm(exec, a, Norm::inf)) * x_norm +
                       static_cast<double>(norm(exec, b, Norm::inf));
  report.backward_error = r_norm == 0 ? 0.0 : r_norm / scale;
  if (!is_finite(scale) || !is_finite(report.backward_error))
    report.outcome = Outcome::non_finite;
  return report;
}

/// solve in A's own precision.
template <ExecutionPolicy Exec, class Matrix, class Rhs>
[[nodiscard]] SolveReport solve(const Exec& exec, const Matrix& a, const Rhs& b, Rhs& x,
                                const lu::FactorOptions& options = {}) {
  return solve<Uniform<typename Matrix::value_type>>(exec, a, b, x, options);
}

}  // namespace plinth
