// SPDX-License-Identifier: BSD-3-Clause
//
// The rate of a matrix product on all ranks at once, each its own: the ceiling of HPL on these
// ranks and threads. C := C - A B with m = n, as in the trailing update of LU.
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

int main(int argc, char** argv) {
  return bench::run(argc, argv, [=] {
    using plinth::Index;
    using plinth::kernel::wrap;
    using Right = Kokkos::LayoutRight;
    using Host = Kokkos::HostSpace;
    const Index n = bench::argument(argc, argv, 1, 3840), k = bench::argument(argc, argv, 2, 192);
    const long rounds = bench::argument(argc, argv, 3, 7);
    const plinth::HostExecution<> exec;
    plinth::kernel::Buffer<double> a(n * k), b(k * n), c(n * n);
    const auto av = wrap<Right, Host>(a.data(), n, k, k);
    const auto bv = wrap<Right, Host>(b.data(), k, n, n);
    const auto cv = wrap<Right, Host>(c.data(), n, n, n);
    plinth::kernel::for_each<Right>(exec, n, k, [=](Index i, Index j) {
      av(i, j) = static_cast<double>((i * 7 + j * 3) % 11) * 0.0625 - 0.25;
      bv(j, i) = static_cast<double>((i * 5 + j * 2) % 13) * 0.0625 - 0.25;
    });
    plinth::kernel::fill(exec, cv, 0.0);

    std::vector<double> rates;
    int ranks = 1, rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (long round = 0; round <= rounds; ++round) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      plinth::kernel::gemm(exec, -1.0, plinth::kernel::Operand<decltype(av)>{av}, bv, 1.0, cv);
      double seconds = MPI_Wtime() - begin;
      MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      const double flops =
          2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(k) * ranks;
      if (round > 0) rates.push_back(flops / seconds * 1e-9);  // the first one warms up
    }
    // One entry by hand: a product that computes nothing would be fast.
    double expected = 0;
    for (Index p = 0; p < k; ++p) expected -= av(1, p) * bv(p, 2);
    expected *= static_cast<double>(rounds + 1);
    const double difference = cv(1, 2) - expected;
    if (rank == 0) std::printf("%.2f\n", bench::median(rates));
    return difference < 1e-8 && difference > -1e-8;
  });
}
