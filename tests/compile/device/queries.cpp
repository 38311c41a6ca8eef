// SPDX-License-Identifier: BSD-3-Clause
//
// What is asked of factors and of answers, and a solver that is used again, on Kokkos' default
// space.
#include "device.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plinth/lu/determinant.hpp"
#include "plinth/lu/growth.hpp"
#include "plinth/lu/inverse.hpp"
#include "plinth/matrix/generate.hpp"
#include "plinth/solve/condition.hpp"
#include "plinth/solve/error_bounds.hpp"
#include "plinth/solve/linear_solver.hpp"
#include "plinth/solve/solve.hpp"

namespace on_device {

/// Whether everything about A = Noise + n I, which is well conditioned, comes out well.
template <class T>
bool is_well(const plinth::ProcessGrid& grid, plinth::Index n) {
  using plinth::Norm;
  const Exec exec;
  Matrix<T> a(grid, n, n), b(grid, n, 2), x(grid, n, 2), lu(grid, n, n);
  const Noise noise;
  plinth::generate(exec, a, [=] KOKKOS_FUNCTION(plinth::Index i, plinth::Index j) {
    return noise(i, j) + (i == j ? static_cast<double>(n) : 0.0);
  });
  plinth::generate(exec, b, Noise{});
  plinth::SolveOptions<plinth::NoRefinement> options{};
  options.ask = {.condition = true, .error_bounds = true};
  const auto report = plinth::solve<plinth::Uniform<T>>(exec, a, b, x, options);

  const double a_norm = static_cast<double>(plinth::norm(exec, a, Norm::one));
  const double a_max = static_cast<double>(plinth::norm(exec, a, Norm::max));
  plinth::copy(exec, a, lu);
  const auto factors = plinth::lu_factor(exec, std::move(lu));
  const double condition = plinth::condition(exec, factors, a_norm);
  const auto bounds = plinth::error_bounds(exec, a, factors, b, x);
  const auto determinant = plinth::determinant(exec, factors);
  const double growth = plinth::growth_factor(exec, factors, a_max);
  const auto inverse = plinth::inverse(exec, factors);
  const double inverse_norm = static_cast<double>(plinth::norm(exec, inverse, Norm::one));

  plinth::LinearSolver solver(exec, a);
  (void)solver.factor(a);
  const auto again = solver.solve(b, x);
  double worst = 0;
  for (const double forward : bounds.forward) worst = std::max(worst, forward);
  return report && again && condition > 0.1 && worst < 1e-3 && growth < 2 &&
         std::isfinite(determinant.log_modulus) && inverse_norm * a_norm < 10;
}

bool queries(const plinth::ProcessGrid& grid, plinth::Index n) {
  Matrix<double> a(grid, n, n), b(grid, n, 1), x(grid, n, 1);
  plinth::generate(Exec(), a, Noise{});
  plinth::generate(Exec(), b, Noise{});
  plinth::LinearSolver refined(Exec(), a, plinth::DoubleSingle{});
  (void)refined.factor(a);
  const bool solved = static_cast<bool>(refined.solve(b, x));
  return is_well<double>(grid, n) && is_well<Kokkos::complex<float>>(grid, n) && solved;
}

}  // namespace on_device
