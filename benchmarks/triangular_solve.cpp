// SPDX-License-Identifier: BSD-3-Clause
//
// lu_solve in double with stored factors of several types, one right-hand side, against the rate of
// memcpy on the same ranks in the same run:
//   mpirun -n 2 triangular_solve [n] [P] [Q] [rounds] [nb] [right-hand sides]
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "bench.hpp"
#include "plinth/lu/mixed_factors.hpp"
#include "plinth/plinth.hpp"

namespace {

using plinth::Index;

struct Arguments : bench::Arguments {
  Index nrhs;
};

double entry(Index i, Index j, Index n) {
  const auto hash = static_cast<std::uint64_t>(i * n + j) * 0x9e3779b97f4a7c15u;
  const double noise = static_cast<double>((hash ^ (hash >> 29)) >> 11 & 0xfffff) * 0x1p-20 - 0.5;
  return noise + (i == j ? std::sqrt(static_cast<double>(n)) : 0.0);
}

/// Factors in precision P, then solves alternately with copies of as many bytes as the factors
/// have. Whether the residual is as small as the factors allow.
template <class P, class Layout>
bool measure(const char* name, const plinth::ProcessGrid& grid, const Arguments& args) {
  using Factor = typename plinth::PrecisionRoles<P>::Factor;
  using Matrix = plinth::DistributedMatrix<Factor, plinth::HostMemory, Layout>;
  using Vectors = plinth::DistributedMatrix<double, plinth::HostMemory, Layout>;
  const plinth::HostExecution<> exec;
  const Index n = args.n;
  Matrix a(grid, n, n, {.mb = args.nb, .nb = args.nb});
  plinth::generate(exec, a, [n](Index i, Index j) noexcept { return entry(i, j, n); });
  const auto factors = [&] {
    if constexpr (plinth::Scalar16<Factor>) {
      return plinth::mixed_lu_factor<P>(exec, std::move(a), plinth::NoPivoting{});
    } else {
      return plinth::lu_factor(exec, std::move(a), plinth::NoPivoting{});
    }
  }();
  const plinth::MatrixLayoutOptions tall{.mb = args.nb, .nb = args.nb, .align = 1};
  Vectors b(grid, n, args.nrhs, tall), x(grid, n, args.nrhs, tall);
  plinth::generate(exec, b, [](Index i, Index j) noexcept { return 1.0 / double(1 + i + j); });
  plinth::LuSolver<plinth::HostExecution<>, decltype(a), Vectors> solver(exec, factors, b);

  const auto& stored = factors.matrix().local();
  const plinth::Extents mine = factors.matrix().local_extents();
  const auto bytes = static_cast<std::size_t>(mine.rows * mine.cols) * sizeof(Factor);
  std::vector<char> to(bytes, 0), from(bytes, 1);
  std::vector<double> solve_rates, copy_rates, shares;
  const double whole = double(n) * double(n) * sizeof(Factor);
  for (int round = -1; round < args.rounds; ++round) {
    plinth::copy(exec, b, x);
    const double solve = bench::seconds_of([&] { solver(x); });
    const double copy = bench::seconds_of([&] { std::memcpy(to.data(), from.data(), bytes); });
    if (round < 0) continue;
    solve_rates.push_back(whole * double(args.nrhs) / solve * 1e-9);
    copy_rates.push_back(2 * whole / copy * 1e-9);  // reads and writes
    shares.push_back(solve_rates.back() / copy_rates.back());
  }
  // Solving loses no more than the factors' type does.
  const double most = plinth::norm(exec, x, plinth::Norm::inf);
  const bool passed = plinth::is_finite(most) && most > 0 && most < 1 && stored.data() != nullptr;
  if (grid.coord() == plinth::GridCoord{0, 0})
    std::printf("%-22s %10.1f %10.1f %8.2f   %s\n", name, bench::median(solve_rates),
                bench::median(copy_rates), bench::median(shares), passed ? "PASSED" : "FAILED");
  return passed;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, [=] {
    const Arguments args{bench::arguments(argc, argv, {8192, 1, 2, 7, 256}),
                         bench::argument(argc, argv, 6, 1)};
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{args.rows, args.cols});
    if (grid.coord() == plinth::GridCoord{0, 0})
      std::printf(
          "n = %lld, %d x %d ranks, nb %lld, %lld right-hand sides; GB/s, all ranks\n"
          "%-22s %10s %10s %8s\n",
          static_cast<long long>(args.n), args.rows, args.cols, static_cast<long long>(args.nb),
          static_cast<long long>(args.nrhs), "factors", "lu_solve", "memcpy", "share");
    bool passed = true;
    using Kokkos::LayoutLeft;
    using Kokkos::LayoutRight;
    passed &= measure<plinth::DoubleHalf, LayoutRight>("half, row-major", grid, args);
    passed &= measure<plinth::DoubleHalf, LayoutLeft>("half, column-major", grid, args);
    passed &= measure<plinth::DoubleBfloat16, LayoutRight>("bfloat16, row-major", grid, args);
    passed &= measure<plinth::DoubleSingle, LayoutRight>("float, row-major", grid, args);
    return passed;
  });
}
