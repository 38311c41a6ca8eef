// SPDX-License-Identifier: BSD-3-Clause
// refused: sums in float, or in half what is multiplied in half
//
// bfloat16 is summed in float, whatever a policy says.
#include "plinth/lu/mixed_factors.hpp"

struct Precision {
  using Working = double;
  using Factor = plinth::bfloat16;
#ifdef PLINTH_REFUSED
  using Accumulate = plinth::half;
#else
  using Accumulate = float;
#endif
  using Panel = float;
};
using Matrix = plinth::DistributedMatrix<plinth::bfloat16>;

plinth::LuFactors<Matrix> factor(Matrix& a);
plinth::LuFactors<Matrix> factor(Matrix& a) {
  return plinth::mixed_lu_factor<Precision>(plinth::HostExecution<>(), std::move(a));
}
