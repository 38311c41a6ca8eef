// SPDX-License-Identifier: BSD-3-Clause
//
// Factorizations with every pivoting policy, instantiated once per scalar type in
// mpi/instances_pivoting_*.cpp.
#pragma once

#include "support/instances.hpp"

namespace plinth_test {

/// A policy of our own: a row of the diagonal's own group of rows is preferred unless another one's
/// entry is more than `factor` times as large.
struct PreferNear {
  static constexpr bool exchanges_rows = true;
  plinth::Index group = 4;
  double factor = 8;
  plinth::Index fingerprint() const { return group; }

  double merit(double magnitude, plinth::Index row, plinth::Index column) const noexcept {
    return row / group == column / group ? factor * magnitude : magnitude;
  }
};

}  // namespace plinth_test

#define PLINTH_TEST_PIVOTING(KEYWORD, T, PIVOTING)                                           \
  KEYWORD template plinth_test::TestFactors<T, Kokkos::LayoutRight> plinth::lu_factor(       \
      const plinth_test::Exec&, plinth_test::TestMatrix<T, Kokkos::LayoutRight>&&, PIVOTING, \
      const plinth::lu::FactorOptions&)
#define PLINTH_TEST_PIVOTINGS(KEYWORD, T)                       \
  PLINTH_TEST_PIVOTING(KEYWORD, T, plinth::NoPivoting);         \
  PLINTH_TEST_PIVOTING(KEYWORD, T, plinth::ThresholdPivoting);  \
  PLINTH_TEST_PIVOTING(KEYWORD, T, plinth::TournamentPivoting); \
  PLINTH_TEST_PIVOTING(KEYWORD, T, plinth_test::PreferNear)

PLINTH_TEST_PIVOTINGS(extern, double);
#ifndef PLINTH_TEST_ON_STAND_IN
PLINTH_TEST_PIVOTINGS(extern, float);
PLINTH_TEST_PIVOTINGS(extern, Kokkos::complex<double>);
PLINTH_TEST_PIVOTINGS(extern, Kokkos::complex<float>);
#endif
