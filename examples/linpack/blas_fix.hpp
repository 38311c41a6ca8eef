// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace linpack {

/// What was done about the BLAS's kernel.
struct BlasFix {
  std::string note;  ///< a sentence for the report; empty: there was nothing to do
};

/// To be called before MPI_Init, first thing in main. An OpenBLAS that is older than the CPU runs
/// a kernel for a lesser one, at a fraction of the speed. If that is so, and the user has not
/// chosen a kernel (OPENBLAS_CORETYPE) nor given --no-blas-fix, the program executes itself
/// again, once, with the better kernel chosen in the environment, and does not return. Else it
/// returns, and says what there is to say: that this is the second execution, or why there was
/// none.
BlasFix fix_blas_kernel(int argc, char** argv);

}  // namespace linpack
