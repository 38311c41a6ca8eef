// SPDX-License-Identifier: BSD-3-Clause
//
// Peak memory of a factorization and solution as hpl does them, per rank, against the bound that
// the design promises: the matrix + 8 NB ((d + 2) N/P + 2 N/Q + NB) bytes + 64 MiB. What the
// process holds before it begins (MPI, Kokkos, the BLAS) is not counted. Exits with 1 if any rank
// exceeds the bound.
//
//     mpirun -n 4 memory [n] [nb] [P] [Q] [depth]
#include <mpi.h>
#include <sys/resource.h>

#include <cstdio>

#include "bench.hpp"
#include "plinth/plinth.hpp"

namespace {

using plinth::Index;

/// The most that this process has ever had resident, in bytes.
double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

/// One small solve, so that libraries have made their own buffers.
void warm_up(const plinth::ProcessGrid& grid) {
  const plinth::HostExecution<> exec;
  plinth::DistributedMatrix<double> a(grid, 600, 601, {.mb = 64, .nb = 64}),
      x(grid, 600, 1, {.mb = 64, .nb = 64});
  plinth::generate(exec, a, plinth::HplMatrix{{600}});
  plinth::trace::Off off;
  plinth::lu::Pivots pivots(a.distribution().rows, grid.coord().row);
  plinth::lu::Factorization<plinth::DistributedMatrix<double>, plinth::HostExecution<>> factor(
      exec, grid, a.distribution(), {}, off);
  factor(a, pivots);
  plinth::lu::back_substitute(exec, a, x);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, [=] {
    const auto given = [&](int k, long otherwise) {
      return bench::argument(argc, argv, k, otherwise);
    };
    const Index n = given(1, 6000), nb = given(2, 192), depth = given(5, 1);
    const int p = static_cast<int>(given(3, 2)), q = static_cast<int>(given(4, 2));
    bool over = false;
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{p, q});
    if (grid.active()) {
      warm_up(grid);
      const double before = peak_bytes();
      const plinth::HostExecution<> exec;
      using Matrix = plinth::DistributedMatrix<double>;
      Matrix a(grid, n, n + 1, {.mb = nb, .nb = nb}), x(grid, n, 1, {.mb = nb, .nb = nb});
      plinth::generate(exec, a, plinth::HplMatrix{{n}});
      plinth::trace::Off off;
      plinth::lu::Pivots pivots(a.distribution().rows, grid.coord().row);
      plinth::lu::Factorization<Matrix, plinth::HostExecution<>> factor(
          exec, grid, a.distribution(), {.lookahead = depth, .keep_l = plinth::lu::KeepL::no},
          off);
      factor(a, pivots);
      plinth::lu::back_substitute(exec, a, x);
      const double residual =
          plinth::hpl_residual(exec, plinth::HplMatrix{{n}}, a.distribution(), x)
              .scaled_residual(n);
      const double used = peak_bytes() - before;

      const plinth::Extents mine = a.local_extents();
      const double dn = static_cast<double>(n), dnb = static_cast<double>(nb);
      const double matrix = 8 * static_cast<double>(mine.rows) * static_cast<double>(mine.cols);
      const double bound =
          matrix + 8 * dnb * (static_cast<double>(depth + 2) * dn / p + 2 * dn / q + dnb) +
          64 * 1048576.0;
      over = used > bound || !(residual < 16);
      if (grid.all().rank() == 0)
        std::printf("n %lld, nb %lld, %d x %d, depth %lld; MiB per rank\n%4s %10s %10s %10s\n",
                    static_cast<long long>(n), static_cast<long long>(nb), p, q,
                    static_cast<long long>(depth), "rank", "matrix", "used", "bound");
      for (int rank = 0; rank < grid.all().size(); ++rank) {
        MPI_Barrier(grid.all().handle());
        if (rank != grid.all().rank()) continue;
        std::printf("%4d %10.1f %10.1f %10.1f%s\n", rank, matrix / 1048576, used / 1048576,
                    bound / 1048576, over ? "  OVER" : "");
        std::fflush(stdout);
      }
    }
    return !over;
  });
}
