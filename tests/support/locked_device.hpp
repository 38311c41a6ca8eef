// SPDX-License-Identifier: BSD-3-Clause
//
// A stand-in for a device, to test that algorithms reach matrix elements only through kernels and
// copies of the execution policy: its memory cannot be read or written in between.
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

#include "plinth/core/error.hpp"
#include "plinth/policy/execution.hpp"

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

/// ExecutionPolicy of the stand-in device: kernels run on the host and reach LockedMemory while a
/// scope is open. Copies insist that one side is the device's and the other is not.
class LockedDevice {
 public:
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  using memory = LockedMemory;

  class Scope {
   public:
    explicit Scope(const execution_space& space) : space_(space) {
      LockedRegion::instance().enter();
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
  void fence() const { space_.fence(); }
  void to_host(void* to, const void* from, std::size_t bytes) const {
    copy(to, from, from, to, bytes);
  }
  void to_device(void* to, const void* from, std::size_t bytes) const {
    copy(to, from, to, from, bytes);
  }
  plinth::HostExecution<> host() const { return {}; }

 private:
  void copy(void* to, const void* from, const void* device, const void* host,
            std::size_t bytes) const {
    if (bytes == 0) return;
    plinth::require(LockedRegion::instance().owns(device), "a copy's device side is not its own");
    plinth::require(!LockedRegion::instance().owns(host), "a copy's host side is the device's");
    const Scope scope(space_);
    std::memcpy(to, from, bytes);
  }
  execution_space space_;
};

static_assert(plinth::ExecutionPolicy<LockedDevice>);
static_assert(!plinth::is_host_accessible<LockedDevice>);

}  // namespace plinth_test
