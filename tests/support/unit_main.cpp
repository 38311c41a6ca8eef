// SPDX-License-Identifier: BSD-3-Clause
//
// Runs the unit tests: Kokkos, no MPI.
#define CATCH_CONFIG_RUNNER
#include "catch.hpp"

#include <Kokkos_Core.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return Catch::Session().run(argc, argv);
}
