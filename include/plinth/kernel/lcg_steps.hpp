// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "plinth/kernel/lcg.hpp"

namespace plinth::kernel {

/// A map and its powers 0 to 32, as two arrays that vector code loads from: entries k, k+1, ...
/// turn one state into the states of consecutive lanes, and the last entry advances 32 lanes.
struct LcgSteps {
  static constexpr int count = 32;

  alignas(64) std::uint64_t a[count];
  alignas(64) std::uint64_t c[count];
  Affine all;  ///< 32 steps

  constexpr explicit LcgSteps(Affine step) : a{}, c{} {
    for (int k = 0; k < count; ++k) {
      a[k] = all.a;
      c[k] = all.c;
      all = all.then(step);
    }
  }

  /// k steps, 0 <= k <= 32.
  constexpr Affine operator[](Index k) const { return k < count ? Affine{a[k], c[k]} : all; }
};

/// Consecutive indices of one dimension that are consecutive in the local part as well:
/// local index `local` + k is global index `global` + k for 0 <= k < length.
/// A dimension of a block-cyclic local part is a sequence of these.
struct IndexRun {
  Index local = 0;
  Index global = 0;
  Index length = 0;
  constexpr bool operator==(const IndexRun&) const = default;
};

/// How many indices the runs have together.
inline Index total_length(std::span<const IndexRun> runs) {
  Index total = 0;
  for (const IndexRun& run : runs) total += run.length;
  return total;
}

/// Calls f(piece) for consecutive pieces of at most `longest` indices that together are the
/// indices number begin to end of the runs (counted through all runs, in their order).
template <class F>
void for_each_piece(std::span<const IndexRun> runs, Range part, Index longest, const F& f) {
  Index first = 0;  // number of the run's first index
  for (const IndexRun& run : runs) {
    if (first >= part.end) break;
    const Index stop = std::min(run.length, part.end - first);
    for (Index at = std::max<Index>(0, part.begin - first); at < stop; at += longest)
      f(IndexRun{run.local + at, run.global + at, std::min(longest, stop - at)});
    first += run.length;
  }
}

/// Part p of `parts` nearly equal parts of [0, length).
constexpr Range part_of(Index length, Index p, Index parts) {
  const Index small = length / parts, larger = length % parts;
  const Index begin = p * small + std::min(p, larger);
  return {begin, begin + small + (p < larger ? 1 : 0)};
}

/// Follows the generator along one dimension, from piece to piece. Most gaps between pieces of a
/// block-cyclic dimension are equal: their jump is computed once.
class LcgWalk {
 public:
  /// Starts at index 0 of the dimension, with state x; `step` leads to the next index.
  constexpr LcgWalk(std::uint64_t x, Affine step) : step_(step), x_(x) {}

  /// The state at `index`.
  constexpr std::uint64_t at(Index index) {
    const std::uint64_t distance = static_cast<std::uint64_t>(index - index_);
    if (distance != distance_) {
      distance_ = distance;
      jump_ = step_.power(distance);
    }
    index_ = index;
    return x_ = jump_(x_);
  }

 private:
  Affine step_, jump_{};
  std::uint64_t x_, distance_ = 0;
  Index index_ = 0;
};

}  // namespace plinth::kernel
