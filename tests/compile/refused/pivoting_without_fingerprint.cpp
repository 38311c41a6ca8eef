// SPDX-License-Identifier: BSD-3-Clause
// refused: no matching function for call to .*lu_factor
//
// Ranks must be able to tell whether they have the same policy.
#include "plinth/lu/factors.hpp"

struct Mine {
  static constexpr bool exchanges_rows = true;
  double factor = 2;
#ifndef PLINTH_REFUSED
  plinth::Index fingerprint() const { return static_cast<plinth::Index>(1000 * factor); }
#endif
  double merit(double magnitude, plinth::Index row, plinth::Index column) const noexcept {
    return row == column ? factor * magnitude : magnitude;
  }
};

using Matrix = plinth::DistributedMatrix<double>;
plinth::LuFactors<Matrix> factor(Matrix& a);
plinth::LuFactors<Matrix> factor(Matrix& a) {
  return plinth::lu_factor(plinth::HostExecution<>(), std::move(a), Mine{});
}
