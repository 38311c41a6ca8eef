// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>

namespace plinth {

/// Another queue of the device that `space` works on; the same one where kernels run on the host,
/// or Kokkos makes none (before 4.0).
template <class Space>
Space queue_beside(const Space& space) {
#if KOKKOS_VERSION >= 40000
  if constexpr (!Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible) {
    return Kokkos::Experimental::partition_space(space, 1)[0];
  } else
#endif
  {
    return space;
  }
}

/// What `space` is given from now on comes after what `other` has been given so far. The host does
/// not wait, except where the device's way of saying so is not known, or fails.
template <class Space>
void come_after([[maybe_unused]] const Space& space, const Space& other) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (requires { space.cuda_stream(); }) {
    cudaEvent_t done;
    if (space.cuda_stream() == other.cuda_stream()) return;
    if (cudaEventCreateWithFlags(&done, cudaEventDisableTiming) == cudaSuccess) {
      const bool ordered = cudaEventRecord(done, other.cuda_stream()) == cudaSuccess &&
                           cudaStreamWaitEvent(space.cuda_stream(), done, 0) == cudaSuccess;
      cudaEventDestroy(done);  // once it has happened
      if (ordered) return;
    }
    static_cast<void>(cudaGetLastError());  // dealt with here
  }
#elif defined(KOKKOS_ENABLE_HIP)
  if constexpr (requires { space.hip_stream(); }) {
    hipEvent_t done;
    if (space.hip_stream() == other.hip_stream()) return;
    if (hipEventCreateWithFlags(&done, hipEventDisableTiming) == hipSuccess) {
      const bool ordered = hipEventRecord(done, other.hip_stream()) == hipSuccess &&
                           hipStreamWaitEvent(space.hip_stream(), done, 0) == hipSuccess;
      static_cast<void>(hipEventDestroy(done));  // once it has happened
      if (ordered) return;
    }
    static_cast<void>(hipGetLastError());  // dealt with here
  }
#elif defined(KOKKOS_ENABLE_SYCL)
  if constexpr (requires { space.sycl_queue(); }) {
    const auto done = other.sycl_queue().ext_oneapi_submit_barrier();
    space.sycl_queue().ext_oneapi_submit_barrier({done});
    return;
  }
#endif
  other.fence();
}

}  // namespace plinth
