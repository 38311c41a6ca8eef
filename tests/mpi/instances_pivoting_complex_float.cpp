// SPDX-License-Identifier: BSD-3-Clause
#include "support/pivoting.hpp"

PLINTH_TEST_PIVOTINGS(, Kokkos::complex<float>);
