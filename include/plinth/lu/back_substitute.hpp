// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "plinth/comm/agree.hpp"
#include "plinth/lu/substitute.hpp"
#include "plinth/matrix/distributed_matrix.hpp"

namespace plinth::lu {

/// Solves U x = y where [U | y] is what a factorization with travelling right-hand sides left of
/// the n x (n + c) system [A | b]: x is n x c. Collective.
/// Preconditions, each an Error on every rank: `a` has no fewer columns than rows; square blocks; x
/// on its grid, n x c, its rows dealt like those of `a`; enough memory.
/// n^2 c flops.
template <ExecutionPolicy Exec, class Matrix>
class BackSubstitution {
 public:
  using T = typename Matrix::value_type;  ///< scalar type
  using Layout = typename Matrix::layout;  ///< layout of the matrix

  /// Not collective: allocates for systems like `a`.
  BackSubstitution(const Exec& exec, const Matrix& a)
      : rhs_{a.rows(), a.cols()},
        blocks_(exec, a.grid(), a.distribution(), rhs_.size()),
        substitution_(exec, a.grid(), a.distribution(), rhs_.size()) {}

  /// Computes x = U^-1 y. Collective.
  void operator()(const Matrix& a, Matrix& x) {
    trace::Off off;
    (*this)(a, x, off);
  }
  /// `sink` learns how long that took, and how long of it messages were waited for.
  template <class Sink>
  void operator()(const Matrix& a, Matrix& x, Sink& sink) {
    blocks_.import_columns(a.local(), a.distribution().cols, rhs_);
    substitution_(Uplo::upper, Diag::non_unit, Op::none, a.local(), blocks_, sink);
    blocks_.export_columns(x.local(), x.distribution().cols, {0, rhs_.size()});
  }

 private:
  Range rhs_;
  DiagonalBlocks<T, Exec, Layout> blocks_;
  Substitution<T, Exec, Layout> substitution_;
};

/// Solves once, see BackSubstitution. Collective.
template <ExecutionPolicy Exec, class Matrix>
void back_substitute(const Exec& exec, const Matrix& a, Matrix& x) {
  std::optional<BackSubstitution<Exec, Matrix>> solve;
  comm::Fingerprint arguments;
  arguments << a.distribution() << x.distribution();
  comm::agree_on(a.grid().all(), "back_substitute", arguments.value(), [&] {
    require(a.cols() >= a.rows(), "the system has no right-hand side");
    require(a.distribution().rows.block() == a.distribution().cols.block(),
            "the blocks are not square");
    require(x.grid() == a.grid(), "the solution is on another grid");
    require(x.distribution().rows == a.distribution().rows && x.cols() == a.cols() - a.rows(),
            "the solution does not have the shape of the right-hand sides");
    if (a.grid().active()) solve.emplace(exec, a);
  });
  if (solve) (*solve)(a, x);
}

}  // namespace plinth::lu
