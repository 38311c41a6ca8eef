// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "linpack/config.hpp"
#include "linpack/result.hpp"
#include "plinth/lu/factor.hpp"
#include "plinth/lu/substitute.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/policy/execution.hpp"

namespace hpl {

/// netlib's N x (N + 1) system [A | b] on a process grid, and everything that solving it works
/// with. Exists on the processes of the grid only; every call is collective over them.
class System {
 public:
  using Exec = plinth::HostExecution<>;
  using Matrix = plinth::DistributedMatrix<double>;

  /// Bytes that the process at (0, 0), which has most, needs for a case.
  static double bytes_needed(const linpack::Case& c);

  /// Allocates. Throws plinth::Error of kind memory: for the matrices on every process, for the
  /// workspace on those that lack it.
  System(const Exec& exec, const plinth::ProcessGrid& grid, const linpack::Case& c);

  void generate();
  /// Overwrites A with U and b with y, where U x = y.
  plinth::lu::PanelOutcome factor();
  /// x from U and y.
  void back_substitute();
  /// Of x and of A and b, generated anew.
  linpack::Norms norms();

 private:
  using Layout = Matrix::layout;

  /// A alone, and b alone, without a copy.
  Matrix square() const;
  Matrix right_hand_side() const;
  /// Of a matrix of one column that is dealt as b is.
  plinth::MatrixLayoutOptions column_layout() const;

  Exec exec_;
  plinth::Index n_;
  plinth::Index nb_;
  Matrix ab_;
  Matrix x_;
  Matrix r_;
  plinth::lu::Pivots pivots_;
  plinth::trace::Off off_;
  plinth::lu::Factorization<Matrix, Exec> factorization_;
  plinth::DiagonalBlocks<double, Exec, Layout> blocks_;
  plinth::lu::Substitution<double, Exec, Layout> substitution_;
};

}  // namespace hpl
