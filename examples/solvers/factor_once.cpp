// SPDX-License-Identifier: BSD-3-Clause
//
// Factors once and solves in every time step, forwards and backwards: mpirun -n 2 factor_once
//
// Something spreads around a ring by jumps that prefer one direction:
//
//   du/dt (s) = integral over the ring of w(t - s) (u(t) - u(s)) dt
//
// Every place has to do with every other, so the matrix L of the right-hand side is dense.
// Implicit time steps (I - dt L) u_new = u_old are stable for any dt, and all have one matrix: it
// is factored once, and each step is a solve, which takes about n/3 times less work.
//
// How does a measurement g' u(end) depend on the beginning? Its gradient is what the steps with
// the transposed matrix make of g: the same factors, Op::transpose.
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <plinth/plinth.hpp>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);
  bool good = false;
  {
    constexpr plinth::Index n = 1000;
    constexpr int steps = 50;
    constexpr double dt = 0.1, h = 2 * std::numbers::pi / n;
    const auto jump = [](double distance) {
      return std::exp(4 * (std::cos(distance - 0.5) - 1));
    };
    double out = 0;  // all jumps away from a place
    for (plinth::Index d = 0; d < n; ++d) out += h * jump(d * h);

    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, ranks});
    const plinth::HostExecution<> exec;
    using Matrix = plinth::DistributedMatrix<double>;
    Matrix a(grid, n, n), u(grid, n, 2), gradient(grid, n, 1);
    plinth::generate(exec, a, [&](auto i, auto j) {
      return (i == j ? 1 + dt * out : 0) - dt * h * jump(static_cast<double>(j - i) * h);
    });
    // Two beginnings at once: a wave, whose fate is known, and a step.
    const auto start = [](double s, plinth::Index which) {
      return which == 0 ? std::cos(3 * s) : (s < 2 ? 1.0 : 0.0);
    };
    // What is measured in the end: u around s = 4.
    const auto measure = [](double s) { return std::exp(-20 * (s - 4) * (s - 4)); };
    plinth::generate(exec, u, [&](auto i, auto j) { return start(i * h, j); });
    plinth::generate(exec, gradient, [&](auto i, auto) { return measure(i * h); });

    const double begin = MPI_Wtime();
    const auto factors = plinth::lu_factor(exec, std::move(a));  // A is given away
    if (factors.first_zero_pivot()) std::printf("the matrix is singular\n");
    const double factored = MPI_Wtime();
    for (int step = 0; step < steps; ++step) plinth::lu_solve(exec, factors, u);
    const double solved = MPI_Wtime();
    for (int step = 0; step < steps; ++step)
      plinth::lu_solve(exec, factors, gradient, plinth::Op::transpose);

    std::vector<double> end(2 * n), adjoint(n);
    plinth::to_replicated(exec, u, end.data(), n);
    plinth::to_replicated(exec, gradient, adjoint.data(), n);

    // exp(3 i s) is an eigenvector: a step divides it by 1 - dt lambda.
    std::complex<double> lambda = -out;
    for (plinth::Index d = 0; d < n; ++d) lambda += h * jump(d * h) * std::polar(1.0, 3 * d * h);
    const auto factor = std::pow(1.0 - dt * lambda, -steps);
    double error = 0;
    for (plinth::Index i = 0; i < n; ++i)
      error = std::max(error, std::abs(end[i] - (factor * std::polar(1.0, 3 * i * h)).real()));

    // The measurement of the second end, and the same from its beginning by the gradient.
    double forwards = 0, backwards = 0;
    for (plinth::Index i = 0; i < n; ++i) {
      forwards += measure(i * h) * end[n + i];
      backwards += adjoint[i] * start(i * h, 1);
    }
    const double difference = std::abs(forwards - backwards) / std::abs(forwards);
    good = error < 1e-12 && difference < 1e-12;
    if (grid.coord() == plinth::GridCoord{0, 0}) {
      std::printf("factorization %.3f s, a step %.5f s\n", factored - begin,
                  (solved - factored) / steps);
      std::printf("error of the wave after %d steps %.1e\n", steps, error);
      std::printf("measured %.12f, by the gradient %.12f\n", forwards, backwards);
    }
  }
  Kokkos::finalize();
  MPI_Finalize();
  return good ? 0 : 1;
}
