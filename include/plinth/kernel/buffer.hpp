// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include "plinth/core/index.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/policy/execution.hpp"

namespace plinth::kernel {

/// A block of elements in a memory, owned, uninitialised. Grows when asked, never shrinks.
template <class T, MemoryPolicy Memory = HostMemory>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(Index size) { reserve(size); }
  Buffer(Buffer&&) noexcept = default;
  Buffer& operator=(Buffer&&) noexcept = default;

  /// Makes room for `size` elements; the contents are lost when it has to grow.
  void reserve(Index size) {
    if (size <= size_) return;
    owner_.reset();
    size_ = 0;  // also if there is no memory
    owner_ = Memory::allocate(static_cast<std::size_t>(size) * sizeof(T));
    size_ = size;
  }
  T* data() const { return static_cast<T*>(owner_.get()); }
  Index size() const { return size_; }

 private:
  std::shared_ptr<void> owner_;
  Index size_ = 0;
};

/// A block of elements that kernels of `Exec` and the host (thus MPI) both use: one buffer where
/// the host may touch the policy's memory, else a pair of them and copies between the two.
template <class T, ExecutionPolicy Exec>
class Staged {
 public:
  using Memory = typename Exec::memory;

  Staged() = default;
  explicit Staged(Index size) { reserve(size); }

  void reserve(Index size) {
    reserve_device(size);
    if constexpr (!Memory::host_accessible) host_.reserve(size);
  }
  /// Of a pair only what kernels use: there is nothing to copy then.
  void reserve_device(Index size) { device_.reserve(size); }
  Index size() const { return device_.size(); }
  T* device() const { return device_.data(); }
  T* host() const {
    if constexpr (Memory::host_accessible) {
      return device_.data();
    } else {
      return host_.data();
    }
  }

  /// Makes elements [begin, begin + count), written by kernels, readable on the host; waits for
  /// them, and for everything else.
  void to_host(const Exec& exec, Index begin, Index count) const {
    start_to_host(exec, begin, count);
    exec.fence();
  }
  /// The same without waiting: they are there after the next fence.
  void start_to_host(const Exec& exec, Index begin, Index count) const {
    if constexpr (!Memory::host_accessible)
      exec.to_host(host_.data() + begin, device_.data() + begin, bytes(count));
  }
  /// Makes elements [begin, begin + count), written on the host, readable by kernels from now on.
  /// The host must not change them before the next fence.
  void to_device(const Exec& exec, Index begin, Index count) const {
    if constexpr (!Memory::host_accessible)
      exec.to_device(device_.data() + begin, host_.data() + begin, bytes(count));
  }

 private:
  static std::size_t bytes(Index count) { return static_cast<std::size_t>(count) * sizeof(T); }
  struct Nothing {
    void reserve(Index) {}
  };
  Buffer<T, Memory> device_;
  std::conditional_t<Memory::host_accessible, Nothing, Buffer<T, typename Exec::host_memory>>
      host_;
};

/// A block of elements that kernels of `Exec` make and use and messages carry: Staged, or, where
/// it is made `direct`, in the policy's memory alone, which MPI is given.
///
/// Either way the host waits (a fence of the queue, or of one that comes after it) between kernels
/// and the messages that send what they wrote, or receive into what they read or wrote: MPI knows
/// nothing of queues. What has been received is there for kernels that start later.
template <class T, ExecutionPolicy Exec>
class MessageBuffer {
 public:
  MessageBuffer() = default;

  /// As Buffer::reserve.
  void reserve(Index size, bool direct) {
    direct_ = direct;
    if (direct) {
      staged_.reserve_device(size);
    } else {
      staged_.reserve(size);
    }
  }
  T* device() const { return staged_.device(); }
  /// For MPI.
  T* message() const { return direct_ ? staged_.device() : staged_.host(); }

  /// Makes elements [begin, begin + count), written by kernels, readable by MPI: they are after
  /// the next fence.
  void start_to_message(const Exec& exec, Index begin, Index count) const {
    if (!direct_) staged_.start_to_host(exec, begin, count);
  }
  /// Makes elements [begin, begin + count), which MPI has received or sent, readable by kernels
  /// from now on. No message may change them before the next fence.
  void from_message(const Exec& exec, Index begin, Index count) const {
    if (!direct_) staged_.to_device(exec, begin, count);
  }

 private:
  Staged<T, Exec> staged_;
  bool direct_ = false;
};

}  // namespace plinth::kernel
