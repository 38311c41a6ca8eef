// SPDX-License-Identifier: BSD-3-Clause
//
// Generation, norms, copies and solves with refinement on Kokkos' default space: a device, where
// it has one.
#include "device.hpp"

#include <vector>

#include "plinth/core/float16.hpp"
#include "plinth/kernel/entries/dominant.hpp"
#include "plinth/kernel/entries/fasi_higham.hpp"
#include "plinth/kernel/entries/scaled_diagonal.hpp"
#include "plinth/matrix/copy.hpp"
#include "plinth/matrix/generate.hpp"
#include "plinth/matrix/norm.hpp"
#include "plinth/matrix/redistribute.hpp"
#include "plinth/matrix/replicate.hpp"
#include "plinth/refine/regenerated_operator.hpp"
#include "plinth/refine/residual.hpp"
#include "plinth/solve/solve.hpp"

namespace on_device {

template <class Source>
void generate_scaled(const plinth::ProcessGrid& grid, const Source& source) {
  const Exec exec;
  const plinth::Index n = source.order();
  Matrix<plinth::half> a(grid, n, n);
  Matrix<plinth::bfloat16> b(grid, n, n);
  Matrix<float> c(grid, n, n);
  (void)plinth::generate_scaled(exec, a, source, 0.25);
  (void)plinth::generate_scaled(exec, b, source, 0.25);
  (void)plinth::generate_scaled(exec, c, source, 0.25);
  Matrix<double> x(grid, n, 1), y(grid, n, 1);
  plinth::generate(exec, x, Noise{});
  plinth::RegeneratedOperator product(exec, grid, a.distribution(), source);
  product(x, y);
}

double solve(const plinth::ProcessGrid& grid, plinth::Index n) {
  const Exec exec;
  generate_scaled(grid, plinth::ScaledDiagonal(n));
  generate_scaled(grid, plinth::FasiHigham::with_condition(n, 100, 0.5));
  generate_scaled(grid, plinth::DominantReference(n));
  generate_scaled(grid, plinth::DominantOpenmxp(n));

  Matrix<double> a(grid, n, n), b(grid, n, 2), x(grid, n, 2), r(grid, n, 2), moved(grid, n, 2);
  plinth::generate(exec, a, Noise{});
  plinth::generate(exec, b, Noise{});
  const auto same = plinth::solve(exec, a, b, x);
  plinth::residual(exec, a, x, b, r);
  plinth::copy(exec, r, moved);
  plinth::redistribute(exec, r, moved);
  std::vector<double> whole(static_cast<std::size_t>(2 * n));
  plinth::to_replicated(exec, r, whole.data(), n);
  plinth::from_replicated(exec, whole.data(), n, r);
  const double size = plinth::norm(exec, a, plinth::Norm::one);

  const auto refined = plinth::solve<plinth::DoubleSingle>(exec, a, b, x);
  return size > 0 ? same.backward_error + refined.backward_error : 1;
}

}  // namespace on_device
