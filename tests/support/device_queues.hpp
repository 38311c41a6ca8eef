// SPDX-License-Identifier: BSD-3-Clause
//
// The queues of the stand-in device (support/locked_device.hpp): who knows of whose work, copies
// that are late, and who comes to memory without waiting for those before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support/allocations.hpp"
#include "support/locked_region.hpp"

namespace plinth_test {

/// Kernels and copies of a queue are operations, numbered in their order. A queue knows of all
/// that another one had been given when it was told to come after it, and of what the host has
/// waited for (vector clocks: Fidge 1988, Mattern 1989). An operation is sure to find done what
/// its queue knows of, and nothing else.
///
/// Kernels run when they are called. Copies are as late as they may be:
///
/// - the device's side is read or written when a kernel starts whose queue knows of the copy, or
///   at a fence;
/// - what goes to the host is there after a fence that knows of it; until then there are NaNs;
/// - what comes from the host is read at the last moment, and must still be the same then.
///
/// So who does not wait for a copy works with what was there before. What a kernel should have
/// been waited for is found by the pages that each operation comes to: two that come to one, one
/// of them to write, of which the later does not know of the earlier, are a race. They are looked
/// for while there are several queues. A copy that is in one brings NaNs.
class DeviceQueues {
 public:
  static constexpr int main = 0;  ///< the queue that is always there

  static DeviceQueues& instance() {
    static DeviceQueues queues;
    return queues;
  }

  /// Another queue, which knows nothing of the others; it is there as long as its number.
  std::shared_ptr<const int> add() {
    const UnwatchedAllocations unwatched;
    if (beside_++ == 0) {
      pages_.clear();
      if (copies_.empty() && messages_ == 0) {  // nobody asks for former queues any more
        known_.resize(1);
        known_[main].resize(1);
        host_.resize(1);
        is_message_.assign(1, false);
        free_messages_.clear();
      }
    }
    return {new int(new_queue(false)), [](const int* queue) {
              const UnwatchedAllocations unwatched_end;
              --instance().beside_;
              delete queue;
            }};
  }
  /// What `queue` is given from now on waits for what `other` has been given so far.
  void after(int queue, int other) { learn(clock(queue), clock(other)); }

  /// A kernel starts, alone or as a part of another one.
  void start_kernel(int queue) {
    const UnwatchedAllocations unwatched;
    begin(queue);
    open([&] { reach_device(queue); });
    is_watched_.push_back(beside_ > 0);
    if (is_watched_.back()) {
      LockedRegion::instance().watch();
    } else {
      LockedRegion::instance().enter();
    }
  }
  void end_kernel(int queue) {
    const UnwatchedAllocations unwatched;
    const bool watched = is_watched_.back();
    is_watched_.pop_back();
    if (!watched) return LockedRegion::instance().leave();
    bool free = true;
    LockedRegion::instance().unwatch(
        [&](std::size_t page, bool writes) { free = reach_page(queue, page, writes) && free; });
    if (!free) ++races_;
  }

  /// MPI is given memory of the device: a message is a queue of one operation, which knows of what
  /// the host has waited for, and which the host knows of when it has waited for the message.
  int start_message() {
    int queue = 0;
    if (free_messages_.empty()) {
      queue = new_queue(true);
    } else {
      queue = free_messages_.back();
      free_messages_.pop_back();
    }
    ++messages_;
    begin(queue);
    return queue;
  }
  /// It reads or writes bytes of the device; whether these are free for it. (Whether messages may
  /// meet is between MPI and who starts them.)
  bool reach_by_message(int queue, const std::byte* data, std::size_t bytes, bool writes) {
    if (beside_ == 0 || reach(queue, data, bytes, writes)) return true;
    ++races_;
    return false;
  }
  /// It is over, and the host knows; `changed`: what it sent did not stay as it was.
  void end_message(int queue, bool changed) {
    learn(host_, clock(queue));
    free_messages_.push_back(queue);
    --messages_;
    if (changed) ++changed_;
  }

  void to_host(int queue, void* to, const void* from, std::size_t bytes) {
    const UnwatchedAllocations unwatched;
    begin(queue);
    copied_.to_host += bytes;
    // Copies from this place that are under way have been read when this one writes to it.
    for (Copy& copy : copies_)
      if (!copy.is_to_host && overlap(copy.from, copy.bytes.size(), to, bytes) &&
          knows(queue, copy))
        check_unchanged(copy);
    std::memset(to, 0xff, bytes);
    add_copy(queue, {to, from, true, std::vector<std::byte>(bytes)});
  }
  void to_device(int queue, void* to, const void* from, std::size_t bytes) {
    const UnwatchedAllocations unwatched;
    begin(queue);
    copied_.to_device += bytes;
    const auto* const data = static_cast<const std::byte*>(from);
    add_copy(queue, {to, from, false, {data, data + bytes}});
  }
  /// The host waits for a queue, and for what that knows of.
  void wait(int queue) {
    if (in_kernel()) return;  // a kernel's own waiting, for threads of the host
    const UnwatchedAllocations unwatched;
    learn(clock(queue), host_);
    open([&] { reach_device(queue); });
    for (Copy& copy : copies_) {
      if (!knows(queue, copy)) continue;
      if (copy.is_to_host) {
        std::memcpy(copy.to, copy.bytes.data(), copy.bytes.size());
      } else {
        check_unchanged(copy);
      }
    }
    std::erase_if(copies_, [&](const Copy& copy) { return knows(queue, copy); });
    learn(host_, clock(queue));
  }

  /// Whether a kernel runs.
  bool in_kernel() const { return !is_watched_.empty(); }
  /// Whether no copies and messages are under way.
  bool empty() const { return copies_.empty() && messages_ == 0; }
  /// As if none had been asked for.
  void forget() {
    copies_.clear();
    changed_ = races_ = 0;
  }
  /// How often host memory was changed while a copy from it was under way, since the last call.
  int take_changed() { return std::exchange(changed_, 0); }
  /// How many operations had a part in races, since the last call.
  int take_races() { return std::exchange(races_, 0); }
  /// How many bytes have been copied which way.
  struct Copied {
    std::size_t to_host = 0, to_device = 0;
  };
  /// Since the last call.
  Copied take_copied() { return std::exchange(copied_, {}); }

 private:
  using Clock = std::vector<long>;  ///< how many operations of each queue are known

  struct Copy {
    void* to;
    const void* from;
    bool is_to_host;
    std::vector<std::byte> bytes;  ///< read from the device, or as the host's were at the call
    bool done = false;             ///< it has reached the device
    bool checked = false;          ///< the host's have been compared
    bool races = false;
    int queue = 0;
    long number = 0;
  };
  /// Who has come to a page: the last to write, the last of each queue to read since.
  struct Page {
    int writer = main;
    long written = 0;
    Clock read;
  };

  int new_queue(bool is_message) {
    const auto number = static_cast<int>(known_.size());
    known_.emplace_back();
    for (Clock& clock : known_) clock.resize(known_.size());
    host_.resize(known_.size());
    is_message_.push_back(is_message);
    return number;
  }
  Clock& clock(int queue) { return known_[static_cast<std::size_t>(queue)]; }
  static void learn(Clock& clock, const Clock& from) {
    for (std::size_t q = 0; q < clock.size(); ++q) clock[q] = std::max(clock[q], from[q]);
  }
  void begin(int queue) {
    learn(clock(queue), host_);
    ++clock(queue)[static_cast<std::size_t>(queue)];
  }
  bool knows(int queue, int other, long number) {
    return number <= clock(queue)[static_cast<std::size_t>(other)];
  }
  bool knows(int queue, const Copy& copy) { return knows(queue, copy.queue, copy.number); }

  static bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) {
    const auto* const x = static_cast<const std::byte*>(a);
    const auto* const y = static_cast<const std::byte*>(b);
    const std::less<const std::byte*> before;
    return before(x, y + b_bytes) && before(y, x + a_bytes);
  }

  template <class F>
  void open(const F& f) {
    if (copies_.empty()) return;
    LockedRegion::instance().enter();
    f();
    LockedRegion::instance().leave();
  }
  void add_copy(int queue, Copy copy) {
    copy.queue = queue;
    copy.number = clock(queue)[static_cast<std::size_t>(queue)];
    if (beside_ > 0) {
      const auto* const device =
          static_cast<const std::byte*>(copy.is_to_host ? copy.from : copy.to);
      copy.races = !reach(queue, device, copy.bytes.size(), !copy.is_to_host);
      if (copy.races) ++races_;
    }
    copies_.push_back(std::move(copy));
  }
  /// All that the queue knows of, in their order.
  void reach_device(int queue) {
    for (Copy& copy : copies_) {
      if (copy.done || !knows(queue, copy)) continue;
      std::byte* const bytes = copy.bytes.data();
      if (copy.is_to_host && !copy.races) std::memcpy(bytes, copy.from, copy.bytes.size());
      if (copy.is_to_host && copy.races) std::memset(bytes, 0xff, copy.bytes.size());
      if (!copy.is_to_host && !copy.races)
        std::memcpy(copy.to, copy.checked ? bytes : copy.from, copy.bytes.size());
      if (!copy.is_to_host && copy.races) std::memset(copy.to, 0xff, copy.bytes.size());
      copy.done = true;
    }
  }
  void check_unchanged(Copy& copy) {
    if (!copy.checked && std::memcmp(copy.from, copy.bytes.data(), copy.bytes.size()) != 0)
      ++changed_;
    copy.checked = true;
  }
  /// The queue's last operation comes to bytes of the device; whether it knows of those that it
  /// must not meet.
  bool reach(int queue, const std::byte* data, std::size_t bytes, bool writes) {
    const LockedRegion& region = LockedRegion::instance();
    const std::size_t last = region.page(data + bytes - 1);
    bool free = true;
    for (std::size_t page = region.page(data); page <= last; ++page)
      free = reach_page(queue, page, writes) && free;
    return free;
  }
  bool reach_page(int queue, std::size_t number, bool writes) {
    Page& page = pages_[number];
    page.read.resize(known_.size());
    const auto meets = [&](int other, long operation) {
      const auto is_message = [&](int q) { return is_message_[static_cast<std::size_t>(q)]; };
      return knows(queue, other, operation) || (is_message(queue) && is_message(other));
    };
    bool free = meets(page.writer, page.written);
    if (writes) {
      for (std::size_t q = 0; q < page.read.size(); ++q)
        free = meets(static_cast<int>(q), page.read[q]) && free;
      page = {queue, clock(queue)[static_cast<std::size_t>(queue)], Clock(known_.size())};
    } else {
      page.read[static_cast<std::size_t>(queue)] = clock(queue)[static_cast<std::size_t>(queue)];
    }
    return free;
  }

  std::vector<Clock> known_ = {Clock(1)};  ///< by each queue
  Clock host_ = Clock(1);                  ///< what the host has waited for
  int beside_ = 0;                         ///< queues besides the first
  std::vector<bool> is_message_ = {false};  ///< of each queue
  std::vector<int> free_messages_;         ///< queues of messages that are over
  int messages_ = 0;                       ///< under way
  std::vector<Copy> copies_;
  Copied copied_;
  std::unordered_map<std::size_t, Page> pages_;
  std::vector<bool> is_watched_;
  int changed_ = 0;
  int races_ = 0;
};

}  // namespace plinth_test
