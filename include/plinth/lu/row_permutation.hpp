// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plinth/core/index.hpp"

namespace plinth::lu {

/// The net effect of a panel's interchanges, or of undoing them. Of all rows only two kinds move:
///
///   top     row first + t, 0 <= t < width, receives row source[t]
///   below   row target[b] >= first + width receives row origin[b], always a top row
///
/// because each interchange exchanges a top row with some row, a row below ever receives only what
/// a top row gave up. Rows are global.
struct RowPermutation {
  Index first = 0;
  std::vector<Index> source;
  std::vector<Index> target;
  std::vector<Index> origin;

  Index width() const { return static_cast<Index>(source.size()); }
};

/// What a panel's pivots say: interchange rows first + t and rows[t] for t = 0, 1, ..., width - 1
/// in this order, or in the opposite order to undo it. Rows are global; rows[t] >= first + t.
struct Interchanges {
  Index first = 0;
  const Index* rows = nullptr;
  Index width = 0;
  bool inverse = false;
};

/// The net effect of interchanges. O(width).
inline RowPermutation row_permutation(const Interchanges& swaps) {
  const Index first = swaps.first;
  const Index width = swaps.width;
  RowPermutation p;
  p.first = first;
  p.source.resize(static_cast<std::size_t>(width));
  for (Index t = 0; t < width; ++t) p.source[static_cast<std::size_t>(t)] = first + t;
  std::unordered_map<Index, Index> below;  // what stands in a row below the top
  const auto content = [&](Index row) -> Index& {
    return row < first + width ? p.source[static_cast<std::size_t>(row - first)]
                               : below.try_emplace(row, row).first->second;
  };
  for (Index n = 0; n < width; ++n) {
    const Index t = swaps.inverse ? width - 1 - n : n;
    std::swap(content(first + t), content(swaps.rows[t]));
  }
  for (const auto& [row, from] : below)
    if (from != row) p.target.push_back(row);
  std::sort(p.target.begin(), p.target.end());  // the same order everywhere
  for (const Index row : p.target) p.origin.push_back(below.at(row));
  return p;
}

/// The interchanges that bring distinct rows `wanted[t]` >= first to first + t, t = 0, 1, ...,
/// width - 1, one after the other: rows[t] is where wanted[t] stands when it is its turn.
/// O(width).
inline void bring_to_top(Index first, const Index* wanted, Index width, Index* rows) {
  std::unordered_map<Index, Index> place, content;  // of a row; of a place; absent: its own
  const auto at = [](const std::unordered_map<Index, Index>& where, Index key) {
    const auto found = where.find(key);
    return found == where.end() ? key : found->second;
  };
  for (Index t = 0; t < width; ++t) {
    const Index displaced = at(content, first + t);
    rows[t] = at(place, wanted[t]);
    place[displaced] = rows[t];
    content[rows[t]] = displaced;
  }
}

}  // namespace plinth::lu
