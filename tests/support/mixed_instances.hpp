// SPDX-License-Identifier: BSD-3-Clause
//
// LU in mixed precision is instantiated once per precision, in mpi/instances_mixed_*.cpp.
#pragma once

#include "plinth/lu/mixed_factors.hpp"
#include "support/instances.hpp"

namespace plinth_test {

template <class Precision, class Layout>
using MixedMatrix = TestMatrix<typename plinth::PrecisionRoles<Precision>::Factor, Layout>;
template <class Precision, class Layout>
using MixedFactors = plinth::LuFactors<MixedMatrix<Precision, Layout>>;

}  // namespace plinth_test

#define PLINTH_TEST_MIXED_INSTANCE(KEYWORD, PRECISION, PIVOTING, LAYOUT)               \
  KEYWORD template plinth_test::MixedFactors<plinth::PRECISION, LAYOUT>                \
  plinth::mixed_lu_factor<plinth::PRECISION>(                                          \
      const plinth_test::Exec&, plinth_test::MixedMatrix<plinth::PRECISION, LAYOUT>&&, \
      plinth::PIVOTING, const plinth::lu::MixedOptions&)

PLINTH_TEST_MIXED_INSTANCE(extern, DoubleHalf, NoPivoting, Kokkos::LayoutRight);
PLINTH_TEST_MIXED_INSTANCE(extern, DoubleHalf, PartialPivoting, Kokkos::LayoutRight);
#ifndef PLINTH_TEST_ON_STAND_IN  // where they are not used
PLINTH_TEST_MIXED_INSTANCE(extern, DoubleHalf, NoPivoting, Kokkos::LayoutLeft);
PLINTH_TEST_MIXED_INSTANCE(extern, DoubleHalf, PartialPivoting, Kokkos::LayoutLeft);
#endif
PLINTH_TEST_MIXED_INSTANCE(extern, DoubleBfloat16, NoPivoting, Kokkos::LayoutRight);
PLINTH_TEST_MIXED_INSTANCE(extern, DoubleBfloat16, PartialPivoting, Kokkos::LayoutRight);
PLINTH_TEST_MIXED_INSTANCE(extern, DoubleSingleHalf, NoPivoting, Kokkos::LayoutRight);
PLINTH_TEST_MIXED_INSTANCE(extern, DoubleSingleHalf, PartialPivoting, Kokkos::LayoutRight);
PLINTH_TEST_MIXED_INSTANCE(extern, DoubleHalfFast, NoPivoting, Kokkos::LayoutRight);
