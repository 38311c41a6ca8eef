// SPDX-License-Identifier: BSD-3-Clause
//
// Does it all on the ranks that there are, for whoever has the device: 0 if the answers are right.
#include <mpi.h>

#include <iostream>

#include "device.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int bad = 0;
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    int ranks = 1, rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (const plinth::GridShape shape : {plinth::GridShape{1, ranks}, {ranks, 1}}) {
      const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{shape.rows, shape.cols});
      const double residual = on_device::factor(grid, 300);
      const double backward = on_device::solve(grid, 300) + on_device::pivoting(grid, 150);
      const double mixed = on_device::mixed(grid, 300);
      const bool answers = on_device::queries(grid, 150);
      const bool good = residual < 32 && backward < 1e-13 && mixed < 1 && answers;
      if (!good) bad = 1;
      if (rank == 0)
        std::cout << "on " << Kokkos::DefaultExecutionSpace().name() << ", " << shape.rows << " x "
                  << shape.cols << " ranks: scaled residuals " << residual << " and " << mixed
                  << ", backward errors " << backward << (answers ? "" : ", wrong answers") << '\n';
      if (ranks == 1) break;
    }
  }
  MPI_Finalize();
  return bad;
}
