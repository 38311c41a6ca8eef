// SPDX-License-Identifier: BSD-3-Clause
#include "plinth/matrix/distribution.hpp"

#include <vector>

#include "plinth/matrix/hpl_matrix.hpp"
#include "support/catch.hpp"

using plinth::BlockCyclic;
using plinth::Index;
using plinth::Range;

namespace {

/// Deals blocks one by one, as a person would, and compares every question's answer.
bool agrees_with_dealing(Index size, Index block, int processes, int source) {
  const BlockCyclic map(size, block, processes, source);
  std::vector<std::vector<Index>> hands(static_cast<std::size_t>(processes));
  bool good = map.size() == size && map.block() == block && map.processes() == processes &&
              map.source() == source;
  int process = source;
  Index blocks = 0;
  for (Index begin = 0; begin < size; begin += block, ++blocks) {
    const Range range{begin, std::min(begin + block, size)};
    good = good && map.block_range(blocks) == range && map.owner_of_block(blocks) == process;
    for (Index g = range.begin; g < range.end; ++g) {
      auto& hand = hands[static_cast<std::size_t>(process)];
      // Before g is dealt, everybody's hand is what first_local counts.
      for (int p = 0; p < processes; ++p)
        good = good && map.first_local(g, p) ==
                           static_cast<Index>(hands[static_cast<std::size_t>(p)].size());
      good = good && map.block_of(g) == blocks && map.owner(g) == process &&
             map.local(g) == static_cast<Index>(hand.size()) &&
             map.global(map.local(g), process) == g;
      hand.push_back(g);
    }
    process = (process + 1) % processes;
  }
  good = good && map.blocks() == blocks;
  for (int p = 0; p < processes; ++p)
    good = good &&
           map.local_size(p) == static_cast<Index>(hands[static_cast<std::size_t>(p)].size());
  return good;
}

}  // namespace

TEST_CASE("block-cyclic maps are those of dealing block by block", "[distribution]") {
  struct Row {
    Index size, block;
  };
  constexpr Row rows[] = {
      {0, 3},            // nothing to deal
      {1, 1},  {1, 5},   // one element, in a block larger than all
      {7, 1},            // a block each
      {12, 3},           // all blocks full
      {13, 3}, {14, 3},  // a short last block
      {2, 3},  {3, 3},   // less than a block, exactly one
      {50, 7},           // several rounds
  };
  for (const auto& row : rows)
    for (int processes = 1; processes <= 7; ++processes)
      for (int source = 0; source < processes; ++source) {
        INFO("size " << row.size << ", block " << row.block << ", processes " << processes
                     << ", source " << source);
        CHECK(agrees_with_dealing(row.size, row.block, processes, source));
      }
}

TEST_CASE("block-cyclic maps beyond 2^31", "[distribution]") {
  constexpr Index huge = (Index(1) << 40) + 12345;
  for (const int processes : {9, 8})
    for (const Index block : {Index(1), Index(192), (Index(1) << 32) + 1})
      for (const int source : {0, processes - 1}) {
        INFO("processes " << processes << ", block " << block << ", source " << source);
        const BlockCyclic map(huge, block, processes, source);
        Index sum = 0;
        for (int p = 0; p < processes; ++p) {
          sum += map.local_size(p);
          CHECK(map.local_size(p) >= 0);
          CHECK(map.local_size(p) <= huge / processes + block);
        }
        CHECK(sum == huge);
        for (const Index g : {Index(0), Index(1) << 31, (Index(1) << 33) + 77, huge - 1}) {
          const int owner = map.owner(g);
          CHECK(map.global(map.local(g), owner) == g);
          CHECK(map.first_local(g, owner) == map.local(g));
          CHECK(map.first_local(g + 1, owner) == map.local(g) + 1);
          Index before = 0;
          for (int p = 0; p < processes; ++p) before += map.first_local(g, p);
          CHECK(before == g);
          CHECK(map.block_range(map.block_of(g)).begin <= g);
          CHECK(map.block_range(map.block_of(g)).end > g);
        }
      }
}

TEST_CASE("block-cyclic maps refuse nonsense", "[distribution]") {
  CHECK_THROWS_WITH(BlockCyclic(-1, 1, 1, 0), plinth_test::contains("-1"));
  CHECK_THROWS_WITH(BlockCyclic(1, 0, 1, 0), plinth_test::contains("block size"));
  CHECK_THROWS_AS(BlockCyclic(1, 1, 0, 0), plinth::Error);
  CHECK_THROWS_WITH(BlockCyclic(1, 1, 2, 2), plinth_test::contains("source process 2"));
  CHECK_THROWS_AS(BlockCyclic(1, 1, 2, -1), plinth::Error);
}

TEST_CASE("index runs name what a process owns, in order", "[distribution][hpl]") {
  for (const Range range : {Range{0, 50}, Range{0, 0}, Range{5, 6}, Range{3, 47}, Range{48, 50}})
    for (int processes = 1; processes <= 4; ++processes)
      for (int p = 0; p < processes; ++p) {
        const BlockCyclic map(50, 6, processes, processes / 2);
        std::vector<Index> expected, named, locals;
        for (Index g = range.begin; g < range.end; ++g)
          if (map.owner(g) == p) expected.push_back(g);
        for (const auto& run : plinth::index_runs(map, p, range))
          for (Index k = 0; k < run.length; ++k) {
            named.push_back(run.global + k);
            locals.push_back(map.global(run.local + k, p));
          }
        CHECK(named == expected);
        CHECK(locals == expected);
      }
}
