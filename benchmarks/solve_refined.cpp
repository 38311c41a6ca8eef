// SPDX-License-Identifier: BSD-3-Clause
//
// solve with FP32 factors and refinement, both kinds, against solve in FP64, alternately, on
// netlib HPL's matrix: mpirun -n 2 solve_refined [n] [P] [Q] [rounds] [nb]
#include <mpi.h>

#include <array>
#include <cstdio>
#include <vector>

#include "bench.hpp"
#include "plinth/plinth.hpp"

namespace {

using plinth::Index;
using Matrix = plinth::DistributedMatrix<double>;

struct Measured {
  double seconds = 0;
  plinth::SolveReport report;
};

template <class F>
Measured measure(F&& solve) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  Measured m;
  m.report = solve();
  m.seconds = MPI_Wtime() - begin;
  MPI_Allreduce(MPI_IN_PLACE, &m.seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return m;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, [=] {
    const bench::Arguments args = bench::arguments(argc, argv, {8000, 1, 2, 5, 192});
    const Index n = args.n, nb = args.nb;
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{args.rows, args.cols});
    const plinth::HostExecution<> exec;
    Matrix a(grid, n, n, {.mb = nb, .nb = nb}), b(grid, n, 1, {.mb = nb, .nb = nb}),
        x(grid, n, 1, {.mb = nb, .nb = nb});
    const plinth::HplMatrix matrix{{n}};
    plinth::generate(exec, a, matrix);
    plinth::generate(exec, b, [=](Index i, Index) noexcept { return matrix(i, n); });

    const bool speaks = grid.coord() == plinth::GridCoord{0, 0};
    if (speaks)
      std::printf("n = %lld, %d x %d ranks; seconds\n%6s %8s %8s %8s   %s\n",
                  static_cast<long long>(n), args.rows, args.cols, "round", "FP64", "GMRES",
                  "class.", "iterations, backward errors");
    bool passed = true;
    std::array<std::vector<double>, 3> seconds, ratios;
    for (int round = 0; round < args.rounds; ++round) {
      const std::array<Measured, 3> m{
          measure([&] { return plinth::solve(exec, a, b, x); }),
          measure([&] { return plinth::solve<plinth::DoubleSingle>(exec, a, b, x); }),
          measure([&] {
            return plinth::solve<plinth::DoubleSingle>(
                exec, a, b, x, plinth::SolveOptions<plinth::ClassicalRefinement>{});
          })};
      for (std::size_t k = 0; k < 3; ++k) {
        seconds[k].push_back(m[k].seconds);
        ratios[k].push_back(m[0].seconds / m[k].seconds);
        passed = passed && m[k].report && m[k].report.backward_error < double(n) * 0x1p-53;
      }
      if (speaks)
        std::printf("%6d %8.3f %8.3f %8.3f   %d %d, %.1e %.1e %.1e\n", round, m[0].seconds,
                    m[1].seconds, m[2].seconds, m[1].report.refinement.iterations(),
                    m[2].report.refinement.iterations(), m[0].report.backward_error,
                    m[1].report.backward_error, m[2].report.backward_error);
    }
    if (speaks)
      std::printf(
          "median %8.3f %8.3f %8.3f\nof the ratios %9.2f %8.2f\nGF/s   %8.1f %8.1f %8.1f\n%s\n",
          bench::median(seconds[0]), bench::median(seconds[1]), bench::median(seconds[2]),
          bench::median(ratios[1]), bench::median(ratios[2]),
          bench::hpl_rate(n, bench::median(seconds[0])),
          bench::hpl_rate(n, bench::median(seconds[1])),
          bench::hpl_rate(n, bench::median(seconds[2])), passed ? "PASSED" : "FAILED");
    return passed;
  });
}
