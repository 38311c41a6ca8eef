// SPDX-License-Identifier: BSD-3-Clause
// refused: the residual is formed in the Working type
//
// Also where nothing is refined: the backward error is measured in the Working type.
#include "plinth/solve/solve.hpp"

struct Precision {
  using Working = float;
#ifdef PLINTH_REFUSED
  using Residual = double;
#endif
};
using Matrix = plinth::DistributedMatrix<float>;

plinth::SolveReport solve(const Matrix& a, const Matrix& b, Matrix& x);
plinth::SolveReport solve(const Matrix& a, const Matrix& b, Matrix& x) {
  return plinth::solve<Precision>(plinth::HostExecution<>(), a, b, x);
}
