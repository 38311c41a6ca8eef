// SPDX-License-Identifier: BSD-3-Clause
#include "plinth/comm/schedule.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <vector>

#include "support/catch.hpp"

using plinth::Index;
using plinth::Range;
using plinth::comm::GatherAlgorithm;
using plinth::comm::GatherSchedule;
using plinth::comm::ScatterAlgorithm;
using plinth::comm::Schedule;
using plinth::comm::Transfer;

namespace {

using Counts = std::vector<Index>;

Index total(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), Index(0));
}

/// What a process holds of a buffer: how often each row came to it, -1 where it was its own.
using Holding = std::vector<int>;

/// Runs schedules round by round. Messages keep their order between two processes; a round begins
/// on a process when its last one is through. False if it does not come to an end, or if a
/// process sends what it does not have or gets what it does not expect.
bool simulate(const std::vector<Schedule>& of, std::vector<Holding>& holds) {
  const std::size_t size = of.size();
  std::map<std::pair<int, int>, std::deque<Range>> wire;
  std::vector<std::size_t> at(size, 0);  // first transfer of the round under way
  std::vector<bool> posted(size, false);
  const auto round_end = [&](std::size_t me) {
    const auto& t = of[me].transfers;
    std::size_t end = at[me];
    while (end < t.size() && t[end].round == t[at[me]].round) ++end;
    return end;
  };
  for (bool moving = true; moving;) {
    moving = false;
    for (std::size_t me = 0; me < size; ++me) {
      const auto& t = of[me].transfers;
      if (at[me] == t.size()) continue;
      if (!posted[me]) {
        for (std::size_t i = at[me]; i < round_end(me); ++i) {
          if (!t[i].is_send) continue;
          for (Index r = t[i].rows.begin; r < t[i].rows.end; ++r)
            if (holds[me][static_cast<std::size_t>(r)] == 0) return false;
          wire[{static_cast<int>(me), t[i].peer}].push_back(t[i].rows);
        }
        posted[me] = true;
      }
      // All the round's receives, or none.
      std::map<int, std::size_t> taken;
      bool all_there = true;
      for (std::size_t i = at[me]; i < round_end(me); ++i) {
        if (t[i].is_send) continue;
        const auto& queue = wire[{t[i].peer, static_cast<int>(me)}];
        const std::size_t place = taken[t[i].peer]++;
        if (place >= queue.size()) {
          all_there = false;
        } else if (!(queue[place] == t[i].rows)) {
          return false;
        }
      }
      if (!all_there) continue;
      for (std::size_t i = at[me]; i < round_end(me); ++i) {
        if (t[i].is_send) continue;
        wire[{t[i].peer, static_cast<int>(me)}].pop_front();
        for (Index r = t[i].rows.begin; r < t[i].rows.end; ++r) {
          int& times = holds[me][static_cast<std::size_t>(r)];
          times = times == 0 ? 1 : times + (times > 0 ? 1 : -1);
        }
      }
      at[me] = round_end(me);
      posted[me] = false;
      moving = true;
    }
  }
  for (std::size_t me = 0; me < size; ++me)
    if (at[me] != of[me].transfers.size()) return false;
  return std::all_of(wire.begin(), wire.end(), [](const auto& w) { return w.second.empty(); });
}

std::vector<Counts> some_counts(int size) {
  const auto n = static_cast<std::size_t>(size);
  std::vector<Counts> all = {Counts(n, 0), Counts(n, 3), Counts(n, 0), Counts(n, 0),
                             Counts(n, 0)};
  all[2].back() = 7;  // one process has everything
  for (std::size_t p = 0; p < n; ++p) {
    all[3][p] = static_cast<Index>(p % 3);
    all[4][p] = static_cast<Index>((p * 7 + 5) % 11);
  }
  return all;
}

Index rows_of(const Transfer& t) { return t.rows.size(); }

}  // namespace

TEST_CASE("every all-gather brings every row to everybody once", "[comm][schedule]") {
  struct Way {
    GatherAlgorithm algorithm;
    bool equilibrate;
  };
  for (const Way way :
       {Way{GatherAlgorithm::direct, false}, Way{GatherAlgorithm::doubling, false},
        Way{GatherAlgorithm::ring, false}, Way{GatherAlgorithm::ring, true}})
    for (int size = 1; size <= 9; ++size)
      for (const Counts& counts : some_counts(size)) {
        INFO("algorithm " << static_cast<int>(way.algorithm) << ", equilibration "
                          << way.equilibrate << ", " << size << " processes");
        std::vector<Schedule> of;
        std::vector<Holding> holds;
        for (int me = 0; me < size; ++me) {
          GatherSchedule mine(way.algorithm, way.equilibrate, counts, me);
          Holding own(static_cast<std::size_t>(total(counts)), 0);
          const auto p = static_cast<std::size_t>(me);
          std::fill_n(own.begin() + mine.begin()[p], counts[p], -1);
          holds.push_back(own);
          of.push_back(mine.take());
        }
        REQUIRE(simulate(of, holds));
        for (const Holding& held : holds)
          CHECK(std::all_of(held.begin(), held.end(), [&](int times) {
            // Evening out may bring a row back to the process that contributed it.
            return times == 1 || times == -1 || (way.equilibrate && times == -2);
          }));
      }
}

TEST_CASE("what the all-gathers promise", "[comm][schedule]") {
  for (int size = 2; size <= 9; ++size) {
    INFO(size << " processes");
    const int power = plinth::comm::power_of_two_below(size);
    int rounds = power < size ? 2 : 0;
    for (int p = 1; p < power; p *= 2) ++rounds;
    Counts uneven(static_cast<std::size_t>(size), 0);
    uneven[0] = 10 * size;  // evened out: 10 each
    for (int me = 0; me < size; ++me) {
      const auto number = [](const Schedule& s) {
        return std::count_if(s.transfers.begin(), s.transfers.end(),
                             [](const Transfer& t) { return t.is_send; });
      };
      const Counts full(static_cast<std::size_t>(size), 2);
      CHECK(number(GatherSchedule(GatherAlgorithm::direct, false, full, me).schedule()) ==
            size - 1);
      CHECK(number(GatherSchedule(GatherAlgorithm::ring, false, full, me).schedule()) ==
            size - 1);
      CHECK(number(GatherSchedule(GatherAlgorithm::doubling, false, full, me).schedule()) <=
            rounds + 1);
      // Each ring step: as many rows for everybody.
      const GatherSchedule even(GatherAlgorithm::ring, true, uneven, me);
      for (const Transfer& t : even.schedule().transfers) CHECK(rows_of(t) == 10);
      // Without: all of them in one message at a time.
      const GatherSchedule rolled(GatherAlgorithm::ring, false, uneven, me);
      for (const Transfer& t : rolled.schedule().transfers) CHECK(rows_of(t) == 10 * size);
    }
  }
}

TEST_CASE("every scatter brings each process its rows", "[comm][schedule]") {
  for (const auto algorithm : {ScatterAlgorithm::direct, ScatterAlgorithm::tree})
    for (int size = 1; size <= 9; ++size)
      for (const Counts& counts : some_counts(size))
        for (const int root : {0, size / 2, size - 1}) {
          INFO("algorithm " << static_cast<int>(algorithm) << ", " << size << " processes, root "
                            << root);
          const auto begin =
              plinth::comm::block_begins(counts, plinth::comm::scatter_order(root, size));
          std::vector<Schedule> of;
          std::vector<Holding> holds;
          for (int me = 0; me < size; ++me) {
            of.push_back(plinth::comm::scatter_schedule(algorithm, counts, root, me));
            holds.emplace_back(static_cast<std::size_t>(total(counts)), me == root ? -1 : 0);
          }
          REQUIRE(simulate(of, holds));
          std::size_t sends_of_root = 0;
          for (int me = 0; me < size; ++me) {
            const auto p = static_cast<std::size_t>(me);
            for (Index r = begin[p]; r < begin[p] + counts[p]; ++r)
              CHECK(holds[p][static_cast<std::size_t>(r)] == (me == root ? -1 : 1));
            if (algorithm == ScatterAlgorithm::direct && me != root)
              CHECK(std::count(holds[p].begin(), holds[p].end(), 1) == counts[p]);
            if (me == root) sends_of_root = of[p].transfers.size();
          }
          if (algorithm == ScatterAlgorithm::tree) {
            std::size_t depth = 0;
            while ((std::size_t(1) << depth) < static_cast<std::size_t>(size)) ++depth;
            CHECK(sends_of_root <= depth);
          }
        }
}
