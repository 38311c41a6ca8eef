// SPDX-License-Identifier: BSD-3-Clause
#include "plinth/comm/broadcast_route.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "support/catch.hpp"

using plinth::Index;
using plinth::Range;
using plinth::comm::BroadcastAlgorithm;
using plinth::comm::BroadcastSchedule;

namespace {

constexpr BroadcastAlgorithm own_algorithms[] = {
    BroadcastAlgorithm::ring1, BroadcastAlgorithm::ring1_modified,
    BroadcastAlgorithm::ring2, BroadcastAlgorithm::ring2_modified,
    BroadcastAlgorithm::long_, BroadcastAlgorithm::long_modified};

std::vector<BroadcastSchedule> schedules(BroadcastAlgorithm algorithm, int size, Range all) {
  std::vector<BroadcastSchedule> of(static_cast<std::size_t>(size));
  for (int me = 0; me < size; ++me)
    plinth::comm::broadcast_schedule(of[static_cast<std::size_t>(me)], algorithm, me, size, all);
  return of;
}

/// Runs schedules with messages that keep their order between two processes, as MPI's do. Returns
/// how often each process got each byte of [0, bytes), or nothing if it did not come to an end.
std::vector<std::vector<int>> simulate(const std::vector<BroadcastSchedule>& of, Index bytes) {
  const std::size_t size = of.size();
  std::vector<std::vector<int>> got(size, std::vector<int>(static_cast<std::size_t>(bytes), 0));
  std::map<std::pair<int, int>, std::deque<Range>> wire;
  std::vector<std::size_t> arrived(size, 0), sent(size, 0);
  for (bool moving = true; moving;) {
    moving = false;
    for (std::size_t me = 0; me < size; ++me) {
      const auto& mine = of[me];
      while (sent[me] < mine.sends.size() &&
             mine.sends[sent[me]].after <= static_cast<Index>(arrived[me])) {
        const auto& send = mine.sends[sent[me]++];
        for (Index b = send.bytes.begin; me != 0 && b < send.bytes.end; ++b)
          if (got[me][static_cast<std::size_t>(b)] == 0) return {};  // not its to send yet
        wire[{static_cast<int>(me), send.destination}].push_back(send.bytes);
        moving = true;
      }
      if (arrived[me] == mine.arrivals.size()) continue;
      const auto& next = mine.arrivals[arrived[me]];
      auto& queue = wire[{next.source, static_cast<int>(me)}];
      if (queue.empty()) continue;
      if (!(queue.front() == next.bytes)) return {};
      queue.pop_front();
      ++arrived[me];
      for (Index b = next.bytes.begin; b < next.bytes.end; ++b)
        ++got[me][static_cast<std::size_t>(b)];
      moving = true;
    }
  }
  for (std::size_t me = 0; me < size; ++me)
    if (arrived[me] != of[me].arrivals.size() || sent[me] != of[me].sends.size()) return {};
  for (const auto& [pair, queue] : wire)
    if (!queue.empty()) return {};
  return got;
}

}  // namespace

TEST_CASE("every broadcast brings every byte to everybody once", "[comm][broadcast]") {
  for (const auto algorithm : own_algorithms)
    for (int size = 1; size <= 9; ++size)
      for (const Index bytes : {1, 2, 7, 8, 100}) {
        INFO(to_string(algorithm) << ", " << size << " processes, " << bytes << " bytes");
        const auto got = simulate(schedules(algorithm, size, {0, bytes}), bytes);
        REQUIRE(got.size() == static_cast<std::size_t>(size));
        for (int me = 0; me < size; ++me)
          CHECK(std::all_of(got[static_cast<std::size_t>(me)].begin(),
                            got[static_cast<std::size_t>(me)].end(),
                            [&](int times) { return times == (me == 0 ? 0 : 1); }));
      }
}

TEST_CASE("the long broadcasts: messages and bytes per process", "[comm][broadcast]") {
  for (int size = 2; size <= 9; ++size) {
    const Index bytes = 72 * size;
    int tree = 0;
    while ((1 << tree) < size) ++tree;
    for (const auto& mine : schedules(BroadcastAlgorithm::long_, size, {0, bytes})) {
      INFO(size << " processes");
      // A tree and a ring; nobody sends much more than one message's worth, but for the root,
      // which sends what it scatters (less than one) as well.
      Index sent = 0;
      for (const auto& send : mine.sends) sent += send.bytes.size();
      CHECK(mine.sends.size() <= static_cast<std::size_t>(tree + size - 1));
      CHECK(mine.arrivals.size() <= static_cast<std::size_t>(size));
      CHECK(sent < 2 * bytes);
    }
    // The modified form serves the next owner first, which passes nothing on.
    const auto modified = schedules(BroadcastAlgorithm::long_modified, size, {0, bytes});
    CHECK(modified[0].sends.front().destination == 1);
    CHECK(modified[0].sends.front().bytes == Range{0, bytes});
    CHECK(modified[1].sends.empty());
    CHECK(modified[1].arrivals.size() == 1);
  }
}

TEST_CASE("broadcasts have names of their own", "[comm][broadcast]") {
  std::vector<std::string> names;
  for (const auto algorithm : own_algorithms) names.emplace_back(to_string(algorithm));
  names.emplace_back(to_string(BroadcastAlgorithm::bcast));
  names.emplace_back(to_string(BroadcastAlgorithm::ibcast));
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  CHECK(std::find(names.begin(), names.end(), "?") == names.end());
}

TEST_CASE("MPI's own broadcasts have no schedule", "[comm][broadcast]") {
  BroadcastSchedule schedule;
  CHECK_THROWS_AS(
      plinth::comm::broadcast_schedule(schedule, BroadcastAlgorithm::bcast, 0, 2, {0, 8}),
      plinth::Error);
}
