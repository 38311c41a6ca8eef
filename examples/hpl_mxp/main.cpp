// SPDX-License-Identifier: BSD-3-Clause
//
// hpl_mxp: solves dense systems to double precision by way of an LU factorization in 16 or 32 bits
// and refinement, and measures how long that takes. hpl_mxp --help says how to run it.
#include "linpack/program.hpp"
#include "options.hpp"
#include "plinth/core/version.hpp"
#include "run_case.hpp"

int main(int argc, char** argv) {
  const linpack::Program program{
      "hpl_mxp",
      "HPL-MxP: a low-precision LU factorization, refined to double precision",
      plinth::version(),
      linpack::Mixed{},
      {"without pivoting, SWAP, its threshold, EQUIL, L1, U, and (unless the LU is in FP32) "
       "PFACT, RFACT, NBMIN and NDIV mean nothing but for --compare-fp64"},
      "filling, scaling, factorization and refinement"};
  return linpack::run_program(argc, argv, program, {hpl_mxp::effective, hpl_mxp::run_case});
}
