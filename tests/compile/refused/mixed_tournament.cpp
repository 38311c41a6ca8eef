// SPDX-License-Identifier: BSD-3-Clause
// refused: PartialPivoting or NoPivoting
//
// LU in mixed precision knows what bounds L with those two only.
#include "plinth/lu/mixed_factors.hpp"

#ifdef PLINTH_REFUSED
using Pivoting = plinth::TournamentPivoting;
#else
using Pivoting = plinth::PartialPivoting;
#endif

using Matrix = plinth::DistributedMatrix<plinth::half>;

plinth::LuFactors<Matrix> factor(Matrix& a);
plinth::LuFactors<Matrix> factor(Matrix& a) {
  return plinth::mixed_lu_factor<plinth::DoubleHalf>(plinth::HostExecution<>(), std::move(a),
                                                     Pivoting{});
}
