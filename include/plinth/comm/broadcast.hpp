// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "plinth/comm/broadcast_route.hpp"
#include "plinth/comm/communicator.hpp"
#include "plinth/core/index.hpp"

namespace plinth::comm {

/// One broadcast in flight. start() returns at once (but for BroadcastAlgorithm::bcast),
/// progress() passes on what has arrived, wait_arrival() returns when this process has the
/// message, finish() when its buffer may be reused. Messages longer than `max_message` bytes
/// travel in pieces, each passed on as it comes.
class Broadcast {
 public:
  Broadcast() = default;
  /// Moved, a broadcast goes on.
  Broadcast(Broadcast&&) = default;
  Broadcast& operator=(Broadcast&&) = default;  ///< likewise

  /// Collective over `communicator` in the order of calls; `tag` tells concurrent ones apart.
  void start(const Communicator& communicator, void* data, Index bytes, int root, int tag,
             BroadcastAlgorithm algorithm, Index max_message) {
    communicator_ = communicator.handle();
    data_ = static_cast<char*>(data);
    root_ = root;
    size_ = communicator.size();
    tag_ = tag;
    arrived_ = passed_on_ = 0;
    incoming_.clear();
    outgoing_.clear();
    sends_.clear();
    if (size_ == 1 || bytes == 0) return;
    if (algorithm == BroadcastAlgorithm::bcast || algorithm == BroadcastAlgorithm::ibcast)
      return start_collective(algorithm, bytes, max_message);

    const int me = (communicator.rank() - root_ + size_) % size_;
    for_each_chunk(bytes, max_message, [&](Index offset, int count) {
      broadcast_schedule(schedule_, algorithm, me, size_, {offset, offset + count});
      const auto earlier = static_cast<Index>(incoming_.size());
      for (const auto& arrival : schedule_.arrivals) receive(arrival);
      for (auto send : schedule_.sends) {
        send.after += earlier;
        sends_.push_back(send);
      }
    });
    pass_on();
  }

  /// Passes on the pieces that have arrived, in order. Never blocks.
  void progress() {
    while (arrived_ < incoming_.size()) {
      int arrived = 0;
      check(MPI_Test(&incoming_[arrived_], &arrived, MPI_STATUS_IGNORE), "MPI_Test");
      if (!arrived) return;
      ++arrived_;
      pass_on();
    }
  }

  /// Returns when the whole message is here, and all that is this process's to pass on is on its
  /// way.
  void wait_arrival() {
    while (arrived_ < incoming_.size()) {
      check(MPI_Wait(&incoming_[arrived_], MPI_STATUS_IGNORE), "MPI_Wait");
      ++arrived_;
      pass_on();
    }
  }

  /// Returns when the buffer is free again.
  void finish() {
    wait_arrival();
    if (!outgoing_.empty())
      check(
          MPI_Waitall(static_cast<int>(outgoing_.size()), outgoing_.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitall");
    outgoing_.clear();
  }

 private:
  void start_collective(BroadcastAlgorithm algorithm, Index bytes, Index max_message) {
    for_each_chunk(bytes, max_message, [&](Index offset, int count) {
      if (algorithm == BroadcastAlgorithm::bcast) {
        check(MPI_Bcast(data_ + offset, count, MPI_BYTE, root_, communicator_), "MPI_Bcast");
      } else {
        check(MPI_Ibcast(data_ + offset, count, MPI_BYTE, root_, communicator_,
                         &incoming_.emplace_back()),
              "MPI_Ibcast");
      }
    });
  }
  int absolute(int relative) const { return (relative + root_) % size_; }
  void receive(const BroadcastSchedule::Arrival& arrival) {
    check(MPI_Irecv(data_ + arrival.bytes.begin, static_cast<int>(arrival.bytes.size()), MPI_BYTE,
                    absolute(arrival.source), tag_, communicator_, &incoming_.emplace_back()),
          "MPI_Irecv");
  }
  /// Sends what the arrivals so far allow.
  void pass_on() {
    for (; passed_on_ < sends_.size(); ++passed_on_) {
      const auto& send = sends_[passed_on_];
      if (send.after > static_cast<Index>(arrived_)) return;
      check(MPI_Isend(data_ + send.bytes.begin, static_cast<int>(send.bytes.size()), MPI_BYTE,
                      absolute(send.destination), tag_, communicator_, &outgoing_.emplace_back()),
            "MPI_Isend");
    }
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  char* data_ = nullptr;
  int root_ = 0;
  int size_ = 1;
  int tag_ = 0;
  BroadcastSchedule schedule_;
  std::vector<BroadcastSchedule::Send> sends_;
  std::size_t arrived_ = 0;
  std::size_t passed_on_ = 0;
  std::vector<MPI_Request> incoming_;
  std::vector<MPI_Request> outgoing_;
};

/// A broadcast of something in two parts: one message where they follow one another in memory, two
/// where they are apart, on the host and on a device say. Otherwise as Broadcast.
class BroadcastInParts {
 public:
  /// Bytes in memory.
  struct Part {
    void* data;   ///< where they are
    Index bytes;  ///< how many
  };

  /// Collective as Broadcast::start, with the same sizes and `apart` everywhere. `tag` < 16384: the
  /// second of two messages has a tag of its own.
  void start(const Communicator& communicator, Part first, Part second, bool apart, int root,
             int tag, BroadcastAlgorithm algorithm, Index max_message) {
    const Index bytes = first.bytes + (apart ? 0 : second.bytes);
    first_.start(communicator, first.data, bytes, root, tag, algorithm, max_message);
    second_.start(communicator, second.data, apart ? second.bytes : 0, root, tag + 16384,
                  algorithm, max_message);
  }
  /// Passes pieces of both on. Never blocks.
  void progress() {
    first_.progress();
    second_.progress();
  }
  /// Returns when both are here, as Broadcast::wait_arrival.
  void wait_arrival() {
    first_.wait_arrival();
    second_.wait_arrival();
  }
  /// Returns when both buffers are free again.
  void finish() {
    first_.finish();
    second_.finish();
  }

 private:
  Broadcast first_, second_;
};

}  // namespace plinth::comm
