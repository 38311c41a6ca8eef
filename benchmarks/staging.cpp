// SPDX-License-Identifier: BSD-3-Clause
//
// HPL's factorization on the host, and by the way that data takes over a device, on the stand-in
// with its protection off: what staging costs.
//   mpirun -n 2 staging [n] [P] [Q] [rounds] [nb]
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "bench.hpp"
#include "plinth/plinth.hpp"
#include "support/open_device.hpp"

namespace {

struct Measured {
  double rate, residual;
};

/// Factors [A | b] and substitutes, as hpl does.
template <class Exec>
Measured measure(const plinth::ProcessGrid& grid, const bench::Arguments& args) {
  using Matrix = plinth::DistributedMatrix<double, typename Exec::memory>;
  const Exec exec;
  const plinth::HplMatrix system{{args.n}};
  const plinth::MatrixLayoutOptions square{.mb = args.nb, .nb = args.nb};
  Matrix ab(grid, args.n, args.n + 1, square), x(grid, args.n, 1, square);
  plinth::trace::Off off;
  plinth::lu::Factorization<Matrix, Exec> factorization(
      exec, grid, ab.distribution(),
      {.lookahead = grid.shape().rows > 1 ? 0 : 1, .keep_l = plinth::lu::KeepL::no}, off);
  plinth::lu::Pivots pivots(ab.distribution().rows, grid.coord().row);
  plinth::generate(exec, ab, system);
  const double seconds = bench::seconds_of([&] {
    (void)factorization(ab, pivots);
    plinth::lu::back_substitute(exec, ab, x);
  });
  return {bench::hpl_rate(args.n, seconds),
          plinth::hpl_residual(exec, system, ab.distribution(), x).scaled_residual(args.n)};
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, [=] {
    const auto args = bench::arguments(argc, argv, {8000, 1, 2, 5, 192});
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{args.rows, args.cols});
    std::vector<double> host, staged, ratio;
    double residual = 0;
    for (int round = 0; round < args.rounds; ++round) {
      const Measured h = measure<plinth::HostExecution<>>(grid, args);
      const Measured s = measure<plinth_test::OpenDevice>(grid, args);
      host.push_back(h.rate);
      staged.push_back(s.rate);
      ratio.push_back(s.rate / h.rate);
      residual = std::max({residual, h.residual, s.residual});
    }
    const bool passed = residual < 16;
    if (grid.coord() == plinth::GridCoord{0, 0})
      std::printf(
          "n = %lld, %d x %d ranks, medians of %d\n%10s %12s %8s\n%10.1f %12.1f %8.3f\n%s\n",
          static_cast<long long>(args.n), args.rows, args.cols, args.rounds, "host, GF/s",
          "staged, GF/s", "ratio", bench::median(host), bench::median(staged),
          bench::median(ratio), passed ? "PASSED" : "FAILED");
    return passed;
  });
}
