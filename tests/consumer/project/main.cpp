// SPDX-License-Identifier: BSD-3-Clause
//
// Somebody else's program: solves a system with Plinth and checks the answer by itself.
#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdio>
#include <plinth/plinth.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);
  bool right = true;
  {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, ranks});
    const plinth::HostExecution<> exec;
    const plinth::Index n = 200;
    plinth::DistributedMatrix<double> a(grid, n, n, {.mb = 16, .nb = 16});
    plinth::DistributedMatrix<double> b(grid, n, 1, {.mb = 16, .nb = 16});
    plinth::DistributedMatrix<double> x(grid, n, 1, {.mb = 16, .nb = 16});
    // A = I + J / n with J all ones; x = 1 for b = 2.
    plinth::generate(exec, a, [](auto i, auto j) { return (i == j ? 1.0 : 0.0) + 1.0 / 200; });
    plinth::generate(exec, b, [](auto, auto) { return 2.0; });
    const auto report = plinth::solve(exec, a, b, x);
    right = report.outcome == plinth::Outcome::solved && report.backward_error < 1e-14;
    const auto local = x.local();
    for (plinth::Index i = 0; i < x.local_extents().rows; ++i)
      for (plinth::Index j = 0; j < x.local_extents().cols; ++j)
        right = right && std::abs(local(i, j) - 1.0) < 1e-12;
    if (grid.coord() == plinth::GridCoord{0, 0})
      std::printf("Plinth %s: %s, backward error %.1e\n", plinth::version(),
                  to_string(report.outcome), report.backward_error);
  }
  Kokkos::finalize();
  MPI_Finalize();
  return right ? 0 : 1;
}
