// SPDX-License-Identifier: BSD-3-Clause
// refused: with 16-bit operands PartialPivoting or NoPivoting
//
// A tournament bounds no entry of L, by which 16-bit operands are scaled.
#include "plinth/solve/solve.hpp"

using Matrix = plinth::DistributedMatrix<double>;
#ifdef PLINTH_REFUSED
using Precision = plinth::DoubleHalf;
#else
using Precision = plinth::DoubleSingle;
#endif

plinth::SolveReport solve(const Matrix& a, const Matrix& b, Matrix& x);
plinth::SolveReport solve(const Matrix& a, const Matrix& b, Matrix& x) {
  return plinth::solve<Precision>(plinth::HostExecution<>(), a, b, x,
                                  plinth::TournamentPivoting{});
}
