// SPDX-License-Identifier: BSD-3-Clause
// refused: Operand, Accumulate and Panel may differ from Factor
//
// FP32 factors are made in FP32 throughout: sums in FP64 would be asked for in vain.
#include "plinth/solve/solve.hpp"

struct Precision {
  using Working = double;
  using Factor = float;
#ifdef PLINTH_REFUSED
  using Accumulate = double;
#endif
};
using Matrix = plinth::DistributedMatrix<double>;

plinth::SolveReport solve(const Matrix& a, const Matrix& b, Matrix& x);
plinth::SolveReport solve(const Matrix& a, const Matrix& b, Matrix& x) {
  return plinth::solve<Precision>(plinth::HostExecution<>(), a, b, x);
}
