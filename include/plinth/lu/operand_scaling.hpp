// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>

#include "plinth/core/float16.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/kernel/lowp/micro_kernel.hpp"

namespace plinth::lu {

/// The exponent e for which the largest magnitude times 2^e lies in [2^(top - 1), 2^top). 0 where
/// nothing can be said: the largest is 0, infinite or NaN. At most 60 in magnitude, so that two of
/// them make a normal float.
inline int exponent_below(int top, double largest) {
  if (!(largest > 0) || !is_finite(largest)) return 0;
  return std::clamp(top - 1 - std::ilogb(largest), -60, 60);
}

/// How the operands of an update are scaled, by powers of two: each so that its largest entry lies
/// just below 2^top_l, or 2^top_u.
///
/// half: as high as it goes, 2^15, where sums are kept in float. Sums of k products in half must
/// not overflow either: k 2^top_l 2^top_u <= 2^14. bfloat16 has float's exponents: no scaling.
struct OperandScaling {
  bool active = false;
  int top_l = 15;
  int top_u = 15;

  template <Scalar16 Operand>
  static OperandScaling of(kernel::lowp::Accumulate accumulate, Index k, Index flush_k) {
    if constexpr (!std::same_as<Operand, half>) return {};
    if (accumulate == kernel::lowp::Accumulate::single) return {.active = true};
    int bits = 0;  // k <= 2^bits
    const Index summed = flush_k > 0 ? std::min(k, flush_k) : k;
    while ((Index(1) << bits) < summed) ++bits;
    const int both = 14 - bits;
    const int l = both >= 0 ? both / 2 : (both - 1) / 2;
    return {.active = true, .top_l = l, .top_u = both - l};
  }

  int of_l(double largest) const { return active ? exponent_below(top_l, largest) : 0; }
  int of_u(double largest) const { return active ? exponent_below(top_u, largest) : 0; }
};

/// How L and U of one step are scaled where they are stored in type Factor.
///
/// L: as high as half goes. U: as the matrix is, since U's rows have been rounded as the matrix's
/// before; lower where the diagonal block has grown so much that it would come near the largest
/// number of half (U12 is not known yet when every process has to know this).
template <class Factor>
struct StorageScaling {
  static constexpr bool active = std::same_as<Factor, half>;
  static int of_l(double largest) { return active ? exponent_below(15, largest) : 0; }
  static int of_u(double largest_u11) {
    return active ? std::min(0, exponent_below(14, largest_u11)) : 0;
  }
};

}  // namespace plinth::lu
