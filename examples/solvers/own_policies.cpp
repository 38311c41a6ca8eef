// SPDX-License-Identifier: BSD-3-Clause
//
// Policies of your own: a precision, a layout of the grid, a criterion when to stop.
// mpirun -n 4 own_policies
//
// A policy is a small struct that answers a few questions; a concept of the library says in its
// comment which (PrecisionPolicy, GridLayout, StoppingCriterion in include/plinth). No base class,
// nothing to register.
#include <cmath>
#include <cstdio>
#include <plinth/plinth.hpp>

// FP32 data and answers, factors in FP16 whose products are summed in FP32. What is not named has
// a default that follows from the others (policy/precision.hpp).
struct SingleHalf {
  using Working = float;
  using Factor = plinth::half;
  using Accumulate = float;
};

// Ranks in the order of a snake: every second row of the grid from right to left, so that rank r
// and rank r + 1 are always neighbours.
struct SnakeGrid {
  int rows, cols;
  plinth::GridShape shape() const { return {rows, cols}; }
  plinth::GridCoord coord(int rank) const {
    const int row = rank / cols, along = rank % cols;
    return {row, row % 2 == 0 ? along : cols - 1 - along};
  }
  bool valid() const { return rows > 0 && cols > 0; }
};

// Stops when no entry of b - A x is larger than `largest`: for somebody who knows how exact b is.
struct ResidualBelow {
  double largest;
  bool operator()(const plinth::ColumnState& state) const { return state.r_norm <= largest; }
  // The backward error to aim at where only an estimate is at hand.
  double goal(plinth::Index, double) const { return 1e-6; }
};

static_assert(plinth::PrecisionPolicy<SingleHalf> && plinth::GridLayout<SnakeGrid> &&
              plinth::StoppingCriterion<ResidualBelow>);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);
  bool good = false;
  {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int rows = ranks % 2 == 0 ? 2 : 1;
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, SnakeGrid{rows, ranks / rows});
    const plinth::HostExecution<> exec;
    constexpr plinth::Index n = 800;
    plinth::DistributedMatrix<float> a(grid, n, n), b(grid, n, 1), x(grid, n, 1), r(grid, n, 1);
    plinth::generate(exec, a,
                     [](auto i, auto j) { return (i == j ? 30 : 0) + std::cos(double(i * j)); });
    plinth::generate(exec, b, [](auto i, auto) { return std::sin(double(i)); });

    const plinth::SolveOptions<plinth::GmresRefinement, ResidualBelow> options{
        .criterion = {.largest = 1e-5}};
    const auto report = plinth::solve<SingleHalf>(exec, a, b, x, options);

    // The check is the criterion's own question, asked of the answer.
    plinth::residual(exec, a, x, b, r);
    const double largest = plinth::norm(exec, r, plinth::Norm::inf);
    good = report && largest <= 1e-5;
    if (grid.coord() == plinth::GridCoord{0, 0})
      std::printf("%s after %d iterations on a %d x %d snake; largest residual %.1e\n",
                  to_string(report.outcome), report.refinement.iterations(), grid.shape().rows,
                  grid.shape().cols, largest);
  }
  Kokkos::finalize();
  MPI_Finalize();
  return good ? 0 : 1;
}
