// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>

#include "plinth/core/index.hpp"

namespace plinth {

/// Which rank of a communicator sits where on a P x Q grid.
///
///   layout.shape()     P x Q
///   layout.coord(r)    place of rank r, 0 <= r < P Q; a bijection onto the grid
///   layout.valid()     whether shape and parameters make sense
template <class L>
concept GridLayout = requires(const L& layout, int rank) {
  { layout.shape() } -> std::convertible_to<GridShape>;
  { layout.coord(rank) } -> std::convertible_to<GridCoord>;
  { layout.valid() } -> std::convertible_to<bool>;
};

/// Consecutive ranks fill a row of the grid first: rank = row Q + col.
struct RowMajorGrid {
  int rows = 1;  ///< P
  int cols = 1;  ///< Q
  constexpr GridShape shape() const { return {rows, cols}; }  ///< P x Q
  /// Place of a rank.
  constexpr GridCoord coord(int rank) const { return {rank / cols, rank % cols}; }
  /// Whether this is a grid.
  constexpr bool valid() const { return rows > 0 && cols > 0; }
};

/// Consecutive ranks fill a column of the grid first: rank = col P + row.
struct ColumnMajorGrid {
  int rows = 1;  ///< P
  int cols = 1;  ///< Q
  constexpr GridShape shape() const { return {rows, cols}; }  ///< P x Q
  /// Place of a rank.
  constexpr GridCoord coord(int rank) const { return {rank % rows, rank / rows}; }
  /// Whether this is a grid.
  constexpr bool valid() const { return rows > 0 && cols > 0; }
};

/// Each node's ranks (node_rows node_cols consecutive ones) form a compact tile of the grid, so
/// that most neighbours along both rows and columns share a node. Tiles and the ranks within one
/// are numbered column by column.
struct NodeBlockedGrid {
  int rows = 1;  ///< P
  int cols = 1;  ///< Q
  int node_rows = 1;  ///< rows of a node's tile
  int node_cols = 1;  ///< columns of a node's tile
  constexpr GridShape shape() const { return {rows, cols}; }  ///< P x Q
  /// Place of a rank.
  constexpr GridCoord coord(int rank) const {
    const int per_node = node_rows * node_cols;
    const int node = rank / per_node;
    const int inside = rank % per_node;
    const int tiles_down = rows / node_rows;
    return {(node % tiles_down) * node_rows + inside % node_rows,
            (node / tiles_down) * node_cols + inside / node_rows};
  }
  /// Whether this is a grid.
  constexpr bool valid() const {
    return rows > 0 && cols > 0 && node_rows > 0 && node_cols > 0 && rows % node_rows == 0 &&
           cols % node_cols == 0;
  }
};

}  // namespace plinth
