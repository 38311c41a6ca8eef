// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include "plinth/core/error.hpp"

namespace plinth {

/// Where a matrix lives.
///
///   M::space            the Kokkos memory space that Views of it name
///   M::host_accessible  whether host code may read and write it outside kernels, and MPI may be
///                       given a pointer into it
///   M::allocate(bytes)  owning pointer to uninitialised bytes, aligned for any scalar;
///                       throws Error of kind memory
///   M::mpi_reads()      whether MPI may be given a pointer into it where host code may not use
///                       one, the same on every rank; where there is none, MPI is asked of
///                       KokkosMemory (comm/transport.hpp), and is not given any other
template <class M>
concept MemoryPolicy = requires(std::size_t bytes) {
  typename M::space;
  { M::host_accessible } -> std::convertible_to<bool>;
  { M::allocate(bytes) } -> std::same_as<std::shared_ptr<void>>;
};

/// Memory of a Kokkos memory space, of a device say.
template <class Space>
struct KokkosMemory {
  using space = Space;  ///< that Views name
  /// Whether host code can reach it.
  static constexpr bool host_accessible =
      Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace, Space>::accessible;

  /// Uninitialised; throws Error of kind memory.
  static std::shared_ptr<void> allocate(std::size_t bytes) {
    void* data = nullptr;
    try {
      data = Kokkos::kokkos_malloc<Space>("plinth", bytes);
    } catch (const std::exception&) {
      data = nullptr;
    }
    if (data == nullptr && bytes != 0)
      throw Error("could not allocate " + std::to_string(bytes) +
                      " bytes in Kokkos' memory space " + Space::name(),
                  ErrorKind::memory);
    // Kokkos reclaims everything at finalize: a matrix that outlives it must not free again.
    return {data, [](void* p) {
              if (p != nullptr && Kokkos::is_initialized()) Kokkos::kokkos_free<Space>(p);
            }};
  }
};

/// Memory of the host. Large blocks are aligned to huge pages, and the system is asked to use them:
/// LU walks down columns of row-major matrices and across rows of column-major panels.
struct HostMemory {
  using space = Kokkos::HostSpace;               ///< that Views name
  static constexpr bool host_accessible = true;  ///< plain memory

  /// Uninitialised; throws Error of kind memory.
  static std::shared_ptr<void> allocate(std::size_t bytes) {
    constexpr std::size_t huge_page = std::size_t(1) << 21;
    const std::size_t alignment = bytes >= 2 * huge_page ? huge_page : 64;
    const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
    void* const data = bytes <= whole ? std::aligned_alloc(alignment, whole) : nullptr;
    if (data == nullptr && bytes != 0)
      throw Error("could not allocate " + std::to_string(bytes) + " bytes", ErrorKind::memory);
#if defined(__linux__)
    if (alignment == huge_page) madvise(data, whole, MADV_HUGEPAGE);
#endif
    return {data, [](void* p) { std::free(p); }};
  }
};

}  // namespace plinth
