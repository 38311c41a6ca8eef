// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/device.hpp"

#include <algorithm>

#include "linpack/memory.hpp"
#include "plinth/comm/grid.hpp"
#include "plinth/comm/placement.hpp"
#include "plinth/core/devices.hpp"
#include "plinth/core/error.hpp"
#include "plinth/kernel/blas.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/device_blas.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/view.hpp"

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
    throw plinth::Error(std::string(error.message()) +
                        "; --kokkos-device-id=0 gives each rank the first device that it sees, "
                        "--kokkos-map-device-id-by=mpi_rank one after the other");
  }
  return arguments;
}

std::string describe_transport(MPI_Comm comm, plinth::Transport wanted) {
  if (!has_device) return {};
  const plinth::ProcessGrid grid(comm, plinth::RowMajorGrid{1, 1}, {.transport = wanted});
  return grid.is_direct<Execution::memory>() ? "direct: MPI is given the device's memory"
                                             : "staged: MPI is given the host's memory";
}

void prepare_device(MPI_Comm comm) {
  if (!has_device) return;
  const std::string complaint = first_complaint(comm, plinth::kernel::device_blas_problem());
  if (!complaint.empty()) throw plinth::Error(complaint);
  const Execution exec;
  constexpr plinth::Index n = 2;  // a product of vectors is another routine's
  const plinth::kernel::Buffer<double, Execution::memory> room(2 * n * n);
  const auto square = [&](plinth::Index which) {
    return plinth::kernel::contiguous<Kokkos::LayoutRight, Execution::memory::space>(
        room.data() + which * n * n, n, n);
  };
  plinth::kernel::fill(exec, square(0), 1.0);
  plinth::kernel::gemm(exec, 1.0, plinth::kernel::Operand<decltype(square(0))>{square(0)},
                       square(0), 0.0, square(1));
  exec.fence();
}

}  // namespace linpack
