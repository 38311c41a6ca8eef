// SPDX-License-Identifier: BSD-3-Clause
//
// Determinant, growth factor and inverse, against LAPACK's factors of the whole matrix, and where
// they are known exactly.
#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/lapack_reference.hpp"
#include "support/mixed_instances.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::MatrixLayoutOptions;
using plinth::Norm;
using plinth::ProcessGrid;
using plinth::RowMajorGrid;
using ComplexDouble = Kokkos::complex<double>;
using ComplexFloat = Kokkos::complex<float>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Case {
  Index n, nb;
};
constexpr Case cases[] = {
    {0, 4},    // nothing
    {1, 4},    // one number
    {7, 16},   // one block, ranks that own nothing
    {30, 1},   // blocks of one
    {37, 5},   // ragged
    {48, 12},  // whole blocks
};

/// Calls f(grid, layout, case) for grids and sizes, also from another source process.
template <class F>
void on_grids_and_sizes(F&& f) {
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    if (!grid.active()) continue;
    for (const Case& c : cases) {
      INFO("grid " << shape.rows << "x" << shape.cols << ", n " << c.n << ", nb " << c.nb);
      f(grid, MatrixLayoutOptions{c.nb, c.nb, shape.rows - 1, c.n % 2 == 0 ? 0 : shape.cols / 2},
        c);
    }
  }
}

/// Logarithm of the modulus and sign or phase of the determinant, from getrf's factors.
template <class T>
auto determinant_of(const Getrf<T>& f) {
  using Number = std::conditional_t<plinth::ScalarTraits<T>::is_complex, ComplexDouble, double>;
  plinth::Determinant<Number> result;
  for (Index i = 0; i < f.lu.rows; ++i) {
    const T u = f.lu(i, i);
    const auto size = static_cast<double>(plinth::modulus(u));
    result.log_modulus += std::log(size);
    result.sign *= Number(u) / size;
    if (f.pivots[static_cast<std::size_t>(i)] != i + 1) result.sign = -result.sign;
  }
  return result;
}

/// A diagonal matrix with f(i) in row i.
template <class T, class F>
TestMatrix<T, LayoutRight> diagonal(const ProcessGrid& grid, Index n, Index nb, const F& f) {
  return distribute(grid,
                    make_dense<T>(n, n, [&](Index i, Index j) { return i == j ? f(i) : T(0); }),
                    {.mb = nb, .nb = nb});
}

}  // namespace

TEMPLATE_TEST_CASE("determinant is that of LAPACK's factors", "[lu][determinant]",
                   PLINTH_TEST_TYPES(double, float, ComplexDouble, ComplexFloat)) {
  using T = TestType;
  on_grids_and_sizes([](const ProcessGrid& grid, const MatrixLayoutOptions& layout,
                        const Case& c) {
    const auto a = random_matrix<T>(c.n, c.n);
    const auto expected = determinant_of(Getrf<T>(a));
    const auto factors = plinth::lu_factor(Exec(), distribute(grid, a, layout));
    const auto found = plinth::determinant(Exec(), factors);
    const double error = 30 * static_cast<double>(c.n) * plinth::ScalarTraits<T>::epsilon * 20;
    CHECK(std::abs(found.log_modulus - expected.log_modulus) <= error);
    CHECK(plinth::modulus(found.sign - expected.sign) <= error);
    CHECK(std::abs(plinth::modulus(found.sign) - 1) <= 1e-15);
    CHECK(plinth::modulus(found.value() - expected.sign * std::exp(expected.log_modulus)) <=
          2 * error * std::exp(expected.log_modulus));
  });
}

TEST_CASE("determinant: exact for powers of two, on every grid", "[lu][determinant]") {
  on_grids_and_sizes(
      [](const ProcessGrid& grid, const MatrixLayoutOptions& layout, const Case& c) {
        const auto system = powers_of_two<double>(c.n);
        double log = 0, sign = 1;
        for (Index i = 0; i < c.n; ++i) {
          log += std::log2(std::abs(system.lu(i, i)));
          if (system.lu(i, i) < 0) sign = -sign;
          if (system.pivots[static_cast<std::size_t>(i)] != i) sign = -sign;
        }
        const auto factors =
            plinth::lu_factor(Exec(), distribute<LayoutLeft>(grid, system.a, layout));
        const auto found = plinth::determinant(Exec(), factors);
        CHECK(found.sign == sign);
        CHECK(found.log_modulus == log * std::log(2.0));
      });
}

TEST_CASE("determinant: beyond what a double holds, zero, and not a number",
          "[lu][determinant]") {
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    if (!grid.active()) continue;
    INFO("grid " << shape.rows << "x" << shape.cols);
    const Index n = 50;
    const auto of = [&](const auto& f) {
      return plinth::determinant(Exec(),
                                 plinth::lu_factor(Exec(), diagonal<double>(grid, n, 4, f)));
    };
    // 10^300 to the 50th; 2^-1070, a subnormal, to the 50th; an odd number of minus signs.
    const auto huge = of([](Index i) { return i % 7 == 0 ? 1e300 : -1e300; });
    CHECK(huge.sign == 1);
    CHECK(std::abs(huge.log_modulus / (50 * 300 * std::log(10.0)) - 1) <= 1e-14);
    const auto tiny = of([](Index i) { return i == 3 ? -0x1p-1070 : 0x1p-1070; });
    CHECK(tiny.sign == -1);
    CHECK(std::abs(tiny.log_modulus / (-50 * 1070 * std::log(2.0)) - 1) <= 1e-15);
    CHECK(tiny.value() == 0);
    const auto zero = of([](Index i) { return i == 31 ? 0.0 : 1e300; });
    CHECK(zero.sign == 0);
    CHECK(zero.log_modulus == -infinity);
    CHECK(zero.value() == 0);
    const auto nan = of([](Index i) { return i == 49 ? std::nan("") : 1.0; });
    CHECK(plinth::is_nan(nan.sign));
    CHECK(plinth::is_nan(nan.log_modulus));

    // i^50 = -1, and huge moduli.
    const auto phase = plinth::determinant(
        Exec(), plinth::lu_factor(Exec(), diagonal<ComplexDouble>(grid, n, 4, [](Index) {
                                    return ComplexDouble(0, 1e308);
                                  })));
    CHECK(plinth::modulus(phase.sign + 1.0) <= 1e-14);
    CHECK(std::abs(phase.log_modulus / (50 * 308 * std::log(10.0)) - 1) <= 1e-14);
  }
}

#ifndef PLINTH_TEST_ON_STAND_IN  // locked_device_mixed.cpp has that
TEST_CASE("determinant and growth of factors in 16 bits that are scaled", "[lu][determinant]") {
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    if (!grid.active()) continue;
    INFO("grid " << shape.rows << "x" << shape.cols);
    const Index n = 24, nb = 5;
    // Exact in 16 bits: a power of two in a permuted place.
    const auto order = shuffled(n, 5);
    TestMatrix<plinth::half, LayoutRight> a(grid, n, n, {.mb = nb, .nb = nb});
    plinth::generate(Exec(), a, [&](Index i, Index j) noexcept {
      return order[static_cast<std::size_t>(i)] == j
                 ? std::ldexp(1.0, 3 + static_cast<int>(j % 3))
                 : 0.0;
    });
    double sign = 1;
    const auto permutation = permutation_matrix<double>(order);
    for (Index i = 0; i < n; ++i)
      if (permutation.pivots[static_cast<std::size_t>(i)] != i) sign = -sign;
    // The matrix that stands there is A 2^3, so A's entries are 1, 2 and 4.
    const auto factors = plinth::mixed_lu_factor<plinth::DoubleHalf>(
        Exec(), std::move(a), plinth::PartialPivoting{}, {.matrix_exponent = 3});
    const auto found = plinth::determinant(Exec(), factors);
    CHECK(found.sign == sign);
    CHECK(std::abs(found.log_modulus - static_cast<double>(n) * std::log(2.0)) <= 1e-13);
    CHECK(plinth::growth_factor(Exec(), factors, 4.0) == 1);
  }
}
#endif

TEMPLATE_TEST_CASE("growth factor is that of LAPACK's factors", "[lu][growth]",
                   PLINTH_TEST_TYPES(double, float, ComplexDouble, ComplexFloat)) {
  using T = TestType;
  on_grids_and_sizes(
      [](const ProcessGrid& grid, const MatrixLayoutOptions& layout, const Case& c) {
        const auto a = random_matrix<T>(c.n, c.n);
        const Getrf<T> f(a);
        double u_max = 0, a_max = 0;
        for (Index j = 0; j < c.n; ++j)
          for (Index i = 0; i < c.n; ++i) {
            a_max = std::max<double>(a_max, plinth::modulus(a(i, j)));
            if (i <= j) u_max = std::max<double>(u_max, plinth::modulus(f.lu(i, j)));
          }
        auto da = distribute(grid, a, layout);
        const double norm = plinth::norm(Exec(), da, Norm::max);
        CHECK(norm == a_max);
        const auto factors = plinth::lu_factor(Exec(), std::move(da));
        const double found = plinth::growth_factor(Exec(), factors, norm);
        const double expected = a_max == 0 ? 0 : u_max / a_max;
        CHECK(std::abs(found - expected) <=
              100 * static_cast<double>(c.n) * plinth::ScalarTraits<T>::epsilon);
      });
}

TEMPLATE_TEST_CASE("growth factor: Wilkinson's matrix, zeros, NaN", "[lu][growth]", LayoutRight,
                   LayoutLeft) {
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    if (!grid.active()) continue;
    INFO("grid " << shape.rows << "x" << shape.cols);
    const Index n = 30;
    const auto growth = [&](const Dense<double>& a) {
      auto d = distribute<TestType>(grid, a, {.mb = 4, .nb = 4});
      const double a_max = plinth::norm(Exec(), d, Norm::max);
      return plinth::growth_factor(Exec(), plinth::lu_factor(Exec(), std::move(d)), a_max);
    };
    auto a = make_dense<double>(n, n, [&](Index i, Index j) {
      return j == n - 1 || i == j ? 1.0 : i > j ? -1.0 : 0.0;
    });
    CHECK(growth(a) == std::ldexp(1.0, n - 1));
    CHECK(growth(Dense<double>(n, n)) == 0);
    a(17, 3) = std::nan("");
    CHECK(plinth::is_nan(growth(a)));
    CHECK(error_of([&] {
            (void)plinth::growth_factor(
                Exec(),
                plinth::lu_factor(Exec(), distribute<TestType>(grid, a, {.mb = 4, .nb = 4})),
                grid.all().rank() == grid.all().size() - 1 ? -1.0 : 1.0);
          }) == "growth_factor: the largest modulus in A is not negative");
  }
}

TEMPLATE_TEST_CASE("inverse", "[lu][inverse]",
                   PLINTH_TEST_TYPES(double, float, ComplexDouble, ComplexFloat)) {
  using T = TestType;
  on_grids_and_sizes([](const ProcessGrid& grid, const MatrixLayoutOptions& layout,
                        const Case& c) {
    const auto a = random_matrix<T>(c.n, c.n);
    Getrf<T> expected(a);
    std::vector<T> work(static_cast<std::size_t>(c.n) * 8 + 1);
    int info = -1;
    lapack::getri(static_cast<int>(c.n), expected.lu.data.data(), expected.pivots.data(),
                  work.data(), static_cast<int>(work.size()), &info);
    REQUIRE(info == 0);
    const auto factors = plinth::lu_factor(Exec(), distribute(grid, a, layout));
    const auto inverse = plinth::inverse(Exec(), factors, c.n % 2 == 0 ? 256 : 3);
    CHECK(inverse.distribution() == factors.matrix().distribution());
    const auto x = gather(inverse);
    const auto identity =
        make_dense<T>(c.n, c.n, [](Index i, Index j) { return T(i == j ? 1 : 0); });
    CHECK(solve_ratio(a, x, identity, plinth::Op::none) < 30);
    Dense<T> difference = x;
    for (std::size_t e = 0; e < x.data.size(); ++e) difference.data[e] -= expected.lu.data[e];
    CHECK(norm1(difference) <= 30 * static_cast<double>(c.n) * plinth::ScalarTraits<T>::epsilon *
                                   norm1(x) * norm1(x) * norm1(a));
  });
}

TEST_CASE("inverse: exact for powers of two, the factors are kept, misuse", "[lu][inverse]") {
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    if (!grid.active()) continue;
    INFO("grid " << shape.rows << "x" << shape.cols);
    const auto order = shuffled(21, 9);
    const auto system = permutation_matrix<double>(order);
    const auto factors =
        plinth::lu_factor(Exec(), distribute<LayoutLeft>(grid, system.a, {.mb = 4, .nb = 4}));
    for (int use = 0; use < 2; ++use) {
      const auto x = gather(plinth::inverse(Exec(), factors));
      Index wrong = 0;
      for (Index i = 0; i < 21; ++i)
        for (Index j = 0; j < 21; ++j) wrong += x(i, j) != system.a(j, i);
      CHECK(wrong == 0);
    }
    CHECK(same_bits(gather(factors.matrix()), system.lu));
    CHECK_THAT(error_of([&] {
                 (void)plinth::inverse(Exec(), factors,
                                       grid.all().rank() == grid.all().size() - 1 ? 0 : 8);
               }),
               contains("at least one"));
  }
}

TEST_CASE("norm: the largest modulus", "[matrix][norm]") {
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    auto a = make_dense<ComplexDouble>(9, 14, [](Index i, Index j) {
      return ComplexDouble(i == 7 && j == 12 ? 3 : 0, i == 7 && j == 12 ? -4 : 0.5);
    });
    INFO("grid " << shape.rows << "x" << shape.cols);
    const auto of = [&] {
      return plinth::norm(Exec(), distribute<LayoutLeft>(grid, a, {.mb = 2, .nb = 3}), Norm::max);
    };
    CHECK(of() == (grid.active() ? 5 : 0));
    a(0, 3) = ComplexDouble(0, std::nan(""));
    a(1, 3) = ComplexDouble(7, 0);
    if (grid.active()) CHECK(plinth::is_nan(of()));
  }
}
