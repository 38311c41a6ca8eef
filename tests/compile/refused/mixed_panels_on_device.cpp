// SPDX-License-Identifier: BSD-3-Clause
// refused: take NoPivoting, or an execution policy with PanelOn::host
//
// With pivoting panels in mixed precision are the host's.
#include "plinth/lu/mixed_factors.hpp"

/// A device whose kernels factor panels.
struct Device : plinth::HostExecution<> {
  static constexpr plinth::PanelOn panels = plinth::PanelOn::device;
  struct memory : plinth::HostMemory {
    static constexpr bool host_accessible = false;
  };
  const Device& beside() const { return *this; }
};

#ifdef PLINTH_REFUSED
using Pivoting = plinth::PartialPivoting;
#else
using Pivoting = plinth::NoPivoting;
#endif

using Matrix = plinth::DistributedMatrix<plinth::half, Device::memory>;

plinth::LuFactors<Matrix> factor(Matrix& a);
plinth::LuFactors<Matrix> factor(Matrix& a) {
  return plinth::mixed_lu_factor<plinth::DoubleHalf>(Device(), std::move(a), Pivoting{});
}
