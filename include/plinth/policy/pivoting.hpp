// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>

namespace plinth {

/// Which row becomes the next pivot row, and whether rows move at all.
///
///   P::exchanges_rows   whether the factorization searches for pivots and interchanges rows
template <class P>
concept PivotingPolicy = requires {
  { P::exchanges_rows } -> std::convertible_to<bool>;
};

/// The entry of largest magnitude (|re| + |im| for complex) in the column; ties go to the smaller
/// global row, a NaN ranks above everything, so that it is found and reported.
struct PartialPivoting {
  static constexpr bool exchanges_rows = true;  ///< rows move
};

/// The diagonal entry, whatever it is: for matrices that are known to allow it.
struct NoPivoting {
  static constexpr bool exchanges_rows = false;  ///< none moves
};

}  // namespace plinth
