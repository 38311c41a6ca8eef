// SPDX-License-Identifier: BSD-3-Clause
//
// A stand-in for a device, to test that algorithms reach matrix elements only through kernels and
// copies of the execution policy, and wait for copies before they use what these bring, one queue
// for another, too: its memory cannot be read or written in between, its copies are as late as
// they may be, and work that should have waited for another queue's is found.
#pragma once

#include <cstddef>
#include <memory>

#include "plinth/core/error.hpp"
#include "plinth/policy/execution.hpp"
#include "support/device_queues.hpp"
#include "support/locked_region.hpp"

namespace plinth_test {

/// MemoryPolicy of the stand-in device. Views of it are unmanaged Views of host memory, so that
/// kernels and the BLAS are the real ones. MPI is given pointers into it where it is asked to be
/// (support/device_messages.hpp).
struct LockedMemory {
  using space = Kokkos::HostSpace;
  static constexpr bool host_accessible = false;
  static bool& mpi_can_read() {
    static bool can = true;
    return can;
  }
  static bool mpi_reads() { return mpi_can_read(); }
  static std::shared_ptr<void> allocate(std::size_t bytes) {
    return {LockedRegion::instance().allocate(bytes),
            [](void*) { LockedRegion::instance().release(); }};
  }
};

/// ExecutionPolicy of the stand-in device: kernels run on the host and reach LockedMemory while a
/// scope is open. Copies are late, and insist that one side is the device's and the other is not.
/// All policies are of one device; those that are not made by beside() have one queue.
class LockedDevice {
 public:
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  using memory = LockedMemory;
  using host_memory = plinth::HostMemory;

  class Scope {
   public:
    Scope(const execution_space& space, int queue) : space_(space), queue_(queue) {
      copies().start_kernel(queue_);
    }
    ~Scope() {
      space_.fence();
      copies().end_kernel(queue_);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    execution_space space_;
    int queue_;
  };

  execution_space space() const { return space_; }
  Scope enter() const { return Scope(space_, queue()); }
  void fence() const {
    space_.fence();
    copies().wait(queue());
  }
  void to_host(void* to, const void* from, std::size_t bytes) const {
    if (check(from, to, bytes)) copies().to_host(queue(), to, from, bytes);
  }
  void to_device(void* to, const void* from, std::size_t bytes) const {
    if (check(to, from, bytes)) copies().to_device(queue(), to, from, bytes);
  }
  LockedDevice beside() const {
    LockedDevice other;
    other.queue_ = copies().add();
    return other;
  }
  void after(const LockedDevice& other) const { copies().after(queue(), other.queue()); }
  plinth::HostExecution<> host() const { return {}; }

  static DeviceQueues& copies() { return DeviceQueues::instance(); }

 private:
  /// Whether there is anything to copy.
  static bool check(const void* device, const void* host, std::size_t bytes) {
    if (bytes == 0) return false;
    plinth::require(LockedRegion::instance().owns(device), "a copy's device side is not its own");
    plinth::require(!LockedRegion::instance().owns(host), "a copy's host side is the device's");
    return true;
  }
  int queue() const { return queue_ ? *queue_ : DeviceQueues::main; }

  execution_space space_;
  std::shared_ptr<const int> queue_;
};

/// Whether all of the device's copies have been waited for, host memory was left alone meanwhile,
/// and no work of one queue should have waited for that of another.
inline bool has_waited(const LockedDevice& device) {
  const int changed = device.copies().take_changed();
  const int races = device.copies().take_races();
  return device.copies().empty() && changed == 0 && races == 0;
}
/// The same, and whether all of the device's memory has been freed.
inline bool is_idle(const LockedDevice& device) {
  return has_waited(device) && LockedRegion::instance().blocks() == 0;
}

static_assert(plinth::ExecutionPolicy<LockedDevice>);
static_assert(!plinth::is_host_accessible<LockedDevice>);

}  // namespace plinth_test
