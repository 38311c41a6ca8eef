// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <utility>

#include "plinth/policy/memory.hpp"

namespace plinth {

/// Where data lives, where kernels run, and how data gets to the host and back.
///
///   E::execution_space   Kokkos space that kernels run in
///   E::memory            MemoryPolicy of the matrices that kernels work on
///   E::host_memory       MemoryPolicy of what is copied to and from them, readable on the host
///   e.space()            the execution space instance
///   e.enter()            a scope object: kernels touch E::memory only while one is alive; leaving
///                        the scope does not imply that the kernel has finished (fence() does)
///   e.fence()            waits for all kernels and copies of e's queue
///   e.to_host(d, s, n)   starts a copy of n bytes from E::memory to the host, after the kernels
///                        and copies before it; the host may use d after the next fence()
///   e.to_device(d, s, n) starts a copy of n bytes from the host to E::memory; kernels after it
///                        see it, the host may change s after the next fence()
///   e.beside()           a policy with a queue of its own on the same device, made anew, which
///                        works while e does; itself on a host
///   e.after(other)       what is started on e from now on comes after what has been started on
///                        `other` so far; the host does not wait
///   e.host()             policy for work on host memory (panels, vectors): itself on a host
///   E::panels            a PanelOn; where there is none, panels are factored on the host
///   E::asynchronous      whether the host goes on while kernels run; where there is none, it does
///                        if it does not reach E::memory
///
/// Kernels and copies of a policy and of its copies are in one queue, and done in their order.
/// Algorithms reach the elements of a matrix only through kernels (kernel/) and these copies,
/// and copy what a message carries through kernel/buffer.hpp.
template <class E>
concept ExecutionPolicy =
    MemoryPolicy<typename E::memory> && MemoryPolicy<typename E::host_memory> &&
    requires(const E& e, void* to, const void* from, std::size_t bytes) {
  typename E::execution_space;
  { e.space() } -> std::convertible_to<typename E::execution_space>;
  e.enter();
  e.fence();
  e.to_host(to, from, bytes);
  e.to_device(to, from, bytes);
  { e.beside() } -> std::convertible_to<E>;
  e.after(e);
  e.host();
};

/// Who factors a panel of a matrix on a device: the host, which the panel's columns are copied to
/// and back, or kernels of the device, where they are (lu_factor, with PartialPivoting or
/// NoPivoting; mixed_lu_factor with NoPivoting, all but the diagonal block). In memory that it
/// reaches the host does in any case.
enum class PanelOn { host, device };

/// Whether kernels of E factor panels in memory that the host does not reach.
template <class E>
inline constexpr bool has_panels_on_device = !E::memory::host_accessible && requires {
  requires E::panels == PanelOn::device;
};

/// Whether kernels of E run while the host goes on, so that it may work behind them.
template <class E>
inline constexpr bool runs_ahead = !E::memory::host_accessible && !requires {
  requires !E::asynchronous;
};

/// Data in host memory, kernels on the host: any Kokkos host space.
template <class Space = Kokkos::DefaultHostExecutionSpace>
class HostExecution {
 public:
  using execution_space = Space;  ///< where kernels run
  using memory = HostMemory;  ///< where matrices live
  using host_memory = HostMemory;  ///< and what is copied to them
  /// What enter() gives.
  struct Scope {
    ~Scope() {}  // a scope is an object with a lifetime, also where nothing happens at its end
  };

  HostExecution() = default;
  /// On an instance of the space of the caller's.
  explicit HostExecution(Space space) : space_(std::move(space)) {}

  const Space& space() const { return space_; }  ///< the instance
  Scope enter() const { return {}; }  ///< nothing to prepare on a host
  void fence() const { space_.fence(); }  ///< waits for kernels
  /// Copies `bytes` bytes, unless both are one place.
  void to_host(void* to, const void* from, std::size_t bytes) const {
    if (to != from && bytes != 0) std::memcpy(to, from, bytes);
  }
  /// Likewise.
  void to_device(void* to, const void* from, std::size_t bytes) const {
    to_host(to, from, bytes);
  }
  /// This policy itself: a host has one queue.
  const HostExecution& beside() const { return *this; }
  void after(const HostExecution&) const {}  ///< work is done in its order anyway
  /// This policy itself.
  const HostExecution& host() const { return *this; }

 private:
  Space space_;
};

/// Whether host code may touch E's matrices.
template <class E>
inline constexpr bool is_host_accessible = E::memory::host_accessible;

}  // namespace plinth
