// SPDX-License-Identifier: BSD-3-Clause
// refused: B must have the scalar type of the factors
#include "plinth/lu/factors.hpp"

using Factors = plinth::LuFactors<plinth::DistributedMatrix<double>>;
#ifdef PLINTH_REFUSED
using Rhs = plinth::DistributedMatrix<float>;
#else
using Rhs = plinth::DistributedMatrix<double>;
#endif

void solve(const Factors& factors, Rhs& b);
void solve(const Factors& factors, Rhs& b) {
  plinth::lu_solve(plinth::HostExecution<>(), factors, b);
}
