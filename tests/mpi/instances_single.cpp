// SPDX-License-Identifier: BSD-3-Clause
#include "support/instances.hpp"

PLINTH_TEST_INSTANCES(, float, Kokkos::LayoutRight);
PLINTH_TEST_INSTANCES(, Kokkos::complex<float>, Kokkos::LayoutRight);
