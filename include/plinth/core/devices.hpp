// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <optional>

namespace plinth {

/// How many devices of Kokkos' kind this process sees; 0: none, also where there is no driver; -1:
/// not known, or Kokkos has no device. Before Kokkos is at work, too. Kokkos' own count ends the
/// program where there is none.
inline int visible_devices() {
#if defined(KOKKOS_ENABLE_CUDA)
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
#elif defined(KOKKOS_ENABLE_HIP)
  int count = 0;
  return hipGetDeviceCount(&count) == hipSuccess ? count : 0;
#else
  return -1;
#endif
}

/// Bytes that are free in the memory of the device that Kokkos works on; nothing where there is
/// none, or it does not say.
inline std::optional<std::size_t> free_device_memory() {
  [[maybe_unused]] std::size_t available = 0, all = 0;
#if defined(KOKKOS_ENABLE_CUDA)
  if (cudaMemGetInfo(&available, &all) == cudaSuccess) return available;
#elif defined(KOKKOS_ENABLE_HIP)
  if (hipMemGetInfo(&available, &all) == hipSuccess) return available;
#endif
  return std::nullopt;
}

/// The NUMA node of the host nearest to the device that Kokkos works on; -1: not known, there are
/// none, or (HIP) the device's runtime sees to memory near it by itself.
inline int near_numa_node() {
  int node = -1;
#if defined(KOKKOS_ENABLE_CUDA) && CUDART_VERSION >= 12020
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&node, cudaDevAttrHostNumaId, device) != cudaSuccess)
    node = -1;
  static_cast<void>(cudaGetLastError());  // dealt with here
#endif
  return node;
}

}  // namespace plinth
