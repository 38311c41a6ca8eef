// SPDX-License-Identifier: BSD-3-Clause
#include "support/mixed_instances.hpp"

PLINTH_TEST_MIXED_INSTANCE(, DoubleHalf, NoPivoting, Kokkos::LayoutRight);
PLINTH_TEST_MIXED_INSTANCE(, DoubleHalf, PartialPivoting, Kokkos::LayoutRight);
#ifndef PLINTH_TEST_ON_STAND_IN
PLINTH_TEST_MIXED_INSTANCE(, DoubleHalf, NoPivoting, Kokkos::LayoutLeft);
PLINTH_TEST_MIXED_INSTANCE(, DoubleHalf, PartialPivoting, Kokkos::LayoutLeft);
#endif
