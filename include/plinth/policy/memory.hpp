// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstddef>
#include <memory>

#include "plinth/core/error.hpp"

namespace plinth {

/// Where a matrix lives.
///
///   M::space            the Kokkos memory space that Views of it name
///   M::host_accessible  whether host code may read and write it outside kernels, and MPI may be
///                       given a pointer into it
///   M::allocate(bytes)  owning pointer to uninitialised bytes, aligned for any scalar;
///                       throws Error of kind memory
template <class M>
concept MemoryPolicy = requires(std::size_t bytes) {
  typename M::space;
  { M::host_accessible } -> std::convertible_to<bool>;
  { M::allocate(bytes) } -> std::same_as<std::shared_ptr<void>>;
};

/// Memory of a Kokkos memory space.
template <class Space>
struct KokkosMemory {
  using space = Space;
  static constexpr bool host_accessible =
      Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace, Space>::accessible;

  static std::shared_ptr<void> allocate(std::size_t bytes) {
    void* data = nullptr;
    try {
      data = Kokkos::kokkos_malloc<Space>("plinth", bytes);
    } catch (const std::exception&) {
      data = nullptr;
    }
    if (data == nullptr && bytes != 0)
      throw Error("could not allocate " + std::to_string(bytes) + " bytes", ErrorKind::memory);
    // Kokkos reclaims everything at finalize: a matrix that outlives it must not free again.
    return {data, [](void* p) {
              if (p != nullptr && Kokkos::is_initialized()) Kokkos::kokkos_free<Space>(p);
            }};
  }
};

using HostMemory = KokkosMemory<Kokkos::HostSpace>;

}  // namespace plinth
