// SPDX-License-Identifier: BSD-3-Clause
// refused: no matching function for call to .*lu_factor
//
// A policy that exchanges rows says which; it is not taken for partial pivoting.
#include "plinth/lu/factors.hpp"

struct Mine {
  static constexpr bool exchanges_rows = true;
#ifndef PLINTH_REFUSED
  double merit(double magnitude, plinth::Index, plinth::Index) const noexcept {
    return magnitude;
  }
#endif
};

using Matrix = plinth::DistributedMatrix<double>;
plinth::LuFactors<Matrix> factor(Matrix& a);
plinth::LuFactors<Matrix> factor(Matrix& a) {
  return plinth::lu_factor(plinth::HostExecution<>(), std::move(a), Mine{});
}
