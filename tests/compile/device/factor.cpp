// SPDX-License-Identifier: BSD-3-Clause
//
// What HPL does, and LU with its solves, on Kokkos' default space: a device, where it has one.
#include "device.hpp"

#include "plinth/lu/back_substitute.hpp"
#include "plinth/lu/factors.hpp"
#include "plinth/lu/lu_solve.hpp"
#include "plinth/matrix/generate.hpp"
#include "plinth/matrix/hpl_matrix.hpp"
#include "plinth/refine/hpl_residual.hpp"

namespace on_device {

template <class Exec, class Layout>
double hpl(const plinth::ProcessGrid& grid, plinth::Index n) {
  const Exec exec;
  const plinth::HplMatrix generator{{.n = n}};
  Matrix<double, Layout> ab(grid, n, n + 1), x(grid, n, 1);
  plinth::trace::PhaseClock clock;
  plinth::lu::Factorization<Matrix<double, Layout>, Exec, plinth::PartialPivoting,
                            plinth::trace::PhaseClock>
      factorization(exec, grid, ab.distribution(), {.keep_l = plinth::lu::KeepL::no}, clock);
  plinth::lu::Pivots pivots(ab.distribution().rows, grid.coord().row);
  plinth::lu::BackSubstitution<Exec, Matrix<double, Layout>> back_substitution(exec, ab);
  plinth::generate(exec, ab, generator);
  (void)factorization(ab, pivots);
  back_substitution(ab, x, clock);
  return plinth::hpl_residual(exec, generator, ab.distribution(), x).scaled_residual(n);
}

template <class Exec, class T, class Layout, class Pivoting>
void factor_and_solve(const plinth::ProcessGrid& grid, plinth::Index n) {
  const Exec exec;
  Matrix<T, Layout> a(grid, n, n), b(grid, n, 3);
  plinth::generate(exec, a, Noise{});
  plinth::generate(exec, b, Noise{});
  const auto factors = plinth::lu_factor(exec, std::move(a), Pivoting{});
  for (const auto op : {plinth::Op::none, plinth::Op::transpose, plinth::Op::conj_transpose})
    plinth::lu_solve(exec, factors, b, op);
}

double factor(const plinth::ProcessGrid& grid, plinth::Index n) {
  using plinth::PartialPivoting;
  factor_and_solve<Exec, double, Kokkos::LayoutLeft, PartialPivoting>(grid, n);
  factor_and_solve<Exec, float, Kokkos::LayoutRight, plinth::NoPivoting>(grid, n);
  factor_and_solve<PanelExec, Kokkos::complex<double>, Kokkos::LayoutRight, PartialPivoting>(grid,
                                                                                             n);
  return hpl<Exec, Kokkos::LayoutRight>(grid, n) + hpl<PanelExec, Kokkos::LayoutLeft>(grid, n);
}

}  // namespace on_device
