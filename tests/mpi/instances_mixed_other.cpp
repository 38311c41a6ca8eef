// SPDX-License-Identifier: BSD-3-Clause
#include "support/mixed_instances.hpp"

PLINTH_TEST_MIXED_INSTANCE(, DoubleBfloat16, NoPivoting, Kokkos::LayoutRight);
PLINTH_TEST_MIXED_INSTANCE(, DoubleBfloat16, PartialPivoting, Kokkos::LayoutRight);
PLINTH_TEST_MIXED_INSTANCE(, DoubleSingleHalf, NoPivoting, Kokkos::LayoutRight);
PLINTH_TEST_MIXED_INSTANCE(, DoubleSingleHalf, PartialPivoting, Kokkos::LayoutRight);
PLINTH_TEST_MIXED_INSTANCE(, DoubleHalfFast, NoPivoting, Kokkos::LayoutRight);
