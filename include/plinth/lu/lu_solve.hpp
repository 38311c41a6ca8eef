// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plinth/comm/agree.hpp"
#include "plinth/comm/mpi.hpp"
#include "plinth/lu/factors.hpp"
#include "plinth/lu/interchange.hpp"
#include "plinth/lu/plan.hpp"
#include "plinth/lu/substitute.hpp"
#include "plinth/trace/phase.hpp"

namespace plinth {

/// Solves op(A) X = B with the factors of A as often as wanted, for B of one distribution, with a
/// workspace that is kept: about 3 (n/P + n/Q) `at_once` elements per process, with several process
/// rows 2 NB nrhs/Q more for the interchanges of B, and where factors and vectors have different
/// types room for a converted block of the factors (kernel/stored_factors.hpp).
template <ExecutionPolicy Exec, class Matrix, class Rhs>
class LuSolver {
 public:
  using T = typename Rhs::value_type;  ///< of right-hand sides, in which everything is computed
  using Stored = typename Matrix::value_type;  ///< of the factors

  static_assert(ScalarTraits<T>::is_complex == ScalarTraits<Stored>::is_complex,
                "plinth: factors and right-hand sides must both be real or both complex");

  /// Not collective. Preconditions: the grid is active here; at_once >= 1; B has order() rows,
  /// dealt like the factors' rows. The factors must outlive this object.
  LuSolver(const Exec& exec, const LuFactors<Matrix>& factors, const Rhs& like,
           Index at_once = 128)
      : factors_(factors),
        plan_(factors.matrix().distribution(), 0),
        width_(std::min(at_once, std::max<Index>(like.cols(), 1))),
        local_rhs_(like.local_extents().cols),
        x_(exec, like.grid(), factors.matrix().distribution(), width_),
        substitute_(exec, like.grid(), factors.matrix().distribution(), width_,
                    !factors.exponents().empty()),
        interchange_(exec, like.grid(), like.distribution().rows, plan_.max_width(), local_rhs_) {
    if (like.grid().shape().rows > 1) top_.reserve(plan_.max_width() * local_rhs_);
    panel_pivots_.resize(static_cast<std::size_t>(plan_.max_width()));
  }

  /// Collective; b is distributed as `like` was. `sink` as in lu/substitute.hpp.
  template <class Sink>
  void operator()(Rhs& b, Op op, Sink& sink) {
    const auto a = factors_.matrix().local();
    const lu::BlockExponents& exponents = factors_.exponents();
    const auto lower = [&] { substitute_(Uplo::lower, Diag::unit, op, a, x_, sink, exponents); };
    const auto upper = [&] {
      substitute_(Uplo::upper, Diag::non_unit, op, a, x_, sink, exponents);
    };
    if (op == Op::none) permute(b, false);
    for (Index begin = 0; begin < b.cols(); begin += width_) {
      const Range which{begin, std::min(begin + width_, b.cols())};
      x_.import_columns(b.local(), b.distribution().cols, which);
      if (op == Op::none) {
        lower();
        upper();
      } else {
        upper();
        lower();
      }
      x_.export_columns(b.local(), b.distribution().cols, which);
    }
    if (op != Op::none) permute(b, true);
  }
  /// The same without a sink.
  void operator()(Rhs& b, Op op = Op::none) {
    trace::Off off;
    (*this)(b, op, off);
  }

  /// To be called when the factors are no longer what they were: LuFactors::refactor. Not
  /// collective, but on every process.
  void factors_changed() { any_interchange_.reset(); }

 private:
  using RhsLayout = typename Rhs::layout;
  using Layout = typename Matrix::layout;

  /// Applies the interchanges to b, or undoes them, unless there are none anywhere.
  void permute(Rhs& b, bool inverse) {
    const ProcessGrid& grid = b.grid();
    if (!any_interchange_) {
      Index moved = factors_.pivots().moves_rows() ? 1 : 0;
      comm::check(MPI_Allreduce(MPI_IN_PLACE, &moved, 1, comm::datatype<Index>(), MPI_MAX,
                                grid.all().handle()),
                  "MPI_Allreduce");
      any_interchange_ = moved != 0;
    }
    if (!*any_interchange_) return;
    Index* const pivots = panel_pivots_.data();
    for (Index n = 0; n < plan_.steps(); ++n) {
      const lu::Step step = plan_.step(inverse ? plan_.steps() - 1 - n : n);
      factors_.pivots().fetch(grid, step, pivots);
      interchange_.apply({step.cols.begin, pivots, step.width(), inverse}, b.local(),
                         kernel::contiguous<RhsLayout, typename Exec::memory::space>(
                             top_.data(), step.width(), local_rhs_));
    }
  }

  const LuFactors<Matrix>& factors_;
  lu::Plan plan_;
  Index width_;
  Index local_rhs_;
  DiagonalBlocks<T, Exec, Layout> x_;
  lu::Substitution<T, Exec, Layout, Stored> substitute_;
  lu::Interchange<T, Exec, RhsLayout> interchange_;
  kernel::Buffer<T, typename Exec::memory> top_;
  std::vector<Index> panel_pivots_;
  std::optional<bool> any_interchange_;
};

/// Solves op(A) X = B with the factors of A; B is overwritten with X. As often as you like, for any
/// number of right-hand sides. Collective.
/// B may have another scalar type than the factors are stored in, wider as a rule: everything is
/// computed in B's type, and no converted copy of the factors is made. The scaling of factors made
/// by mixed_lu_factor is taken into account.
/// Preconditions, each an Error on every rank: B is on the factors' grid; B has order() rows, dealt
/// like A's rows (mb and source row); the same call on every rank; enough memory.
/// A zero pivot makes infinities and NaNs, as in LAPACK's getrs: ask first_zero_pivot() first.
/// 2 n^2 flops per right-hand side; right-hand sides are taken `at_once` at a time. Workspace: see
/// LuSolver, which keeps it from call to call.
/// Messages: an allreduce of a number, and where rows were interchanged an exchange of them along
/// process columns per block; for each `at_once` an all-to-all along rows in and out, and for L and
/// U each a reduction and a broadcast per block, of NB numbers per right-hand side
/// (lu/substitute.hpp).
template <ExecutionPolicy Exec, class Matrix, class Rhs>
void lu_solve(const Exec& exec, const LuFactors<Matrix>& factors, Rhs& b, Op op = Op::none,
              Index at_once = 128) {
  const ProcessGrid& grid = factors.matrix().grid();
  const Distribution& a = factors.matrix().distribution();
  std::optional<LuSolver<Exec, Matrix, Rhs>> solver;
  comm::Fingerprint arguments;
  arguments << a << b.distribution() << static_cast<Index>(op) << at_once;
  comm::agree_on(grid.all(), "lu_solve", arguments.value(), [&] {
    require(b.grid() == grid, "B is on another grid than the factors");
    require(b.rows() == factors.order(), "B has " + std::to_string(b.rows()) +
                                             " rows, the factors have " +
                                             std::to_string(factors.order()));
    require(b.distribution().rows == a.rows,
            "the rows of B are not dealt like those of A (mb, source row)");
    require(at_once >= 1, "at least one right-hand side at once");
    if (grid.active()) solver.emplace(exec, factors, b, at_once);
  });
  if (solver) (*solver)(b, op);
}

}  // namespace plinth
