// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "plinth/comm/communicator.hpp"
#include "plinth/comm/schedule.hpp"

namespace plinth::comm {

/// A schedule of messages in flight, over a buffer of rows of `row_bytes` bytes. start() posts
/// the first round, progress() goes on to the next ones where the messages allow, wait() returns
/// when the last is through. Messages longer than `max_message` bytes travel in pieces.
class Exchange {
 public:
  Exchange() = default;
  Exchange(Exchange&&) = default;
  Exchange& operator=(Exchange&&) = default;

  /// Collective over `communicator`, in the order of calls for one `tag`. Of exchanges in flight
  /// at a time each has a tag of its own.
  void start(const Communicator& communicator, void* buffer, Index row_bytes, Schedule schedule,
             int tag, Index max_message) {
    communicator_ = communicator.handle();
    buffer_ = static_cast<char*>(buffer);
    row_bytes_ = row_bytes;
    transfers_ = std::move(schedule.transfers);
    tag_ = tag;
    max_message_ = max_message;
    next_ = 0;
    post_round();
  }

  /// Never blocks.
  void progress() {
    while (!requests_.empty()) {
      int done = 0;
      check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                        MPI_STATUSES_IGNORE),
            "MPI_Testall");
      if (!done) return;
      post_round();
    }
  }

  void wait() {
    while (!requests_.empty()) {
      check(
          MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitall");
      post_round();
    }
  }

 private:
  void post_round() {
    requests_.clear();
    if (next_ == transfers_.size()) return;
    for (const int round = transfers_[next_].round;
         next_ < transfers_.size() && transfers_[next_].round == round; ++next_)
      post(transfers_[next_]);
  }
  void post(const Transfer& t) {
    char* const rows = buffer_ + t.rows.begin * row_bytes_;
    for_each_chunk(t.rows.size() * row_bytes_, max_message_, [&](Index offset, int count) {
      MPI_Request& request = requests_.emplace_back();
      if (t.is_send) {
        check(MPI_Isend(rows + offset, count, MPI_BYTE, t.peer, tag_, communicator_, &request),
              "MPI_Isend");
      } else {
        check(MPI_Irecv(rows + offset, count, MPI_BYTE, t.peer, tag_, communicator_, &request),
              "MPI_Irecv");
      }
    });
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  char* buffer_ = nullptr;
  Index row_bytes_ = 0;
  Index max_message_ = 1;
  int tag_ = 0;
  std::vector<Transfer> transfers_;
  std::size_t next_ = 0;
  std::vector<MPI_Request> requests_;
};

/// Calls f(offset, counts) with byte counts for the pieces, each at most `limit` bytes, that
/// blocks of `bytes[p]` bytes are cut into: piece c of every block together.
template <class F>
void for_each_piece_of_blocks(const std::vector<Index>& bytes, Index limit, F&& f) {
  const Index longest = bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
  std::vector<int> counts(bytes.size());
  for (Index offset = 0; offset < longest; offset += limit) {
    for (std::size_t p = 0; p < bytes.size(); ++p)
      counts[p] = static_cast<int>(std::clamp<Index>(bytes[p] - offset, 0, limit));
    f(offset, counts);
  }
}

}  // namespace plinth::comm
