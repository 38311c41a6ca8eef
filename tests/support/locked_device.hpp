// SPDX-License-Identifier: BSD-3-Clause
//
// A stand-in for a device, to test that algorithms reach matrix elements only through kernels and
// copies of the execution policy, and wait for copies before they use what these bring: its memory
// cannot be read or written in between, and its copies are as late as they may be.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plinth/core/error.hpp"
#include "plinth/policy/execution.hpp"
#include "support/allocations.hpp"

namespace plinth_test {

/// All memory of the stand-in device: one mapping, PROT_NONE unless somebody is inside. For one
/// thread that starts kernels, like the library's.
class LockedRegion {
 public:
  static LockedRegion& instance() {
    static LockedRegion region;
    return region;
  }

  /// Blocks follow one another; their room is used again once all of them are gone.
  void* allocate(std::size_t bytes) {
    constexpr std::size_t alignment = 64;
    if (allocation_watch().refuses(bytes))
      throw plinth::Error("the stand-in device was told to have no memory",
                          plinth::ErrorKind::memory);
    const std::size_t room = (bytes + alignment - 1) / alignment * alignment + alignment;
    if (room > capacity - used_)
      throw plinth::Error("the stand-in device has no " + std::to_string(bytes) + " bytes left",
                          plinth::ErrorKind::memory);
    void* const block = base_ + used_;
    used_ += room;
    ++blocks_;
    if (inside_ > 0) protect(PROT_READ | PROT_WRITE);
    return block;
  }
  void release() {
    if (--blocks_ == 0 && inside_ == 0) used_ = 0;
  }

  void enter() {
    if (inside_++ == 0) protect(PROT_READ | PROT_WRITE);
  }
  void leave() {
    if (--inside_ == 0) protect(PROT_NONE);
  }
  /// Whether a pointer is the device's.
  bool owns(const void* p) const {
    return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(base_) <
           capacity;
  }
  std::size_t blocks() const { return blocks_; }

 private:
  static constexpr std::size_t capacity = std::size_t(1) << 28;

  LockedRegion()
      : base_(static_cast<std::byte*>(mmap(nullptr, capacity, PROT_NONE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (base_ == MAP_FAILED) fail("mmap");
  }
  /// All that has been handed out, and no more: that is what costs time.
  void protect(int protection) {
    if (used_ == 0) return;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    if (mprotect(base_, (used_ + page - 1) / page * page, protection) != 0) fail("mprotect");
  }
  static void fail(const char* call) {
    std::cerr << call << " failed\n";
    std::abort();
  }

  std::byte* base_;
  std::size_t used_ = 0;
  std::size_t blocks_ = 0;
  int inside_ = 0;
};

/// MemoryPolicy of the stand-in device. Views of it are unmanaged Views of host memory, so that
/// kernels and the BLAS are the real ones.
struct LockedMemory {
  using space = Kokkos::HostSpace;
  static constexpr bool host_accessible = false;
  static std::shared_ptr<void> allocate(std::size_t bytes) {
    return {LockedRegion::instance().allocate(bytes),
            [](void*) { LockedRegion::instance().release(); }};
  }
};

/// Copies between the stand-in device and the host that have been asked for. They are as late as
/// copies may be that keep their order among themselves and with kernels:
///
/// - the device's side is read or written when the next kernel starts, or at the fence;
/// - what goes to the host is there after the fence; until then there are NaNs;
/// - what comes from the host is read at the last moment, and must still be the same at the fence.
class LateCopies {
 public:
  void to_host(void* to, const void* from, std::size_t bytes) {
    const UnwatchedAllocations unwatched;
    std::memset(to, 0xff, bytes);
    copies_.push_back({to, from, true, false, std::vector<std::byte>(bytes)});
  }
  void to_device(void* to, const void* from, std::size_t bytes) {
    const UnwatchedAllocations unwatched;
    const auto* const data = static_cast<const std::byte*>(from);
    copies_.push_back({to, from, false, false, {data, data + bytes}});
  }
  /// A kernel starts, or there is a fence. Precondition: the device's memory is open.
  void reach_device() {
    for (Copy& copy : copies_) {
      if (copy.done) continue;
      if (copy.is_to_host) {
        std::memcpy(copy.bytes.data(), copy.from, copy.bytes.size());
      } else {
        std::memcpy(copy.to, copy.from, copy.bytes.size());
      }
      copy.done = true;
    }
  }
  /// Precondition: all copies have reached the device.
  void finish() {
    for (const Copy& copy : copies_) {
      if (copy.is_to_host) {
        std::memcpy(copy.to, copy.bytes.data(), copy.bytes.size());
      } else if (std::memcmp(copy.from, copy.bytes.data(), copy.bytes.size()) != 0) {
        ++changed_;
      }
    }
    copies_.clear();
  }
  bool empty() const { return copies_.empty(); }
  /// As if none had been asked for.
  void forget() { copies_.clear(); }
  /// How often host memory was changed while a copy from it was under way, since the last call.
  int take_changed() { return std::exchange(changed_, 0); }

 private:
  struct Copy {
    void* to;
    const void* from;
    bool is_to_host;
    bool done;                     ///< it has reached the device
    std::vector<std::byte> bytes;  ///< read from the device, or as the host's were at the call
  };
  std::vector<Copy> copies_;
  int changed_ = 0;
};

/// ExecutionPolicy of the stand-in device: kernels run on the host and reach LockedMemory while a
/// scope is open. Copies are late, and insist that one side is the device's and the other is not.
/// All policies are of one device, and have one queue.
class LockedDevice {
 public:
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  using memory = LockedMemory;
  using host_memory = plinth::HostMemory;

  class Scope {
   public:
    explicit Scope(const execution_space& space) : space_(space) {
      LockedRegion::instance().enter();
      copies().reach_device();
    }
    ~Scope() {
      space_.fence();
      LockedRegion::instance().leave();
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    execution_space space_;
  };

  execution_space space() const { return space_; }
  Scope enter() const { return Scope(space_); }
  void fence() const {
    space_.fence();
    if (copies().empty()) return;
    const Scope scope(space_);
    copies().finish();
  }
  void to_host(void* to, const void* from, std::size_t bytes) const {
    if (!check(from, to, bytes)) return;
    copies().to_host(to, from, bytes);
  }
  void to_device(void* to, const void* from, std::size_t bytes) const {
    if (!check(to, from, bytes)) return;
    copies().to_device(to, from, bytes);
  }
  plinth::HostExecution<> host() const { return {}; }

  static LateCopies& copies() {
    static LateCopies all;
    return all;
  }

 private:
  /// Whether there is anything to copy.
  static bool check(const void* device, const void* host, std::size_t bytes) {
    if (bytes == 0) return false;
    plinth::require(LockedRegion::instance().owns(device), "a copy's device side is not its own");
    plinth::require(!LockedRegion::instance().owns(host), "a copy's host side is the device's");
    return true;
  }
  execution_space space_;
};

/// Whether all of the device's copies have been waited for, and host memory was left alone
/// meanwhile.
inline bool has_waited(const LockedDevice& device) {
  const int changed = device.copies().take_changed();
  return device.copies().empty() && changed == 0;
}
/// The same, and whether all of the device's memory has been freed.
inline bool is_idle(const LockedDevice& device) {
  return has_waited(device) && LockedRegion::instance().blocks() == 0;
}

static_assert(plinth::ExecutionPolicy<LockedDevice>);
static_assert(!plinth::is_host_accessible<LockedDevice>);

}  // namespace plinth_test
