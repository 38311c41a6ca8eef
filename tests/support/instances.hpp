// SPDX-License-Identifier: BSD-3-Clause
//
// The expensive templates are instantiated once per scalar type and layout, in
// mpi/instances_*.cpp, not in every test that calls them.
#pragma once

#include "plinth/plinth.hpp"
#include "support/execution.hpp"

namespace plinth_test {

template <class T, class Layout>
using TestFactors = plinth::LuFactors<TestMatrix<T, Layout>>;
template <class T, class Layout>
using HostFactors = plinth::LuFactors<HostMatrix<T, Layout>>;

/// Factors [A | b] in place as the HPL program does: b travels along, L is dropped.
template <class T, class Layout>
plinth::lu::PanelOutcome factor_travelling(const Exec& exec, TestMatrix<T, Layout>& a,
                                           plinth::lu::FactorOptions options);

}  // namespace plinth_test

#define PLINTH_TEST_INSTANCES(KEYWORD, T, LAYOUT)                                              \
  KEYWORD template plinth_test::TestFactors<T, LAYOUT> plinth::lu_factor(                      \
      const plinth_test::Exec&, plinth_test::TestMatrix<T, LAYOUT>&&, plinth::PartialPivoting, \
      const plinth::lu::FactorOptions&);                                                       \
  KEYWORD template void plinth::lu_solve(                                                      \
      const plinth_test::Exec&, const plinth_test::TestFactors<T, LAYOUT>&,                    \
      plinth_test::TestMatrix<T, LAYOUT>&, plinth::Op, plinth::Index);                         \
  KEYWORD template void plinth::residual(                                                      \
      const plinth_test::Exec&, const plinth_test::TestMatrix<T, LAYOUT>&,                     \
      const plinth_test::TestMatrix<T, LAYOUT>&, const plinth_test::TestMatrix<T, LAYOUT>&,    \
      plinth_test::TestMatrix<T, LAYOUT>&, plinth::Index);                                     \
  KEYWORD template plinth::SolveReport plinth::solve(                                          \
      const plinth_test::Exec&, const plinth_test::TestMatrix<T, LAYOUT>&,                     \
      const plinth_test::TestMatrix<T, LAYOUT>&, plinth_test::TestMatrix<T, LAYOUT>&,          \
      const plinth::lu::FactorOptions&)

PLINTH_TEST_INSTANCES(extern, double, Kokkos::LayoutRight);
PLINTH_TEST_INSTANCES(extern, double, Kokkos::LayoutLeft);
#ifndef PLINTH_TEST_ON_STAND_IN  // where they are used seldom
PLINTH_TEST_INSTANCES(extern, Kokkos::complex<double>, Kokkos::LayoutRight);
PLINTH_TEST_INSTANCES(extern, float, Kokkos::LayoutRight);
PLINTH_TEST_INSTANCES(extern, Kokkos::complex<float>, Kokkos::LayoutRight);
#endif

extern template void plinth::lu::back_substitute(
    const plinth_test::Exec&, const plinth_test::TestMatrix<double, Kokkos::LayoutRight>&,
    plinth_test::TestMatrix<double, Kokkos::LayoutRight>&);
