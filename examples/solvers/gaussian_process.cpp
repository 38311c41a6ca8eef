// SPDX-License-Identifier: BSD-3-Clause
//
// Fits a surface to scattered, noisy measurements: mpirun -n 2 gaussian_process
//
// A Gaussian process predicts, at a new place p, from measurements y at places p_1 ... p_n:
//
//   mean     = k(p)' K^-1 y             K_ij = kernel(p_i, p_j) + noise^2 on the diagonal
//   variance = kernel(p, p) + noise^2 - k(p)' K^-1 k(p),     k_i(p) = kernel(p_i, p)
//
// (Rasmussen and Williams 2006). So all that is wanted is K^-1 [y, k(first new place), ...]: one
// dense system with many right-hand sides. The predictions are checked on measurements that were
// held out of the fit: they must be as good as the noise allows, and know how good they are.
#include <cmath>
#include <cstdio>
#include <plinth/plinth.hpp>
#include <random>
#include <vector>

struct Place {
  double x, y;
};

// The surface that is measured (Franke 1979): two hills, a bump and a dip.
double surface(Place p) {
  const double x = 9 * p.x, y = 9 * p.y;
  return 0.75 * std::exp(-((x - 2) * (x - 2) + (y - 2) * (y - 2)) / 4) +
         0.75 * std::exp(-(x + 1) * (x + 1) / 49 - (y + 1) / 10) +
         0.5 * std::exp(-((x - 7) * (x - 7) + (y - 3) * (y - 3)) / 4) -
         0.2 * std::exp(-(x - 4) * (x - 4) - (y - 7) * (y - 7));
}

// How much the values at two places have to do with each other.
double kernel(Place p, Place q) {
  constexpr double length = 0.2;
  const double dx = (p.x - q.x) / length, dy = (p.y - q.y) / length;
  return std::exp(-(dx * dx + dy * dy) / 2);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);
  bool good = false;
  {
    // The measurements: n that are fitted, m that are held out. Every rank makes the same.
    constexpr plinth::Index n = 1200, m = 300;
    constexpr double noise = 0.05;
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> anywhere(0, 1);
    std::normal_distribution<double> error(0, noise);
    std::vector<Place> place(n + m);
    std::vector<double> value(n + m);
    for (std::size_t i = 0; i < place.size(); ++i) {
      place[i] = {anywhere(random), anywhere(random)};
      value[i] = surface(place[i]) + error(random);
    }

    // K, and as right-hand sides the values and the kernel for each place that was held out. The
    // functions are called on every rank for the elements that it owns.
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, ranks});
    const plinth::HostExecution<> exec;
    plinth::DistributedMatrix<double> k(grid, n, n), b(grid, n, 1 + m), x(grid, n, 1 + m);
    plinth::generate(exec, k, [&](auto i, auto j) {
      return kernel(place[i], place[j]) + (i == j ? noise * noise : 0);
    });
    plinth::generate(exec, b, [&](auto i, auto j) {
      return j == 0 ? value[i] : kernel(place[i], place[n + j - 1]);
    });
    const auto report = plinth::solve(exec, k, b, x);

    // x is small enough for every rank to have all of it, column by column.
    std::vector<double> all(n * (1 + m));
    plinth::to_replicated(exec, x, all.data(), n);
    double sum_of_squares = 0;
    int within = 0;
    for (plinth::Index j = 0; j < m; ++j) {
      double mean = 0, variance = 1 + noise * noise;
      for (plinth::Index i = 0; i < n; ++i) {
        const double here = kernel(place[i], place[n + j]);
        mean += here * all[i];
        variance -= here * all[i + (1 + j) * n];
      }
      const double off = std::abs(mean - value[n + j]);
      sum_of_squares += off * off;
      if (off < 2 * std::sqrt(variance)) ++within;
    }
    const double rms = std::sqrt(sum_of_squares / m), share = static_cast<double>(within) / m;
    // 95 % of normally distributed errors lie within two standard deviations.
    good = report && rms < 1.2 * noise && share > 0.9 && share < 0.99;
    if (grid.coord() == plinth::GridCoord{0, 0})
      std::printf(
          "%s, backward error %.1e; %d places held out: error %.4f (noise %.4f), "
          "%.0f %% within two standard deviations\n",
          to_string(report.outcome), report.backward_error, static_cast<int>(m), rms, noise,
          100 * share);
  }
  Kokkos::finalize();
  MPI_Finalize();
  return good ? 0 : 1;
}
