// SPDX-License-Identifier: BSD-3-Clause
//
// Plinth's lu_factor + lu_solve against ScaLAPACK's pdgesv, or pzgesv, on the same system,
// alternately, on the same ranks:
// mpirun -n 2 solve_scalapack [n] [P] [Q] [rounds] [nb] [ScaLAPACK's nb] [complex: 0 or 1]
#include <mpi.h>

#include <cstdio>
#include <limits>
#include <vector>

#include "bench.hpp"
#include "plinth/plinth.hpp"

extern "C" {
int Csys2blacs_handle(MPI_Comm);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridexit(int context);
void descinit_(int* desc, const int* m, const int* n, const int* mb, const int* nb,
               const int* rsrc, const int* csrc, const int* context, const int* lld, int* info);
void pdgesv_(const int* n, const int* nrhs, double* a, const int* ia, const int* ja,
             const int* desca, int* ipiv, double* b, const int* ib, const int* jb,
             const int* descb, int* info);
void pzgesv_(const int* n, const int* nrhs, Kokkos::complex<double>* a, const int* ia,
             const int* ja, const int* desca, int* ipiv, Kokkos::complex<double>* b,
             const int* ib, const int* jb, const int* descb, int* info);
}

namespace {

using plinth::Index;

struct Arguments : bench::Arguments {
  Index scalapack_nb;
};

/// The real system of both sides, netlib HPL's, and how wrong an answer is: HPL's residual.
struct RealSystem {
  using Scalar = double;
  static constexpr const char* routine = "pdgesv";
  static constexpr double flops = 1;     ///< of HPL's count
  static constexpr double allowed = 16;  ///< of error()

  static void fill(const plinth::HostExecution<>& exec, Index n, auto& a, auto& b) {
    const plinth::HplMatrix matrix{{n}};
    plinth::generate(exec, a, matrix);
    plinth::generate(exec, b, [=](Index i, Index) noexcept { return matrix(i, n); });
  }
  static double error(const plinth::HostExecution<>& exec, Index n, const plinth::Distribution& d,
                      const auto& x) {
    const plinth::Distribution system{
        d.rows, plinth::BlockCyclic(n + 1, d.cols.block(), d.cols.processes(), 0)};
    return plinth::hpl_residual(exec, plinth::HplMatrix{{n}}, system, x).scaled_residual(n);
  }
  static void solve(const int* n, const int* one, Scalar* a, const int* desc_a, int* pivots,
                    Scalar* b, const int* desc_b, int* info) {
    pdgesv_(n, one, a, one, one, desc_a, pivots, b, one, one, desc_b, info);
  }
};

/// The complex system: entries uniform in a square around 0, and b the sums of A's rows, so that
/// each unknown is 1. An answer's error is its largest distance from that, in units of
/// n^2 epsilon: conditions of such matrices are some n.
struct ComplexSystem {
  using Scalar = Kokkos::complex<double>;
  static constexpr const char* routine = "pzgesv";
  static constexpr double flops = 4;
  static constexpr double allowed = 16;

  static void fill(const plinth::HostExecution<>& exec, Index n, auto& a, auto& b) {
    const plinth::HplMatrix parts{{2 * n}};
    const auto entry = [=](Index i, Index j) noexcept {
      return Scalar(parts(i, j), parts(i, j + n));
    };
    plinth::generate(exec, a, entry);
    plinth::generate(exec, b, [=](Index i, Index) noexcept {
      Scalar sum(0);
      for (Index j = 0; j < n; ++j) sum += entry(i, j);
      return sum;
    });
  }
  static double error(const plinth::HostExecution<>&, Index n, const plinth::Distribution&,
                      const auto& x) {
    double most = 0;
    const auto local = x.local();
    for (Index j = 0; j < plinth::kernel::cols_of(local); ++j)
      for (Index i = 0; i < plinth::kernel::rows_of(local); ++i) {
        const double off = Kokkos::abs(local(i, j) - Scalar(1));
        most = off > most || off != off ? off : most;
      }
    const double size = static_cast<double>(n);
    return bench::longest(most) / (size * size * std::numeric_limits<double>::epsilon());
  }
  static void solve(const int* n, const int* one, Scalar* a, const int* desc_a, int* pivots,
                    Scalar* b, const int* desc_b, int* info) {
    pzgesv_(n, one, a, one, one, desc_a, pivots, b, one, one, desc_b, info);
  }
};

struct Measured {
  double seconds;
  double error;
};

template <class System>
Measured run_plinth(const plinth::ProcessGrid& grid, const Arguments& args) {
  using Matrix = plinth::DistributedMatrix<typename System::Scalar>;
  const plinth::HostExecution<> exec;
  Matrix a(grid, args.n, args.n, {.mb = args.nb, .nb = args.nb});
  Matrix b(grid, args.n, 1, {.mb = args.nb, .nb = args.nb});
  const plinth::Distribution d = a.distribution();
  System::fill(exec, args.n, a, b);
  const double seconds = bench::seconds_of([&] {
    const auto factors = plinth::lu_factor(exec, std::move(a));
    plinth::lu_solve(exec, factors, b);
  });
  return {seconds, System::error(exec, args.n, d, b)};
}

template <class System>
Measured run_scalapack(const plinth::ProcessGrid& grid, int context, const Arguments& args) {
  using Matrix =
      plinth::DistributedMatrix<typename System::Scalar, plinth::HostMemory, Kokkos::LayoutLeft>;
  const plinth::HostExecution<> exec;
  const Index nb = args.scalapack_nb;
  Matrix a(grid, args.n, args.n, {.mb = nb, .nb = nb}), b(grid, args.n, 1, {.mb = nb, .nb = nb});
  System::fill(exec, args.n, a, b);
  const int n = static_cast<int>(args.n), block = static_cast<int>(nb), zero = 0, one = 1;
  const int lld_a = static_cast<int>(plinth::kernel::leading_dimension(a.local()));
  const int lld_b = static_cast<int>(plinth::kernel::leading_dimension(b.local()));
  int desc_a[9], desc_b[9], info = 0;
  descinit_(desc_a, &n, &n, &block, &block, &zero, &zero, &context, &lld_a, &info);
  descinit_(desc_b, &n, &one, &block, &block, &zero, &zero, &context, &lld_b, &info);
  std::vector<int> pivots(static_cast<std::size_t>(a.local_extents().rows + nb));
  const double seconds = bench::seconds_of([&] {
    System::solve(&n, &one, a.local().data(), desc_a, pivots.data(), b.local().data(), desc_b,
                  &info);
  });
  return {seconds, System::error(exec, args.n, a.distribution(), b)};
}

/// All rounds; whether every answer was good.
template <class System>
bool compare(const plinth::ProcessGrid& grid, int context, const Arguments& args) {
  const bool speaks = grid.coord() == plinth::GridCoord{0, 0};
  if (speaks)
    std::printf("n = %lld, %d x %d ranks; GF/s and scaled error\n%6s %22s %22s %7s\n",
                static_cast<long long>(args.n), args.rows, args.cols, "round", "plinth",
                System::routine, "ratio");
  bool passed = true;
  std::vector<double> ratios, ours, theirs;
  for (int round = 0; round < args.rounds; ++round) {
    const Measured p = run_plinth<System>(grid, args);
    const Measured s = run_scalapack<System>(grid, context, args);
    ours.push_back(System::flops * bench::hpl_rate(args.n, p.seconds));
    theirs.push_back(System::flops * bench::hpl_rate(args.n, s.seconds));
    ratios.push_back(ours.back() / theirs.back());
    passed = passed && p.error < System::allowed && s.error < System::allowed;
    if (speaks)
      std::printf("%6d %11.1f %10.2e %11.1f %10.2e %7.3f\n", round, ours.back(), p.error,
                  theirs.back(), s.error, ratios.back());
  }
  if (speaks)
    std::printf("median %11.1f %10s %11.1f %10s %7.3f\n%s\n", bench::median(ours), "",
                bench::median(theirs), "", bench::median(ratios), passed ? "PASSED" : "FAILED");
  return passed;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, [=] {
    const Arguments args{bench::arguments(argc, argv, {8000, 1, 2, 5, 192}),
                         bench::argument(argc, argv, 6, 64)};
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{args.rows, args.cols});
    int context = Csys2blacs_handle(MPI_COMM_WORLD);
    Cblacs_gridinit(&context, "Row", args.rows, args.cols);
    const bool passed = bench::argument(argc, argv, 7, 0) != 0
                            ? compare<ComplexSystem>(grid, context, args)
                            : compare<RealSystem>(grid, context, args);
    Cblacs_gridexit(context);
    return passed;
  });
}
