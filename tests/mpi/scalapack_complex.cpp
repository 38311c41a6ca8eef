// SPDX-License-Identifier: BSD-3-Clause
//
// The call that stands for pzgesv, on std::complex.
#include <complex>

#include "plinth/interop/scalapack.hpp"
#include "support/catch.hpp"
#include "support/problems.hpp"

using namespace plinth_test;

TEST_CASE("pgesv of std::complex", "[scalapack]") {
  using Complex = Kokkos::complex<double>;
  const int n = 17, nb = 3, ranks = world_size();
  const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, ranks});
  const plinth::scalapack::Descriptor desc{1, 0, n, n, nb, nb, 0, ranks - 1, n};
  const auto entry = [](Index i, Index j) noexcept { return noise_as<Complex>(i, j, 43); };
  const auto whole = make_dense<Complex>(n, n, entry);
  const auto rhs =
      make_dense<Complex>(n, 2, [](Index i, Index j) { return noise_as<Complex>(i, j, 44); });
  std::vector<std::complex<double>> a(static_cast<std::size_t>(n * n)), b(a);
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
