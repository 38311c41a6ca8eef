// SPDX-License-Identifier: BSD-3-Clause
//
// A pivoting policy of your own: mpirun -n 2 own_pivoting
//
// Partial pivoting takes the largest entry of a column, wherever it is, so nearly every row of the
// matrix travels from one process to another. Here a row that stands in the diagonal's own block is
// preferred, unless some other entry is more than 8 times as large. Rows then stay at home more
// often, and the solution is nearly as good.
#include <cmath>
#include <cstdio>
#include <plinth/plinth.hpp>
#include <utility>

using plinth::Index;

/// The policy is a plain struct. Its values can be anything; `fingerprint` tells two of them apart,
/// so that ranks that disagree are told so instead of waiting for each other.
struct NearPivoting {
  static constexpr bool exchanges_rows = true;
  Index block = 1;    ///< rows per block of the matrix
  double factor = 8;  ///< how much a near row is preferred; also bounds the entries of L

  Index fingerprint() const { return 1000 * block + std::lround(factor); }

  /// How good a pivot an entry of this magnitude is: `row` is where it stands, `column` its column,
  /// both global. The entry of largest merit becomes the pivot.
  double merit(double magnitude, Index row, Index column) const noexcept {
    return row / block == column / block ? factor * magnitude : magnitude;
  }
};

using Exec = plinth::HostExecution<>;
using Matrix = plinth::DistributedMatrix<double>;

constexpr Index matrix_order = 600, block_rows = 24;

/// A pseudo-random matrix, the same whatever the grid: entries of all magnitudes up to 1.
double entry(Index i, Index j) {
  const double x = std::sin(12.9898 * double(i + 1) + 78.233 * double(j + 1)) * 43758.5453;
  return x - std::floor(x) - 0.5;
}

/// How many interchanges of a factorization brought a row from another block, over all ranks.
/// Pivots are as in ScaLAPACK, counted from 0: entry i is the row that row i was interchanged with.
Index rows_from_afar(const plinth::LuFactors<Matrix>& factors) {
  const auto& grid = factors.matrix().grid();
  const auto& rows = factors.matrix().distribution().rows;
  const auto& pivots = factors.pivots().local();  // those of this process row
  Index count = 0;
  for (Index l = 0; l < Index(pivots.size()); ++l)
    if (pivots[std::size_t(l)] / block_rows != rows.global(l, grid.coord().row) / block_rows)
      ++count;
  MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_SUM, grid.column_vectors().handle());
  return count;
}

/// Factors and solves, and says how it went; whether the solution is good.
template <class Pivoting>
bool solve_with(const char* name, const plinth::ProcessGrid& grid, const Pivoting& pivoting) {
  const Exec exec;
  const plinth::MatrixLayoutOptions layout{.mb = block_rows, .nb = block_rows};
  Matrix a(grid, matrix_order, matrix_order, layout), b(grid, matrix_order, 1, layout),
      x(grid, matrix_order, 1, layout), r(grid, matrix_order, 1, layout);
  plinth::generate(exec, a, entry);
  plinth::generate(exec, b, [](Index i, Index) { return 1.0 / double(i + 1); });
  plinth::copy(exec, b, x);

  // lu_factor overwrites its matrix, and says so by wanting it moved: give it a copy.
  Matrix copy_of_a(grid, matrix_order, matrix_order, layout);
  plinth::copy(exec, a, copy_of_a);
  const auto factors = plinth::lu_factor(exec, std::move(copy_of_a), pivoting);
  if (factors.first_zero_pivot() || factors.first_nonfinite_pivot()) return false;
  plinth::lu_solve(exec, factors, x);

  plinth::residual(exec, a, x, b, r);  // r = b - A x
  const auto size = [&](const Matrix& m) { return plinth::norm(exec, m, plinth::Norm::inf); };
  const double backward_error = size(r) / (size(a) * size(x) + size(b));
  const Index far = rows_from_afar(factors);
  if (grid.coord() == plinth::GridCoord{0, 0})
    std::printf("%s: %lld of %lld pivot rows from another block, backward error %.1e\n", name,
                static_cast<long long>(far), static_cast<long long>(matrix_order),
                backward_error);
  return backward_error < 1e-13;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);
  bool good = true;
  {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{ranks, 1});
    good = solve_with("partial pivoting", grid, plinth::PartialPivoting{}) && good;
    good = solve_with("threshold pivoting", grid, plinth::ThresholdPivoting{.threshold = 0.1}) &&
           good;
    good = solve_with("tournament pivoting", grid, plinth::TournamentPivoting{}) && good;
    good = solve_with("own pivoting", grid, NearPivoting{.block = block_rows}) && good;
  }
  Kokkos::finalize();
  MPI_Finalize();
  return good ? 0 : 1;
}
