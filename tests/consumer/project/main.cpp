// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <cstdio>
#include <plinth/plinth.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::printf("Plinth %s\n", plinth::version());
  }
  MPI_Finalize();
}
