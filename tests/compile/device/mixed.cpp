// SPDX-License-Identifier: BSD-3-Clause
//
// What HPL-MxP does on Kokkos' default space: a matrix of 16 bits factored where it is, and the
// solution refined in FP64 with the matrix regenerated or stored.
#include "device.hpp"

#include <algorithm>
#include <cmath>

#include "plinth/kernel/entries/scaled_diagonal.hpp"
#include "plinth/lu/lu_solve.hpp"
#include "plinth/lu/mixed_factors.hpp"
#include "plinth/matrix/generate.hpp"
#include "plinth/refine/hpl_residual.hpp"
#include "plinth/refine/refinement.hpp"
#include "plinth/refine/regenerated_operator.hpp"
#include "plinth/refine/stored_operator.hpp"

namespace on_device {

using plinth::PanelOn;

template <class Precision, class Layout, class Pivoting, PanelOn Panels>
double refine(const plinth::ProcessGrid& grid, plinth::Index n) {
  using Factor = typename plinth::PrecisionRoles<Precision>::Factor;
  using Vectors = Matrix<double>;
  const Exec exec;
  const plinth::ScaledDiagonal source(n);
  const plinth::MatrixLayoutOptions square{.mb = 64, .nb = 64};
  Matrix<Factor, Layout> a(grid, n, n, square);
  const plinth::Distribution dealt = a.distribution();
  (void)plinth::generate_scaled(exec, a, source, 1);
  Vectors b(grid, n, 1, {.mb = 64, .nb = 1}), x(grid, n, 1, {.mb = 64, .nb = 1});
  plinth::generate(exec, b, RightHandSide<plinth::ScaledDiagonal>{source});
  const plinth::DeviceExecution<Exec::execution_space, Panels> with_panels;
  const auto factors =
      plinth::mixed_lu_factor<Precision>(with_panels, std::move(a), Pivoting{});
  plinth::LuSolver solver(exec, factors, b);
  plinth::RegeneratedOperator regenerate(exec, grid, dealt, source);
  Matrix<double, Layout> stored(grid, n, n, square);
  plinth::generate(exec, stored, source);
  plinth::StoredOperator multiply(exec, stored, 1);

  const auto solve = [&](Vectors& r) { solver(r); };
  const double a_norm = regenerate.norm_inf();
  const plinth::HplResidualBelow done{1};
  plinth::Refinement<Exec, Vectors> refinement(exec, b);
  double most = 0;
  const auto judge = [&] {
    most = std::max(most,
                    plinth::hpl_residual(exec, source, dealt, x).scaled_residual(n));
  };
  (void)refinement([&](const Vectors& v, Vectors& w) { regenerate(v, w); }, solve, a_norm, b, x,
                   plinth::GmresRefinement{}, done);
  judge();
  (void)refinement([&](const Vectors& v, Vectors& w) { multiply(v, w); }, solve, a_norm, b, x,
                   plinth::ClassicalRefinement{}, done);
  judge();
  return most;
}

double mixed(const plinth::ProcessGrid& grid, plinth::Index n) {
  using Kokkos::LayoutLeft;
  using Kokkos::LayoutRight;
  using plinth::NoPivoting;
  using plinth::PartialPivoting;
  using plinth::DoubleSingleHalf;
  return std::max(
      {refine<plinth::DoubleHalf, LayoutRight, NoPivoting, PanelOn::device>(grid, n),
       refine<plinth::DoubleHalf, LayoutLeft, PartialPivoting, PanelOn::host>(grid, n),
       refine<plinth::DoubleHalfFast, LayoutRight, NoPivoting, PanelOn::host>(grid, n),
       refine<plinth::DoubleBfloat16, LayoutLeft, NoPivoting, PanelOn::device>(grid, n),
       refine<DoubleSingleHalf, LayoutRight, PartialPivoting, PanelOn::host>(grid, n)});
}

}  // namespace on_device
