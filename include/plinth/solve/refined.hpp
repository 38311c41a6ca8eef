// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "plinth/comm/agree.hpp"
#include "plinth/lu/lu_solve.hpp"
#include "plinth/lu/mixed_factors.hpp"
#include "plinth/matrix/copy.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/matrix/norm.hpp"
#include "plinth/policy/pivoting.hpp"
#include "plinth/policy/precision.hpp"
#include "plinth/refine/refinement.hpp"
#include "plinth/refine/stored_operator.hpp"
#include "plinth/solve/equilibration.hpp"
#include "plinth/solve/narrow.hpp"
#include "plinth/solve/outcome.hpp"
#include "plinth/solve/questions.hpp"
#include "plinth/solve/report.hpp"

namespace plinth {

/// How to solve: with factors in a narrower type and refinement, or, with NoRefinement, in A's own
/// type.
template <RefinementPolicy Refine = GmresRefinement,
          StoppingCriterion Criterion = BackwardErrorBelow>
struct SolveOptions {
  /// How A is factored. Where operands have 16 bits: without `reproducible` and `split`.
  lu::FactorOptions factor = {};
  /// How the answer gets its last digits.
  Refine refinement = {};
  /// When it has them.
  Criterion criterion = {};
  /// Factor A again in its own type if that fails: an A that the narrower type cannot hold, a zero
  /// or non-finite pivot, refinement that does not converge. The time of a second factorization,
  /// and one matrix in the type of A instead of the narrower one, which is given up first.
  bool fall_back = false;
  /// Scale A by powers of two from both sides (solve/equilibration.hpp): before it is rounded to a
  /// narrower type always, nullopt: where operands have 16 bits; in A's own type where it pays,
  /// nullopt: yes.
  std::optional<bool> equilibrate = std::nullopt;
  /// What the report is to say besides.
  Questions ask = {};
};

/// Solves with factors of A in Precision's Factor type and refines; one attempt.
template <PrecisionPolicy Precision, ExecutionPolicy Exec, class Matrix, class Rhs,
          PivotingPolicy Pivoting, class Options>
class RefinedSolve {
 public:
  using Roles = PrecisionRoles<Precision>;
  using Factor = typename Roles::Factor;
  static constexpr bool packs = Scalar16<typename Roles::Operand>;
  using FactorMatrix =
      DistributedMatrix<Factor, typename Matrix::memory, typename Matrix::layout>;
  using Factors = LuFactors<FactorMatrix>;

  /// `a_norm`: ||A|| in the infinity norm; `finite`: whether A is.
  RefinedSolve(const Exec& exec, const Pivoting& pivoting, const Options& options,
               const Matrix& a, double a_norm, bool finite)
      : exec_(exec),
        pivoting_(pivoting),
        options_(options),
        a_(a),
        a_norm_(a_norm),
        finite_(finite) {}

  /// Collective. Frees the factors before it returns.
  SolveReport operator()(const Rhs& b, Rhs& x) {
    SolveReport report;
    const bool scales = options_.equilibrate.value_or(packs);
    const bool active = a_.grid().active();
    std::optional<StoredOperator<Exec, Matrix>> product;
    Refinement<Exec, Rhs> refinement(exec_, b);
    const Index width = std::min<Index>(std::max<Index>(b.cols(), 1), 128);
    comm::agree_on(a_.grid().all(), "solve", 0, [&] {
      if (!active) return;
      product.emplace(exec_, a_, width);
      if (scales) scaling_.emplace(exec_, a_);
    });
    const std::optional<Factors> factors = factor(report);
    if (factors) note_narrow_pivots(*factors, finite_, report);
    if (!active) return report;
    if (report) {
      std::optional<LuSolver<Exec, FactorMatrix, Rhs>> solver;
      comm::agree_on(a_.grid().all(), "solve", 0,
                     [&] { solver.emplace(exec_, *factors, b, width); });
      note_refinement(refinement([&](const Rhs& v, Rhs& y) { (*product)(v, y); },
                                 [&](Rhs& r) {
                                   left(r);
                                   (*solver)(r);
                                   right(r);
                                 },
                                 a_norm_, b, x, options_.refinement, options_.criterion),
                      report);
    }
    if (factors && report.outcome != Outcome::overflow)
      answer(
          options_.ask, exec_, a_, a_norm_, *factors, [&](Rhs& v) { left(v); },
          [&](Rhs& v) { right(v); }, b, x, report);
    else if (options_.ask.condition)
      report.condition = std::numeric_limits<double>::quiet_NaN();
    return report;
  }

 private:
  /// v := R v.
  void left(const Rhs& v) const {
    if (scaling_) scaling_->scale_rhs(v);
  }
  /// v := S v.
  void right(const Rhs& v) const {
    if (scaling_) scaling_->scale_solution(v);
  }

  /// Factors of A rounded; nullopt, and the outcome, where rounding overflows.
  std::optional<Factors> factor(SolveReport& report) {
    FactorMatrix rounded(a_.grid(), a_.rows(), a_.cols(), layout_of(a_));
    const int exponent = scaling_ && std::is_same_v<Factor, half> ? room_for_growth : 0;
    if (scaling_) {
      scaling_->find(a_, ScaleWhen::always);
      report.equilibrated = scaling_->applied();
      report.lost = scaling_->scale(a_, rounded, exponent);
    } else if (a_.grid().active()) {
      report.lost = narrow_matrix(exec_, a_, rounded);
    }
    if (report.lost.overflowed > 0) {
      // What stands beside an infinity or NaN is not scaled, so that it may overflow.
      report.outcome = finite_ ? Outcome::overflow : Outcome::non_finite;
      return std::nullopt;
    }
    if constexpr (packs) {
      auto options = lu::MixedOptions::of(options_.factor);
      options.matrix_exponent = exponent;
      return mixed_lu_factor<Precision>(exec_, std::move(rounded), pivoting_, options);
    } else {
      return lu_factor(exec_, std::move(rounded), pivoting_, options_.factor);
    }
  }

  Exec exec_;
  const Pivoting& pivoting_;
  const Options& options_;
  const Matrix& a_;
  double a_norm_;
  bool finite_;
  std::optional<Equilibration<Exec, Matrix>> scaling_;
};

}  // namespace plinth
