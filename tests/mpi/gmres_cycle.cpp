// SPDX-License-Identifier: BSD-3-Clause
//
// A cycle of GMRES by itself, for diagonal matrices: a column is done after as many iterations as
// there are different entries of A where it is not zero, whatever happens to the other columns.
#include "plinth/refine/gmres_cycle.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/execution.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using plinth::ProcessGrid;
using Vectors = TestMatrix<double, Kokkos::LayoutRight>;
using Cycle = plinth::refine::GmresCycle<Exec, Vectors>;
using Columns = plinth::refine::ColumnOperations<Exec, Vectors>;

namespace {

constexpr Index n = 23, length = 6;

/// Five different ones.
double diagonal(Index i) { return static_cast<double>(1 + i % 5); }

/// Column j is not zero where A has one of j different entries; column 6 everywhere, where another
/// matrix has n of them; column 7 has a NaN.
double entry(Index i, Index j) {
  if (j == 7) return i == 11 ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  return i % 5 < j ? 1 + noise(i, j, 17) : 0;
}
constexpr Index c = 8;

/// y := D x, of process-local parts; D(i) a function of the global row.
template <class D>
struct Diagonal {
  D d;
  void operator()(const Vectors& x, const Vectors& y) const {
    const auto rows = x.distribution().rows;
    const int me = x.grid().coord().row;
    const auto from = x.local(), to = y.local();
    const D f = d;
    plinth::kernel::for_each<Kokkos::LayoutRight>(
        Exec(), plinth::kernel::rows_of(to), plinth::kernel::cols_of(to),
        [=](Index i, Index j) { to(i, j) = f(rows.global(i, me)) * from(i, j); });
    Exec().fence();
  }
};
template <class D>
Diagonal(D) -> Diagonal<D>;

/// A cycle, and what came of it.
struct Run {
  template <class Times>
  Run(const ProcessGrid& grid, const std::vector<bool>& active, double tolerance,
      const Times& times)
      : r(distribute(grid, make_dense<double>(n, c, entry), {.mb = 4, .nb = 3})),
        columns(Exec(), r),
        cycle(plinth::layout_of(r)) {
    cycle.prepare(columns, 2);
    const std::vector<double> tolerances(active.size(), tolerance);
    cycle(columns, times, [](const Vectors&) {}, r, active, tolerances, length);
    Vectors sum(grid, n, c, plinth::layout_of(r));
    columns.scale(std::vector<double>(active.size(), 0), sum, sum);
    for (std::size_t i = 0; i < cycle.size(); ++i)
      columns.axpy(cycle.coefficients(i), cycle.vector(i), sum);
    d = gather(sum);
  }
  /// || r - A d || / || r || of a column, in the 2-norm.
  double left(Index j) const {
    double squares = 0, all = 0;
    for (Index i = 0; i < n; ++i) {
      const double e = entry(i, j) - diagonal(i) * d(i, j);
      squares += e * e;
      all += entry(i, j) * entry(i, j);
    }
    return std::sqrt(squares / all);
  }

  Vectors r;
  Columns columns;
  Cycle cycle;
  Dense<double> d = Dense<double>(0, 0);
};

}  // namespace

TEST_CASE("a cycle of GMRES: every column until it is done", "[refine]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const std::vector<bool> all(c, true);
    const Run run(grid, all, 1e-12, Diagonal{diagonal});
    const int iterations[] = {0, 1, 2, 3, 4, 5, 5, 0};
    for (Index j = 0; j < c; ++j) {
      INFO("column " << j);
      const auto at = static_cast<std::size_t>(j);
      CHECK(run.cycle.iterations(at) == iterations[at]);
      CHECK(run.cycle.is_broken(at) == (j == 7));
      if (j > 0 && j < 7) CHECK(run.left(j) < 1e-12);
    }
    CHECK(run.cycle.steps() == 5);
    CHECK(run.cycle.size() == 6);
    // Nothing comes of columns that are zero, or have a NaN.
    for (Index i = 0; i < n; ++i) {
      CHECK(run.d(i, 0) == 0);
      CHECK(run.d(i, 7) == 0);
    }
  });
}

TEST_CASE("a cycle of GMRES: columns do not see each other", "[refine]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Run together(grid, std::vector<bool>(c, true), 1e-12, Diagonal{diagonal});
    for (const Index j : {2, 5}) {
      std::vector<bool> one(c, false);
      one[static_cast<std::size_t>(j)] = true;
      const Run alone(grid, one, 1e-12, Diagonal{diagonal});
      CHECK(alone.cycle.steps() == j);
      for (Index i = 0; i < n; ++i) {
        CHECK(alone.d(i, j) == together.d(i, j));
        CHECK(alone.d(i, 4) == 0);
      }
      CHECK(alone.cycle.iterations(4) == 0);
      CHECK_FALSE(alone.cycle.is_broken(7));
    }
  });
}

TEST_CASE("a cycle of GMRES ends by its tolerance or its length", "[refine]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const std::vector<bool> all(c, true);
    const Run coarse(grid, all, 0.25, Diagonal{diagonal});
    for (const Index j : {3, 4, 5}) {
      INFO("column " << j);
      CHECK(coarse.cycle.iterations(static_cast<std::size_t>(j)) < j);
      CHECK(coarse.left(j) <= 0.25 * (1 + 1e-12));
    }
    const Run cut(grid, all, 1e-12,
                  Diagonal{[](Index i) { return static_cast<double>(1 + i); }});
    CHECK(cut.cycle.steps() == length);
    CHECK(cut.cycle.iterations(6) == length);
    CHECK_FALSE(cut.cycle.is_broken(6));
  });
}

TEST_CASE("a cycle of GMRES: what breaks later keeps what it had", "[refine]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    int products = 0;
    const auto times = [&](const Vectors& x, const Vectors& y) {
      const double last = ++products == 3 ? std::numeric_limits<double>::infinity() : 1.0;
      Diagonal{[=](Index i) { return i == 3 ? diagonal(i) * last : diagonal(i); }}(x, y);
    };
    const Run run(grid, std::vector<bool>(c, true), 1e-12, times);
    CHECK_FALSE(run.cycle.is_broken(2));
    CHECK(run.left(2) < 1e-12);
    CHECK(run.cycle.is_broken(4));
    CHECK(run.cycle.iterations(4) == 3);
    CHECK(run.left(4) < 0.5);
  });
}
