// SPDX-License-Identifier: BSD-3-Clause
// refused: constraint
//
// A matrix holds scalars that ScalarTraits knows.
#include "plinth/matrix/distributed_matrix.hpp"

#ifdef PLINTH_REFUSED
using Element = char;
#else
using Element = float;
#endif

void make(const plinth::ProcessGrid& grid);
void make(const plinth::ProcessGrid& grid) {
  const plinth::DistributedMatrix<Element> a(grid, 4, 4);
  (void)a;
}
