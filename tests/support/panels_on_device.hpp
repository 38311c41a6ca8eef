// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plinth/policy/execution.hpp"

namespace plinth_test {

/// A device of the tests whose kernels factor panels.
template <plinth::ExecutionPolicy Device>
struct PanelsOnDevice : Device {
  static constexpr plinth::PanelOn panels = plinth::PanelOn::device;

  PanelsOnDevice() = default;
  explicit PanelsOnDevice(const Device& device) : Device(device) {}
  PanelsOnDevice beside() const { return PanelsOnDevice(Device::beside()); }
};

}  // namespace plinth_test
