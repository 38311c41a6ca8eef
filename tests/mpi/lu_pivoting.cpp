// SPDX-License-Identifier: BSD-3-Clause
//
// Every matrix x scalar type x pivoting policy: a sample of grids, sizes and look-ahead depths as
// a rule, all of them in the hidden test case [long].
#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"
#include "support/lapack_reference.hpp"
#include "support/matrices.hpp"
#include "support/pivoting.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using plinth::NoPivoting;
using plinth::PartialPivoting;
using plinth::ProcessGrid;
using plinth::RowMajorGrid;
using plinth::ThresholdPivoting;
using plinth::TournamentPivoting;

namespace {

struct Size {
  Index n, nb;
};
constexpr Size sizes[] = {
    {40, 5},   // more panels than processes
    {1, 4},    // one element, nb > n
    {29, 4},   // ragged
    {4, 4},    // one block
    {5, 4},    // nb + 1: a last block of one
    {13, 1},   // a block per column
    {33, 12},  // a panel wider than a process's rows of it
    {31, 64},  // all of it in one block
};
constexpr Index depths[] = {0, 1, 3};

/// What |re| + |im| of an entry of L may be; 0: anything.
double bound_of(const PartialPivoting&) { return 1; }
double bound_of(const ThresholdPivoting& p) { return 1 / p.threshold; }
double bound_of(const PreferNear& p) { return p.factor; }
double bound_of(const auto&) { return 0; }

/// ||x - truth||_1 rcond / (||truth||_1 eps), rcond as LAPACK estimates it.
template <class T>
double forward_ratio(const NamedMatrix<T>& m, Dense<T> x, const Dense<T>& truth) {
  Dense<T> lu = m.a;
  std::vector<int> pivots(static_cast<std::size_t>(lu.rows));
  int info = -1;
  lapack::getrf(static_cast<int>(lu.rows), lu.data.data(), pivots.data(), &info);
  if (info != 0) {  // a pivot is zero by rounding: nothing is claimed
    CHECK(std::string(m.name) == "Hilbert");
    return 0;
  }
  const double rcond = lapack::gecon('1', static_cast<int>(lu.rows), lu.data.data(),
                                     static_cast<plinth::RealOf<T>>(norm1(m.a)));
  for (std::size_t e = 0; e < x.data.size(); ++e) x.data[e] -= truth.data[e];
  return norm1(x) * rcond / (norm1(truth) * plinth::ScalarTraits<T>::epsilon);
}

/// The outcome of one factorization, and the usual ratios where they have a meaning.
template <class T, class Pivoting>
void check_matrix(const ProcessGrid& grid, const NamedMatrix<T>& m, Size size, Index lookahead,
                  const Pivoting& pivoting) {
  INFO(m.name << ", n " << size.n << ", nb " << size.nb << ", look-ahead " << lookahead);
  const plinth::MatrixLayoutOptions layout{.mb = size.nb, .nb = size.nb};
  const auto factors = plinth::lu_factor(Exec(), distribute(grid, m.a, layout), pivoting,
                                         {.lookahead = lookahead});
  if (!grid.active()) return;
  CHECK(factors.first_nonfinite_pivot().value_or(-1) == m.nonfinite);
  if (m.nonfinite >= 0) return;
  CHECK(factors.first_zero_pivot().value_or(-1) == m.zero);
  const auto lu = gather(factors.matrix());
  CHECK(factor_ratio(m.a, lu, gather_pivots(factors)) < 30);
  if (const double bound = bound_of(pivoting); bound > 0) {
    // Where pivots are the largest |re| + |im|, that sum of a quotient may be twice as large.
    const double most = (plinth::ScalarTraits<T>::is_complex ? 2 : 1) * bound * 1.0001;
    double largest = 0;
    for (Index j = 0; j < size.n; ++j)
      for (Index i = j + 1; i < size.n; ++i)
        largest = std::max(largest, static_cast<double>(plinth::magnitude1(lu(i, j))));
    CHECK(largest <= most);
  }
  if (m.zero >= 0) return;
  const auto rhs =
      make_dense<T>(size.n, 2, [](Index i, Index j) { return noise_as<T>(i, j, 7); });
  for (const auto op : {plinth::Op::none, plinth::Op::transpose, plinth::Op::conj_transpose}) {
    INFO("op " << plinth::to_char(op));
    auto x = distribute(grid, rhs, {.mb = size.nb, .nb = 2});
    plinth::lu_solve(Exec(), factors, x, op);
    CHECK(solve_ratio(m.a, gather(x), rhs, op) < 30);
  }
  // A solution that is known: its error is what the condition allows.
  const auto truth = make_dense<T>(
      size.n, 1, [](Index i, Index) { return T(static_cast<plinth::RealOf<T>>(i % 5 + 1)); });
  auto x = distribute(grid, product(m.a, truth), {.mb = size.nb, .nb = 2});
  plinth::lu_solve(Exec(), factors, x);
  CHECK(forward_ratio(m, gather(x), truth) < 30);
}

/// One policy on every matrix. Each is tried on every `stride`-th grid, at a size and a depth that
/// take turns, or (`all`) at every one.
template <class T, class Pivoting>
void check_policy(const char* name, std::size_t stride, bool all, const Pivoting& pivoting) {
  INFO(name);
  std::size_t turn = 0;
  for (const auto shape : grids(world_size())) {
    INFO("grid " << shape.rows << "x" << shape.cols);
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    for (const Size& size : sizes) {
      const auto matrices = named_matrices<T>(size.n);
      ++turn;
      for (const auto& m : matrices) {
        if (!Pivoting::exchanges_rows && !m.unpivoted) continue;
        ++turn;
        for (const Index depth : depths)
          if (all || (turn % stride == 0 && depth == depths[turn / stride % 3]))
            check_matrix(grid, m, size, depth, pivoting);
      }
    }
  }
}

template <class T>
void check_policies(std::size_t stride, bool all) {
  check_policy<T>("partial", stride, all, PartialPivoting{});
  check_policy<T>("none", stride / 2, all, NoPivoting{});
  check_policy<T>("threshold 0.25", stride, all, ThresholdPivoting{.threshold = 0.25});
  check_policy<T>("own", stride, all, PreferNear{.group = 3});
  check_policy<T>("tournament, radix 2", stride / 2, all, TournamentPivoting{});
  check_policy<T>("tournament, radix 3", stride, all, TournamentPivoting{.radix = 3});
  if (all) check_policy<T>("tournament, radix 64", stride, all, TournamentPivoting{.radix = 64});
}

}  // namespace

TEMPLATE_TEST_CASE("LU: every matrix with every pivoting policy, a sample", "[lu][pivoting]",
                   PLINTH_TEST_TYPES(double, float, Kokkos::complex<double>,
                                     Kokkos::complex<float>)) {
  check_policies<TestType>(std::is_same_v<TestType, double> ? 38 : 94, false);
}

TEMPLATE_TEST_CASE("LU: every matrix with every pivoting policy, all of them", "[.][long]",
                   PLINTH_TEST_TYPES(double, float, Kokkos::complex<double>,
                                     Kokkos::complex<float>)) {
  check_policies<TestType>(2, true);
}
