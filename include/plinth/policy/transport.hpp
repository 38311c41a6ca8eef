// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace plinth {

/// Which memory MPI is given of panels and rows of a matrix on a device.
enum class Transport {
  staged,    ///< the host's, which the device copies to and from
  direct,    ///< the device's, where what is sent is made there, and what is received used there
  automatic  ///< direct where MPI says that it reads the device's memory, else staged
};

}  // namespace plinth
