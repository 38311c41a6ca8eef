// SPDX-License-Identifier: BSD-3-Clause
//
// Every way of pivoting, one of the caller's own too, on Kokkos' default space.
#include "device.hpp"

#include <algorithm>
#include <utility>

#include "plinth/lu/factors.hpp"
#include "plinth/lu/lu_solve.hpp"
#include "plinth/matrix/generate.hpp"
#include "plinth/refine/residual.hpp"
#include "plinth/solve/solve.hpp"

namespace on_device {

/// Rows in place are preferred.
struct PreferPlace {
  static constexpr bool exchanges_rows = true;
  double merit(double magnitude, plinth::Index row, plinth::Index column) const noexcept {
    return row == column ? 2 * magnitude : magnitude;
  }
};

/// ||b - A x||_inf / (||A||_inf ||x||_inf).
template <class Pivoting>
double backward_error(const plinth::ProcessGrid& grid, plinth::Index n,
                      const Pivoting& pivoting) {
  using plinth::Norm;
  const Exec exec;
  Matrix<double> a(grid, n, n), lu(grid, n, n), b(grid, n, 2), x(grid, n, 2), r(grid, n, 2);
  plinth::generate(exec, a, Noise{});
  plinth::generate(exec, b, Noise{});
  plinth::copy(exec, a, lu);
  plinth::copy(exec, b, x);
  plinth::lu_solve(exec, plinth::lu_factor(exec, std::move(lu), pivoting), x);
  plinth::residual(exec, a, x, b, r);
  return plinth::norm(exec, r, Norm::inf) /
         (plinth::norm(exec, a, Norm::inf) * plinth::norm(exec, x, Norm::inf));
}

double pivoting(const plinth::ProcessGrid& grid, plinth::Index n) {
  return std::max({backward_error(grid, n, plinth::TournamentPivoting{.radix = 3}),
                   backward_error(grid, n, plinth::ThresholdPivoting{.threshold = 0.5}),
                   backward_error(grid, n, PreferPlace{})});
}

}  // namespace on_device
