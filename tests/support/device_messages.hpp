// SPDX-License-Identifier: BSD-3-Clause
//
// Messages to and from the memory of the stand-in device, as an MPI sends and receives them that
// reads it: for the functions that take the place of MPI's own (mpi/message_counter.cpp).
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "support/allocations.hpp"
#include "support/device_queues.hpp"
#include "support/locked_region.hpp"

namespace plinth_test {

/// MPI itself gets a copy on the host. What is sent is read at once, what is received written as
/// late as it may be, when the host learns of it; until then there are NaNs. That nobody comes
/// there meanwhile, and that the host has waited for whoever came before, is for DeviceQueues to
/// find out.
class DeviceMessages {
 public:
  static DeviceMessages& instance() {
    static DeviceMessages messages;
    return messages;
  }

  /// Bytes at an offset of a message's buffer.
  struct Part {
    std::size_t begin, bytes;
    bool arrives;
  };
  /// Where MPI may read and write what is at `data`: there itself unless it is the device's. One
  /// of the bind() below must follow.
  void* start(const void* data, const std::vector<Part>& parts) {
    auto* const device = static_cast<std::byte*>(const_cast<void*>(data));
    started_ = false;
    std::size_t bytes = 0;
    for (const Part& part : parts) bytes = std::max(bytes, part.begin + part.bytes);
    if (bytes == 0 || !LockedRegion::instance().owns(data)) return device;
    const UnwatchedAllocations unwatched;
    Message message{device, {}, std::vector<std::byte>(bytes),
                    DeviceQueues::instance().start_message()};
    for (const Part& part : parts)
      if (part.bytes > 0) message.parts.push_back(part);
    LockedRegion::instance().enter();
    for (const Part& part : message.parts) {
      std::byte* const there = device + part.begin;
      const bool free = DeviceQueues::instance().reach_by_message(message.queue, there, part.bytes,
                                                                  part.arrives);
      if (part.arrives || !free) std::memset(there, 0xff, part.bytes);
      std::memcpy(message.copy.data() + part.begin, there, part.bytes);
    }
    LockedRegion::instance().leave();
    under_way_.push_back({MPI_REQUEST_NULL, std::move(message)});
    started_ = true;
    return under_way_.back().second.copy.data();
  }
  /// The message that was started last is over with the call.
  int bind(int status) {
    if (std::exchange(started_, false)) finish(under_way_.size() - 1);
    return status;
  }
  /// It is over with a request.
  int bind(int status, MPI_Request request) {
    if (std::exchange(started_, false)) under_way_.back().first = request;
    return status;
  }

  /// Calls f(), which waits for requests, or looks for them, and says whether all are over.
  template <class F>
  int complete(int count, const MPI_Request* requests, const F& f) {
    if (under_way_.empty()) return f().first;
    const UnwatchedAllocations unwatched;
    const std::vector<MPI_Request> before(requests, requests + count);
    const auto [status, over] = f();
    if (!over) return status;
    for (const MPI_Request request : before) {
      if (request == MPI_REQUEST_NULL) continue;
      const auto found = std::find_if(under_way_.begin(), under_way_.end(),
                                      [&](const auto& m) { return m.first == request; });
      if (found != under_way_.end())
        finish(static_cast<std::size_t>(found - under_way_.begin()));
    }
    return status;
  }

  /// How many have been started since the last call.
  long take_count() { return std::exchange(count_, 0); }

 private:
  struct Message {
    std::byte* device;
    std::vector<Part> parts;
    std::vector<std::byte> copy;
    int queue;
  };

  void finish(std::size_t which) {
    const UnwatchedAllocations unwatched;
    const Message message = std::move(under_way_[which].second);
    under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(which));
    ++count_;
    bool changed = false;
    LockedRegion::instance().enter();
    for (const Part& part : message.parts) {
      std::byte* const there = message.device + part.begin;
      const std::byte* const here = message.copy.data() + part.begin;
      if (!part.arrives) changed = changed || std::memcmp(there, here, part.bytes) != 0;
      if (part.arrives) std::memcpy(there, here, part.bytes);
    }
    LockedRegion::instance().leave();
    DeviceQueues::instance().end_message(message.queue, changed);
  }

  std::vector<std::pair<MPI_Request, Message>> under_way_;
  bool started_ = false;
  long count_ = 0;
};

}  // namespace plinth_test
