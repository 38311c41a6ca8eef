// SPDX-License-Identifier: BSD-3-Clause
//
// The stand-in device with its protection off: the way of data over a device, at full speed.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>

#include "plinth/policy/execution.hpp"

namespace plinth_test {

/// Host memory of which only kernels and copies make use.
struct OpenMemory {
  using space = Kokkos::HostSpace;
  static constexpr bool host_accessible = false;
  static std::shared_ptr<void> allocate(std::size_t bytes) {
    return plinth::HostMemory::allocate(bytes);
  }
};

/// ExecutionPolicy of LockedDevice's kind whose memory is open at all times and whose copies are
/// made when they are asked for: what staging costs.
class OpenDevice {
 public:
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  using memory = OpenMemory;
  using host_memory = plinth::HostMemory;
  static constexpr bool asynchronous = false;
  struct Scope {
    ~Scope() {}
  };

  execution_space space() const { return space_; }
  Scope enter() const { return {}; }
  void fence() const { space_.fence(); }
  void to_host(void* to, const void* from, std::size_t bytes) const { copy(to, from, bytes); }
  void to_device(void* to, const void* from, std::size_t bytes) const { copy(to, from, bytes); }
  OpenDevice beside() const { return *this; }
  void after(const OpenDevice&) const {}  // all is done in the order that it was asked for
  plinth::HostExecution<> host() const { return {}; }

 private:
  void copy(void* to, const void* from, std::size_t bytes) const {
    space_.fence();  // kernels before it
    if (bytes != 0) std::memcpy(to, from, bytes);
  }
  execution_space space_;
};

static_assert(plinth::ExecutionPolicy<OpenDevice>);

}  // namespace plinth_test
