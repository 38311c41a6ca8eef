// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "plinth/comm/communicator.hpp"
#include "plinth/core/index.hpp"

namespace plinth::comm {

/// How a panel travels along a process row (HPL.dat line 23 names the first six).
enum class BroadcastAlgorithm {
  ring1,           ///< 0 -> 1 -> 2 -> ...
  ring1_modified,  ///< 0 -> 1, and 0 -> 2 -> 3 -> ...: the next owner is served first
  ring2,           ///< two rings, from 1 and from Q/2
  ring2_modified,  ///< 0 -> 1, then two rings over the rest
  ibcast,          ///< MPI_Ibcast
};

/// Where a process gets a message from and whom it passes it to, in ranks relative to the root;
/// source is -1 at the root. At most three destinations, served in order.
struct Route {
  int source = -1;
  std::array<int, 3> destinations{-1, -1, -1};
  int destination_count = 0;
  void to(int rank) { destinations[static_cast<std::size_t>(destination_count++)] = rank; }
};

/// The route of process `me` (relative to the root) among `size` processes. Pure.
inline Route broadcast_route(BroadcastAlgorithm algorithm, int me, int size) {
  Route route;
  if (size == 1) return route;
  const bool modified = algorithm == BroadcastAlgorithm::ring1_modified ||
                        algorithm == BroadcastAlgorithm::ring2_modified;
  const bool two_rings = algorithm == BroadcastAlgorithm::ring2 ||
                         algorithm == BroadcastAlgorithm::ring2_modified;
  // Relative rank 1 stands apart in the modified forms; the rings run over [first, size).
  const int first = modified ? 2 : 1;
  const int middle = two_rings ? first + (size - first) / 2 : size;
  if (me == 0) {
    if (modified) route.to(1);
    if (first < middle) route.to(first);
    if (middle < size) route.to(middle);
    return route;
  }
  const bool heads_ring = me < first || me == first || me == middle;
  route.source = heads_ring ? 0 : me - 1;
  const int ring_end = me < middle ? middle : size;
  if (me >= first && me + 1 < ring_end) route.to(me + 1);
  return route;
}

/// One broadcast in flight. start() returns at once, progress() passes on what has arrived,
/// wait_arrival() returns when this process has the message, finish() when its buffer may be
/// reused. Messages longer than `max_message` bytes travel in pieces, each passed on as it comes.
class Broadcast {
 public:
  Broadcast() = default;
  Broadcast(Broadcast&&) = default;
  Broadcast& operator=(Broadcast&&) = default;

  /// Collective over `communicator` in the order of calls; `tag` tells concurrent ones apart.
  void start(const Communicator& communicator, void* data, Index bytes, int root, int tag,
             BroadcastAlgorithm algorithm, Index max_message) {
    communicator_ = communicator.handle();
    data_ = static_cast<char*>(data);
    bytes_ = bytes;
    root_ = root;
    size_ = communicator.size();
    tag_ = tag;
    piece_ = max_message;
    passed_on_ = 0;
    incoming_.clear();
    outgoing_.clear();
    collective_ = algorithm == BroadcastAlgorithm::ibcast;
    if (size_ == 1 || bytes_ == 0) return;
    if (collective_) {
      for_each_chunk(bytes_, piece_, [&](Index offset, int count) {
        check(MPI_Ibcast(data_ + offset, count, MPI_BYTE, root_, communicator_,
                         &incoming_.emplace_back()),
              "MPI_Ibcast");
      });
      return;
    }
    const int me = (communicator.rank() - root_ + size_) % size_;
    route_ = broadcast_route(algorithm, me, size_);
    if (route_.source < 0) {
      for_each_chunk(bytes_, piece_,
                     [&](Index offset, int count) { pass_on(offset, count); });
      return;
    }
    for_each_chunk(bytes_, piece_, [&](Index offset, int count) {
      check(MPI_Irecv(data_ + offset, count, MPI_BYTE, absolute(route_.source), tag_,
                      communicator_, &incoming_.emplace_back()),
            "MPI_Irecv");
    });
  }

  /// Passes on the pieces that have arrived, in order. Never blocks.
  void progress() {
    while (passed_on_ < incoming_.size()) {
      int arrived = 0;
      check(MPI_Test(&incoming_[passed_on_], &arrived, MPI_STATUS_IGNORE), "MPI_Test");
      if (!arrived) return;
      pass_on_piece();
    }
  }

  /// Returns when the whole message is here, all of it passed on.
  void wait_arrival() {
    while (passed_on_ < incoming_.size()) {
      check(MPI_Wait(&incoming_[passed_on_], MPI_STATUS_IGNORE), "MPI_Wait");
      pass_on_piece();
    }
  }

  /// Returns when the buffer is free again.
  void finish() {
    wait_arrival();
    if (!outgoing_.empty())
      check(MPI_Waitall(static_cast<int>(outgoing_.size()), outgoing_.data(),
                        MPI_STATUSES_IGNORE),
            "MPI_Waitall");
    outgoing_.clear();
  }

 private:
  int absolute(int relative) const { return (relative + root_) % size_; }
  void pass_on_piece() {
    const Index offset = static_cast<Index>(passed_on_) * piece_;
    ++passed_on_;
    if (!collective_) pass_on(offset, static_cast<int>(std::min(piece_, bytes_ - offset)));
  }
  void pass_on(Index offset, int count) {
    for (int d = 0; d < route_.destination_count; ++d)
      check(MPI_Isend(data_ + offset, count, MPI_BYTE,
                      absolute(route_.destinations[static_cast<std::size_t>(d)]), tag_,
                      communicator_, &outgoing_.emplace_back()),
            "MPI_Isend");
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  char* data_ = nullptr;
  Index bytes_ = 0;
  Index piece_ = 0;
  int root_ = 0;
  int size_ = 1;
  int tag_ = 0;
  bool collective_ = false;
  Route route_;
  std::size_t passed_on_ = 0;
  std::vector<MPI_Request> incoming_;
  std::vector<MPI_Request> outgoing_;
};

}  // namespace plinth::comm
