// SPDX-License-Identifier: BSD-3-Clause
#include "plinth/kernel/lcg_fill.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"

using plinth::HplGenerator;
using plinth::Index;
using plinth::Isa;
using plinth::kernel::fill_lcg;
using plinth::kernel::IndexRun;
using plinth::kernel::LcgTarget;

namespace {

/// What process p of `processes` owns of [0, n) in blocks of nb, beginning at `first`.
std::vector<IndexRun> block_cyclic(Index n, Index nb, Index processes, Index p, Index first = 0) {
  std::vector<IndexRun> runs;
  Index local = 0;
  for (Index at = p * nb; at < n; at += processes * nb) {
    const Index length = std::min(nb, n - at);
    runs.push_back({local, first + at, length});
    local += length;
  }
  return runs;
}

struct Case {
  const char* name;
  Index n;
  std::vector<IndexRun> rows, cols;
};

std::vector<Case> cases() {
  const Index huge = 3'000'000'000;
  return {
      {"nothing", 5, {}, {}},
      {"no columns", 5, {{0, 0, 5}}, {}},
      {"no rows", 5, {}, {{0, 0, 5}}},
      {"an empty run between others", 9, {{0, 0, 2}, {2, 4, 0}, {2, 5, 4}}, {{0, 1, 3}}},
      {"one entry", 1, {{0, 0, 1}}, {{0, 0, 1}}},
      {"one row", 50, {{0, 7, 1}}, {{0, 0, 51}}},
      {"one column", 50, {{0, 0, 50}}, {{0, 50, 1}}},
      {"whole, with the right-hand side", 67, {{0, 0, 67}}, {{0, 0, 68}}},
      {"whole, cut oddly", 67, {{0, 0, 1}, {1, 1, 66}}, {{0, 0, 33}, {33, 33, 2}, {35, 35, 33}}},
      {"whole vectors", 128, {{0, 0, 128}}, {{0, 0, 128}}},
      {"blocks of 1", 30, block_cyclic(30, 1, 2, 1), block_cyclic(31, 1, 3, 2)},
      {"blocks of 3", 40, block_cyclic(40, 3, 2, 0), block_cyclic(41, 3, 2, 1)},
      {"blocks of 13, rows out of order",
       99,
       {{13, 65, 13}, {0, 13, 13}},
       block_cyclic(100, 13, 3, 0)},
      {"blocks of 64", 300, block_cyclic(300, 64, 2, 1), block_cyclic(301, 64, 2, 0)},
      {"beyond 2^32", huge, block_cyclic(40, 16, 2, 1, huge - 40),
       block_cyclic(41, 16, 2, 0, huge - 40)},
  };
}

Index local_end(const std::vector<IndexRun>& runs) {
  Index end = 0;
  for (const IndexRun& run : runs) end = std::max(end, run.local + run.length);
  return end;
}

/// How many entries of a local part filled by `isa` differ from the generator's, or how many of
/// the padding from what it was.
template <class T>
Index mismatches(const Case& c, bool row_major, Index padding, std::uint64_t seed, Isa isa) {
  const Index rows = local_end(c.rows), cols = local_end(c.cols);
  const Index ld = (row_major ? cols : rows) + padding;
  const Index row_stride = row_major ? ld : 1, col_stride = row_major ? 1 : ld;
  const Index size = ld * ((row_major ? rows : cols) + 1) + 1;
  const T untouched = T(7);
  std::vector<T> got(static_cast<std::size_t>(size), untouched), want(got);
  // One entry in front: storage is not aligned to vectors.
  fill_lcg(Kokkos::DefaultHostExecutionSpace(),
           LcgTarget<T>{got.data() + 1, row_stride, col_stride, c.rows, c.cols}, c.n, seed, isa);
  const HplGenerator generator{c.n, seed};
  for (const IndexRun& row : c.rows)
    for (const IndexRun& col : c.cols)
      for (Index i = 0; i < row.length; ++i)
        for (Index j = 0; j < col.length; ++j)
          want[static_cast<std::size_t>(1 + (row.local + i) * row_stride +
                                        (col.local + j) * col_stride)] =
              static_cast<T>(generator(row.global + i, col.global + j));
  Index wrong = 0;
  for (std::size_t k = 0; k < want.size(); ++k) wrong += got[k] != want[k];
  return wrong;
}

}  // namespace

TEMPLATE_TEST_CASE("filling gives the generator's entries and touches nothing else", "[lcg]",
                   double, float) {
  for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512}) {
    if (!plinth::is_available(isa)) continue;
    for (const Case& c : cases())
      for (const bool row_major : {true, false})
        for (const Index padding : {0, 5}) {
          CAPTURE(to_string(isa), c.name, row_major, padding);
          CHECK(mismatches<TestType>(c, row_major, padding, 100, isa) == 0);
        }
  }
}

TEST_CASE("another seed, and the instruction set left open", "[lcg]") {
  const Case c{"", 20, {{0, 0, 20}}, {{0, 0, 20}}};
  CHECK(mismatches<double>(c, true, 0, 42, plinth::best_isa()) == 0);
  CHECK(HplGenerator{20, 42}(3, 4) != HplGenerator{20}(3, 4));
}

TEST_CASE("filling refuses storage without a unit stride", "[lcg]") {
  double a[8] = {};
  const std::vector<IndexRun> runs{{0, 0, 2}};
  const Kokkos::DefaultHostExecutionSpace space;
  CHECK_THROWS_AS(fill_lcg(space, LcgTarget<double>{a, 4, 2, runs, runs}, 2), plinth::Error);
}

TEST_CASE("pieces of runs are what was asked for", "[lcg]") {
  const std::vector<IndexRun> runs{{0, 10, 5}, {5, 30, 0}, {5, 40, 7}};
  const auto pieces = [&](plinth::Range part, Index longest) {
    std::vector<IndexRun> result;
    plinth::kernel::for_each_piece(runs, part, longest,
                                   [&](const IndexRun& piece) { result.push_back(piece); });
    return result;
  };
  using Runs = std::vector<IndexRun>;
  CHECK(plinth::kernel::total_length(runs) == 12);
  CHECK(pieces({0, 12}, 100) == Runs{{0, 10, 5}, {5, 40, 7}});
  CHECK(pieces({3, 7}, 100) == Runs{{3, 13, 2}, {5, 40, 2}});
  CHECK(pieces({5, 12}, 3) == Runs{{5, 40, 3}, {8, 43, 3}, {11, 46, 1}});
  CHECK(pieces({4, 4}, 3).empty());
}

TEST_CASE("parts of a range are consecutive and nearly equal", "[lcg]") {
  for (const Index length : {0, 1, 7, 8, 9})
    for (const Index parts : {1, 2, 3, 8}) {
      Index end = 0;
      for (Index p = 0; p < parts; ++p) {
        const plinth::Range part = plinth::kernel::part_of(length, p, parts);
        CHECK(part.begin == end);
        CHECK(part.size() >= length / parts);
        CHECK(part.size() <= length / parts + 1);
        end = part.end;
      }
      CHECK(end == length);
    }
}
