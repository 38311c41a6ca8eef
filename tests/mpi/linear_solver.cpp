// SPDX-License-Identifier: BSD-3-Clause
//
// LinearSolver: one object for many matrices and right-hand sides; what it allocates after its
// first use.
#include <cmath>
#include <limits>

#include "support/allocations.hpp"
#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/problems.hpp"
#include "support/refined.hpp"

using namespace plinth_test;
using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::LinearSolver;
using plinth::MatrixLayoutOptions;
using plinth::Op;
using plinth::Outcome;
using plinth::ProcessGrid;
using ComplexDouble = Kokkos::complex<double>;
using ComplexFloat = Kokkos::complex<float>;

namespace {

struct ComplexSingle {
  using Working = ComplexDouble;
  using Factor = Kokkos::complex<float>;
};

MatrixLayoutOptions square_layout(const ProcessGrid& grid, Index nb) {
  return {nb, nb, grid.shape().rows - 1, grid.shape().cols / 2};
}
MatrixLayoutOptions tall_layout(const ProcessGrid& grid, Index nb) {
  return {nb, 2, grid.shape().rows - 1, 0};
}
template <class Matrix, class T>
void set(Matrix& a, const Dense<T>& whole) {
  plinth::generate(Exec(), a, [&whole](Index i, Index j) noexcept { return whole(i, j); });
}

}  // namespace

TEMPLATE_TEST_CASE("LinearSolver: many matrices, many right-hand sides", "[linearsolver]",
                   PLINTH_TEST_TYPES(double, float, ComplexDouble, ComplexFloat)) {
  using T = TestType;
  struct Case {
    Index n, nb, nrhs;
  };
  for (const Case& c : {Case{0, 3, 1}, Case{1, 3, 2}, Case{37, 5, 3}, Case{40, 8, 0}})
    on_every_active_grid([&](const ProcessGrid& grid) {
      INFO("n " << c.n << ", nb " << c.nb << ", nrhs " << c.nrhs);
      auto a = distribute(grid, Dense<T>(c.n, c.n), square_layout(grid, c.nb));
      auto b = distribute(grid, Dense<T>(c.n, c.nrhs), tall_layout(grid, c.nb));
      auto x = distribute(grid, Dense<T>(c.n, c.nrhs), tall_layout(grid, c.nb));
      LinearSolver solver(Exec(), a);
      // First without interchanges, then with them, then without: nothing of before is left.
      for (const std::uint64_t seed : {0u, 1u, 2u, 0u}) {
        auto whole = random_matrix<T>(c.n, c.n, 20 + seed);
        if (seed == 0)
          for (Index i = 0; i < c.n; ++i) whole(i, i) += T(static_cast<float>(c.n));
        set(a, whole);
        REQUIRE(solver.factor(a));
        set(a, Dense<T>(c.n, c.n));  // the solver has its own
        for (const Op op : {Op::none, Op::transpose, Op::conj_transpose}) {
          const auto rhs = random_matrix<T>(c.n, c.nrhs, 50 + seed);
          set(b, rhs);
          const auto report = solver.solve(b, x, op);
          REQUIRE(report);
          CHECK(plinth::is_nan(report.backward_error));
          CHECK(same_bits(gather(b), rhs));
          CHECK(solve_ratio(whole, gather(x), rhs, op) < 30);
          CHECK(solver.solve_in_place(b, op));
          CHECK(same_bits(gather(b), gather(x)));
        }
      }
    });
}

TEST_CASE("LinearSolver: a matrix given away is factored where it is", "[linearsolver]") {
  const Index n = 30;
  on_every_active_grid([&](const ProcessGrid& grid) {
    auto b = distribute<LayoutLeft>(grid, Dense<double>(n, 2), tall_layout(grid, 4));
    auto a = distribute<LayoutLeft>(grid, random_matrix<double>(n, n, 7), square_layout(grid, 4));
    LinearSolver solver(Exec(), a);
    for (const std::uint64_t seed : {7u, 8u, 9u}) {
      const auto whole = random_matrix<double>(n, n, seed),
                 rhs = random_matrix<double>(n, 2, seed);
      auto given = distribute<LayoutLeft>(grid, whole, square_layout(grid, 4));
      const double* const storage = given.local().data();
      CHECK((seed == 8 ? solver.factor(given) : solver.factor(std::move(given))));
      CHECK((solver.factors().matrix().local().data() == storage) == (seed != 8));
      set(b, rhs);
      CHECK(solver.solve_in_place(b));
      CHECK(solve_ratio(whole, gather(b), rhs, Op::none) < 30);
    }
  });
}

TEST_CASE("LinearSolver: factors in float, answers in double", "[linearsolver]") {
  const Index n = 45;
  on_every_active_grid([&](const ProcessGrid& grid) {
    auto a = distribute(grid, Dense<double>(n, n), square_layout(grid, 6));
    auto b = distribute(grid, Dense<double>(n, 3), tall_layout(grid, 6));
    auto x = distribute(grid, Dense<double>(n, 3), tall_layout(grid, 6));
    LinearSolver solver(Exec(), a, plinth::DoubleSingle{});
    const double goal = plinth::BackwardErrorBelow{}.goal(n, 0x1p-53);
    for (const std::uint64_t seed : {3u, 4u, 5u}) {
      const auto whole = svd_type(n, 1e4, seed), rhs = random_matrix<double>(n, 3, seed);
      set(a, whole);
      set(b, rhs);
      CHECK((seed == 4 ? solver.factor(distribute(grid, whole, square_layout(grid, 6)))
                       : solver.factor(a)));
      set(a, Dense<double>(n, n));
      for (int use = 0; use < 2; ++use) {
        const auto report = solver.solve(b, x);
        CHECK(report);
        CHECK(report.backward_error <= goal);
        CHECK(report.refinement.converged());
        for (Index c = 0; c < 3; ++c) CHECK(column_error(whole, gather(x), rhs, c) <= 2 * goal);
      }
    }
    // What float does not hold, and a system that it does again.
    auto large = random_matrix<double>(n, n, 6);
    large(3, 3) = 1e200;
    set(a, large);
    CHECK(solver.factor(a).outcome == Outcome::overflow);
    CHECK(solver.solve(b, x).outcome == Outcome::overflow);
    set(a, svd_type(n, 10, 6));
    CHECK(solver.factor(a));
    CHECK(solver.solve(b, x));
  });
}

namespace {

/// A x = b, transposed and conjugate transposed, refined to the working precision's backward error
/// with one factorization after another.
template <class Precision>
void check_every_op(double condition, const plinth::LinearSolverOptions<>& options = {}) {
  using T = typename plinth::PrecisionRoles<Precision>::Working;
  const Index n = 43;
  on_every_active_grid([&](const ProcessGrid& grid) {
    auto a = distribute(grid, Dense<T>(n, n), square_layout(grid, 6));
    auto b = distribute(grid, Dense<T>(n, 3), tall_layout(grid, 6));
    auto x = distribute(grid, Dense<T>(n, 3), tall_layout(grid, 6));
    LinearSolver<Precision, Exec, TestMatrix<T, LayoutRight>> solver(Exec(), a, {}, options);
    const double u = plinth::ScalarTraits<T>::epsilon;
    for (const std::uint64_t seed : {3u, 4u}) {
      auto whole = random_matrix<T>(n, n, seed);
      if constexpr (!plinth::ScalarTraits<T>::is_complex) whole = svd_type(n, condition, seed);
      // Of norms that differ widely, so that the wrong one is noticed.
      for (Index j = 0; j < n; ++j) whole(j, 5) *= 64;
      const auto rhs = random_matrix<T>(n, 3, seed);
      set(a, whole);
      set(b, rhs);
      const auto factored = solver.factor(a);
      REQUIRE(factored);
      constexpr bool packs =
          plinth::Scalar16<typename plinth::PrecisionRoles<Precision>::Operand>;
      CHECK((factored.equilibrated != plinth::Equilibrated::none) == packs);
      for (const Op op : {Op::conj_transpose, Op::none, Op::transpose}) {
        INFO("op " << plinth::to_char(op));
        const auto report = solver.solve(b, x, op);
        CHECK(report);
        CHECK(report.refinement.converged());
        CHECK(report.backward_error <= plinth::BackwardErrorBelow{}.goal(n, u));
        CHECK(solve_ratio(whole, gather(x), rhs, op) < 30);
        CHECK(same_bits(gather(b), rhs));
      }
    }
  });
}

}  // namespace

TEST_CASE("LinearSolver: refined answers of transposed systems", "[linearsolver][refined]") {
  check_every_op<plinth::DoubleSingle>(1e4);
  check_every_op<ComplexSingle>(1e4);
}

TEST_CASE("LinearSolver: factors from 16-bit operands", "[linearsolver][refined][mixed]") {
  check_every_op<plinth::DoubleHalf>(1e2);
  check_every_op<plinth::DoubleBfloat16>(10);
  check_every_op<plinth::DoubleSingleHalf>(1e2);
}

TEST_CASE("LinearSolver: 16-bit operands: scaled unless that is not wanted, outcomes",
          "[linearsolver][refined][mixed]") {
  const Index n = 24;
  on_every_active_grid([&](const ProcessGrid& grid) {
    auto a = distribute(grid, Dense<double>(n, n), square_layout(grid, 5));
    auto b = distribute(grid, random_matrix<double>(n, 1, 4), tall_layout(grid, 5));
    auto x = distribute(grid, Dense<double>(n, 1), tall_layout(grid, 5));
    using Solver = LinearSolver<plinth::DoubleHalf, Exec, TestMatrix<double, LayoutRight>>;
    Solver scaled(Exec(), a), plain(Exec(), a, {}, {.equilibrate = false});
    auto good = svd_type(n, 100, 3), rough = good, singular = good, bad = good;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        rough(i, j) = std::ldexp(rough(i, j), static_cast<int>(40 * (i % 5) - 30 * (j % 4)));
    for (Index i = 0; i < n; ++i) singular(i, 13) = 0;
    bad(17, 5) = std::nan("");
    for (const auto* whole : {&rough, &good, &rough}) {
      set(a, *whole);
      CHECK(scaled.factor(a));
      CHECK(scaled.solve(b, x));
      CHECK(solve_ratio(*whole, gather(x), gather(b), Op::none) < 30);
      const bool fits = whole == &good;
      const auto factored = plain.factor(a);
      CHECK(factored.outcome == (fits ? Outcome::solved : Outcome::overflow));
      CHECK((factored.lost.overflowed > 0) == !fits);
      CHECK(plain.solve(b, x).outcome == factored.outcome);
    }
    set(a, singular);
    CHECK(scaled.factor(a).outcome == Outcome::singular);
    CHECK(scaled.solve(b, x).column == 13);
    set(a, bad);
    CHECK(scaled.factor(a).outcome == Outcome::non_finite);
    set(a, good);
    CHECK(scaled.factor(a));
    const auto last = scaled.solve(b, x);
    CHECK(last);
    REQUIRE(last.factorization);
    CHECK(last.factorization->growth() >= 1);
    const bool guilty = grid.all().rank() == grid.all().size() - 1;
    CHECK_THAT(error_of([&] { Solver(Exec(), a, {}, {.factor = {.reproducible = guilty}}); }),
               contains("16-bit operands"));
  });
}

TEST_CASE("LinearSolver: a finite A whose norm overflows is not called non-finite",
          "[linearsolver][refined]") {
  const Index n = 12;
  on_every_active_grid([&](const ProcessGrid& grid) {
    auto whole = random_matrix<double>(n, n, 3);
    for (Index j = 0; j < n; ++j) whole(4, j) = 0x1.8p1022;
    const auto a = distribute(grid, whole, square_layout(grid, 5));
    LinearSolver solver(Exec(), a, plinth::DoubleSingle{});
    CHECK(solver.factor(a).outcome == Outcome::overflow);
    whole(4, 4) = std::numeric_limits<double>::infinity();
    CHECK(solver.factor(distribute(grid, whole, square_layout(grid, 5))).outcome ==
          Outcome::non_finite);
  });
}

TEST_CASE("LinearSolver: outcomes, one after the other", "[linearsolver]") {
  const Index n = 20;
  on_every_active_grid([&](const ProcessGrid& grid) {
    auto a = distribute(grid, Dense<double>(n, n), square_layout(grid, 3));
    auto b = distribute(grid, random_matrix<double>(n, 1, 1), tall_layout(grid, 3));
    auto x = distribute(grid, Dense<double>(n, 1), tall_layout(grid, 3));
    LinearSolver solver(Exec(), a);
    const auto good = random_matrix<double>(n, n, 11);
    auto singular = good, bad = good;
    for (Index i = 0; i < n; ++i) singular(i, 13) = 0;
    bad(17, 5) = std::nan("");
    const auto try_it = [&](const Dense<double>& whole, Outcome outcome, Index column) {
      set(a, whole);
      for (const auto& report : {solver.factor(a), solver.solve(b, x)}) {
        CHECK(report.outcome == outcome);
        CHECK(report.column == column);
      }
    };
    try_it(singular, Outcome::singular, 13);
    try_it(good, Outcome::solved, -1);
    try_it(bad, Outcome::non_finite, 5);
    try_it(good, Outcome::solved, -1);
    CHECK(solve_ratio(good, gather(x), random_matrix<double>(n, 1, 1), Op::none) < 30);
  });
}

TEST_CASE("LinearSolver: misuse", "[linearsolver][misuse]") {
  on_every_active_grid([&](const ProcessGrid& grid) {
    const bool guilty = grid.all().rank() == grid.all().size() - 1;
    const ProcessGrid other(grid.all().handle(),
                            plinth::RowMajorGrid{grid.shape().rows, grid.shape().cols});
    const auto matrix = [](const ProcessGrid& on, Index m, Index n, Index mb, Index nb) {
      return distribute(on, random_matrix<double>(m, n, 2), {mb, nb});
    };
    auto a = matrix(grid, 8, 8, 4, 4), oblong = matrix(grid, 8, 9, 4, 4),
         flat = matrix(grid, 8, 8, 4, 2), elsewhere = matrix(other, 8, 8, 4, 4),
         thin = matrix(grid, 8, 8, 2, 2);
    using Solver = LinearSolver<plinth::Uniform<double>, Exec, TestMatrix<double, LayoutRight>>;
    const auto make = [](const auto& like, plinth::LinearSolverOptions<> options = {}) {
      return error_of([&] { Solver(Exec(), like, {}, options); });
    };
    CHECK_THAT(make(guilty ? oblong : a), contains("not square"));
    CHECK_THAT(make(guilty ? flat : a), contains("blocks are not square"));
    CHECK_THAT(make(a, {.factor = {.lookahead = guilty ? -1 : 1}}), contains("look-ahead"));
    CHECK_THAT(make(a, {.factor = {.keep_l = guilty ? plinth::lu::KeepL::no
                                                    : plinth::lu::KeepL::permuted}}),
               contains("needs L"));
    CHECK_THAT(make(a, {.refinement = {.restart = guilty ? 0 : 3}}), contains("restart"));
    CHECK_THAT(make(a, {.equilibrate = guilty}), contains("without scaling"));
    CHECK_THAT(make(a, {.at_once = guilty ? 0 : 3}), contains("at least one"));
    if (grid.all().size() > 1)
      CHECK_THAT(make(a, {.at_once = guilty ? 2 : 3}), contains("different arguments"));

    Solver solver(Exec(), a);
    auto b = matrix(grid, 8, 2, 4, 1), x = matrix(grid, 8, 2, 4, 1),
         wide = matrix(grid, 8, 3, 4, 1), odd = matrix(grid, 8, 2, 3, 1),
         far = matrix(other, 8, 2, 4, 1);
    const auto solve = [&](const auto& rhs, auto& out, Op op = Op::none) {
      return error_of([&] { (void)solver.solve(rhs, out, op); });
    };
    const auto factor = [&](const auto& m) { return error_of([&] { (void)solver.factor(m); }); };
    CHECK_THAT(solve(b, x), contains("no matrix"));
    CHECK_THAT(factor(guilty ? elsewhere : a), contains("another grid"));
    CHECK_THAT(factor(guilty ? thin : a), contains("not distributed like"));
    CHECK(factor(a) == "(no error)");
    CHECK_THAT(solve(b, guilty ? far : x), contains("different grids"));
    CHECK_THAT(solve(b, guilty ? wide : x), contains("not distributed alike"));
    CHECK_THAT(solve(guilty ? odd : b, guilty ? odd : x), contains("not dealt like"));
    CHECK_THAT(solve(b, guilty ? b : x), contains("same matrix"));
    if (grid.all().size() > 1)
      CHECK_THAT(solve(b, x, guilty ? Op::transpose : Op::none), contains("different arguments"));
    CHECK(solve(b, x) == "(no error)");
    CHECK_THAT(solve(guilty ? wide : b, x), contains("as at the first solve"));
    CHECK(error_of([&] { (void)solver.solve_in_place(b); }) == "(no error)");
  });
}

TEST_CASE("LinearSolver: ranks without a place on the grid", "[linearsolver][grid]") {
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, std::max(1, world_size() - 1)});
  const auto whole = random_matrix<double>(15, 15, 3), rhs = random_matrix<double>(15, 1, 4);
  auto a = distribute(grid, whole, {4, 4}), b = distribute(grid, rhs, {4, 4}),
       x = distribute(grid, rhs, {4, 4});
  LinearSolver solver(Exec(), a);
  // A B that no factors were there for does not settle how B is distributed, on any rank.
  auto zero = distribute(grid, Dense<double>(15, 15), {4, 4});
  auto wide = distribute(grid, Dense<double>(15, 2), {4, 4});
  const auto singular = solver.factor(zero);
  const auto unsolved = solver.solve_in_place(wide);
  if (grid.active()) CHECK(singular.outcome == Outcome::singular);
  if (grid.active()) CHECK(unsolved.outcome == Outcome::singular);
  for (int use = 0; use < 2; ++use) {
    CHECK(solver.factor(a));
    CHECK(solver.solve(b, x));
    if (grid.active()) CHECK(solve_ratio(whole, gather(x), rhs, Op::none) < 30);
  }
}

#ifndef PLINTH_TEST_ON_STAND_IN  // opening so much memory for each kernel takes a minute
namespace {

/// Everything of the size of a vector's part or a message is there; lists of a panel's rows, of
/// the processes, the report, and names of kernels come and go.
constexpr std::size_t least = 1025;

template <class Solver, class Matrix>
void check_allocations(Solver& solver, Matrix& a, Matrix& b, Matrix& x, Index n) {
  REQUIRE(solver.factor(a));
  REQUIRE(solver.solve(b, x));
  set(a, svd_type(n, 100, 62));
  plinth::SolveReport factored, solved;
  std::size_t bytes = 0;
  {
    const WatchAllocations watch(least);
    factored = solver.factor(a);
    for (const Op op : {Op::none, Op::transpose, Op::none}) solved = solver.solve(b, x, op);
    bytes = watch.bytes();
  }
  CHECK(factored);
  CHECK(solved);
  CHECK(bytes == 0);
}

}  // namespace

TEST_CASE("LinearSolver: nothing is allocated after the first use", "[linearsolver][memory]") {
  const Index n = 1000, nb = 8;
  const int ranks = world_size();
  for (const plinth::GridShape shape :
       {plinth::GridShape{1, ranks}, plinth::GridShape{ranks, 1},
        plinth::GridShape{ranks % 2 == 0 ? 2 : 1, ranks % 2 == 0 ? ranks / 2 : ranks}}) {
    const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{shape.rows, shape.cols});
    INFO("grid " << shape.rows << "x" << shape.cols);
    auto a = distribute(grid, svd_type(n, 100, 61), square_layout(grid, nb));
    auto b = distribute(grid, random_matrix<double>(n, 3, 62), tall_layout(grid, nb));
    auto x = distribute(grid, Dense<double>(n, 3), tall_layout(grid, nb));
    const Index line = std::min(a.local_extents().rows, a.local_extents().cols);
    // So that the bound means something.
    CHECK(static_cast<std::size_t>(line) * sizeof(double) > least);
    {
      LinearSolver solver(Exec(), a);
      check_allocations(solver, a, b, x, n);
    }
    set(a, svd_type(n, 100, 61));
    {
      LinearSolver solver(Exec(), a, plinth::DoubleSingle{});
      check_allocations(solver, a, b, x, n);
    }
    set(a, svd_type(n, 100, 61));
    {
      LinearSolver solver(Exec(), a, plinth::DoubleHalf{});
      check_allocations(solver, a, b, x, n);
    }
    // What is watched: buffers and vectors.
    const WatchAllocations watch(least);
    const plinth::kernel::Buffer<double> buffer(200);
    const std::vector<double> vector(200);
    CHECK(static_cast<std::size_t>(buffer.size()) + vector.size() == 400);
    CHECK(watch.bytes() >= 2 * 200 * sizeof(double));
  }
}
#endif
