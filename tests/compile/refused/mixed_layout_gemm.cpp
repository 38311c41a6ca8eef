// SPDX-License-Identifier: BSD-3-Clause
// refused: gemm wants A, B and C in one layout
//
// A column-major operand among row-major ones would never reach the BLAS.
#include "plinth/kernel/blas.hpp"

using Right = plinth::kernel::MatrixView<double, Kokkos::LayoutRight>;
#ifdef PLINTH_REFUSED
using Other = plinth::kernel::MatrixView<double, Kokkos::LayoutLeft>;
#else
using Other = Right;
#endif

void multiply(const Right& a, const Other& b, const Right& c);
void multiply(const Right& a, const Other& b, const Right& c) {
  plinth::kernel::gemm(plinth::HostExecution<>(), 1.0, plinth::kernel::Operand<Right>{a}, b, 0.0,
                       c);
}
