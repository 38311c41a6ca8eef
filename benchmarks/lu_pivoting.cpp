// SPDX-License-Identifier: BSD-3-Clause
//
// lu_factor with partial, tournament and threshold pivoting, alternately, on the same matrix and
// the same ranks: mpirun -n 2 lu_pivoting [n] [P] [Q] [rounds] [nb] [radix]
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "bench.hpp"
#include "plinth/plinth.hpp"

namespace {

using plinth::Index;
using Exec = plinth::HostExecution<>;
using Matrix = plinth::DistributedMatrix<double>;
using plinth::trace::Phase;
using plinth::trace::PhaseClock;

struct Arguments : bench::Arguments {
  Index radix;
};

/// What one policy has done so far.
struct Measured {
  const char* name;
  std::vector<double> rates = {}, of_partial = {}, panels = {};
  double residual = 0;
};

/// Factors and solves netlib HPL's system; the rate and the seconds of its panels are of lu_factor.
template <class Pivoting>
double measure(const plinth::ProcessGrid& grid, const Arguments& args, const Pivoting& pivoting,
               Measured& into) {
  const Exec exec;
  const plinth::HplMatrix system{{args.n}};
  Matrix a(grid, args.n, args.n, {.mb = args.nb, .nb = args.nb});
  Matrix b(grid, args.n, 1, {.mb = args.nb, .nb = args.nb});
  plinth::generate(exec, a, system);
  plinth::generate(exec, b, [=](Index i, Index) noexcept { return system(i, args.n); });
  PhaseClock clock;
  clock.reset();
  plinth::lu::Factorization<Matrix, Exec, Pivoting, PhaseClock> factorization(
      exec, grid, a.distribution(), {.lookahead = grid.shape().rows > 1 ? 0 : 1}, clock,
      pivoting);
  const plinth::BlockCyclic rows = a.distribution().rows;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  const auto factors = plinth::lu_factor(factorization, std::move(a));
  const double rate = bench::hpl_rate(args.n, bench::longest(MPI_Wtime() - begin));
  into.panels.push_back(bench::longest(clock.seconds(Phase::panel) + clock.seconds(Phase::pivot)));
  plinth::lu_solve(exec, factors, b);
  const plinth::Distribution whole{rows, plinth::BlockCyclic(args.n + 1, args.nb, args.cols, 0)};
  into.residual = std::max(into.residual,
                           plinth::hpl_residual(exec, system, whole, b).scaled_residual(args.n));
  return rate;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, [=] {
    const Arguments args{bench::arguments(argc, argv, {8000, 2, 1, 5, 192}),
                         bench::argument(argc, argv, 6, 2)};
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{args.rows, args.cols});
    Measured all[] = {{"partial"}, {"tournament"}, {"threshold 0.1"}};
    for (int round = 0; round < args.rounds; ++round) {
      const double rates[] = {
          measure(grid, args, plinth::PartialPivoting{}, all[0]),
          measure(grid, args, plinth::TournamentPivoting{.radix = args.radix}, all[1]),
          measure(grid, args, plinth::ThresholdPivoting{}, all[2])};
      for (int p = 0; p < 3; ++p) {
        all[p].rates.push_back(rates[p]);
        all[p].of_partial.push_back(rates[p] / rates[0]);
      }
    }
    bool passed = true;
    for (const Measured& m : all) passed = passed && m.residual < 16;
    if (grid.coord() == plinth::GridCoord{0, 0}) {
      std::printf("n = %lld, %d x %d ranks, medians of %d\n%-14s %8s %11s %9s %10s\n",
                  static_cast<long long>(args.n), args.rows, args.cols, args.rounds, "pivoting",
                  "GF/s", "of partial", "panels, s", "residual");
      for (const Measured& m : all)
        std::printf("%-14s %8.1f %11.3f %9.3f %10.2e\n", m.name, bench::median(m.rates),
                    bench::median(m.of_partial), bench::median(m.panels), m.residual);
      std::printf("%s\n", passed ? "PASSED" : "FAILED");
    }
    return passed;
  });
}
