// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "plinth/comm/agree.hpp"
#include "plinth/lu/block_exponents.hpp"
#include "plinth/lu/factor.hpp"
#include "plinth/lu/mixed_options.hpp"
#include "plinth/lu/mixed_report.hpp"
#include "plinth/lu/pivots.hpp"
#include "plinth/policy/pivoting.hpp"
#include "plinth/policy/precision.hpp"

namespace plinth {

namespace lu {
template <class M, ExecutionPolicy Exec, PrecisionPolicy Precision, PivotingPolicy Pivoting,
          class Sink>
class MixedFactorization;
}  // namespace lu

/// L, U and the pivots of a square matrix: P A = L U. Made only by lu_factor and mixed_lu_factor,
/// which consume A, so that nobody mistakes an overwritten A for A. Move-only; solve with it as
/// often as you like.
template <class Matrix>
class LuFactors {
 public:
  using value_type = typename Matrix::value_type;  ///< of L and U as they are stored

  /// L below the diagonal (unit, not stored) and U on and above it, distributed as A was, both
  /// scaled as exponents() say.
  const Matrix& matrix() const { return matrix_; }
  /// How L and U are scaled in matrix(); empty: they are not.
  const lu::BlockExponents& exponents() const { return exponents_; }
  /// P, as interchanges.
  const lu::Pivots& pivots() const { return pivots_; }
  /// N, the rows and columns of A.
  Index order() const { return matrix_.rows(); }

  /// Global column of the first exactly zero pivot, the same on every rank; nullopt: none, so U is
  /// invertible. With one, the factorization is complete but solving divides by zero.
  std::optional<Index> first_zero_pivot() const { return optional(outcome_.first_zero_pivot); }
  /// Global column of the first pivot that is infinite or not a number, likewise.
  std::optional<Index> first_nonfinite_pivot() const {
    return optional(outcome_.first_nonfinite);
  }
  /// Growth, and what rounding lost; nullopt after lu_factor, which rounds nothing.
  const std::optional<lu::MixedReport>& report() const { return report_; }

  /// The storage of L and U, for another matrix: the factors are no more.
  Matrix release() && { return std::move(matrix_); }

  /// Factors another matrix of the same distribution in this storage, with the workspace that made
  /// these factors by lu_factor or mixed_lu_factor: `fill(matrix)` puts it where L and U stand
  /// now. Collective.
  template <class Prepared, class Fill>
  void refactor(Prepared& prepared, const Fill& fill) {
    fill(matrix_);
    if constexpr (requires { prepared(matrix_, pivots_, exponents_); }) {
      report_ = prepared(matrix_, pivots_, exponents_);
      outcome_ = report_->pivots;
    } else {
      outcome_ = prepared(matrix_, pivots_);
    }
  }

 private:
  template <ExecutionPolicy Exec, class M, PivotingPolicy Pivoting>
  friend LuFactors<M> lu_factor(const Exec&, M&&, Pivoting, const lu::FactorOptions&);
  template <class M, ExecutionPolicy Exec, PivotingPolicy Pivoting, class Sink>
  friend LuFactors<M> lu_factor(lu::Factorization<M, Exec, Pivoting, Sink>&, M&&);
  template <class M, ExecutionPolicy Exec, PrecisionPolicy Precision, PivotingPolicy Pivoting,
            class Sink>
  friend LuFactors<M> mixed_lu_factor(lu::MixedFactorization<M, Exec, Precision, Pivoting, Sink>&,
                                      M&&);
  template <PrecisionPolicy Precision, ExecutionPolicy Exec, class M, PivotingPolicy Pivoting>
  friend LuFactors<M> mixed_lu_factor(const Exec&, M&&, Pivoting, const lu::MixedOptions&);

  LuFactors(Matrix&& matrix, lu::Pivots pivots, lu::PanelOutcome outcome)
      : matrix_(std::move(matrix)), pivots_(std::move(pivots)), outcome_(outcome) {}
  LuFactors(Matrix&& matrix, lu::Pivots pivots, lu::BlockExponents exponents,
            const lu::MixedReport& report)
      : LuFactors(std::move(matrix), std::move(pivots), report.pivots) {
    exponents_ = std::move(exponents);
    report_ = report;
  }
  static std::optional<Index> optional(Index column) {
    return column < 0 ? std::nullopt : std::optional(column);
  }

  Matrix matrix_;
  lu::Pivots pivots_;
  lu::PanelOutcome outcome_;
  lu::BlockExponents exponents_;
  std::optional<lu::MixedReport> report_;
};

/// Factors the square matrix A, which is consumed: P A = L U with the pivots that the policy picks
/// (policy/pivoting.hpp), or A = L U with NoPivoting. Collective over A's grid.
/// Preconditions, each an Error on every rank: A is square; square blocks (mb = nb); valid options
/// that keep L; a valid policy; the same call, policy and options on every rank; enough memory for
/// the workspace (lu/factor.hpp); with Transport::direct an MPI that reads A's memory.
/// Outcomes: first_zero_pivot(), first_nonfinite_pivot() of the result.
/// (2/3) n^3 flops. Messages per panel, where there are several processes: one broadcast of it
/// along process rows; with interchanges one exchange of at most NB rows along process columns, and
/// within the panel's column NB exchanges of two of its rows, or in a tournament a tree of them and
/// a broadcast.
template <ExecutionPolicy Exec, class Matrix, PivotingPolicy Pivoting = PartialPivoting>
LuFactors<Matrix> lu_factor(const Exec& exec, Matrix&& a, Pivoting pivoting = {},
                            const lu::FactorOptions& options = {}) {
  static_assert(std::is_rvalue_reference_v<Matrix&&>,
                "plinth: lu_factor consumes A: write std::move(a)");
  static_assert(std::is_same_v<typename Matrix::memory, typename Exec::memory>,
                "plinth: A must live in the memory of the execution policy");
  lu::PanelOutcome outcome;
  lu::Pivots pivots;
  trace::Off off;
  std::optional<lu::Factorization<Matrix, Exec, Pivoting>> factorization;
  const auto arguments = comm::Fingerprint()
                         << a.rows() << a.distribution().rows.block() << lu::fingerprint(options)
                         << lu::fingerprint(pivoting);
  comm::agree_on(a.grid().all(), "lu_factor", arguments.value(), [&] {
    require(a.rows() == a.cols(), "the matrix is " + std::to_string(a.rows()) + " x " +
                                      std::to_string(a.cols()) + ", not square");
    require(a.distribution().rows.block() == a.distribution().cols.block(),
            "the blocks are not square");
    require(options.valid(), lu::FactorOptions::requirement);
    require(options.keep_l == lu::KeepL::permuted,
            "factors are wanted with L: keep_l = permuted");
    require(is_valid(pivoting), requirement_of(pivoting));
    if (!a.grid().active()) return;
    pivots = lu::Pivots(a.distribution().rows, a.grid().coord().row);
    factorization.emplace(exec, a.grid(), a.distribution(), options, off, pivoting);
  });
  if (factorization) outcome = (*factorization)(a, pivots);
  return LuFactors<Matrix>(std::move(a), std::move(pivots), outcome);
}

/// Factors A with a workspace that is kept and tells its sink where the time goes. Collective.
/// Preconditions: the grid is active here; `prepared` was made for A's grid and distribution, and
/// to keep L; an Error on every rank: enough memory, n/P indices.
template <class Matrix, ExecutionPolicy Exec, PivotingPolicy Pivoting, class Sink>
LuFactors<Matrix> lu_factor(lu::Factorization<Matrix, Exec, Pivoting, Sink>& prepared,
                            Matrix&& a) {
  lu::Pivots pivots;
  comm::agree_on(a.grid().all(), "lu_factor", 0,
                 [&] { pivots = lu::Pivots(a.distribution().rows, a.grid().coord().row); });
  const lu::PanelOutcome outcome = prepared(a, pivots);
  return LuFactors<Matrix>(std::move(a), std::move(pivots), outcome);
}

}  // namespace plinth
