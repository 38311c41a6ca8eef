// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/device.hpp"

#include <algorithm>

#include "linpack/input_error.hpp"
#include "plinth/comm/placement.hpp"
#include "plinth/core/devices.hpp"

namespace linpack {

namespace {

/// Whether an argument says which device Kokkos is to take.
bool names_device(const std::string& argument) {
  return argument.rfind("--kokkos-device-id", 0) == 0 ||
         argument.rfind("--kokkos-map-device-id-by", 0) == 0;
}

}  // namespace

std::vector<std::string> with_device(MPI_Comm comm, std::vector<std::string> arguments) {
  if (!has_device) return arguments;
  const int devices = plinth::visible_devices();
  if (devices < 0) return arguments;  // all ranks have the same Kokkos, and the same arguments
  const bool named = std::any_of(arguments.begin(), arguments.end(), names_device);
  plinth::DevicePlacement placement;
  if (named) placement.device = 0;  // is there any?
  try {
    const int device = plinth::choose_device(comm, devices, placement);
    if (!named) arguments.push_back("--kokkos-device-id=" + std::to_string(device));
  } catch (const plinth::Error& error) {
    throw InputError(std::string(error.message()) +
                     "; --kokkos-device-id=0 gives each rank the first device that it sees, "
                     "--kokkos-map-device-id-by=mpi_rank one after the other");
  }
  return arguments;
}

}  // namespace linpack
