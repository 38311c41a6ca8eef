// SPDX-License-Identifier: BSD-3-Clause
// refused: this precision policy needs refinement
//
// Factors in FP32 do not make an FP64 answer by themselves.
#include "plinth/solve/solve.hpp"

using Matrix = plinth::DistributedMatrix<double>;
#ifdef PLINTH_REFUSED
using Precision = plinth::DoubleSingle;
#else
using Precision = plinth::Uniform<double>;
#endif

plinth::SolveReport solve(const Matrix& a, const Matrix& b, Matrix& x);
plinth::SolveReport solve(const Matrix& a, const Matrix& b, Matrix& x) {
  return plinth::solve<Precision>(plinth::HostExecution<>(), a, b, x);
}
