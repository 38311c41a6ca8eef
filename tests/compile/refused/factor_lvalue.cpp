// SPDX-License-Identifier: BSD-3-Clause
// refused: lu_factor consumes A: write std::move
//
// Nobody goes on with an A that has been overwritten.
#include "plinth/lu/factors.hpp"

using Matrix = plinth::DistributedMatrix<double>;

void factor(Matrix& a);
void factor(Matrix& a) {
#ifdef PLINTH_REFUSED
  (void)plinth::lu_factor(plinth::HostExecution<>(), a);
#else
  (void)plinth::lu_factor(plinth::HostExecution<>(), std::move(a));
#endif
}
