// SPDX-License-Identifier: BSD-3-Clause
// refused: factors in a narrower type need refinement
//
// Factors in FP32 do not make an FP64 answer by themselves.
#include "plinth/solve/solve.hpp"

using Matrix = plinth::DistributedMatrix<double>;
#ifdef PLINTH_REFUSED
using Refinement = plinth::NoRefinement;
#else
using Refinement = plinth::ClassicalRefinement;
#endif

plinth::SolveReport solve(const Matrix& a, const Matrix& b, Matrix& x);
plinth::SolveReport solve(const Matrix& a, const Matrix& b, Matrix& x) {
  return plinth::solve<plinth::DoubleSingle>(plinth::HostExecution<>(), a, b, x,
                                             plinth::SolveOptions<Refinement>{});
}
