// SPDX-License-Identifier: BSD-3-Clause
//
// Solves A x = b on all ranks: mpirun -n 2 first_system
#include <cmath>
#include <cstdio>
#include <plinth/plinth.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);
  bool solved = false;
  {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, ranks});
    const plinth::HostExecution<> exec;
    plinth::DistributedMatrix<double> a(grid, 1000, 1000), b(grid, 1000, 1), x(grid, 1000, 1);
    plinth::generate(exec, a, [](auto i, auto j) { return std::cos(double(i * j)); });
    plinth::generate(exec, b, [](auto i, auto) { return double(i); });
    const auto report = plinth::solve(exec, a, b, x);  // A and b are kept
    solved = !grid.active() || (report && report.backward_error < 1e-14);
    if (grid.coord() == plinth::GridCoord{0, 0})
      std::printf("%s, backward error %.1e\n", to_string(report.outcome), report.backward_error);
  }
  Kokkos::finalize();
  MPI_Finalize();
  return solved ? 0 : 1;
}
