// SPDX-License-Identifier: BSD-3-Clause
//
// lu_factor alone, and with lu_solve for many right-hand sides after it, alternately, on the same
// system and ranks: mpirun -n 2 right_hand_sides [n] [P] [Q] [rounds] [nb] [right-hand sides]
#include <mpi.h>

#include <cstdio>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "plinth/plinth.hpp"

namespace {

using plinth::Index;
using plinth::Norm;
using Exec = plinth::HostExecution<>;
using Matrix = plinth::DistributedMatrix<double>;

struct Arguments : bench::Arguments {
  Index rhs;
};

struct Measured {
  double factored, solved;  ///< seconds: lu_factor; lu_solve
  double error;             ///< ||B - A X|| / (n ||A|| ||X|| epsilon), largest entries of B, X
};

/// netlib HPL's matrix, and the columns right of it.
Measured measure(const plinth::ProcessGrid& grid, const Arguments& args, Index rhs) {
  const Exec exec;
  const plinth::MatrixLayoutOptions layout{.mb = args.nb, .nb = args.nb};
  const Index n = args.n;
  const plinth::HplMatrix system{{n}};
  const auto columns = [=](Index i, Index j) noexcept { return system(i, n + j); };
  Matrix a(grid, n, n, layout), x(grid, n, rhs, layout);
  plinth::generate(exec, a, system);
  plinth::generate(exec, x, columns);
  std::optional<plinth::LuFactors<Matrix>> factors;
  Measured m{};
  m.factored = bench::seconds_of([&] { factors = plinth::lu_factor(exec, std::move(a)); });
  m.solved = bench::seconds_of([&] {
    if (rhs > 0) plinth::lu_solve(exec, *factors, x);
  });
  if (rhs == 0) return m;
  Matrix whole(grid, n, n, layout), b(grid, n, rhs, layout), r(grid, n, rhs, layout);
  plinth::generate(exec, whole, system);
  plinth::generate(exec, b, columns);
  plinth::residual(exec, whole, x, b, r);
  m.error = plinth::norm(exec, r, Norm::max) /
            (plinth::norm(exec, whole, Norm::inf) * plinth::norm(exec, x, Norm::max) *
             static_cast<double>(n) * std::numeric_limits<double>::epsilon());
  return m;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, [=] {
    const Arguments args{bench::arguments(argc, argv, {8000, 1, 2, 5, 192}),
                         bench::argument(argc, argv, 6, 64)};
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{args.rows, args.cols});
    const bool speaks = grid.coord() == plinth::GridCoord{0, 0};
    if (speaks)
      std::printf(
          "n = %lld, %d x %d ranks, %lld right-hand sides; seconds\n%6s %8s %10s %8s %7s %10s\n",
          static_cast<long long>(args.n), args.rows, args.cols, static_cast<long long>(args.rhs),
          "round", "alone", "lu_factor", "lu_solve", "ratio", "error");
    std::vector<double> ratios;
    bool passed = true;
    for (int round = 0; round < args.rounds; ++round) {
      const Measured alone = measure(grid, args, 0), both = measure(grid, args, args.rhs);
      ratios.push_back((both.factored + both.solved) / alone.factored);
      passed = passed && both.error < 16;  // a NaN is not
      if (speaks)
        std::printf("%6d %8.3f %10.3f %8.3f %7.3f %10.2e\n", round, alone.factored, both.factored,
                    both.solved, ratios.back(), both.error);
    }
    if (speaks)
      std::printf("median %37.3f\n%s\n", bench::median(ratios), passed ? "PASSED" : "FAILED");
    return passed;
  });
}
