// SPDX-License-Identifier: BSD-3-Clause
#include "support/catch.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using plinth::DistributedMatrix;
using plinth::HostExecution;
using plinth::ProcessGrid;
using plinth::RowMajorGrid;

namespace {

struct Size {
  Index n, nb;
};
constexpr Size sizes[] = {
    {0, 4},    // nothing at all
    {1, 4},    // one element, nb > n
    {3, 4},    // nb - 1
    {4, 4},    // one block
    {5, 4},    // nb + 1: a last block of one
    {13, 1},   // a block per column
    {50, 8},   // ragged
    {100, 16}  // several rounds of every grid
};

template <class T, class Layout>
void factor_and_solve(const plinth::GridShape shape, const Size size,
                      const plinth::lu::FactorOptions& options) {
  const HostExecution<> exec;
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
  using Matrix = DistributedMatrix<T, plinth::HostMemory, Layout>;
  const Index n = size.n, nb = size.nb, nrhs = 3;
  const auto f = [](Index i, Index j) noexcept { return noise_as<T>(i, j); };
  const auto g = [](Index i, Index j) noexcept { return noise_as<T>(i, j, 7); };
  Matrix a(grid, n, n, {.mb = nb, .nb = nb});
  plinth::generate(exec, a, f);
  const auto whole = make_dense<T>(n, n, f);
  const auto rhs = make_dense<T>(n, nrhs, g);
  const auto factors =
      plinth::lu_factor(exec, std::move(a), plinth::PartialPivoting{}, options);
  if (!grid.active()) return;
  CHECK_FALSE(factors.first_zero_pivot());
  CHECK(factor_ratio(whole, gather(factors.matrix()), gather_pivots(factors)) < 30);
  for (const auto op :
       {plinth::Op::none, plinth::Op::transpose, plinth::Op::conj_transpose}) {
    Matrix b(grid, n, nrhs, {.mb = nb, .nb = 2});
    plinth::generate(exec, b, g);
    plinth::lu_solve(exec, factors, b, op, 2);
    CHECK(solve_ratio(whole, gather(b), rhs, op) < 30);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("LU factors and solves", "[lu]", float, double, Kokkos::complex<float>,
                   Kokkos::complex<double>) {
  for (const auto shape : grids(world_size()))
    for (const auto size : sizes)
      for (const Index depth : {0, 1, 3}) {
        INFO("grid " << shape.rows << "x" << shape.cols << " n " << size.n << " nb " << size.nb
                     << " depth " << depth);
        factor_and_solve<TestType, Kokkos::LayoutRight>(shape, size, {.lookahead = depth});
        factor_and_solve<TestType, Kokkos::LayoutLeft>(shape, size, {.lookahead = depth});
      }
}
