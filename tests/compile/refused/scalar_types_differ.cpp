// SPDX-License-Identifier: BSD-3-Clause
// refused: must both be real or both complex
#include "plinth/lu/lu_solve.hpp"

using Factors = plinth::LuFactors<plinth::DistributedMatrix<double>>;
#ifdef PLINTH_REFUSED
using Rhs = plinth::DistributedMatrix<Kokkos::complex<double>>;
#else
using Rhs = plinth::DistributedMatrix<double>;
#endif

void solve(const Factors& factors, Rhs& b);
void solve(const Factors& factors, Rhs& b) {
  plinth::lu_solve(plinth::HostExecution<>(), factors, b);
}
