// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#if defined(_OPENMP)
#include <omp.h>
#endif

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <type_traits>
#include <vector>

#include "plinth/core/index.hpp"
#include "plinth/policy/device.hpp"

namespace bench {

/// Kokkos' default space: the device that it was built for, else the host.
using Execution = std::conditional_t<
    bool(
        Kokkos::SpaceAccessibility<Kokkos::DefaultExecutionSpace, Kokkos::HostSpace>::accessible),
    plinth::HostExecution<>, plinth::DeviceExecution<Kokkos::DefaultExecutionSpace>>;

/// Says so where a benchmark was compiled to see that it builds.
inline void warn_if_unoptimised() {
#if defined(__GNUC__) && !defined(__OPTIMIZE__)
  std::fprintf(stderr, "compiled without optimisation: these times mean nothing\n");
#endif
}

/// The main function of a benchmark: MPI and Kokkos around body(), whose result says on each rank
/// whether its checks passed. Status 0 if they did on all, 1 if not, 4 after an exception.
template <class Body>
int run(int argc, char** argv, Body&& body) {
  MPI_Init(&argc, &argv);
#if defined(_OPENMP)
  static_cast<void>(omp_get_max_threads());
  setenv("OMP_PROC_BIND", "false", 0);  // it has been read; where it is not set Kokkos would warn
#endif
  Kokkos::initialize(argc, argv);
  warn_if_unoptimised();
  int failed = 0;
  try {
    failed = body() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 4);
  }
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  Kokkos::finalize();
  MPI_Finalize();
  return failed;
}

/// Argument number k, or what stands in for it.
inline long argument(int argc, char** argv, int k, long otherwise) {
  return k < argc ? std::atol(argv[k]) : otherwise;
}

/// What benchmarks of whole systems are asked for: [n] [P] [Q] [rounds] [nb], the first arguments.
struct Arguments {
  plinth::Index n;
  int rows, cols, rounds;
  plinth::Index nb;
};
/// Those given, or what stands in for them.
inline Arguments arguments(int argc, char** argv, const Arguments& otherwise) {
  const auto small = [&](int k, int other) {
    return static_cast<int>(argument(argc, argv, k, other));
  };
  return {argument(argc, argv, 1, otherwise.n), small(2, otherwise.rows), small(3, otherwise.cols),
          small(4, otherwise.rounds), argument(argc, argv, 5, otherwise.nb)};
}

/// The longest of all ranks' times.
inline double longest(double seconds) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

/// How long f() takes from where all ranks begin to where the last one is done.
template <class F>
double seconds_of(F&& f) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  f();
  return longest(MPI_Wtime() - begin);
}

inline double median(std::vector<double> v) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  return (v[(v.size() - 1) / 2] + v[v.size() / 2]) / 2;
}

/// HPL's rate in GF/s: (2/3 n^3 + 3/2 n^2) / seconds.
inline double hpl_rate(long n, double seconds) {
  const double d = static_cast<double>(n);
  return (2.0 / 3.0 * d * d * d + 1.5 * d * d) / seconds * 1e-9;
}

}  // namespace bench
