// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "plinth/core/index.hpp"

namespace plinth::lu {

/// How factors are scaled by powers of two where they are stored, so that 16 bits hold them: one
/// entry for each step k, that is for block column k of L and block row k of U (lu/plan.hpp).
///
///     stored L(:, k) = L(:, k) 2^l[k]   strictly below the diagonal
///     stored U(k, :) = U(k, :) 2^u[k]   on and above the diagonal
///
/// The same on every process. Empty: nothing is scaled.
struct BlockExponents {
  std::vector<int> l;  ///< of the block columns of L
  std::vector<int> u;  ///< of the block rows of U

  BlockExponents() = default;
  /// All zero.
  explicit BlockExponents(Index steps) { reset(steps); }
  /// So many zeros; allocates nothing if it has had so many before.
  void reset(Index steps) {
    l.assign(static_cast<std::size_t>(steps), 0);
    u.assign(static_cast<std::size_t>(steps), 0);
  }

  bool empty() const { return l.empty(); }  ///< whether nothing is scaled
  /// L[k], 0 if empty.
  int of_l(Index k) const { return l.empty() ? 0 : l[static_cast<std::size_t>(k)]; }
  /// U[k], 0 if empty.
  int of_u(Index k) const { return u.empty() ? 0 : u[static_cast<std::size_t>(k)]; }
  bool operator==(const BlockExponents&) const = default;
};

}  // namespace plinth::lu
