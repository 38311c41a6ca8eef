// SPDX-License-Identifier: BSD-3-Clause
// refused: it wants a host execution policy
//
// LU in mixed precision multiplies on the host; elsewhere it says so.
#include "plinth/lu/mixed_factors.hpp"

#ifdef PLINTH_REFUSED
struct Elsewhere {
  using space = Kokkos::HostSpace;
  static constexpr bool host_accessible = false;
  static std::shared_ptr<void> allocate(std::size_t bytes) {
    return plinth::HostMemory::allocate(bytes);
  }
};
struct Execution : plinth::HostExecution<> {
  using memory = Elsewhere;
};
#else
using Elsewhere = plinth::HostMemory;
using Execution = plinth::HostExecution<>;
#endif

using Matrix = plinth::DistributedMatrix<plinth::half, Elsewhere>;

plinth::LuFactors<Matrix> factor(Matrix& a);
plinth::LuFactors<Matrix> factor(Matrix& a) {
  return plinth::mixed_lu_factor<plinth::DoubleHalf>(Execution(), std::move(a));
}
