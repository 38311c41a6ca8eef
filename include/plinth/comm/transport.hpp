// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#if __has_include(<mpi-ext.h>) && defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include <Kokkos_Core.hpp>

#include "plinth/policy/memory.hpp"

namespace plinth::comm {

/// Kinds of devices that an MPI may know.
enum class DeviceKind { none, cuda, hip, sycl };

/// The kind that Kokkos was built for.
inline constexpr DeviceKind kokkos_device =
#if defined(KOKKOS_ENABLE_CUDA)
    DeviceKind::cuda;
#elif defined(KOKKOS_ENABLE_HIP)
    DeviceKind::hip;
#elif defined(KOKKOS_ENABLE_SYCL)
    DeviceKind::sycl;
#else
    DeviceKind::none;
#endif

/// Whether this MPI says that it may be given the memory of such devices. Open MPI and its kin are
/// asked, and MPICH and its; of others, or old ones, it is not known: no. Local.
inline bool mpi_reads([[maybe_unused]] DeviceKind kind) {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  if (kind == DeviceKind::cuda) return MPIX_Query_cuda_support() == 1;
#endif
#if defined(MPIX_ROCM_AWARE_SUPPORT)
  if (kind == DeviceKind::hip) return MPIX_Query_rocm_support() == 1;
#endif
#if defined(MPIX_GPU_SUPPORT_CUDA)
  const auto says_yes = [](int type) {
    int yes = 0;
    return MPIX_GPU_query_support(type, &yes) == MPI_SUCCESS && yes != 0;
  };
  if (kind == DeviceKind::cuda) return says_yes(MPIX_GPU_SUPPORT_CUDA);
#if defined(MPIX_GPU_SUPPORT_HIP)
  if (kind == DeviceKind::hip) return says_yes(MPIX_GPU_SUPPORT_HIP);
#endif
#if defined(MPIX_GPU_SUPPORT_ZE)
  if (kind == DeviceKind::sycl) return says_yes(MPIX_GPU_SUPPORT_ZE);
#endif
#endif
  return false;
}

/// Whether MPI's answer for Kokkos' device holds for a memory: it is that device's own.
template <class Memory>
inline constexpr bool is_device_memory = false;
template <class Space>
inline constexpr bool is_device_memory<KokkosMemory<Space>> =
    !KokkosMemory<Space>::host_accessible;

}  // namespace plinth::comm
