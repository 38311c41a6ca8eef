// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "plinth/policy/device.hpp"
#include "plinth/policy/execution.hpp"
#include "plinth/policy/transport.hpp"

namespace linpack {

/// Whether Kokkos' default space is a device, with a memory of its own.
inline constexpr bool has_device =
    !Kokkos::SpaceAccessibility<Kokkos::DefaultExecutionSpace, Kokkos::HostSpace>::accessible;

/// Where a program's matrices live and its kernels run: on the device that Kokkos was built for,
/// else on the host.
using Execution =
    std::conditional_t<has_device, plinth::DeviceExecution<Kokkos::DefaultExecutionSpace>,
                       plinth::HostExecution<>>;
/// The same with panels factored on the device, where there is one.
using PanelExecution = std::conditional_t<
    has_device, plinth::DeviceExecution<Kokkos::DefaultExecutionSpace, plinth::PanelOn::device>,
    Execution>;

/// The arguments, and for Kokkos the one that gives this rank a device of its own among the ranks
/// of its machine, unless they name one or there is none to choose from. Collective; throws
/// plinth::Error on every rank where devices are too few. To be asked before Kokkos is at work.
std::vector<std::string> with_device(MPI_Comm comm, std::vector<std::string> arguments);

/// Which memory MPI is given of a device, and which MPI: nothing on a host. Collective; throws
/// plinth::Error on every rank where it is to be the device's, and MPI does not read that.
std::string describe_transport(MPI_Comm comm, plinth::Transport wanted);

/// Lets the device multiply once, so that what is made for the first product is there before the
/// clock runs. Collective; throws plinth::Error on every rank where a device has no BLAS.
void prepare_device(MPI_Comm comm);

}  // namespace linpack
