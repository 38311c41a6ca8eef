// SPDX-License-Identifier: BSD-3-Clause
//
// The memory of the stand-in device (support/locked_device.hpp).
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "plinth/core/error.hpp"
#include "support/allocations.hpp"

namespace plinth_test {

/// One mapping, PROT_NONE unless somebody is inside. Who is may be watched: pages are then opened
/// one by one as they are come to, and it is known who read and wrote what. For one thread that
/// starts kernels, like the library's; kernels may have several.
class LockedRegion {
 public:
  static LockedRegion& instance() {
    static LockedRegion region;
    return region;
  }

  /// Blocks of whole pages follow one another; their room is used again once all of them are gone.
  void* allocate(std::size_t bytes) {
    if (allocation_watch().refuses(bytes))
      throw plinth::Error("the stand-in device was told to have no memory",
                          plinth::ErrorKind::memory);
    const std::size_t room = (bytes / page_ + 1) * page_;
    if (room > capacity - used_)
      throw plinth::Error("the stand-in device has no " + std::to_string(bytes) + " bytes left",
                          plinth::ErrorKind::memory);
    void* const block = base_ + used_;
    used_ += room;
    ++blocks_;
    if (inside_ > 0) protect(base_, used_, PROT_READ | PROT_WRITE);
    return block;
  }
  void release() {
    if (--blocks_ == 0 && inside_ == 0 && watchers_ == 0) used_ = 0;
  }

  void enter() {
    if (inside_++ == 0) protect(base_, used_, PROT_READ | PROT_WRITE);
  }
  void leave() {
    if (--inside_ == 0) protect(base_, used_, PROT_NONE);
  }

  /// A kernel starts that is watched. Scopes may be nested.
  void watch() {
    if (watchers_++ > 0) return;
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &former_);
  }
  /// It is done: calls f(page, whether it was written) for the pages that it came to.
  template <class F>
  void unwatch(const F& f) {
    if (--watchers_ > 0) return;
    sigaction(SIGSEGV, &former_, nullptr);
    protect(base_, used_, PROT_NONE);
    for (std::size_t n = 0; n < touched_count_; ++n) {
      std::atomic<char>& state = states_[touched_[n]];
      f(touched_[n], state == written);
      state = untouched;
    }
    touched_count_ = 0;
  }

  /// Whether a pointer is the device's.
  bool owns(const void* p) const { return offset(p) < capacity; }
  /// Number of the page that a pointer of the device's points into.
  std::size_t page(const void* p) const { return offset(p) / page_; }
  std::size_t blocks() const { return blocks_; }

 private:
  static constexpr std::size_t capacity = std::size_t(1) << 28;
  enum State : char { untouched, seen, written };

  LockedRegion()
      : base_(static_cast<std::byte*>(mmap(nullptr, capacity, PROT_NONE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))),
        page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        states_(capacity / page_),
        touched_(capacity / page_) {
    if (base_ == MAP_FAILED) fail("mmap");
  }

  std::size_t offset(const void* p) const {
    return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(base_);
  }
  /// All that has been handed out, and no more: that is what costs time.
  static void protect(std::byte* begin, std::size_t bytes, int protection) {
    if (bytes != 0 && mprotect(begin, bytes, protection) != 0) fail("mprotect");
  }
  static void fail(const char* call) {
    std::cerr << call << " failed\n";
    std::abort();
  }

  /// Opens the page that was come to: for reading, or for writing too.
  static void on_fault(int, siginfo_t* info, [[maybe_unused]] void* context) {
    LockedRegion& region = instance();
    const std::size_t at = region.offset(info->si_addr);
    if (at >= region.used_) {
      sigaction(SIGSEGV, &region.former_, nullptr);  // a true fault: it comes again at once
      return;
    }
    const std::size_t number = at / region.page_;
    char state = untouched;
    const bool first = region.states_[number].compare_exchange_strong(state, seen);
    if (first) region.touched_[region.touched_count_++] = number;
#if defined(__linux__) && defined(__x86_64__)
    constexpr greg_t writing = 2;  // in the processor's error code
    const bool writes =
        (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & writing) != 0;
#else
    const bool writes = !first;  // or reads from another thread: who asks twice may do both
#endif
    if (writes) region.states_[number] = written;
    protect(region.base_ + number * region.page_, region.page_,
            region.states_[number] == written ? PROT_READ | PROT_WRITE : PROT_READ);
  }

  std::byte* base_;
  std::size_t page_;
  std::size_t used_ = 0;
  std::size_t blocks_ = 0;
  int inside_ = 0;
  int watchers_ = 0;
  struct sigaction former_ = {};
  std::vector<std::atomic<char>> states_;
  std::vector<std::size_t> touched_;
  std::atomic<std::size_t> touched_count_ = 0;
};

}  // namespace plinth_test
