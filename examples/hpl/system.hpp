// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "linpack/config.hpp"
#include "plinth/lu/back_substitute.hpp"
#include "plinth/lu/factor.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/matrix/hpl_matrix.hpp"
#include "plinth/policy/execution.hpp"
#include "plinth/refine/hpl_residual.hpp"

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
  plinth::lu::PanelOutcome factor() { return factorization_(ab_, pivots_); }
  /// x from U and y.
  void back_substitute() { back_substitution_(ab_, x_); }
  /// Of x and of A and b, generated anew.
  plinth::SystemNorms norms() const;

 private:
  Exec exec_;
  plinth::HplMatrix generator_;
  Matrix ab_;
  Matrix x_;
  plinth::lu::Pivots pivots_;
  plinth::trace::Off off_;
  plinth::lu::Factorization<Matrix, Exec> factorization_;
  plinth::lu::BackSubstitution<Exec, Matrix> back_substitution_;
};

}  // namespace hpl
