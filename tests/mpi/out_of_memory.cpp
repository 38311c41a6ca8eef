// SPDX-License-Identifier: BSD-3-Clause
//
// A rank that runs out of memory: all ranks learn of it, and none waits for ever. Each allocation
// that grows with the system fails in turn, on one rank alone. And how much is allocated.
#include <cmath>
#include <string>

#include "support/allocations.hpp"
#include "support/mixed_instances.hpp"
#include "support/refined.hpp"

using namespace plinth_test;
using plinth::ErrorKind;
using plinth::ProcessGrid;
using plinth::SolveOptions;
using Matrix = TestMatrix<double, Kokkos::LayoutRight>;

namespace {

/// What is smaller does not grow with the system: numbers per process, names, messages.
constexpr std::size_t least = 512;

ProcessGrid a_grid() {
  const int ranks = world_size(), p = ranks % 2 == 0 ? 2 : 1;
  return ProcessGrid(MPI_COMM_WORLD, plinth::RowMajorGrid{p, ranks / p});
}

/// work() must throw an Error of kind memory on all ranks whichever of its allocations fails on
/// the last one; returns how many there are.
template <class Work>
long check_each_failure(const Work& work) {
  work();  // what is allocated once in the life of a program
  const int last = world_size() - 1;
  const bool mine = world_rank() == last;
  for (long n = 0;; ++n) {
    INFO("allocation " << n);
    int failed = 0;
    std::string error;
    {
      const WatchAllocations watch(least, mine ? n : AllocationWatch::never);
      error = error_of(work, ErrorKind::memory);
      failed = mine && watch.has_failed() ? 1 : 0;
    }
    MPI_Bcast(&failed, 1, MPI_INT, last, MPI_COMM_WORLD);
    INFO(error);
    CHECK((error != "(no error)" && error.find("(other kind)") != 0) == (failed != 0));
    if (failed == 0) return n;
  }
}

double rhs_entry(Index i, Index j) { return noise(i, j, 112); }

/// A system whose refinement takes several iterations, on its grid.
struct System {
  ProcessGrid grid = a_grid();
  Index n = 160;
  Matrix a = distribute(grid, svd_type(n, 1e4), {.mb = 8, .nb = 8});
  Matrix b = distribute(grid, make_dense<double>(n, 2, rhs_entry), {.mb = 8, .nb = 1});
  Matrix x{grid, n, 2, {.mb = 8, .nb = 1}};
};

}  // namespace

TEST_CASE("out of memory on one rank: solve", "[memory]") {
  System s;
  CHECK(check_each_failure([&] { (void)plinth::solve(Exec(), s.a, s.b, s.x); }) >= 3);
}

TEST_CASE("out of memory on one rank: solve with refinement", "[memory]") {
  System s;
  const auto check = [&](const auto& options) {
    return check_each_failure(
        [&] { (void)plinth::solve<plinth::DoubleHalf>(Exec(), s.a, s.b, s.x, options); });
  };
  CHECK(check(SolveOptions<>{}) > 10);
  // Equilibrated or not, refined in another way, and all of it again in double.
  CHECK(check(SolveOptions<plinth::ClassicalRefinement>{
            .refinement = {.max_steps = 1}, .fall_back = true, .equilibrate = false}) > 10);
}

TEST_CASE("out of memory on one rank: the check of a generated system", "[memory]") {
  System s;
  const plinth::HplMatrix source{{.n = s.n, .seed = 3}};
  plinth::Distribution d = s.a.distribution();
  Matrix x(s.grid, s.n, 1, {.mb = 8, .nb = 1});
  plinth::generate(Exec(), x, [](Index i, Index j) noexcept { return rhs_entry(i, j); });
  CHECK(check_each_failure([&] { (void)plinth::hpl_residual(Exec(), source, d, x); }) >= 3);
}

TEST_CASE("out of memory on one rank: a solver that is given its matrix", "[memory]") {
  System s;
  plinth::LinearSolver solver(Exec(), s.a);
  const auto whole = svd_type(s.n, 1e4);
  CHECK(check_each_failure([&] {
          auto given = distribute(s.grid, whole, {.mb = 8, .nb = 8});
          (void)solver.factor(std::move(given));
        }) >= 1);
}

TEST_CASE("out of memory on one rank: a refinement that is used again", "[memory]") {
  System s;
  plinth::StoredOperator<Exec, Matrix> product(Exec(), s.a, 2);
  const auto times = [&](const Matrix& x, Matrix& y) { product(x, y); };
  const auto nothing = [](Matrix&) {};
  const double a_norm = plinth::norm(Exec(), s.a, plinth::Norm::inf);
  // Without a preconditioner many basis vectors are wanted: its lists grow on the way.
  const plinth::GmresRefinement policy{.restart = 60, .max_cycles = 1};
  const int last = world_size() - 1;
  for (long n = 0, failed = 1; failed != 0; n += 3) {
    INFO("allocation " << n);
    plinth::Refinement<Exec, Matrix> refinement(Exec(), s.b);
    const auto refine = [&] {
      return refinement(times, nothing, a_norm, s.b, s.x, policy, plinth::BackwardErrorBelow{})
          .iterations();
    };
    std::string error;
    {
      const WatchAllocations watch(least, world_rank() == last ? n : AllocationWatch::never);
      error = error_of([&] { (void)refine(); }, ErrorKind::memory);
      failed = world_rank() == last && watch.has_failed() ? 1 : 0;
    }
    MPI_Bcast(&failed, 1, MPI_LONG, last, MPI_COMM_WORLD);
    CHECK((error != "(no error)") == (failed != 0));
    CHECK(refine() > 30);
  }
}
