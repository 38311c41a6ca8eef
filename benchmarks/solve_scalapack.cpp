// SPDX-License-Identifier: BSD-3-Clause
//
// Plinth's lu_factor + lu_solve against ScaLAPACK's pdgesv on the same system, alternately, on
// the same ranks: mpirun -n 2 solve_scalapack [n] [P] [Q] [rounds] [nb] [ScaLAPACK's nb]
#include <mpi.h>

#include <cstdio>
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
}

namespace {

using plinth::Index;

struct Arguments : bench::Arguments {
  Index scalapack_nb;
};

/// The entries of both systems: netlib HPL's.
void fill(const plinth::HostExecution<>& exec, Index n, auto& a, auto& b) {
  const plinth::HplMatrix matrix{{n}};
  plinth::generate(exec, a, matrix);
  plinth::generate(exec, b, [=](Index i, Index) noexcept { return matrix(i, n); });
}

double residual_of(const plinth::HostExecution<>& exec, Index n, const plinth::Distribution& d,
                   const auto& x) {
  const plinth::Distribution system{
      d.rows, plinth::BlockCyclic(n + 1, d.cols.block(), d.cols.processes(), 0)};
  return plinth::hpl_residual(exec, plinth::HplMatrix{{n}}, system, x).scaled_residual(n);
}

struct Measured {
  double seconds;
  double residual;
};

Measured run_plinth(const plinth::ProcessGrid& grid, const Arguments& args) {
  const plinth::HostExecution<> exec;
  plinth::DistributedMatrix<double> a(grid, args.n, args.n, {.mb = args.nb, .nb = args.nb});
  plinth::DistributedMatrix<double> b(grid, args.n, 1, {.mb = args.nb, .nb = args.nb});
  const plinth::Distribution d = a.distribution();
  fill(exec, args.n, a, b);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  const auto factors = plinth::lu_factor(exec, std::move(a));
  plinth::lu_solve(exec, factors, b);
  const double seconds = bench::longest(MPI_Wtime() - begin);
  return {seconds, residual_of(exec, args.n, d, b)};
}

Measured run_scalapack(const plinth::ProcessGrid& grid, int context, const Arguments& args) {
  using Matrix = plinth::DistributedMatrix<double, plinth::HostMemory, Kokkos::LayoutLeft>;
  const plinth::HostExecution<> exec;
  const Index nb = args.scalapack_nb;
  Matrix a(grid, args.n, args.n, {.mb = nb, .nb = nb}), b(grid, args.n, 1, {.mb = nb, .nb = nb});
  fill(exec, args.n, a, b);
  const int n = static_cast<int>(args.n), block = static_cast<int>(nb), zero = 0, one = 1;
  const int lld_a = static_cast<int>(plinth::kernel::leading_dimension(a.local()));
  const int lld_b = static_cast<int>(plinth::kernel::leading_dimension(b.local()));
  int desc_a[9], desc_b[9], info = 0;
  descinit_(desc_a, &n, &n, &block, &block, &zero, &zero, &context, &lld_a, &info);
  descinit_(desc_b, &n, &one, &block, &block, &zero, &zero, &context, &lld_b, &info);
  std::vector<int> pivots(static_cast<std::size_t>(a.local_extents().rows + nb));
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  pdgesv_(&n, &one, a.local().data(), &one, &one, desc_a, pivots.data(), b.local().data(), &one,
          &one, desc_b, &info);
  const double seconds = bench::longest(MPI_Wtime() - begin);
  return {seconds, residual_of(exec, args.n, a.distribution(), b)};
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, [=] {
    const Arguments args{bench::arguments(argc, argv, {8000, 1, 2, 5, 192}),
                         bench::argument(argc, argv, 6, 64)};
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{args.rows, args.cols});
    int context = Csys2blacs_handle(MPI_COMM_WORLD);
    Cblacs_gridinit(&context, "Row", args.rows, args.cols);
    const bool speaks = grid.coord() == plinth::GridCoord{0, 0};
    if (speaks)
      std::printf("n = %lld, %d x %d ranks; GF/s and scaled residual\n%6s %22s %22s %7s\n",
                  static_cast<long long>(args.n), args.rows, args.cols, "round", "plinth",
                  "pdgesv", "ratio");
    bool passed = true;
    std::vector<double> ratios, ours, theirs;
    for (int round = 0; round < args.rounds; ++round) {
      const Measured p = run_plinth(grid, args);
      const Measured s = run_scalapack(grid, context, args);
      ours.push_back(bench::hpl_rate(args.n, p.seconds));
      theirs.push_back(bench::hpl_rate(args.n, s.seconds));
      ratios.push_back(ours.back() / theirs.back());
      passed = passed && p.residual < 16 && s.residual < 16;
      if (speaks)
        std::printf("%6d %11.1f %10.2e %11.1f %10.2e %7.3f\n", round, ours.back(), p.residual,
                    theirs.back(), s.residual, ratios.back());
    }
    if (speaks)
      std::printf("median %11.1f %10s %11.1f %10s %7.3f\n%s\n", bench::median(ours), "",
                  bench::median(theirs), "", bench::median(ratios), passed ? "PASSED" : "FAILED");
    Cblacs_gridexit(context);
    return passed;
  });
}
