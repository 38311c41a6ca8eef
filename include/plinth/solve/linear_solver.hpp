// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "plinth/comm/agree.hpp"
#include "plinth/lu/lu_solve.hpp"
#include "plinth/lu/mixed_factors.hpp"
#include "plinth/matrix/copy.hpp"
#include "plinth/matrix/norm.hpp"
#include "plinth/policy/precision.hpp"
#include "plinth/refine/refinement.hpp"
#include "plinth/refine/stored_operator.hpp"
#include "plinth/solve/equilibration.hpp"
#include "plinth/solve/narrow.hpp"
#include "plinth/solve/outcome.hpp"
#include "plinth/solve/report.hpp"
#include "plinth/solve/roles.hpp"

namespace plinth {

/// How a LinearSolver factors and refines.
template <RefinementPolicy Refine = GmresRefinement,
          StoppingCriterion Criterion = BackwardErrorBelow>
struct LinearSolverOptions {
  /// How A is factored. Where operands have 16 bits: without `reproducible` and `split`.
  lu::FactorOptions factor = {};
  /// Where factors are in a narrower type than A: how the answer gets its last digits, and when it
  /// has them.
  /// Cycles of GMRES are short, because the memory for a whole one is kept.
  Refine refinement = [] {
    if constexpr (std::is_same_v<Refine, GmresRefinement>)
      return Refine{.restart = 10};
    else
      return Refine{};
  }();
  Criterion criterion = {};  ///< likewise
  /// Where factors are in a narrower type: scale A by powers of two from both sides before it is
  /// rounded (solve/equilibration.hpp); nullopt: where operands have 16 bits.
  std::optional<bool> equilibrate = std::nullopt;
  /// So many right-hand sides are taken at a time.
  Index at_once = 128;
};

/// Solves with one square matrix after another, of one distribution, each for as many blocks of
/// right-hand sides as wanted, also of one distribution, with memory of its own: after the first
/// factor() and the first solve() nothing of the size of a matrix, a vector or a message is
/// allocated any more.
///
///     LinearSolver solver(exec, a);                  // or (exec, a, DoubleSingle{})
///     solver.factor(a);                              // a copy of A; A may change then
///     solver.solve(b, x);                            // as often as you like, also with A^T
///     solver.factor(next_a);                         // in the same memory
///
/// | factors in      | keeps            | solve, with any op    |
/// |-----------------|------------------|-----------------------|
/// | A's type        | L and U          | lu_solve, in place too|
/// | a narrower type | A, and L and U   | refined               |
///
/// With 16-bit operands pivoting is PartialPivoting or NoPivoting; others do not compile.
/// Memory: that, the workspaces of lu_factor and lu_solve, and where answers are refined that of
/// solve with SolveOptions.
template <PrecisionPolicy Precision, ExecutionPolicy Exec, class Matrix, class Rhs = Matrix,
          PivotingPolicy Pivoting = PartialPivoting, class Options = LinearSolverOptions<>>
class LinearSolver {
 public:
  using Working = typename PrecisionRoles<Precision>::Working;  ///< of A, B and X
  using Factor = typename PrecisionRoles<Precision>::Factor;    ///< of L and U
  /// What holds L and U.
  using FactorMatrix =
      DistributedMatrix<Factor, typename Matrix::memory, typename Matrix::layout>;
  /// Whether factors are in a narrower type, and answers refined.
  static constexpr bool refines = !std::is_same_v<Working, Factor>;
  /// Whether operands have 16 bits.
  static constexpr bool packs = Scalar16<typename PrecisionRoles<Precision>::Operand>;

  static_assert(
      are_roles_of_a_solve<Precision, typename Matrix::value_type, typename Rhs::value_type>());
  static_assert(!refines || !std::is_same_v<decltype(Options::refinement), NoRefinement>,
                "plinth: LinearSolver: factors in a narrower type need refinement");
  /// For matrices that are distributed like `a`, which is not read. Collective over its grid.
  /// Preconditions, each an Error on every rank: a is square, in square blocks; valid options that
  /// keep L and that the factorization knows; no scaling in A's own type; a valid refinement and
  /// pivoting policy; at_once >= 1; the same call, and micro-kernel, on every rank; enough memory
  /// for the factorization's workspace.
  LinearSolver(const Exec& exec, const Matrix& a, Precision = {}, Options options = {},
               const Pivoting& pivoting = {})
      : exec_(exec),
        grid_(a.grid()),
        distribution_(a.distribution()),
        options_(std::move(options)) {
    comm::Fingerprint arguments;
    arguments << distribution_ << lu::fingerprint(options_.factor) << options_.at_once
              << lu::fingerprint(pivoting) << scales();
    const auto complaint = comm::complaint_of([&] {
      require(a.rows() == a.cols(), "the matrix is " + std::to_string(a.rows()) + " x " +
                                        std::to_string(a.cols()) + ", not square");
      require(distribution_.rows.block() == distribution_.cols.block(),
              "the blocks are not square");
      require(options_.factor.valid(), lu::FactorOptions::requirement);
      require(options_.factor.keep_l == lu::KeepL::permuted,
              "solving needs L: keep_l = permuted");
      require(!packs || (!options_.factor.reproducible && options_.factor.split == 0),
              "factorizations with 16-bit operands know no reproducible slices "
              "and no split "
              "update");
      require(refines || !options_.equilibrate.value_or(false),
              "factors in A's own type are made without scaling");
      require(options_.refinement.valid(), options_.refinement.requirement);
      require(is_valid(pivoting), requirement_of(pivoting));
      require(options_.at_once >= 1, "at least one right-hand side at once");
      if constexpr (packs) {
        const auto name = Factorization::Mixed::setup_of(mixed_options()).kernel.name;
        for (const char* c = name; *c != '\0'; ++c) arguments << *c;
      }
      if (!grid_.active()) return;
      if constexpr (packs)
        prepared_.emplace(exec_, grid_, distribution_, mixed_options(), off_);
      else
        prepared_.emplace(exec_, grid_, distribution_, options_.factor, off_, pivoting);
      if (scales()) scaling_.emplace(exec_, a);
    });
    comm::agree(grid_.all(), "LinearSolver", complaint, arguments.value());
  }
  /// Its parts refer to each other: it stays where it is.
  LinearSolver(const LinearSolver&) = delete;

  /// Factors a copy of A. Collective.
  /// Preconditions, each an Error on every rank: A is on the grid of the matrix that this was made
  /// for, and distributed like it; the first time, enough memory.
  /// Outcomes, kept for solve(): solved (that is, it can be), singular or non_finite with a column,
  /// overflow where A does not fit the factors' type; as in solve().
  /// (2/3) n^3 flops. Messages: those of lu_factor; where answers are refined those of norm, and of
  /// Equilibration::find if A is scaled, besides.
  SolveReport factor(const Matrix& a) {
    check("LinearSolver: factor", a);
    if constexpr (refines) {
      if (!a_) a_.emplace(like(a));
      copy(exec_, a, *a_);
      return factor_narrowed();
    } else {
      if (!factors_) storage_.emplace(like(a));
      fill_and_factor([&](FactorMatrix& to) { copy(exec_, a, to); });
      return factored();
    }
  }

  /// Factors A in its own storage, which the solver keeps. No copy is made; the storage that the
  /// solver had is freed. Otherwise as above.
  SolveReport factor(Matrix&& a) {
    check("LinearSolver: factor", a);
    if constexpr (refines) {
      a_.emplace(std::move(a));  // in the place that product_ refers to
      return factor_narrowed();
    } else {
      report_ = {};
      storage_.emplace(std::move(a));
      if (grid_.active()) {
        adopt();
        note_pivots(*factors_, report_);
      }
      return factored();
    }
  }

  /// op(A) X = B; B is kept. Collective.
  /// Preconditions, each an Error on every rank: a matrix was factored; B is distributed as at the
  /// first solve, on the grid, with A's rows, dealt like A's; X like B, and not B; the same call
  /// on every rank; the first time, enough memory.
  /// Outcomes: those of factor(), with X unspecified then; with refinement those of solve with
  /// SolveOptions. Without, the backward error is not measured: it is NaN in the report.
  /// 2 n^2 flops per right-hand side and solve, and per product with op(A) where answers are
  /// refined; the first time after factor() that op is a transposition a pass over A for its norm.
  /// Messages: those of lu_solve, per solve, and of Refinement.
  SolveReport solve(const Rhs& b, Rhs& x, Op op = Op::none) {
    prepare(b, x, op, false);
    SolveReport report = report_;
    if (!report || !grid_.active()) return report;
    if constexpr (refines) {
      const bool as_is = op == Op::none;
      // op(A)^-1 = S (R A S)^-1 R, or R op(R A S)^-1 S; R and S are real.
      const auto solve_with_factors = [&](Rhs& r) {
        if (scaling_) as_is ? scaling_->scale_rhs(r) : scaling_->scale_solution(r);
        (*solver_)(r, op);
        if (scaling_) as_is ? scaling_->scale_solution(r) : scaling_->scale_rhs(r);
      };
      note_refinement(
          (*refinement_)([&](const Rhs& v, Rhs& y) { (*product_)(v, y, Working(1), op); },
                         solve_with_factors, as_is ? a_norm_ : transposed_norm(), b, x,
                         options_.refinement, options_.criterion),
          report);
    } else {
      kernel::copy(exec_, b.local(), x.local());
      exec_.fence();
      (*solver_)(x, op);
      report.backward_error = std::numeric_limits<double>::quiet_NaN();
    }
    return report;
  }

  /// op(A) X = B; B becomes X. As above.
  SolveReport solve_in_place(Rhs& b, Op op = Op::none) requires(!refines) {
    prepare(b, b, op, true);
    SolveReport report = report_;
    if (!report || !grid_.active()) return report;
    (*solver_)(b, op);
    report.backward_error = std::numeric_limits<double>::quiet_NaN();
    return report;
  }

  /// The factors, to ask for condition, determinant and more; as factor() left them: of A scaled
  /// where that was asked for (factor()'s report says `equilibrated`). Precondition: the grid is
  /// active here, and a matrix was factored, without overflow.
  const LuFactors<FactorMatrix>& factors() const { return *factors_; }
  /// ||A|| in the infinity norm. Precondition: answers are refined, and a matrix was factored.
  double a_norm() const requires(refines) { return a_norm_; }

 private:
  using Real = RealOf<Working>;
  using Factorization = typename decltype([] {
    if constexpr (packs)
      return std::type_identity<
          lu::MixedFactorization<FactorMatrix, Exec, Precision, Pivoting>>();
    else
      return std::type_identity<lu::Factorization<FactorMatrix, Exec, Pivoting>>();
  }())::type;

  bool scales() const { return refines && options_.equilibrate.value_or(packs); }
  /// Rounded from entries up to 2^exponent, as solve() does.
  int exponent() const { return scales() && std::is_same_v<Factor, half> ? room_for_growth : 0; }
  lu::MixedOptions mixed_options() const {
    auto mixed = lu::MixedOptions::of(options_.factor);
    mixed.matrix_exponent = exponent();
    return mixed;
  }
  /// ||A^T||, the first time for this A.
  double transposed_norm() {
    if (!a_norm_one_) a_norm_one_ = static_cast<double>(norm(exec_, *a_, Norm::one, norm_));
    return *a_norm_one_;
  }

  static Matrix like(const Matrix& a) {
    return Matrix(a.grid(), a.rows(), a.cols(), layout_of(a));
  }
  void check(const char* call, const Matrix& a) {
    comm::agree_on(grid_.all(), call, 0, [&] {
      require(a.grid() == grid_, "A is on another grid than the solver's matrix");
      require(a.distribution() == distribution_, "A is not distributed like the solver's matrix");
    });
    factored_ = false;
  }
  /// What ends every factorization that comes to its end.
  const SolveReport& factored() {
    factored_ = true;
    return report_;
  }

  /// L and U of what `fill` puts into the factors' storage.
  template <class Fill>
  void fill_and_factor(const Fill& fill) {
    report_ = {};
    if (factors_) {
      factors_->refactor(*prepared_, fill);
      if (solver_) solver_->factors_changed();
    } else {
      fill(*storage_);
      if (!grid_.active()) return;
      adopt();
    }
    if constexpr (refines) {
      note_narrow_pivots(*factors_, finite_, report_);
    } else {
      note_pivots(*factors_, report_);
    }
  }
  /// The factors of what stands in storage_, which is used up. The factors stay where they are,
  /// since the solver refers to them.
  void adopt() {
    auto made = [&] {
      if constexpr (packs)
        return mixed_lu_factor(*prepared_, std::move(*storage_));
      else
        return lu_factor(*prepared_, std::move(*storage_));
    }();
    storage_.reset();
    if (factors_) {
      *factors_ = std::move(made);
    } else {
      factors_.emplace(std::move(made));
    }
    if (solver_) solver_->factors_changed();
  }

  SolveReport factor_narrowed() {
    report_ = {};
    if (!grid_.active()) return factored();
    comm::agree_on(grid_.all(), "LinearSolver: factor", 0,
                   [&] { norm_.reserve(a_->local_extents()); });
    a_norm_ = static_cast<double>(norm(exec_, *a_, Norm::inf, norm_));
    a_norm_one_.reset();
    finite_ = is_finite_matrix(exec_, *a_, a_norm_, norm_);
    if (!factors_)
      storage_.emplace(grid_, distribution_.rows.size(), distribution_.cols.size(),
                       layout_of(*a_));
    kernel::NarrowingCounts lost;
    if (scaling_) scaling_->find(*a_, ScaleWhen::always);
    fill_and_factor([&](FactorMatrix& to) {
      lost = scaling_ ? scaling_->scale(*a_, to, exponent()) : narrow_matrix(exec_, *a_, to);
    });
    if (lost.overflowed > 0)
      report_ = {.outcome = finite_ ? Outcome::overflow : Outcome::non_finite};
    report_.lost = lost;
    if (scaling_) report_.equilibrated = scaling_->applied();
    return factored();
  }

  void prepare(const Rhs& b, const Rhs& x, Op op, bool in_place) {
    comm::Fingerprint arguments;
    arguments << b.distribution() << static_cast<Index>(op) << in_place;
    const bool first = !rhs_;
    comm::agree_on(grid_.all(), "LinearSolver: solve", arguments.value(), [&] {
      require(factored_, "no matrix was factored yet");
      require(b.grid() == grid_ && x.grid() == grid_, "A, B and X are on different grids");
      require(!rhs_ || b.distribution() == *rhs_,
              "B is not distributed as at the first solve of this solver");
      require(x.distribution() == b.distribution(), "X and B are not distributed alike");
      require(b.distribution().rows == distribution_.rows,
              "the rows of B are not dealt like those of A (mb, source row)");
      require(in_place || &x != &b, "X and B are the same matrix: use solve_in_place");
      if (!grid_.active() || !report_) return;
      // Anew where an earlier first use came to no end.
      if (first) solver_.emplace(exec_, *factors_, b, options_.at_once);
      if constexpr (refines)
        if (first)
          product_.emplace(exec_, *a_, std::min(options_.at_once, std::max<Index>(b.cols(), 1)));
    });
    if (!report_) return;
    if constexpr (refines) {
      if (first) {
        refinement_.emplace(exec_, b);
        refinement_->reserve(b, options_.refinement);
      }
    }
    // Idle ranks do not know how factor() ended, and are never asked about B.
    if (grid_.active()) rhs_ = b.distribution();
  }

  Exec exec_;
  ProcessGrid grid_;
  Distribution distribution_;
  Options options_;
  trace::Off off_;
  std::optional<Factorization> prepared_;
  std::optional<FactorMatrix> storage_;  ///< of the factors, before there are any
  std::optional<LuFactors<FactorMatrix>> factors_;
  std::optional<LuSolver<Exec, FactorMatrix, Rhs>> solver_;
  std::optional<Distribution> rhs_;
  bool factored_ = false;
  SolveReport report_;  ///< of the last factor()

  // Where answers are refined.
  std::optional<Matrix> a_;
  std::optional<StoredOperator<Exec, Matrix>> product_;
  std::optional<Refinement<Exec, Rhs>> refinement_;
  NormWorkspace<Real, Exec> norm_;
  std::optional<Equilibration<Exec, Matrix>> scaling_;
  double a_norm_ = 0;
  std::optional<double> a_norm_one_;
  bool finite_ = true;  ///< whether A is
};

/// Factors in A's type.
template <ExecutionPolicy Exec, class Matrix>
LinearSolver(const Exec&, const Matrix&)
    -> LinearSolver<Uniform<typename Matrix::value_type>, Exec, Matrix>;
/// Factors as the precision policy says.
template <ExecutionPolicy Exec, class Matrix, PrecisionPolicy Precision>
LinearSolver(const Exec&, const Matrix&, Precision) -> LinearSolver<Precision, Exec, Matrix>;

}  // namespace plinth
