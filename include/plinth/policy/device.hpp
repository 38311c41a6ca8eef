// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <memory>
#include <utility>

#include "plinth/core/devices.hpp"
#include "plinth/core/numa.hpp"
#include "plinth/core/pinned_space.hpp"
#include "plinth/policy/device_queue.hpp"
#include "plinth/policy/execution.hpp"

namespace plinth {

/// Host memory that copies to and from the device of a space go through: pinned, and near the
/// device, on whatever CPU the rank runs (CUDA takes pages by the calling thread's NUMA policy, HIP
/// near the device).
template <class Space>
struct PinnedMemory : KokkosMemory<PinnedSpace<Space>> {
  /// Uninitialised; throws Error of kind memory.
  static std::shared_ptr<void> allocate(std::size_t bytes) {
    const PreferredNumaNode near_the_device(near_numa_node());
    return KokkosMemory<PinnedSpace<Space>>::allocate(bytes);
  }
};

/// Data in the memory of a device, kernels on it: any Kokkos device space (CUDA, HIP, SYCL). The
/// host speaks with MPI, from pinned memory, which copies reach while host and device work.
///
/// With PanelOn::host it factors panels, which are copied to it and back. With PanelOn::device
/// lu_factor's panels stay where they are, and the host sees their pivots; with several process
/// rows it carries two rows per column, with several process columns factored panels. The pivoting
/// policy must be PartialPivoting or NoPivoting then. mixed_lu_factor's panels stay there but for
/// the diagonal block, which the host factors; the pivoting policy must be NoPivoting.
/// A vendor's library promises the same bits from run to run only to who multiplies in one queue at
/// a time, which with PanelOn::device and look-ahead is not so. With HIP, where Kokkos Kernels'
/// handle cannot do that, such panels are in the update's queue, and nothing hides them.
///
/// All kernels and copies of one object and of its copies are in one queue of the device: that of
/// the space instance it was made with.
template <class Space, PanelOn Panels = PanelOn::host>
class DeviceExecution {
 public:
  static constexpr PanelOn panels = Panels;                   ///< who factors them
  using execution_space = Space;                              ///< where kernels run
  using memory = KokkosMemory<typename Space::memory_space>;  ///< where matrices live
  using host_memory = PinnedMemory<Space>;                    ///< what is copied to and from them
  /// Kernels that run on the host are done when their call returns.
  static constexpr bool asynchronous =
      !Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible;
  /// What enter() gives.
  struct Scope {
    ~Scope() {}  // a scope is an object with a lifetime, also where nothing happens at its end
  };

  static_assert(memory::host_accessible || host_memory::host_accessible,
                "plinth: the host reads and writes what is staged for it");

  DeviceExecution() = default;
  /// On an instance of the space of the caller's: its queue.
  explicit DeviceExecution(Space space) : space_(std::move(space)) {}

  const Space& space() const { return space_; }  ///< the instance
  Scope enter() const { return {}; }      ///< a device's memory is open to kernels at any time
  void fence() const { space_.fence(); }  ///< waits for kernels and copies of the queue
  /// Starts a copy; done after the next fence().
  void to_host(void* to, const void* from, std::size_t bytes) const {
    using Device = typename memory::space;
    if (bytes != 0)
      Kokkos::deep_copy(space_, bytes_in<typename host_memory::space>(to, bytes),
                        bytes_in<Device>(from, bytes));
  }
  /// Starts a copy, which kernels after it see; the host's side is free after the next fence().
  void to_device(void* to, const void* from, std::size_t bytes) const {
    using Device = typename memory::space;
    if (bytes != 0)
      Kokkos::deep_copy(space_, bytes_in<Device>(to, bytes),
                        bytes_in<typename host_memory::space>(from, bytes));
  }
  /// On another instance of the space: policies on the same device whose kernels and copies run at
  /// the same time. Where panels are factored by products that may not, itself.
  DeviceExecution beside() const {
    if constexpr (Panels == PanelOn::device && !multiplies_in_queues<Space>) return *this;
    return DeviceExecution(queue_beside(space_));
  }
  /// What is started on this queue from now on comes after what has been started on `other`'s.
  void after(const DeviceExecution& other) const { mark_->order(space_, other.space_); }
  HostExecution<> host() const { return {}; }  ///< for panels and vectors on the host

 private:
  template <class Where>
  static auto bytes_in(void* data, std::size_t bytes) {
    return Kokkos::View<char*, Where, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        static_cast<char*>(data), bytes);
  }
  template <class Where>
  static auto bytes_in(const void* data, std::size_t bytes) {
    return Kokkos::View<const char*, Where, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        static_cast<const char*>(data), bytes);
  }

  Space space_;
  /// Where another queue is waited for; shared by copies, which are in the same queue.
  std::shared_ptr<QueueMark<Space>> mark_ = std::make_shared<QueueMark<Space>>();
};

}  // namespace plinth
