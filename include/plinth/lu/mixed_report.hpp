// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plinth/kernel/convert_runs.hpp"
#include "plinth/lu/panel.hpp"

namespace plinth::lu {

/// What a factorization in mixed precision has to say besides L and U; the same on every process.
struct MixedReport {
  /// First zero pivot (also one that is zero only as it is stored) and first non-finite one.
  PanelOutcome pivots;
  /// What rounding to the factors' type lost: entries of L and U as they are stored, over all
  /// processes. (Trailing entries that overflow between steps become pivots or multipliers that
  /// are not finite.)
  kernel::NarrowingCounts lost;
  /// What rounding to the operands' type lost of the entries that updates multiply, those of L and
  /// U outside the diagonal blocks. They are scaled apart from what is stored, lower where products
  /// are summed in half (lu/operand_scaling.hpp).
  kernel::NarrowingCounts lost_multiplied;
  /// Global column of the first entry of L or U that overflowed where it is stored, or -1.
  Index first_overflow = -1;
  double largest_a = 0;  ///< largest magnitude in A; NaN if A has one
  double largest_u = 0;  ///< largest magnitude in U; NaN if U has one

  /// How much larger U's largest entry is than A's.
  double growth() const { return largest_a == 0 ? 0 : largest_u / largest_a; }
};

}  // namespace plinth::lu
