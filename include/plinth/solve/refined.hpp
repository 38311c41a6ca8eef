// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "plinth/comm/agree.hpp"
#include "plinth/lu/lu_solve.hpp"
#include "plinth/lu/mixed_factors.hpp"
#include "plinth/matrix/copy.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/matrix/norm.hpp"
#include "plinth/policy/precision.hpp"
#include "plinth/refine/refinement.hpp"
#include "plinth/refine/stored_operator.hpp"
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
  /// Scale A by powers of two from both sides before it is rounded (solve/narrow.hpp); nullopt:
  /// where operands have 16 bits. Needs kernels that run on the host, and real numbers.
  /// In A's own type: scale where it pays (solve/equilibration.hpp); nullopt: yes.
  std::optional<bool> equilibrate = std::nullopt;
  /// What the report is to say besides.
  Questions ask = {};
};

/// Solves with factors of A in Precision's Factor type and refines; one attempt.
template <PrecisionPolicy Precision, ExecutionPolicy Exec, class Matrix, class Rhs, class Options>
class RefinedSolve {
 public:
  using Roles = PrecisionRoles<Precision>;
  using Factor = typename Roles::Factor;
  static constexpr bool packs = Scalar16<typename Roles::Operand>;
  static constexpr bool can_scale =
      !ScalarTraits<Factor>::is_complex &&
      Kokkos::SpaceAccessibility<typename Exec::execution_space, Kokkos::HostSpace>::accessible;
  using FactorMatrix =
      DistributedMatrix<Factor, typename Matrix::memory, typename Matrix::layout>;
  using Factors = LuFactors<FactorMatrix>;

  RefinedSolve(const Exec& exec, const Options& options, const Matrix& a, double a_norm)
      : exec_(exec), options_(options), a_(a), a_norm_(a_norm) {}

  /// Collective. Frees the factors before it returns.
  SolveReport operator()(const Rhs& b, Rhs& x) {
    SolveReport report;
    const bool scales = options_.equilibrate.value_or(packs);
    std::optional<StoredOperator<Exec, Matrix>> product;
    Refinement<Exec, Rhs> refinement(exec_, b);
    const Index width = std::min<Index>(std::max<Index>(b.cols(), 1), 128);
    comm::agree_on(a_.grid().all(), "solve", 0, [&] {
      if (!a_.grid().active()) return;
      product.emplace(exec_, a_, width);
      if constexpr (can_scale)
        if (scales) scaling_.emplace(exec_, a_, b);
    });
    const std::optional<Factors> factors = factor(report);
    if (!factors) return report;
    note_narrow_pivots(*factors, a_norm_, report);
    if (!report) return report;

    std::optional<LuSolver<Exec, FactorMatrix, Rhs>> solver;
    comm::agree_on(a_.grid().all(), "solve", 0, [&] {
      if (a_.grid().active()) solver.emplace(exec_, *factors, b, width);
    });
    note_refinement(refinement([&](const Rhs& v, Rhs& y) { (*product)(v, y); },
                               [&](Rhs& r) {
                                 scale(r, true);
                                 (*solver)(r);
                                 scale(r, false);
                               },
                               a_norm_, b, x, options_.refinement, options_.criterion),
                    report);
    if (options_.ask.any() && a_.grid().active()) {
      solver.reset();
      answer(
          options_.ask, exec_, a_, a_norm_, *factors, [&](Rhs& v) { scale(v, true); },
          [&](Rhs& v) { scale(v, false); }, b, x, report);
    }
    return report;
  }

 private:
  struct Nothing {};

  /// v := R v, or S v.
  void scale(const Rhs& v, bool rhs) const {
    if constexpr (can_scale)
      if (scaling_) rhs ? scaling_->scale_rhs(v) : scaling_->scale_solution(v);
  }

  /// Factors of A rounded; nullopt, and the outcome, where rounding overflows.
  std::optional<Factors> factor(SolveReport& report) {
    FactorMatrix rounded(a_.grid(), a_.rows(), a_.cols(), layout_of(a_));
    // 16 bits: entries up to 2^10 leave room for growth, and 2^24 below for small ones.
    int exponent = 0;
    if constexpr (std::is_same_v<Factor, half>) exponent = scaling_ ? 10 : 0;
    bool done = false;
    if constexpr (can_scale)
      if (scaling_) {
        scaling_->find(a_);
        report.lost = scaling_->narrow(a_, rounded, exponent);
        done = true;
      }
    if (!done && a_.grid().active()) report.lost = narrow_matrix(exec_, a_, rounded);
    if (report.lost.overflowed > 0) {
      // What stands beside an infinity or NaN is not scaled, so that it may overflow.
      report.outcome = is_finite(a_norm_) ? Outcome::overflow : Outcome::non_finite;
      return std::nullopt;
    }
    if constexpr (packs) {
      auto options = lu::MixedOptions::of(options_.factor);
      options.matrix_exponent = exponent;
      return mixed_lu_factor<Precision>(exec_, std::move(rounded), PartialPivoting{}, options);
    } else {
      return lu_factor(exec_, std::move(rounded), PartialPivoting{}, options_.factor);
    }
  }

  Exec exec_;
  const Options& options_;
  const Matrix& a_;
  double a_norm_;
  std::optional<std::conditional_t<can_scale, Equilibration<Exec, Rhs>, Nothing>> scaling_;
};

}  // namespace plinth
