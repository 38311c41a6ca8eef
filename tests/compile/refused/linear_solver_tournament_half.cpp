// SPDX-License-Identifier: BSD-3-Clause
// refused: pivots by PartialPivoting or NoPivoting
//
// A tournament bounds no entry of L, by which 16-bit operands are scaled.
#include "plinth/solve/linear_solver.hpp"

using Matrix = plinth::DistributedMatrix<double>;
#ifdef PLINTH_REFUSED
using Precision = plinth::DoubleHalf;
#else
using Precision = plinth::DoubleSingle;
#endif

plinth::SolveReport solve(const Matrix& a, const Matrix& b, Matrix& x);
plinth::SolveReport solve(const Matrix& a, const Matrix& b, Matrix& x) {
  plinth::LinearSolver solver(plinth::HostExecution<>(), a, Precision{},
                              plinth::LinearSolverOptions<>{}, plinth::TournamentPivoting{});
  (void)solver.factor(a);
  return solver.solve(b, x);
}
