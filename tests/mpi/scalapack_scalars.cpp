// SPDX-License-Identifier: BSD-3-Clause
//
// The calls that stand for psgesv, pcgesv and pzgesv, complex numbers as std::complex.
#include <complex>
#include <cstddef>
#include <vector>

#include "plinth/interop/scalapack.hpp"
#include "support/catch.hpp"
#include "support/problems.hpp"

using namespace plinth_test;

TEMPLATE_TEST_CASE("pgesv of other scalar types", "[scalapack]", float, std::complex<float>,
                   std::complex<double>) {
  using T = typename plinth::scalapack::ScalarOf<TestType>::type;
  const int n = 17, nb = 3, ranks = world_size();
  const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, ranks});
  const plinth::scalapack::Descriptor desc{1, 0, n, n, nb, nb, 0, ranks - 1, n};
  const auto entry = [](Index i, Index j) noexcept { return noise_as<T>(i, j, 43); };
  const auto whole = make_dense<T>(n, n, entry);
  const auto rhs = make_dense<T>(n, 2, [](Index i, Index j) { return noise_as<T>(i, j, 44); });
  std::vector<TestType> a(static_cast<std::size_t>(n * n)), b(a);
  std::vector<int> ipiv(static_cast<std::size_t>(n + nb));
  const auto wrapped = [&](auto& x, int cols) {
    return plinth::scalapack::wrap(grid, n, cols, x.data(), 1, 1, desc.data());
  };
  auto of_a = wrapped(a, n);
  auto of_b = wrapped(b, 2);
  plinth::generate(plinth::HostExecution<>(), of_a, entry);
  plinth::generate(plinth::HostExecution<>(), of_b,
                   [&](Index i, Index j) noexcept { return rhs(i, j); });
  int info = -99;
  plinth::scalapack::pgesv(grid, n, 2, a.data(), 1, 1, desc.data(), ipiv.data(), b.data(), 1, 1,
                           desc.data(), info);
  CHECK(info == 0);
  CHECK(solve_ratio(whole, gather(of_b), rhs, plinth::Op::none) < 30);
}
