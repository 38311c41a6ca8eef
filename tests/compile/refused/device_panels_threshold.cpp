// SPDX-License-Identifier: BSD-3-Clause
// refused: a device factors panels with PartialPivoting or NoPivoting
//
// Kernels of a device search for the largest magnitude; whoever wants another pivot lets the host
// factor panels.
#include <utility>

#include "plinth/lu/factors.hpp"

/// Memory that the host does not reach.
struct Memory : plinth::HostMemory {
  static constexpr bool host_accessible = false;
};
struct Device : plinth::HostExecution<> {
  using memory = Memory;
  Device beside() const { return {}; }
#ifdef PLINTH_REFUSED
  static constexpr auto panels = plinth::PanelOn::device;
#else
  static constexpr auto panels = plinth::PanelOn::host;
#endif
};
using Matrix = plinth::DistributedMatrix<double, Memory>;

plinth::LuFactors<Matrix> factor(Matrix& a);
plinth::LuFactors<Matrix> factor(Matrix& a) {
  return plinth::lu_factor(Device(), std::move(a), plinth::ThresholdPivoting{});
}
