// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "plinth/core/index.hpp"

namespace plinth::comm {

/// How a panel travels along a process row (HPL.dat line 23 names the first six).
enum class BroadcastAlgorithm {
  ring1,           ///< 0 -> 1 -> 2 -> ...
  ring1_modified,  ///< 0 -> 1, and 0 -> 2 -> 3 -> ...: the next owner is served first
  ring2,           ///< two rings, from 1 and from Q/2
  ring2_modified,  ///< 0 -> 1, then two rings over the rest
  long_,           ///< cut into Q parts, scattered by a binary tree, then up to Q - 1 ring steps
  long_modified,   ///< 0 -> 1, then long among the others
  bcast,           ///< MPI_Bcast: nobody leaves the start before the message is there
  ibcast,          ///< MPI_Ibcast
};

constexpr const char* to_string(BroadcastAlgorithm algorithm) {
  switch (algorithm) {
    case BroadcastAlgorithm::ring1:
      return "1ring";
    case BroadcastAlgorithm::ring1_modified:
      return "1ringM";
    case BroadcastAlgorithm::ring2:
      return "2ring";
    case BroadcastAlgorithm::ring2_modified:
      return "2ringM";
    case BroadcastAlgorithm::long_:
      return "long";
    case BroadcastAlgorithm::long_modified:
      return "longM";
    case BroadcastAlgorithm::bcast:
      return "MPI_Bcast";
    case BroadcastAlgorithm::ibcast:
      return "MPI_Ibcast";
  }
  return "?";
}

/// What one process does for one message: it gets `arrivals` in this order, and passes `sends` on
/// in this order, each as soon as its first `after` arrivals are there. Ranks are relative to the
/// root, ranges are bytes of the message. Every byte reaches every process but the root exactly
/// once, and two messages between one pair of processes keep their order.
struct BroadcastSchedule {
  struct Arrival {
    int source = 0;
    Range bytes;
  };
  struct Send {
    int destination = 0;
    Range bytes;
    Index after = 0;
  };
  std::vector<Arrival> arrivals;
  std::vector<Send> sends;

  void clear() {
    arrivals.clear();
    sends.clear();
  }
  void arrive(int source, Range bytes) {
    if (!bytes.empty()) arrivals.push_back({source, bytes});
  }
  /// Once everything is there that has been mentioned so far.
  void send(int destination, Range bytes) {
    if (!bytes.empty())
      sends.push_back({destination, bytes, static_cast<Index>(arrivals.size())});
  }
};

/// Where a process gets a whole message from and whom it passes it to, in ranks relative to the
/// root; source is -1 at the root. At most three destinations, served in order.
struct Route {
  int source = -1;
  std::array<int, 3> destinations{-1, -1, -1};
  int destination_count = 0;
  void to(int rank) { destinations[static_cast<std::size_t>(destination_count++)] = rank; }
};

/// The route of process `me` (relative to the root) among `size` processes. Pure.
/// Precondition: one of the four rings.
inline Route broadcast_route(BroadcastAlgorithm algorithm, int me, int size) {
  Route route;
  if (size == 1) return route;
  const bool modified = algorithm == BroadcastAlgorithm::ring1_modified ||
                        algorithm == BroadcastAlgorithm::ring2_modified;
  const bool two_rings =
      algorithm == BroadcastAlgorithm::ring2 || algorithm == BroadcastAlgorithm::ring2_modified;
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

/// The binary tree that scatters parts [0, size) from part 0's process: where `me` gets its parts
/// from, and which it gets, its own first. It passes on the upper half of what it has, again and
/// again, until only its own part is left for itself.
struct ScatterTree {
  int parent = -1;
  int end = 0;  ///< `me` gets parts [me, end)

  ScatterTree(int me, int size) : end(size) {
    for (int begin = 0; begin != me;) {
      const int middle = upper_half(begin, end);
      if (me < middle) {
        end = middle;
      } else {
        parent = begin;
        begin = middle;
      }
    }
  }
  static int upper_half(int begin, int end) { return begin + (end - begin + 1) / 2; }
};

/// Long: part p of the message belongs to process p. After the scatter every process passes part
/// me, then me - 1, me - 2, ... to its right as they come from its left, but for those that the
/// right one has from the scatter. `name` gives the relative rank of a process that takes part.
template <class Name>
void long_schedule(BroadcastSchedule& schedule, int me, int size, Range all, const Name& name) {
  const auto part = [&](int begin, int end) {
    return Range{all.begin + all.size() * begin / size, all.begin + all.size() * end / size};
  };
  const ScatterTree tree(me, size);
  if (me > 0) schedule.arrive(name(tree.parent), part(me, tree.end));
  for (int end = tree.end; end - me > 1;) {
    const int middle = ScatterTree::upper_half(me, end);
    schedule.send(name(middle), part(middle, end));
    end = middle;
  }
  const int right = (me + 1) % size;
  const ScatterTree right_tree(right, size);
  for (int step = 0; step < size; ++step) {
    const int p = (me - step + size) % size;  // what the right one gets in this step
    const bool from_left = me > 0 && !(p >= me && p < tree.end);
    if (from_left) schedule.arrive(name(me - 1), part(p, p + 1));
    if (right != 0 && !(p >= right && p < right_tree.end))
      schedule.send(name(right), part(p, p + 1));
  }
}

/// What process `me` (relative to the root) of `size` does for bytes `all`. Pure; replaces what
/// `schedule` held. Precondition: not one of MPI's own algorithms.
inline void broadcast_schedule(BroadcastSchedule& schedule, BroadcastAlgorithm algorithm, int me,
                               int size, Range all) {
  schedule.clear();
  if (size == 1) return;
  switch (algorithm) {
    case BroadcastAlgorithm::ring1:
    case BroadcastAlgorithm::ring1_modified:
    case BroadcastAlgorithm::ring2:
    case BroadcastAlgorithm::ring2_modified: {
      const Route route = broadcast_route(algorithm, me, size);
      if (route.source >= 0) schedule.arrive(route.source, all);
      for (int d = 0; d < route.destination_count; ++d)
        schedule.send(route.destinations[static_cast<std::size_t>(d)], all);
      return;
    }
    case BroadcastAlgorithm::long_:
      return long_schedule(schedule, me, size, all, [](int v) { return v; });
    case BroadcastAlgorithm::long_modified:
      if (me == 1) return schedule.arrive(0, all);
      if (me == 0) schedule.send(1, all);
      return long_schedule(schedule, me == 0 ? 0 : me - 1, size - 1, all,
                           [](int v) { return v == 0 ? 0 : v + 1; });
    case BroadcastAlgorithm::bcast:
    case BroadcastAlgorithm::ibcast:
      break;
  }
  throw Error("broadcast_schedule: MPI's own broadcasts have no schedule of ours");
}

}  // namespace plinth::comm
