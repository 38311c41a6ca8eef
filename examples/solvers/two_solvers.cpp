// SPDX-License-Identifier: BSD-3-Clause
//
// Two solvers at once, each on its own half of the ranks: mpirun -n 4 two_solvers
//
// Two metal spheres of radius 1 are held at +1 and -1 volt. The charges on a sphere follow from
// the potential that it feels, by a dense system; and each sphere feels the charges of the other.
// So one half of the ranks factors the matrix of the first sphere and the other half that of the
// second, at the same time; then both solve and tell each other their charges, again and again,
// until these no longer change (block Jacobi). Lord Kelvin's series for two spheres checks it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <plinth/plinth.hpp>
#include <vector>

constexpr plinth::Index points = 600;  // charges on each sphere
constexpr double separation = 3;       // of the centres

struct Place {
  double x, y, z;
};

// A point of a spiral that covers the sphere evenly.
Place on_sphere(plinth::Index i, double centre) {
  const double z = 1 - (2 * static_cast<double>(i) + 1) / points;
  const double turn = std::numbers::pi * (3 - std::sqrt(5.0)) * static_cast<double>(i);
  const double r = std::sqrt(1 - z * z);
  return {centre + r * std::cos(turn), r * std::sin(turn), z};
}
double inverse_distance(Place p, Place q) {
  return 1 / std::hypot(p.x - q.x, p.y - q.y, p.z - q.z);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);
  bool good = false;
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) {
    std::printf("two_solvers wants at least two ranks: mpirun -n 4 two_solvers\n");
  } else {
    // The first half of the ranks takes sphere 0, the others sphere 1.
    const int half = ranks / 2, mine = rank < half ? 0 : 1, other = 1 - mine;
    MPI_Comm half_of_world = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, mine, rank, &half_of_world);
    const plinth::ProcessGrid grid(half_of_world,
                                   plinth::RowMajorGrid{1, mine == 0 ? half : ranks - half});
    MPI_Comm_free(&half_of_world);  // the grid has a duplicate of its own
    const plinth::HostExecution<> exec;
    const double centre[2] = {0, separation}, volts[2] = {1, -1};

    // Potential of charge j at point i. A charge is spread over its share of the sphere, on which
    // it makes a potential of its own: such that all together make 1 on a lone sphere of charge 1.
    double others = 0;
    for (plinth::Index i = 1; i < points; ++i)
      others +=
          inverse_distance(on_sphere(points / 2, 0), on_sphere((points / 2 + i) % points, 0));
    plinth::DistributedMatrix<double> a(grid, points, points), x(grid, points, 1);
    plinth::generate(exec, a, [&](auto i, auto j) {
      return i == j ? points - others
                    : inverse_distance(on_sphere(i, centre[mine]), on_sphere(j, centre[mine]));
    });
    const auto factors = plinth::lu_factor(exec, std::move(a));

    std::vector<double> charge[2] = {std::vector<double>(points), std::vector<double>(points)};
    double change = 1;
    int turn = 0;
    for (; change > 1e-12 && turn < 100; ++turn) {
      plinth::generate(exec, x, [&](auto i, auto) {
        double felt = 0;
        for (plinth::Index j = 0; j < points; ++j)
          felt += charge[other][j] *
                  inverse_distance(on_sphere(i, centre[mine]), on_sphere(j, centre[other]));
        return volts[mine] - felt;
      });
      plinth::lu_solve(exec, factors, x);
      // Each half has its charges on all its ranks; its first rank tells the world.
      const std::vector<double> before = charge[mine];
      plinth::to_replicated(exec, x, charge[mine].data(), points);
      change = 0;
      for (plinth::Index i = 0; i < points; ++i)
        change = std::max(change, points * std::abs(charge[mine][i] - before[i]));
      MPI_Bcast(charge[0].data(), points, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      MPI_Bcast(charge[1].data(), points, MPI_DOUBLE, half, MPI_COMM_WORLD);
      MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }

    // The charge of either sphere, and Kelvin's series for it.
    double total[2] = {0, 0}, series = 0;
    for (int s = 0; s < 2; ++s)
      for (const double q : charge[s]) total[s] += q;
    const double beta = std::acosh(separation / 2);
    for (int i = 1; i < 100; ++i) series += std::sinh(beta) / std::sinh(i * beta);
    good = change <= 1e-12 && std::abs(total[0] - series) < 1e-3 * series &&
           std::abs(total[1] + series) < 1e-3 * series;
    if (rank == 0)
      std::printf("%d turns; charges %.5f and %.5f, by Kelvin's series %.5f\n", turn, total[0],
                  total[1], series);
  }
  Kokkos::finalize();
  MPI_Finalize();
  return good ? 0 : 1;
}
