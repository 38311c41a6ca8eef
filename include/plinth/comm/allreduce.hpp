// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "plinth/comm/communicator.hpp"
#include "plinth/comm/schedule.hpp"
#include "plinth/core/index.hpp"

namespace plinth::comm {

/// All-reduction of one small message by recursive doubling over point-to-point messages
/// (log2 P of them per process; a surplus over a power of two folds in first). `combine` must be
/// associative and commutative to the bit, so that every process ends with the same message.
///
/// The scratch message is kept, so that nothing is allocated per call. Messages longer than
/// `max_message` bytes travel in pieces.
class SmallAllreduce {
 public:
  explicit SmallAllreduce(Index max_bytes, Index max_message = Index(1) << 30)
      : scratch_(static_cast<std::size_t>(max_bytes)), max_message_(max_message) {}

  /// Collective. message: `bytes` bytes, in and out. combine(std::byte* mine, const std::byte*
  /// other) folds `other` into `mine`.
  template <class Combine>
  void operator()(const Communicator& communicator, std::byte* message, int bytes,
                  Combine&& combine) {
    const int size = communicator.size();
    const int rank = communicator.rank();
    const int power = power_of_two_below(size);
    const int surplus = size - power;
    // Ranks [power, size) hand their part to rank - power, and get the result back at the end.
    if (rank >= power) {
      send(communicator, message, bytes, rank - power);
      receive(communicator, message, bytes, rank - power);
      return;
    }
    if (rank < surplus) {
      receive(communicator, scratch_.data(), bytes, rank + power);
      combine(message, scratch_.data());
    }
    for (int distance = 1; distance < power; distance *= 2) {
      swap(communicator, message, bytes, rank ^ distance);
      combine(message, scratch_.data());
    }
    if (rank < surplus) send(communicator, message, bytes, rank + power);
  }

 private:
  static constexpr int tag = 7;
  /// The partner's message comes to the scratch message.
  void swap(const Communicator& c, const std::byte* message, int bytes, int partner) {
    for_each_chunk(bytes, max_message_, [&](Index offset, int count) {
      check(
          MPI_Sendrecv(message + offset, count, MPI_BYTE, partner, tag, scratch_.data() + offset,
                       count, MPI_BYTE, partner, tag, c.handle(), MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
    });
  }
  void send(const Communicator& c, const std::byte* data, int bytes, int to) const {
    for_each_chunk(bytes, max_message_, [&](Index offset, int count) {
      check(MPI_Send(data + offset, count, MPI_BYTE, to, tag, c.handle()), "MPI_Send");
    });
  }
  void receive(const Communicator& c, std::byte* data, int bytes, int from) const {
    for_each_chunk(bytes, max_message_, [&](Index offset, int count) {
      check(MPI_Recv(data + offset, count, MPI_BYTE, from, tag, c.handle(), MPI_STATUS_IGNORE),
            "MPI_Recv");
    });
  }

  std::vector<std::byte> scratch_;
  Index max_message_;
};

}  // namespace plinth::comm
