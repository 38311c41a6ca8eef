// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <type_traits>

namespace plinth {

/// Host memory whose pages stay where they are, so that copies to and from a device reach it while
/// the host works. Kokkos has had one name for it since 4.0, before it one for each device.
#if defined(KOKKOS_HAS_SHARED_HOST_PINNED_SPACE)
using DevicePinnedSpace = Kokkos::SharedHostPinnedSpace;
#elif defined(KOKKOS_ENABLE_CUDA)
using DevicePinnedSpace = Kokkos::CudaHostPinnedSpace;
#else
using DevicePinnedSpace = Kokkos::HostSpace;
#endif

/// That for the kernels of an execution space: any host memory where they run on the host.
template <class Space>
using PinnedSpace =
    std::conditional_t<bool(Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible),
                       Kokkos::HostSpace, DevicePinnedSpace>;

}  // namespace plinth
