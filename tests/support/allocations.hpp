// SPDX-License-Identifier: BSD-3-Clause
//
// Counts the allocations of this process, in the programs of the MPI tests, and lets one of them
// fail: those by operator new and by aligned_alloc, which are all that the library makes, and
// those of the stand-in device.
#pragma once

#include <atomic>
#include <cstddef>

namespace plinth_test {

struct AllocationWatch {
  static constexpr long never = -1;

  std::atomic<bool> active = false;
  std::size_t least = 0;  ///< allocations of fewer bytes are not looked at
  long fails = never;     ///< the one that fails, counted from 0
  std::atomic<long> count = 0;
  std::atomic<std::size_t> bytes = 0;  ///< of all of them together, whatever was given back

  /// Whether an allocation is to fail; counts it.
  bool refuses(std::size_t size) {
    if (!active || size < least) return false;
    bytes += size;
    return count++ == fails;
  }
};

AllocationWatch& allocation_watch();

/// Nobody watches while it lives: for what the tests' own means allocate.
class UnwatchedAllocations {
 public:
  UnwatchedAllocations() : was_active_(allocation_watch().active.exchange(false)) {}
  ~UnwatchedAllocations() { allocation_watch().active = was_active_; }
  UnwatchedAllocations(const UnwatchedAllocations&) = delete;
  UnwatchedAllocations& operator=(const UnwatchedAllocations&) = delete;

 private:
  bool was_active_;
};

/// Watches the allocations of at least `least` bytes while it lives; number `fails` fails.
class WatchAllocations {
 public:
  explicit WatchAllocations(std::size_t least, long fails = AllocationWatch::never) {
    AllocationWatch& watch = allocation_watch();
    watch.least = least;
    watch.fails = fails;
    watch.count = 0;
    watch.bytes = 0;
    watch.active = true;
  }
  ~WatchAllocations() { allocation_watch().active = false; }
  WatchAllocations(const WatchAllocations&) = delete;
  WatchAllocations& operator=(const WatchAllocations&) = delete;

  std::size_t bytes() const { return allocation_watch().bytes; }
  /// Whether the one that was to fail was come to.
  static bool has_failed() {
    const AllocationWatch& watch = allocation_watch();
    return watch.fails >= 0 && watch.count > watch.fails;
  }
};

}  // namespace plinth_test
