// SPDX-License-Identifier: BSD-3-Clause
//
// hpl: solves random dense systems in double precision and measures how long it takes, with the
// input and the output of netlib HPL. hpl --help says how to run it.
#include "linpack/program.hpp"
#include "options.hpp"
#include "plinth/core/version.hpp"
#include "run_case.hpp"

int main(int argc, char** argv) {
  const linpack::Program program{
      "hpl", "High-Performance Linpack: solves a random dense system in double precision",
      plinth::version()};
  return linpack::run_program(argc, argv, program, {hpl::effective, hpl::run_case});
}
