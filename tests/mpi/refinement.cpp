// SPDX-License-Identifier: BSD-3-Clause
//
// Refinement by itself: with factors of a matrix that is not quite A, or with operators that do
// what a test wants, on every grid.
#include "plinth/refine/refinement.hpp"

#include <functional>
#include <limits>

#include "plinth/refine/stored_operator.hpp"
#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/locked_device.hpp"
#include "support/message_counter.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using Layout = Kokkos::LayoutRight;
using plinth::BackwardErrorBelow;
using plinth::ClassicalRefinement;
using plinth::GmresRefinement;
using plinth::InitialGuess;
using plinth::NoRefinement;
using plinth::ProcessGrid;
using plinth::RefinementOutcome;
using plinth::RefinementReport;

namespace {

using Matrix = HostMatrix<double, Layout>;
/// One instance of the driver for all cases.
using Times = std::function<void(const Matrix&, Matrix&)>;
using Solve = std::function<void(Matrix&)>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

double entry(Index i, Index j) { return noise(i, j, 71) + (i == j ? 2 : 0); }
double rhs_entry(Index i, Index j) { return noise(i, j, 72); }

/// A system A X = B, and factors of another matrix M to solve it with.
struct Problem {
  Index n;
  Dense<double> a, b;
  Matrix da, db, dx;
  HostFactors<double, Layout> factors;
  double a_norm;
  plinth::StoredOperator<Host, Matrix> product;

  Problem(const ProcessGrid& grid, const Dense<double>& whole, const Dense<double>& m,
          const Dense<double>& rhs, Index nb = 6)
      : n(whole.rows),
        a(whole),
        b(rhs),
        da(distribute(grid, a, {.mb = nb, .nb = nb})),
        db(distribute(grid, b, {.mb = nb, .nb = 2})),
        dx(grid, n, rhs.cols, {.mb = nb, .nb = 2}),
        factors(plinth::lu_factor(Host(), distribute(grid, m, {.mb = nb, .nb = nb}))),
        a_norm(plinth::norm(Host(), da, plinth::Norm::inf)),
        product(Host(), da, 4) {}

  Times times() {
    return [this](const Matrix& x, Matrix& y) { product(x, y); };
  }
  Solve solve() {
    return [this](Matrix& r) { plinth::lu_solve(Host(), factors, r); };
  }
  template <class Policy, class Criterion = BackwardErrorBelow>
  RefinementReport refine(const Policy& policy, const Criterion& done = {},
                          InitialGuess guess = InitialGuess::none) {
    plinth::Refinement<Host, Matrix> refinement(Host(), db);
    return refinement(times(), solve(), a_norm, db, dx, policy, done, guess);
  }
  /// Column c's backward error, the plain way.
  double backward_error(Index c) const { return column_error(a, gather(dx), b, c); }
};

/// M: A with every entry changed by up to this share.
Dense<double> perturbed(const Dense<double>& a, double share) {
  auto m = a;
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = 0; i < a.rows; ++i) m(i, j) *= 1 + 2 * share * noise(i, j, 73);
  return m;
}

}  // namespace

TEST_CASE("refinement: every column reaches its own backward error", "[refine]") {
  on_every_grid([](const ProcessGrid& grid) {
    if (!grid.active()) return;
    struct Size {
      Index n, nrhs;
    };
    for (const Size s : {Size{0, 2}, Size{1, 1}, Size{37, 0}, Size{37, 1}, Size{50, 5}}) {
      INFO("n " << s.n << ", nrhs " << s.nrhs);
      const auto a = make_dense<double>(s.n, s.n, entry);
      // Columns of very different size, and one of zeros.
      const int exponents[] = {0, -900, 900, -300, 40};
      const auto b = make_dense<double>(s.n, s.nrhs, [&](Index i, Index j) {
        return j == 4 ? 0.0 : std::ldexp(rhs_entry(i, j), exponents[j]);
      });
      Problem problem(grid, a, perturbed(a, 1e-3), b);
      const auto check = [&](const RefinementReport& report) {
        REQUIRE(static_cast<Index>(report.columns.size()) == s.nrhs);
        CHECK(report.converged());
        for (Index c = 0; c < s.nrhs; ++c) {
          const auto& column = report.columns[static_cast<std::size_t>(c)];
          INFO("column " << c);
          const double goal = BackwardErrorBelow{}.goal(s.n, 0x1p-53);
          CHECK(column.backward_error <= goal);
          CHECK(problem.backward_error(c) <= 2 * goal);
          CHECK(column.backward_error == column.backward_errors.back());
          CHECK(column.iterations <= 12);
        }
      };
      check(problem.refine(ClassicalRefinement{}));
      check(problem.refine(GmresRefinement{}));
      if (s.nrhs == 0 || s.n < 2) continue;
      const auto none = problem.refine(NoRefinement{});
      CHECK_FALSE(none.converged());
      CHECK(none.columns[0].outcome == RefinementOutcome::iteration_limit);
      CHECK(none.columns[0].backward_errors.size() == 1);
      CHECK(none.columns[0].backward_error > 1e-6);
      CHECK(none.columns[0].iterations == 0);
      CHECK(none.solves == 1);
      CHECK(none.products == 1);
      // What is given is the first guess: nothing is left to do for a refined one.
      problem.refine(GmresRefinement{});
      const auto x = gather(problem.dx);
      const auto again =
          problem.refine(GmresRefinement{}, BackwardErrorBelow{}, InitialGuess::given);
      CHECK(again.converged());
      CHECK(again.solves == 0);
      CHECK(same_bits(gather(problem.dx), x));
    }
  });
}

TEST_CASE("refinement: GMRES converges where the classical one does not", "[refine]") {
  on_every_grid([](const ProcessGrid& grid) {
    if (!grid.active()) return;
    const Index n = 40;
    const auto a = make_dense<double>(n, n, entry);
    // M differs from A by a matrix of rank 3, a large one: at most 4 iterations of GMRES are
    // wanted, up to rounding, and the error matrix of the classical one is far above 1.
    auto m = a;
    for (const Index row : {3, 17, 39})
      for (Index j = 0; j < n; ++j) m(row, j) *= row == 17 ? -0.05 : 0.02;
    Problem problem(grid, a, m, make_dense<double>(n, 3, rhs_entry));
    const auto gmres = problem.refine(GmresRefinement{});
    CHECK(gmres.converged());
    CHECK(gmres.iterations() <= 12);
    for (Index c = 0; c < 3; ++c) CHECK(problem.backward_error(c) <= 2 * n * 0x1p-53);
    const auto classical = problem.refine(ClassicalRefinement{});
    CHECK_FALSE(classical.converged());
    for (const auto& column : classical.columns)
      CHECK(column.outcome == RefinementOutcome::stagnated);
    // Cycles that are just long enough do as well.
    const auto restarted = problem.refine(GmresRefinement{.restart = 4});
    CHECK(restarted.converged());
    const auto cycles = static_cast<int>(restarted.columns[0].backward_errors.size()) - 1;
    CHECK(restarted.columns[0].iterations <= 4 * cycles);
  });
}

TEST_CASE("refinement: GMRES with matrices of any size", "[refine]") {
  on_every_grid([](const ProcessGrid& grid) {
    if (!grid.active()) return;
    const Index n = 20;
    for (const int exponent : {-600, 600}) {
      INFO("A 2^" << exponent);
      const auto a = make_dense<double>(
          n, n, [&](Index i, Index j) { return std::ldexp(entry(i, j), exponent); });
      Problem problem(grid, a, perturbed(a, 1e-3), make_dense<double>(n, 2, rhs_entry));
      const auto report = problem.refine(GmresRefinement{});
      CHECK(report.converged());
      for (Index c = 0; c < 2; ++c) CHECK(problem.backward_error(c) <= 2 * n * 0x1p-53);
    }
  });
}

TEST_CASE("refinement: a step that makes a column worse is taken back", "[refine]") {
  on_every_grid([](const ProcessGrid& grid) {
    if (!grid.active()) return;
    const Index n = 20;
    const auto b = make_dense<double>(n, 2, rhs_entry);
    const Matrix db = distribute(grid, b, {.mb = 3, .nb = 1});
    Matrix dx(grid, n, 2, {.mb = 3, .nb = 1});
    const Times identity = [](const Matrix& x, Matrix& y) { plinth::copy(Host(), x, y); };
    plinth::Refinement<Host, Matrix> refinement(Host(), db);
    for (const double wrong : {-4.0, infinity}) {
      INFO("factor " << wrong);
      // Column 1 gets corrections in the wrong direction, column 0 good ones.
      int calls = 0;
      const Solve solve = [&](Matrix& r) {
        ++calls;
        for (Index l = 0; l < r.local_extents().cols; ++l)
          for (Index i = 0; i < r.local_extents().rows; ++i)
            r.local()(i, l) *= calls == 1 || r.global_col(l) == 0 ? 1 - 0x1p-20 : wrong;
      };
      const auto report = refinement(identity, solve, 1.0, db, dx, ClassicalRefinement{},
                                     BackwardErrorBelow{.factor = 0.1});
      CHECK(report.columns[0].outcome == RefinementOutcome::converged);
      const auto& bad = report.columns[1];
      CHECK(bad.outcome ==
            (wrong < 0 ? RefinementOutcome::stagnated : RefinementOutcome::non_finite));
      REQUIRE(bad.backward_errors.size() == 2);
      CHECK(bad.backward_error == bad.backward_errors[0]);
      CHECK_FALSE(bad.backward_errors[1] <= bad.backward_errors[0]);
      const auto x = gather(dx);
      for (Index i = 0; i < n; ++i) CHECK(x(i, 1) == b(i, 1) * (1 - 0x1p-20));
    }
  });
}

TEST_CASE("refinement: what satisfies the criterion is kept", "[refine]") {
  // The residual shrinks while the backward error grows, since x shrinks more.
  struct ResidualBelow {
    double bound;
    bool operator()(const plinth::ColumnState& state) const { return state.r_norm <= bound; }
    double goal(Index, double) const { return 0x1p-60; }
  };
  on_every_grid([](const ProcessGrid& grid) {
    if (!grid.active()) return;
    // diag(1, 0) x = (1, 0), from x = (1.9, 2^20): then x = (1.5, 0).
    const Matrix db = distribute(
        grid, make_dense<double>(2, 1, [](Index i, Index) { return i == 0 ? 1.0 : 0.0; }),
        {.mb = 2, .nb = 1});
    Matrix dx = distribute(
        grid, make_dense<double>(2, 1, [](Index i, Index) { return i == 0 ? 1.9 : 0x1p20; }),
        {.mb = 2, .nb = 1});
    const Times times = [](const Matrix& x, Matrix& y) {
      plinth::copy(Host(), x, y);
      if (y.local_extents().cols > 0 && y.local_extents().rows > 0) y.local()(1, 0) = 0;
    };
    const Solve solve = [](Matrix& r) {
      if (r.local_extents().cols == 0 || r.local_extents().rows == 0) return;
      r.local()(0, 0) *= 0.4 / 0.9;
      r.local()(1, 0) = -0x1p20;
      // r was scaled by 2: -0.9 is in [1/2, 1).
      r.local()(1, 0) *= 2;
    };
    plinth::Refinement<Host, Matrix> refinement(Host(), db);
    const auto report = refinement(times, solve, 1.0, db, dx, ClassicalRefinement{},
                                   ResidualBelow{0.6}, InitialGuess::given);
    const auto& column = report.columns[0];
    CHECK(column.outcome == RefinementOutcome::converged);
    REQUIRE(column.backward_errors.size() == 2);
    CHECK(column.backward_errors[1] > column.backward_errors[0]);
    CHECK(column.backward_error == column.backward_errors[1]);
    const auto x = gather(dx);
    CHECK(std::abs(x(0, 0) - 1.5) < 1e-12);
    CHECK(x(1, 0) == 0);
  });
}

TEST_CASE("refinement: limits are kept", "[refine]") {
  on_every_grid([](const ProcessGrid& grid) {
    if (!grid.active()) return;
    const Index n = 30;
    const auto a = make_dense<double>(n, n, entry);
    Problem problem(grid, a, perturbed(a, 1e-2), make_dense<double>(n, 2, rhs_entry));
    for (const int steps : {0, 1, 3}) {
      INFO("steps " << steps);
      const auto classical = problem.refine(ClassicalRefinement{.max_steps = steps});
      const auto gmres = problem.refine(GmresRefinement{.restart = 1, .max_cycles = steps});
      for (const auto* report : {&classical, &gmres})
        for (const auto& column : report->columns) {
          CHECK(column.outcome == RefinementOutcome::iteration_limit);
          CHECK(column.iterations == steps);
          CHECK(column.backward_errors.size() == static_cast<std::size_t>(steps) + 1);
        }
      CHECK(classical.solves == steps + 1);
      CHECK(gmres.solves == 2 * steps + 1);
      CHECK(gmres.products == 2 * steps + 1);
    }
    // A criterion that is never content: the gain runs out.
    struct Never {
      double goal(Index, double) const { return 0; }
      bool operator()(const plinth::ColumnState&) const { return false; }
    };
    for (const auto& column : problem.refine(ClassicalRefinement{}, Never()).columns)
      CHECK(column.outcome == RefinementOutcome::stagnated);
    const auto gmres = problem.refine(GmresRefinement{}, Never());
    for (const auto& column : gmres.columns)
      CHECK((column.outcome == RefinementOutcome::stagnated ||
             column.outcome == RefinementOutcome::iteration_limit));
    // One that is always.
    struct Always {
      double goal(Index, double) const { return 1; }
      bool operator()(const plinth::ColumnState&) const { return true; }
    };
    CHECK(problem.refine(GmresRefinement{}, Always()).solves == 1);
  });
}

TEST_CASE("refinement: infinities and NaNs end their column, and no other", "[refine]") {
  on_every_grid([](const ProcessGrid& grid) {
    if (!grid.active()) return;
    const Index n = 26;
    const auto a = make_dense<double>(n, n, entry);
    auto b = make_dense<double>(n, 4, rhs_entry);
    b(n - 1, 0) = not_a_number;
    b(0, 2) = infinity;
    Problem problem(grid, a, perturbed(a, 1e-4), b);
    const auto check = [&](const RefinementReport& report) {
      CHECK(report.columns[0].outcome == RefinementOutcome::non_finite);
      CHECK(report.columns[1].outcome == RefinementOutcome::converged);
      CHECK(report.columns[2].outcome == RefinementOutcome::non_finite);
      CHECK(report.columns[3].outcome == RefinementOutcome::converged);
      CHECK(problem.backward_error(1) <= n * 0x1p-53);
      CHECK(plinth::is_nan(report.backward_error()));
    };
    check(problem.refine(ClassicalRefinement{}));
    check(problem.refine(GmresRefinement{}));

    // A solve or a product that goes wrong at some later call, in column 1.
    for (int bad_call = 1; bad_call <= 4; ++bad_call)
      for (const bool in_solve : {true, false}) {
        INFO((in_solve ? "solve " : "product ") << bad_call);
        for (Index j = 0; j < 4; ++j)
          for (Index i = 0; i < n; ++i) b(i, j) = rhs_entry(i, j);
        Problem good(grid, a, perturbed(a, 1e-3), b);
        int solves = 0, products = 0;
        const auto spoil = [](Matrix& v, double value) {
          for (Index l = 0; l < v.local_extents().cols; ++l)
            if (v.global_col(l) == 1 && v.local_extents().rows > 0) v.local()(0, l) = value;
        };
        const Times times = [&](const Matrix& x, Matrix& y) {
          good.times()(x, y);
          if (++products == bad_call && !in_solve) spoil(y, infinity);
        };
        const Solve solve = [&](Matrix& r) {
          good.solve()(r);
          if (++solves == bad_call && in_solve) spoil(r, not_a_number);
        };
        plinth::Refinement<Host, Matrix> refinement(Host(), good.db);
        const auto gmres = refinement(times, solve, good.a_norm, good.db, good.dx,
                                      GmresRefinement{}, BackwardErrorBelow{});
        CHECK(gmres.columns[0].outcome == RefinementOutcome::converged);
        CHECK(gmres.columns[2].outcome == RefinementOutcome::converged);
        CHECK((gmres.columns[1].outcome == RefinementOutcome::non_finite ||
               gmres.columns[1].outcome == RefinementOutcome::converged));
        if (bad_call <= 2) CHECK(gmres.columns[1].outcome == RefinementOutcome::non_finite);
        solves = products = 0;
        const auto classical = refinement(times, solve, good.a_norm, good.db, good.dx,
                                          ClassicalRefinement{}, BackwardErrorBelow{});
        CHECK(classical.columns[0].outcome == RefinementOutcome::converged);
        if (bad_call <= 2) CHECK(classical.columns[1].outcome == RefinementOutcome::non_finite);
        for (const auto* report : {&gmres, &classical})
          for (const auto& column : report->columns)
            if (column.outcome == RefinementOutcome::converged)
              CHECK(column.backward_error <= n * 0x1p-53);
      }
    // A norm of A that overflows makes no small backward error.
    Problem problem2(grid, a, a, make_dense<double>(n, 1, rhs_entry));
    problem2.a_norm = infinity;
    CHECK(problem2.refine(GmresRefinement{}).columns[0].outcome == RefinementOutcome::non_finite);
  });
}

TEST_CASE("refinement: two allreduces per iteration, memory as promised", "[refine]") {
  on_every_grid([](const ProcessGrid& grid) {
    if (!grid.active()) return;
    // Diagonal operators need no messages: whatever is sent is the refinement's own.
    const Index n = 48;
    const auto b = make_dense<double>(n, 2, rhs_entry);
    const Matrix db = distribute(grid, b, {.mb = 5, .nb = 1});
    Matrix dx(grid, n, 2, {.mb = 5, .nb = 1});
    const auto diagonal = [](Index i) { return 1 + 0.01 * static_cast<double>(i % 7); };
    const Times times = [&](const Matrix& x, Matrix& y) {
      for (Index i = 0; i < x.local_extents().rows; ++i)
        for (Index l = 0; l < x.local_extents().cols; ++l)
          y.local()(i, l) = diagonal(x.global_row(i)) * x.local()(i, l);
    };
    const Solve solve = [](Matrix&) {};
    plinth::Refinement<Host, Matrix> refinement(Host(), db);
    const auto run = [&](const auto& policy) {
      refinement.reserve(db, policy);
      RefinementReport report;
      const auto count = count_messages(
          [&] { report = refinement(times, solve, 1.06, db, dx, policy, BackwardErrorBelow{}); });
      CHECK(report.converged());
      CHECK(report.iterations() >= 2);
      return std::pair(report, count);
    };
    const auto [gmres, g] = run(GmresRefinement{.restart = 20});
    const long cycles = static_cast<long>(gmres.columns[0].backward_errors.size()) - 1;
    // 7 eigenvalues: an iteration each, and no cycle more than there are looks.
    CHECK(g.sends == 0);
    CHECK(g.broadcasts == 0);
    CHECK(g.allreduces == 2 * gmres.iterations() + 2 * cycles + 2 * (cycles + 1) + 2);
    const auto [classical, c] = run(ClassicalRefinement{});
    CHECK(c.allreduces == 2 * (classical.iterations() + 1) + 2);
    CHECK(c.sends == 0);
  });
}

namespace {

/// Host memory that counts what is taken.
struct CountedMemory {
  using space = Kokkos::HostSpace;
  static constexpr bool host_accessible = true;
  static std::size_t& taken() {
    static std::size_t bytes = 0;
    return bytes;
  }
  static std::shared_ptr<void> allocate(std::size_t bytes) {
    taken() += bytes;
    return plinth::HostMemory::allocate(bytes);
  }
};

}  // namespace

TEST_CASE("refinement: memory as promised, all of it beforehand", "[refine]") {
  using Counted = plinth::DistributedMatrix<double, CountedMemory, Layout>;
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{world_size(), 1});
  const Index n = 500;
  Counted b(grid, n, 1, {.mb = 16, .nb = 16}), x(grid, n, 1, {.mb = 16, .nb = 16});
  plinth::generate(Host(), b, [](Index i, Index j) noexcept { return rhs_entry(i, j); });
  const auto times = [](const Counted& v, Counted& y) {
    for (Index i = 0; i < v.local_extents().rows; ++i)
      y.local()(i, 0) = (1 + 0.1 * noise(v.global_row(i), 0, 9)) * v.local()(i, 0);
  };
  const auto solve = [](Counted&) {};
  const int restart = 10;
  CountedMemory::taken() = 0;
  plinth::Refinement<Host, Counted> refinement(Host(), b);
  const GmresRefinement policy{.restart = restart};
  refinement.reserve(b, policy);
  const std::size_t rows = static_cast<std::size_t>(b.local_extents().rows);
  // restart + 1 vectors of the basis, the residual, the solution before a step.
  CHECK(CountedMemory::taken() <= sizeof(double) * (restart + 3) * (rows + 8));
  const std::size_t before = CountedMemory::taken();
  CHECK(refinement(times, solve, 1.05, b, x, policy, BackwardErrorBelow{}).converged());
  CHECK(CountedMemory::taken() == before);
}

TEST_CASE("refinement on the stand-in device", "[refine][device]") {
  using DeviceMatrix = plinth::DistributedMatrix<double, LockedMemory, Layout>;
  const LockedDevice device;
  const int ranks = world_size();
  const int p = ranks % 2 == 0 ? 2 : 1;
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{p, ranks / p});
  const Index n = 20;
  DeviceMatrix b(grid, n, 3, {.mb = 4, .nb = 1}), x(grid, n, 3, {.mb = 4, .nb = 1});
  plinth::generate(device, b, [](Index i, Index j) noexcept { return rhs_entry(i, j); });
  const auto times = [&](const DeviceMatrix& v, DeviceMatrix& y) {
    const auto from = v.local(), to = y.local();
    const plinth::BlockCyclic rows = v.distribution().rows;
    const int me = grid.coord().row;
    plinth::kernel::for_each<Layout>(
        device, v.local_extents().rows, v.local_extents().cols, [=](Index i, Index j) {
          to(i, j) = (1 + 0.1 * noise(rows.global(i, me), 0, 9)) * from(i, j);
        });
  };
  const auto solve = [](DeviceMatrix&) {};
  plinth::Refinement<LockedDevice, DeviceMatrix> refinement(device, b);
  CHECK(
      refinement(times, solve, 1.05, b, x, GmresRefinement{}, BackwardErrorBelow{}).converged());
  CHECK(refinement(times, solve, 1.05, b, x, ClassicalRefinement{}, BackwardErrorBelow{})
            .converged());
  CHECK(has_waited(device));
}

TEST_CASE("refinement: misuse, also by one rank alone", "[refine][misuse]") {
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, world_size()});
  const ProcessGrid other_grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, world_size()});
  const Index n = 12;
  const auto a = make_dense<double>(n, n, entry);
  Problem problem(grid, a, a, make_dense<double>(n, 2, rhs_entry));
  Matrix narrow(grid, n, 1, {.mb = 6, .nb = 2}), elsewhere(other_grid, n, 2, {.mb = 6, .nb = 2});
  auto unlike_b = distribute(grid, make_dense<double>(n, 1, rhs_entry), {.mb = 6, .nb = 2});
  const bool guilty = world_rank() == world_size() - 1;
  plinth::Refinement<Host, Matrix> refinement(Host(), problem.db);
  const auto call = [&](const Matrix& b, Matrix& x, const auto& policy, const auto& done,
                        double a_norm, InitialGuess guess = InitialGuess::none) {
    return error_of(
        [&] { refinement(problem.times(), problem.solve(), a_norm, b, x, policy, done, guess); });
  };
  const BackwardErrorBelow done;
  const double a_norm = problem.a_norm;
  auto& x = problem.dx;
  const auto& b = problem.db;
  for (const bool wrong : {true, guilty}) {
    CHECK_THAT(call(b, wrong ? narrow : x, GmresRefinement{}, done, a_norm),
               contains("not distributed alike"));
    CHECK_THAT(call(b, wrong ? elsewhere : x, GmresRefinement{}, done, a_norm),
               contains("different grids"));
    CHECK_THAT(call(wrong ? unlike_b : b, wrong ? narrow : x, GmresRefinement{}, done, a_norm),
               contains("announced"));
    CHECK_THAT(call(b, x, GmresRefinement{.restart = wrong ? 0 : 5}, done, a_norm),
               contains("restart >= 1"));
    CHECK_THAT(call(b, x, ClassicalRefinement{.max_steps = wrong ? -1 : 5}, done, a_norm),
               contains("max_steps"));
    CHECK_THAT(call(wrong ? x : b, x, GmresRefinement{}, done, a_norm), contains("same matrix"));
  }

  struct Throwing {
    bool here;
    double goal(Index, double) const { return 1; }
    bool operator()(const plinth::ColumnState&) const {
      if (here) throw plinth::Error("no opinion");
      return true;
    }
  };
  CHECK_THAT(call(b, x, GmresRefinement{}, Throwing{guilty}, a_norm), contains("no opinion"));
  if (world_size() > 1) {
    struct Divided {
      bool here;
      double goal(Index, double) const { return 1; }
      bool operator()(const plinth::ColumnState&) const { return here; }
    };
    CHECK_THAT(call(b, x, GmresRefinement{}, Divided{guilty}, a_norm), contains("different"));
    CHECK_THAT(call(b, x, GmresRefinement{}, done, guilty ? 2 * a_norm : a_norm),
               contains("different arguments"));
    CHECK_THAT(call(b, x, GmresRefinement{.max_cycles = guilty ? 3 : 2}, done, a_norm),
               contains("different arguments"));
    CHECK_THAT(call(b, x, GmresRefinement{}, done, a_norm,
                    guilty ? InitialGuess::given : InitialGuess::none),
               contains("different arguments"));
  }
  CHECK(problem.refine(GmresRefinement{}).converged());  // all ranks are still in step
}
