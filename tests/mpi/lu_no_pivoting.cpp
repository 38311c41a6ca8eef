// SPDX-License-Identifier: BSD-3-Clause
//
// lu_factor without pivoting, in double and in float: A = L U, pivots in place.
#include <cmath>

#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using plinth::NoPivoting;
using plinth::ProcessGrid;

namespace {

template <class T>
auto matrix_of(const ProcessGrid& grid, const Dense<T>& a, Index nb) {
  TestMatrix<T, Kokkos::LayoutRight> m(grid, a.rows, a.cols, {.mb = nb, .nb = nb});
  plinth::generate(Exec(), m, [&](Index i, Index j) { return a(i, j); });
  return m;
}

}  // namespace

TEMPLATE_TEST_CASE("LU without pivoting: L U is A, rows stay where they are", "[lu][nopivoting]",
                   PLINTH_TEST_TYPES(double, float)) {
  using T = TestType;
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{shape.rows, shape.cols});
    for (const Index n : {1, 7, 40, 53})
      for (const Index lookahead : {0, 1, 2}) {
        INFO("grid " << shape.rows << "x" << shape.cols << ", n " << n << ", look-ahead "
                     << lookahead);
        // The diagonal is small now and then: pivoting would take another row.
        const auto a = make_dense<T>(n, n, [n](Index i, Index j) {
          const double diagonal = std::sqrt(static_cast<double>(n)) * (i % 3 == 0 ? -1 : 1);
          return static_cast<T>(i == j ? diagonal : noise(i, j) * (i == j + 1 ? 8 : 1));
        });
        const auto factors = plinth::lu_factor(Exec(), matrix_of(grid, a, 6), NoPivoting{},
                                               {.lookahead = lookahead});
        if (!grid.active()) continue;
        const auto pivots = gather_pivots(factors);
        for (Index i = 0; i < n; ++i) CHECK(pivots[static_cast<std::size_t>(i)] == i);
        CHECK(factor_ratio(a, gather(factors.matrix()), pivots) < 30);
        CHECK_FALSE(factors.first_zero_pivot());
        CHECK_FALSE(factors.report());
        CHECK(factors.exponents().empty());
      }
    auto identity = make_dense<T>(9, 9, [](Index i, Index j) { return T(i == j ? 1 : 0); });
    identity(4, 4) = 0;
    identity(4, 5) = identity(5, 4) = 1;
    const auto broken = plinth::lu_factor(Exec(), matrix_of(grid, identity, 6), NoPivoting{});
    const auto pivoted = plinth::lu_factor(Exec(), matrix_of(grid, identity, 6));
    if (!grid.active()) continue;
    CHECK(broken.first_zero_pivot() == 4);
    CHECK_FALSE(pivoted.first_zero_pivot());
  }
}
