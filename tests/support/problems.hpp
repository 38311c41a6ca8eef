// SPDX-License-Identifier: BSD-3-Clause
//
// Matrices to test with, grids to test on, and distributed matrices seen as a whole.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plinth/plinth.hpp"
#include "support/catch.hpp"
#include "support/execution.hpp"

namespace plinth_test {

using plinth::Index;

/// A reproducible number in (-1/2, 1/2) for (i, j): a hash, so that it depends on nothing else.
inline double noise(Index i, Index j, std::uint64_t seed = 1) {
  std::uint64_t x = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u +
                    static_cast<std::uint64_t>(j) * 0xc2b2ae3d27d4eb4fu +
                    seed * 0x165667b19e3779f9u;
  for (int round = 0; round < 3; ++round) {
    x ^= x >> 31;
    x *= 0xd6e8feb86659fd93u;
  }
  x ^= x >> 32;
  return static_cast<double>(x >> 11) * 0x1p-53 - 0.5;
}

/// The same as any scalar; a complex one has independent parts.
template <class T>
T noise_as(Index i, Index j, std::uint64_t seed = 1) {
  using Real = plinth::RealOf<T>;
  if constexpr (plinth::ScalarTraits<T>::is_complex) {
    return T(static_cast<Real>(noise(i, j, seed)), static_cast<Real>(noise(i, j, seed + 1000)));
  } else {
    return static_cast<Real>(noise(i, j, seed));
  }
}

/// All P x Q grids that `ranks` ranks allow and that a test should see, smaller ones included, so
/// that there are idle ranks too.
inline std::vector<plinth::GridShape> grids(int ranks) {
  std::vector<plinth::GridShape> shapes;
  for (const plinth::GridShape shape :
       {plinth::GridShape{1, 1}, plinth::GridShape{1, 2}, plinth::GridShape{2, 1},
        plinth::GridShape{2, 2}, plinth::GridShape{1, 4}, plinth::GridShape{4, 1},
        plinth::GridShape{2, 3}, plinth::GridShape{3, 2}, plinth::GridShape{5, 1},
        plinth::GridShape{1, 5}, plinth::GridShape{1, 3}, plinth::GridShape{3, 1}})
    if (shape.size() <= ranks && shape.size() * 2 >= ranks) shapes.push_back(shape);
  return shapes;
}

inline int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}
inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// Calls f(grid) on every rank for every grid that a test should see.
template <class F>
void on_every_grid(F&& f) {
  for (const auto shape : grids(world_size())) {
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{shape.rows, shape.cols});
    INFO("grid " << shape.rows << "x" << shape.cols);
    f(grid);
  }
}
/// The same on the ranks that have a place on it.
template <class F>
void on_every_active_grid(F&& f) {
  on_every_grid([&](const plinth::ProcessGrid& grid) {
    if (grid.active()) f(grid);
  });
}

/// Calls f(grid) on a grid as square as can be, on its transpose, and on a column of processes: for
/// the stand-in device, whose memory takes time to open and close.
template <class F>
void on_few_grids(F&& f) {
  const int ranks = world_size();
  const int p = ranks % 2 == 0 && ranks > 2 ? 2 : 1, q = ranks / p;
  const std::set<std::pair<int, int>> shapes{{p, q}, {q, p}, {ranks, 1}};
  for (const auto& [rows, cols] : shapes) {
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{rows, cols});
    INFO("grid " << rows << "x" << cols);
    f(grid);
  }
}

/// A grid of on_few_grids() once more, for which MPI is given the memory of a device.
inline plinth::ProcessGrid direct_grid(const plinth::ProcessGrid& grid,
                                       Index max_message = Index(1) << 30) {
  const plinth::GridShape shape = grid.shape();
  return {MPI_COMM_WORLD, plinth::RowMajorGrid{shape.rows, shape.cols},
          {.max_message = max_message, .transport = plinth::Transport::direct}};
}

/// A whole matrix in column-major order.
template <class T>
struct Dense {
  Index rows = 0;
  Index cols = 0;
  std::vector<T> data;
  Dense(Index m, Index n) : rows(m), cols(n), data(static_cast<std::size_t>(m * n)) {}
  T& operator()(Index i, Index j) { return data[static_cast<std::size_t>(i + j * rows)]; }
  const T& operator()(Index i, Index j) const {
    return data[static_cast<std::size_t>(i + j * rows)];
  }
};

template <class T, class F>
Dense<T> make_dense(Index m, Index n, const F& f) {
  Dense<T> a(m, n);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < m; ++i) a(i, j) = f(i, j);
  return a;
}

/// Random numbers in all parts.
template <class T>
Dense<T> random_matrix(Index m, Index n, std::uint64_t seed = 41) {
  return make_dense<T>(m, n, [=](Index i, Index j) { return noise_as<T>(i, j, seed); });
}
/// Small whole numbers: a product of two such matrices is exact.
template <class T>
Dense<T> whole_numbers(Index m, Index n, std::uint64_t seed) {
  return make_dense<T>(m, n, [=](Index i, Index j) {
    const auto part = [&](std::uint64_t s) {
      return static_cast<plinth::RealOf<T>>(std::round(16 * noise(i, j, s)) + 0.0);  // no -0
    };
    if constexpr (plinth::ScalarTraits<T>::is_complex)
      return T(part(seed), part(seed + 1));
    else
      return part(seed);
  });
}
/// A X.
template <class T>
Dense<T> product(const Dense<T>& a, const Dense<T>& x) {
  Dense<T> b(a.rows, x.cols);
  for (Index c = 0; c < x.cols; ++c)
    for (Index j = 0; j < a.cols; ++j)
      for (Index i = 0; i < a.rows; ++i) b(i, c) += a(i, j) * x(j, c);
  return b;
}
/// Column c of max |x - y| / max |x|, or max |x - y| where x is 0.
template <class T>
double column_difference(const Dense<T>& x, const Dense<T>& y, Index c) {
  double most = 0, difference = 0;
  for (Index i = 0; i < x.rows; ++i) {
    most = std::max<double>(most, plinth::modulus(x(i, c)));
    difference = std::max<double>(difference, plinth::modulus(x(i, c) - y(i, c)));
  }
  return most == 0 ? difference : difference / most;
}

/// The whole of a distributed matrix, on every rank of its grid.
template <class Matrix>
auto gather(const Matrix& a) {
  using T = typename Matrix::value_type;
  Dense<T> whole(a.rows(), a.cols());
  const auto view = a.local();
  const plinth::Extents mine = a.local_extents();
  CHECK(has_waited());
  [[maybe_unused]] const auto scope = Exec().enter();
  for (Index j = 0; j < mine.cols; ++j)
    for (Index i = 0; i < mine.rows; ++i) whole(a.global_row(i), a.global_col(j)) = view(i, j);
  MPI_Allreduce(MPI_IN_PLACE, whole.data.data(), static_cast<int>(whole.data.size()),
                plinth::comm::datatype<T>(), MPI_SUM, a.grid().all().handle());
  return whole;
}

/// An entry of a matrix that is moved about.
template <class T>
T known_entry(Index i, Index j) {
  return noise_as<T>(i, j, 91);
}
/// Entries of the local part that are not known_entry()'s.
template <class Matrix>
Index wrong_entries(const Matrix& a) {
  [[maybe_unused]] const auto scope = Exec().enter();
  Index wrong = 0;
  const plinth::Extents mine = a.local_extents();
  for (Index i = 0; i < mine.rows; ++i)
    for (Index j = 0; j < mine.cols; ++j)
      wrong += !(a.local()(i, j) ==
                 known_entry<typename Matrix::value_type>(a.global_row(i), a.global_col(j)));
  return wrong;
}

/// The pivots of a factorization as LAPACK would give them, counted from 0, on every rank.
template <class Factors>
std::vector<Index> gather_pivots(const Factors& factors) {
  const auto& a = factors.matrix();
  const auto& rows = a.distribution().rows;
  std::vector<Index> all(static_cast<std::size_t>(factors.order()), 0);
  const auto& local = factors.pivots().local();
  for (std::size_t l = 0; l < local.size(); ++l)
    all[static_cast<std::size_t>(rows.global(static_cast<Index>(l), a.grid().coord().row))] =
        local[l];
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_INT64_T, MPI_SUM,
                a.grid().column_vectors().handle());
  return all;
}

template <class T>
double norm1(const Dense<T>& a) {
  double most = 0;
  for (Index j = 0; j < a.cols; ++j) {
    double sum = 0;
    for (Index i = 0; i < a.rows; ++i) sum += static_cast<double>(plinth::modulus(a(i, j)));
    most = std::max(most, sum);
  }
  return most;
}

/// ||P A - L U||_1 / (n ||A||_1 eps): at most 30 for a stable factorization.
template <class T>
double factor_ratio(const Dense<T>& a, const Dense<T>& lu, const std::vector<Index>& pivots) {
  const Index n = a.rows;
  Dense<T> pa = a;
  for (Index k = 0; k < n; ++k)
    for (Index j = 0; j < n; ++j) std::swap(pa(k, j), pa(pivots[static_cast<std::size_t>(k)], j));
  for (Index j = 0; j < n; ++j)
    for (Index k = 0; k <= j; ++k) {
      const T u = lu(k, j);
      pa(k, j) -= u;
      for (Index i = k + 1; i < n; ++i) pa(i, j) -= lu(i, k) * u;
    }
  const double scale =
      static_cast<double>(n) * norm1(a) * static_cast<double>(plinth::ScalarTraits<T>::epsilon);
  return n == 0 || norm1(pa) == 0 ? 0 : norm1(pa) / scale;
}

/// ||b - op(A) x||_1 / (||A||_1 ||x||_1 eps).
template <class T>
double solve_ratio(const Dense<T>& a, const Dense<T>& x, const Dense<T>& b, plinth::Op op) {
  Dense<T> r = b;
  for (Index c = 0; c < b.cols; ++c)
    for (Index i = 0; i < a.rows; ++i)
      for (Index j = 0; j < a.cols; ++j) {
        const T e = op == plinth::Op::none        ? a(i, j)
                    : op == plinth::Op::transpose ? a(j, i)
                                                  : plinth::conjugate(a(j, i));
        r(i, c) -= e * x(j, c);
      }
  const double rnorm = norm1(r);
  return rnorm == 0 ? 0
                    : rnorm / (norm1(a) * norm1(x) *
                               static_cast<double>(plinth::ScalarTraits<T>::epsilon));
}

/// Column c's ||b - A x|| / (||A|| ||x|| + ||b||) in the infinity norm, the plain way.
inline double column_error(const Dense<double>& a, const Dense<double>& x, const Dense<double>& b,
                           Index c) {
  double r_most = 0, x_most = 0, b_most = 0, a_most = 0;
  for (Index i = 0; i < a.rows; ++i) {
    long double r = b(i, c);
    double row = 0;
    for (Index j = 0; j < a.cols; ++j) {
      r -= static_cast<long double>(a(i, j)) * x(j, c);
      row += std::abs(a(i, j));
    }
    r_most = std::max(r_most, std::abs(static_cast<double>(r)));
    x_most = std::max(x_most, std::abs(x(i, c)));
    b_most = std::max(b_most, std::abs(b(i, c)));
    a_most = std::max(a_most, row);
  }
  return r_most == 0 ? 0 : r_most / (a_most * x_most + b_most);
}

/// A distributed matrix with the values of a whole one.
template <class Layout = Kokkos::LayoutRight, class T>
TestMatrix<T, Layout> distribute(const plinth::ProcessGrid& grid, const Dense<T>& whole,
                                 const plinth::MatrixLayoutOptions& options) {
  TestMatrix<T, Layout> a(grid, whole.rows, whole.cols, options);
  plinth::generate(Exec(), a, [&whole](Index i, Index j) noexcept { return whole(i, j); });
  return a;
}

/// Whether two matrices have the same bits, NaNs and signs of zeros included.
template <class T>
bool same_bits(const Dense<T>& a, const Dense<T>& b) {
  return a.rows == b.rows && a.cols == b.cols &&
         (a.data.empty() ||
          std::memcmp(a.data.data(), b.data.data(), a.data.size() * sizeof(T)) == 0);
}

/// Whether `holds` is true on every rank of MPI_COMM_WORLD. Collective.
inline bool everywhere(bool holds) {
  int all = holds ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all == 1;
}

/// How many ranks of MPI_COMM_WORLD say so. Collective.
inline int how_many(bool holds) {
  int all = holds ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/// What the plinth::Error that f() throws says, "(no error)" if it throws none.
template <class F>
std::string error_of(F&& f, plinth::ErrorKind kind = plinth::ErrorKind::misuse) {
  try {
    f();
  } catch (const plinth::Error& error) {
    return error.kind() == kind ? error.message()
                                : std::string("(other kind) ") + error.message();
  }
  return "(no error)";
}

// --- Matrices whose factors are known exactly
// ----------------------------------------------------

/// A permutation of 0, ..., n - 1 without a pattern.
inline std::vector<Index> shuffled(Index n, std::uint64_t seed = 1) {
  std::vector<Index> p(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) p[static_cast<std::size_t>(i)] = i;
  for (Index i = n - 1; i > 0; --i) {
    const auto other = static_cast<Index>((noise(i, 3, seed) + 0.5) * static_cast<double>(i + 1));
    std::swap(p[static_cast<std::size_t>(i)], p[static_cast<std::size_t>(other)]);
  }
  return p;
}

/// A = P^T L U with |l_ij| <= 1/2 and entries of L and U that are 0 or powers of two, for which
/// LU with partial pivoting makes no rounding error in any order of operations. So pivots, L and
/// U are the same to the bit on every grid, with every look-ahead depth and option.
template <class T>
struct ExactSystem {
  Dense<T> a;                 ///< row r of A is row position[r] of L U
  Dense<T> lu;                ///< L below the diagonal, U on and above it
  std::vector<Index> pivots;  ///< as LAPACK would give them, counted from 0

  /// From L\U and the order of rows.
  ExactSystem(Dense<T> factors, const std::vector<Index>& position)
      : a(factors.rows, factors.rows), lu(std::move(factors)), pivots(position.size()) {
    const Index n = lu.rows;
    for (Index i = 0; i < n; ++i) {
      const Index row = position[static_cast<std::size_t>(i)];
      for (Index j = 0; j < n; ++j) {
        T sum = row <= j ? lu(row, j) : T(0);
        for (Index k = 0; k < std::min(row, j + 1); ++k) sum += lu(row, k) * lu(k, j);
        a(i, j) = sum;
      }
    }
    std::vector<Index> now = position;
    for (std::size_t k = 0; k < now.size(); ++k) {
      std::size_t r = k;
      while (now[r] != static_cast<Index>(k)) ++r;
      pivots[k] = static_cast<Index>(r);
      std::swap(now[r], now[k]);
    }
  }
};

template <class T>
ExactSystem<T> powers_of_two(Index n, std::uint64_t seed = 1) {
  const auto lu = make_dense<T>(n, n, [=](Index i, Index j) {
    const int choice = static_cast<int>((noise(i, j, seed) + 0.5) * 8);
    const double sign = choice % 2 == 0 ? 1 : -1;
    if (i > j) return T(choice < 4 ? 0 : sign * (choice < 6 ? 0.5 : 0.25));
    if (i < j) return T(choice < 3 ? 0 : sign * (choice < 6 ? 1 : 0.5));
    T diagonal = T(sign * (choice < 4 ? 1 : 2));
    if constexpr (plinth::ScalarTraits<T>::is_complex)
      if (choice % 3 == 0) diagonal *= T(0, 1);
    return diagonal;
  });
  return {lu, shuffled(n, seed)};
}

/// A permutation matrix: L = U = I.
template <class T>
ExactSystem<T> permutation_matrix(const std::vector<Index>& position) {
  const auto n = static_cast<Index>(position.size());
  return {make_dense<T>(n, n, [](Index i, Index j) { return T(i == j ? 1 : 0); }), position};
}

}  // namespace plinth_test
