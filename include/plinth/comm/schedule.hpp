// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "plinth/core/index.hpp"

namespace plinth::comm {

/// One message of a schedule, as one of its two processes sees it: a range of the rows of a
/// buffer that has the same numbering on every process. It is sent once all earlier rounds are
/// through.
struct Transfer {
  int round = 0;
  bool is_send = false;
  int peer = 0;
  Range rows;
  bool operator==(const Transfer&) const = default;
};

/// What one process does in an exchange, in order of rounds.
struct Schedule {
  std::vector<Transfer> transfers;

  void send(int round, int peer, Range rows) {
    if (!rows.empty()) transfers.push_back({round, true, peer, rows});
  }
  void receive(int round, int peer, Range rows) {
    if (!rows.empty()) transfers.push_back({round, false, peer, rows});
  }
};

/// How the rows that processes contribute get to all of them.
enum class GatherAlgorithm {
  direct,    ///< each to each, all at once: one round, P - 1 messages
  doubling,  ///< recursive doubling: log2 P rounds, and two more where P is no power of two
  ring,      ///< P - 1 rounds, each to the right neighbour
};

/// How rows that one process has get to theirs.
enum class ScatterAlgorithm {
  direct,  ///< to each of them: one round
  tree,    ///< down a binary tree: log2 P rounds
};

/// Where each process's rows stand in a buffer: those of process p are
/// [begin[p], begin[p] + counts[p]).
inline std::vector<Index> block_begins(const std::vector<Index>& counts,
                                       const std::vector<int>& order) {
  std::vector<Index> begin(counts.size());
  Index at = 0;
  for (const int process : order) {
    begin[static_cast<std::size_t>(process)] = at;
    at += counts[static_cast<std::size_t>(process)];
  }
  return begin;
}

inline int power_of_two_below(int size) {
  int power = 1;
  while (power * 2 <= size) power *= 2;
  return power;
}

/// The order in which the processes' rows stand in the buffer of an all-gather. For doubling, a
/// process beyond the largest power of two stands behind its partner, so that what any process
/// holds at any time is one range.
inline std::vector<int> gather_order(GatherAlgorithm algorithm, int size) {
  std::vector<int> order;
  const int power = algorithm == GatherAlgorithm::doubling ? power_of_two_below(size) : size;
  for (int p = 0; p < power; ++p) {
    order.push_back(p);
    if (p + power < size) order.push_back(p + power);
  }
  return order;
}

/// The all-gather of blocks that stand as block_begins(counts, gather_order()) says: process `me`
/// has its own at first, and all of them in the end.
///
/// `equilibrate` (ring only): before the ring the rows are evened out, so that in every step each
/// process passes on the same amount (to within a row), whoever contributed it. Some rows that a
/// process contributed then come back to it.
class GatherSchedule {
 public:
  GatherSchedule(GatherAlgorithm algorithm, bool equilibrate, const std::vector<Index>& counts,
                 int me)
      : size_(static_cast<int>(counts.size())),
        me_(me),
        begin_(block_begins(counts, gather_order(algorithm, size_))),
        counts_(counts),
        total_(std::accumulate(counts.begin(), counts.end(), Index(0))) {
    switch (algorithm) {
      case GatherAlgorithm::direct:
        direct();
        break;
      case GatherAlgorithm::doubling:
        doubling();
        break;
      case GatherAlgorithm::ring:
        if (equilibrate) {
          even_out();
          ring(1, [this](int p) { return even(p); });
        } else {
          ring(0, [this](int p) { return block(p); });
        }
        break;
    }
  }

  const std::vector<Index>& begin() const { return begin_; }
  const Schedule& schedule() const { return schedule_; }
  Schedule&& take() { return std::move(schedule_); }

 private:
  Range block(int p) const {
    const auto q = static_cast<std::size_t>(p);
    return {begin_[q], begin_[q] + counts_[q]};
  }
  Range even(int p) const { return {total_ * p / size_, total_ * (p + 1) / size_}; }

  void direct() {
    for (int step = 1; step < size_; ++step) {
      schedule_.receive(0, (me_ - step + size_) % size_, block((me_ - step + size_) % size_));
      schedule_.send(0, (me_ + step) % size_, block(me_));
    }
  }
  template <class Part>
  void ring(int first_round, const Part& part) {
    const int right = (me_ + 1) % size_, left = (me_ - 1 + size_) % size_;
    for (int step = 0; step + 1 < size_; ++step) {
      schedule_.receive(first_round + step, left, part((left - step + size_) % size_));
      schedule_.send(first_round + step, right, part((me_ - step + size_) % size_));
    }
  }
  void even_out() {
    const auto overlap = [](Range a, Range b) {
      return Range{std::max(a.begin, b.begin), std::min(a.end, b.end)};
    };
    for (int p = 0; p < size_; ++p) {
      if (p == me_) continue;
      schedule_.receive(0, p, overlap(block(p), even(me_)));
      schedule_.send(0, p, overlap(block(me_), even(p)));
    }
  }
  void doubling() {
    const int power = power_of_two_below(size_);
    const int surplus = size_ - power;
    int rounds = 1;
    for (int distance = 1; distance < power; distance *= 2) ++rounds;
    if (me_ >= power) {
      schedule_.send(0, me_ - power, block(me_));
      // Everything but what it brought itself, which stands in the middle.
      schedule_.receive(rounds, me_ - power, {0, block(me_).begin});
      schedule_.receive(rounds, me_ - power, {block(me_).end, total_});
      return;
    }
    if (me_ < surplus) schedule_.receive(0, me_ + power, block(me_ + power));
    // Processes [p, p + n), p a multiple of n, and their partners beyond the power of two.
    const auto group = [&](int p, int n) {
      return Range{block(p).begin, p + n == power ? total_ : block(p + n).begin};
    };
    int round = 1;
    for (int distance = 1; distance < power; distance *= 2, ++round) {
      const int partner = me_ ^ distance;
      schedule_.receive(round, partner, group(partner / distance * distance, distance));
      schedule_.send(round, partner, group(me_ / distance * distance, distance));
    }
    if (me_ < surplus) {
      schedule_.send(rounds, me_ + power, {0, block(me_ + power).begin});
      schedule_.send(rounds, me_ + power, {block(me_ + power).end, total_});
    }
  }

  int size_;
  int me_;
  std::vector<Index> begin_;
  std::vector<Index> counts_;
  Index total_;
  Schedule schedule_;
};

/// The order in which the receivers' rows stand in the buffer of a scatter: the root's own first.
inline std::vector<int> scatter_order(int root, int size) {
  std::vector<int> order;
  for (int relative = 0; relative < size; ++relative) order.push_back((root + relative) % size);
  return order;
}

/// The scatter of blocks that stand as block_begins(counts, scatter_order()) says: the root has
/// all of them at first, process `me` (at least) its own in the end.
inline Schedule scatter_schedule(ScatterAlgorithm algorithm, const std::vector<Index>& counts,
                                 int root, int me) {
  const int size = static_cast<int>(counts.size());
  const std::vector<Index> begin = block_begins(counts, scatter_order(root, size));
  const auto process = [&](int relative) { return (root + relative) % size; };
  // The rows of relative processes [b, e): their blocks are adjacent.
  const auto rows = [&](int b, int e) {
    const auto last = static_cast<std::size_t>(process(e - 1));
    return Range{begin[static_cast<std::size_t>(process(b))], begin[last] + counts[last]};
  };
  const int relative = (me - root + size) % size;
  Schedule schedule;
  if (algorithm == ScatterAlgorithm::direct) {
    if (relative > 0) schedule.receive(0, root, rows(relative, relative + 1));
    for (int p = 1; relative == 0 && p < size; ++p) schedule.send(0, process(p), rows(p, p + 1));
    return schedule;
  }
  // Halving: the holder of [b, e) gives [middle, e) to `middle`, and both go on.
  int round = 0;
  for (int b = 0, e = size; e - b > 1; ++round) {
    const int middle = b + (e - b + 1) / 2;
    if (relative == b) schedule.send(round, process(middle), rows(middle, e));
    if (relative == middle) schedule.receive(round, process(b), rows(middle, e));
    (relative < middle ? e : b) = middle;
  }
  return schedule;
}

}  // namespace plinth::comm
