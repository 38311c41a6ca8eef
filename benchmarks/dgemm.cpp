// SPDX-License-Identifier: BSD-3-Clause
//
// The rate of a matrix product on all ranks at once, each its own: the ceiling of HPL on these
// ranks and threads, or devices. C := C - A B with m = n, as in the trailing update of LU, on
// Kokkos' default space: the device that it was built for, else the host.
//
//     mpirun -n 2 dgemm [m = n] [k] [rounds]
//
// Prints GF/s of all ranks together, the median of the rounds, on one line.
#include <mpi.h>

#include <cstdio>
#include <vector>

#include "bench.hpp"
#include "plinth/kernel/blas.hpp"
#include "plinth/kernel/buffer.hpp"

namespace {

using plinth::Index;
using Exec = bench::Execution;
using Memory = Exec::memory;

template <class View>
void fill_operands(const Exec& exec, const View& a, const View& b) {
  plinth::kernel::for_each<Kokkos::LayoutRight>(
      exec, plinth::kernel::rows_of(a), plinth::kernel::cols_of(a),
      KOKKOS_LAMBDA(const Index i, const Index j) {
        a(i, j) = static_cast<double>((i * 7 + j * 3) % 11) * 0.0625 - 0.25;
        b(j, i) = static_cast<double>((i * 5 + j * 2) % 13) * 0.0625 - 0.25;
      });
}

bool measure(Index n, Index k, long rounds) {
  using plinth::kernel::wrap;
  using Right = Kokkos::LayoutRight;
  const Exec exec;
  const plinth::kernel::Buffer<double, Memory> a(n * k), b(k * n), c(n * n);
  const auto av = wrap<Right, Memory::space>(a.data(), n, k, k);
  const auto bv = wrap<Right, Memory::space>(b.data(), k, n, n);
  const auto cv = wrap<Right, Memory::space>(c.data(), n, n, n);
  fill_operands(exec, av, bv);
  plinth::kernel::fill(exec, cv, 0.0);
  exec.fence();

  std::vector<double> rates;
  int ranks = 1, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (long round = 0; round <= rounds; ++round) {
    const double seconds = bench::seconds_of([&] {
      plinth::kernel::gemm(exec, -1.0, plinth::kernel::Operand<decltype(av)>{av}, bv, 1.0, cv);
      exec.fence();
    });
    const double flops =
        2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(k) * ranks;
    if (round > 0) rates.push_back(flops / seconds * 1e-9);  // the first one warms up
  }
  // One entry by hand: a product that computes nothing would be fast.
  double expected = 0;
  for (Index p = 0; p < k; ++p)
    expected -= (static_cast<double>((7 + p * 3) % 11) * 0.0625 - 0.25) *
                (static_cast<double>((2 * 5 + p * 2) % 13) * 0.0625 - 0.25);
  expected *= static_cast<double>(rounds + 1);
  double found = 0;
  exec.to_host(&found, c.data() + n + 2, sizeof found);
  exec.fence();
  if (rank == 0) std::printf("%.2f\n", bench::median(rates));
  return found - expected < 1e-8 && found - expected > -1e-8;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, [=] {
    return measure(bench::argument(argc, argv, 1, 3840), bench::argument(argc, argv, 2, 192),
                   bench::argument(argc, argv, 3, 7));
  });
}
