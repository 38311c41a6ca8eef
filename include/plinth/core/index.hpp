// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "plinth/core/error.hpp"

namespace plinth {

/// Every index, extent and count of elements: 64 bits, so that n^2 and 1 + i + j n never wrap.
using Index = std::int64_t;

/// Number of rows and columns of a matrix or of a part of one.
struct Extents {
  Index rows = 0;  ///< number of rows
  Index cols = 0;  ///< number of columns
  constexpr bool operator==(const Extents&) const = default;
};

/// Size of the blocks that are dealt to the process grid: mb rows by nb columns.
struct BlockSize {
  Index mb = 0;  ///< rows of a block
  Index nb = 0;  ///< columns of a block
  constexpr bool operator==(const BlockSize&) const = default;
};

/// Shape of a process grid: `rows` by `cols` processes (P x Q).
struct GridShape {
  int rows = 1;  ///< P, process rows
  int cols = 1;  ///< Q, process columns
  constexpr int size() const { return rows * cols; }  ///< number of processes
  constexpr bool operator==(const GridShape&) const = default;
};

/// Place of a process on the grid, counted from (0, 0).
struct GridCoord {
  int row = 0;  ///< process row
  int col = 0;  ///< process column
  constexpr bool operator==(const GridCoord&) const = default;
};

/// Half-open range [begin, end) of indices.
struct Range {
  Index begin = 0;  ///< first index
  Index end = 0;  ///< one past the last index
  constexpr Index size() const { return end - begin; }  ///< how many indices
  constexpr bool empty() const { return end <= begin; }  ///< whether there is none
  constexpr bool operator==(const Range&) const = default;
};

/// ceil(a / b) for a >= 0, b > 0.
constexpr Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

/// The one way from a 64-bit index to a BLAS or MPI int.
/// Throws Error if `value` does not fit; `what` names the quantity in the message.
inline int to_int(Index value, const char* what) {
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
    throw Error(std::string(what) + " = " + std::to_string(value) + " does not fit a 32-bit int");
  return static_cast<int>(value);
}

}  // namespace plinth
