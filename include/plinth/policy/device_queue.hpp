// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>

namespace plinth {

/// Another queue of the device that `space` works on; the same one where kernels run on the host,
/// or Kokkos makes none (before 4.0). On CUDA's or HIP's current device it has the highest
/// priority, lest its few small kernels wait for all the blocks of a large one.
template <class Space>
Space queue_beside(const Space& space) {
#if KOKKOS_VERSION >= 40000
#if defined(KOKKOS_ENABLE_CUDA)
  // As partition_space() makes them, but for the priority.
  if constexpr (requires(cudaStream_t stream) {
                  space.cuda_device();
                  Space(stream, Kokkos::Impl::ManageStream::yes);
                }) {
    cudaStream_t stream;
    int device = -1, least = 0, greatest = 0;
    if (cudaGetDevice(&device) == cudaSuccess && device == space.cuda_device() &&
        cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess &&
        cudaStreamCreateWithPriority(&stream, cudaStreamDefault, greatest) == cudaSuccess)
      return Space(stream, Kokkos::Impl::ManageStream::yes);
    static_cast<void>(cudaGetLastError());  // dealt with here
  }
#elif defined(KOKKOS_ENABLE_HIP)
  if constexpr (requires(hipStream_t stream) {
                  space.hip_device();
                  Space(stream, Kokkos::Impl::ManageStream::yes);
                }) {
    hipStream_t stream;
    int device = -1, least = 0, greatest = 0;
    if (hipGetDevice(&device) == hipSuccess && device == space.hip_device() &&
        hipDeviceGetStreamPriorityRange(&least, &greatest) == hipSuccess &&
        hipStreamCreateWithPriority(&stream, hipStreamDefault, greatest) == hipSuccess)
      return Space(stream, Kokkos::Impl::ManageStream::yes);
    static_cast<void>(hipGetLastError());
  }
#endif
  if constexpr (!Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible)
    return Kokkos::Experimental::partition_space(space, 1)[0];
#endif
  return space;
}

/// Whether products in two queues at once are right. Kokkos Kernels has one handle of the vendor's
/// library: cuBLAS has memory for each of a handle's streams, rocBLAS for the handle.
template <class Space>
inline constexpr bool multiplies_in_queues = true;
#if defined(KOKKOS_ENABLE_HIP) && KOKKOS_VERSION >= 40000
template <>
inline constexpr bool multiplies_in_queues<Kokkos::HIP> = false;
#endif

/// A mark in a queue of a device that other queues wait for: an event of CUDA or HIP, made once and
/// used as often as wanted; for other devices nothing.
template <class Space>
class QueueMark {
 public:
  QueueMark() {
#if defined(KOKKOS_ENABLE_CUDA)
    if constexpr (has_stream) {
      if (cudaEventCreateWithFlags(&event_, cudaEventDisableTiming) != cudaSuccess) forget();
    }
#elif defined(KOKKOS_ENABLE_HIP)
    if constexpr (has_stream) {
      if (hipEventCreateWithFlags(&event_, hipEventDisableTiming) != hipSuccess) forget();
    }
#endif
  }
  QueueMark(const QueueMark&) = delete;
  QueueMark& operator=(const QueueMark&) = delete;
  ~QueueMark() {
#if defined(KOKKOS_ENABLE_CUDA)
    if (event_ != nullptr) static_cast<void>(cudaEventDestroy(event_));
#elif defined(KOKKOS_ENABLE_HIP)
    if (event_ != nullptr) static_cast<void>(hipEventDestroy(event_));
#endif
  }

  /// What `space` is given from now on comes after what `other` has been given so far. The host
  /// does not wait, except where the device's way of saying so is not known, or fails.
  void order([[maybe_unused]] const Space& space, const Space& other) {
#if defined(KOKKOS_ENABLE_CUDA)
    if constexpr (has_stream) {
      if (space.cuda_stream() == other.cuda_stream()) return;
      if (event_ != nullptr && cudaEventRecord(event_, other.cuda_stream()) == cudaSuccess &&
          cudaStreamWaitEvent(space.cuda_stream(), event_, 0) == cudaSuccess)
        return;
      static_cast<void>(cudaGetLastError());  // dealt with here
    }
#elif defined(KOKKOS_ENABLE_HIP)
    if constexpr (has_stream) {
      if (space.hip_stream() == other.hip_stream()) return;
      if (event_ != nullptr && hipEventRecord(event_, other.hip_stream()) == hipSuccess &&
          hipStreamWaitEvent(space.hip_stream(), event_, 0) == hipSuccess)
        return;
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

 private:
#if defined(KOKKOS_ENABLE_CUDA)
  static constexpr bool has_stream = requires(const Space& space) { space.cuda_stream(); };
  void forget() {
    static_cast<void>(cudaGetLastError());
    event_ = nullptr;
  }
  cudaEvent_t event_ = nullptr;
#elif defined(KOKKOS_ENABLE_HIP)
  static constexpr bool has_stream = requires(const Space& space) { space.hip_stream(); };
  void forget() {
    static_cast<void>(hipGetLastError());
    event_ = nullptr;
  }
  hipEvent_t event_ = nullptr;
#endif
};

}  // namespace plinth
