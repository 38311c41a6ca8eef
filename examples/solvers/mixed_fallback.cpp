// SPDX-License-Identifier: BSD-3-Clause
//
// Factors in 16 or 32 bits, answers in FP64, and what happens where that is too little:
// mpirun -n 2 mixed_fallback
//
// An instrument sees a signal x blurred: b_i = sum over j of x_j / (1 + ((i - j) / width)^2). To
// get x back, A x = b is solved. The wider the blur, the harder it is to tell neighbours apart: the
// condition number of A is about exp(pi width) / 2. Narrow factors then say less and less about
// A: GMRES takes more iterations with them, and in the end they are of no use. With fall_back, A is
// factored again in FP64 when that happens; the report says so.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <plinth/plinth.hpp>

using Matrix = plinth::DistributedMatrix<double>;

double blur(plinth::Index distance, double width) {
  const double d = static_cast<double>(distance) / width;
  return 1 / (1 + d * d);
}

// Solves with factors of this precision and prints what the report says.
template <class Precision>
plinth::SolveReport solve_with(const char* name, double width, const Matrix& a, const Matrix& b,
                               Matrix& x) {
  const auto report = plinth::solve<Precision>(plinth::HostExecution<>(), a, b, x,
                                               plinth::SolveOptions<>{.fall_back = true});
  if (a.grid().coord() == plinth::GridCoord{0, 0})
    std::printf("%8.0e  %-12s  %-13s %10d  %-6s %14.1e\n", std::exp(std::numbers::pi * width) / 2,
                name, report.fell_back_from ? to_string(*report.fell_back_from) : "solved",
                report.refinement.iterations(), report.fell_back_from ? "yes" : "no",
                report.backward_error);
  return report;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);
  bool good = true;
  {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, ranks});
    const plinth::HostExecution<> exec;
    constexpr plinth::Index n = 300;
    Matrix a(grid, n, n), b(grid, n, 1), x(grid, n, 1);
    if (grid.coord() == plinth::GridCoord{0, 0})
      std::printf("%8s  %-12s  %-13s %10s  %-6s %14s\n", "cond(A)", "factors", "with them",
                  "iterations", "again?", "backward error");

    for (const double width : {1.0, 3.0, 5.0, 12.0}) {
      plinth::generate(exec, a, [=](auto i, auto j) { return blur(i - j, width); });
      plinth::generate(exec, b, [=](auto i, auto) {
        double sum = 0;
        for (plinth::Index j = 0; j < n; ++j)
          sum += blur(i - j, width) * (1 + std::cos(0.3 * static_cast<double>(j)));
        return sum;
      });
      const auto half = solve_with<plinth::DoubleHalf>("DoubleHalf", width, a, b, x);
      const auto single = solve_with<plinth::DoubleSingle>("DoubleSingle", width, a, b, x);

      // Whichever way it came about, the answer is one of FP64. Where the condition is harmless
      // there must have been no need to fall back, and where it is hopeless for them, there must.
      for (const auto& report : {half, single}) {
        good = good && report && report.backward_error < 1e-14;
        if (width == 1) good = good && !report.fell_back_from;
        if (width == 12) good = good && report.fell_back_from;
      }
    }
  }
  Kokkos::finalize();
  MPI_Finalize();
  return good ? 0 : 1;
}
