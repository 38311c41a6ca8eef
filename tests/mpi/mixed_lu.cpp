// SPDX-License-Identifier: BSD-3-Clause
//
// LU in mixed precision: L U is A again, to the operands' precision; where arithmetic is exact the
// factors are the same on every grid.
#include "plinth/lu/mixed_factors.hpp"

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/mixed_instances.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::bfloat16;
using plinth::half;
using plinth::NoPivoting;
using plinth::PartialPivoting;
using plinth::ProcessGrid;
using plinth::lu::MixedOptions;

namespace {

template <class P, class L>
struct Kind {
  using Precision = P;
  using Layout = L;
};
#define MIXED_KINDS                                                                    \
  PLINTH_TEST_TYPES((Kind<plinth::DoubleHalf, LayoutRight>),                           \
                    (Kind<plinth::DoubleBfloat16, LayoutRight>),                       \
                    (Kind<plinth::DoubleSingleHalf, LayoutRight>),                     \
                    (Kind<plinth::DoubleHalf, LayoutLeft>))

/// The factors as doubles, their scaling undone, L below the diagonal.
template <class Factors>
Dense<double> unscaled(const Factors& factors) {
  const auto stored = gather(factors.matrix());
  const Index nb = factors.matrix().distribution().rows.block();
  return make_dense<double>(stored.rows, stored.cols, [&](Index i, Index j) {
    const auto& e = factors.exponents();
    return std::ldexp(static_cast<double>(stored(i, j)),
                      i > j ? -e.of_l(j / nb) : -e.of_u(i / nb));
  });
}

/// ||P A - L U||_1 / (||A||_1 u) with the operands' unit roundoff u.
double backward_ratio(const Dense<double>& a, const Dense<double>& lu,
                      const std::vector<Index>& pivots, double roundoff) {
  const double in_double = factor_ratio(a, lu, pivots);  // divided by n 2^-53
  return in_double * static_cast<double>(a.rows) * 0x1p-53 / roundoff;
}

template <class Precision>
constexpr double roundoff =
    plinth::ScalarTraits<typename plinth::PrecisionRoles<Precision>::Operand>::epsilon;

/// Numbers that A's type holds.
template <class T>
Dense<double> rounded(const Dense<double>& a) {
  return make_dense<double>(a.rows, a.cols,
                            [&](Index i, Index j) { return static_cast<double>(T(a(i, j))); });
}
template <class T, class Layout>
TestMatrix<T, Layout> distribute(const ProcessGrid& grid, const Dense<double>& a,
                                 const plinth::MatrixLayoutOptions& options) {
  TestMatrix<T, Layout> matrix(grid, a.rows, a.cols, options);
  plinth::generate(Exec(), matrix, [&](Index i, Index j) { return a(i, j); });
  return matrix;
}

/// Noise with sqrt(n) on the diagonal: safe without pivoting.
Dense<double> scaled_diagonal(Index n) {
  return make_dense<double>(n, n, [n](Index i, Index j) {
    return noise(i, j, 7) + (i == j ? std::sqrt(static_cast<double>(n)) : 0.0);
  });
}

/// Factors and multiplies back. Returns the ratio.
template <class Precision, class Layout, class Pivoting>
double ratio_of(const ProcessGrid& grid, const Dense<double>& a,
                const plinth::MatrixLayoutOptions& layout, const MixedOptions& options) {
  using Factor = typename plinth::PrecisionRoles<Precision>::Factor;
  const auto exact = rounded<Factor>(a);
  const auto factors = plinth::mixed_lu_factor<Precision>(
      Exec(), distribute<Factor, Layout>(grid, exact, layout), Pivoting{}, options);
  if (!grid.active()) return 0;
  CHECK_FALSE(factors.first_zero_pivot());
  CHECK_FALSE(factors.first_nonfinite_pivot());
  CHECK(factors.report()->first_overflow == -1);
  CHECK(factors.report()->growth() >= 0.5);
  CHECK(factors.report()->growth() < 20);
  return backward_ratio(exact, unscaled(factors), gather_pivots(factors), roundoff<Precision>);
}

struct Shape {
  Index n, nb, lookahead;
  bool invert;
};
constexpr Shape shapes[] = {
    {1, 1, 1, true},    // one number
    {5, 8, 1, true},    // one block, and ranks that own nothing
    {37, 5, 0, true},   // ragged, without look-ahead
    {37, 5, 1, false},  // with triangular solves
    {48, 16, 2, true},  // look-ahead that reaches the end
    {101, 33, 1, false},
};

template <class Precision, class Layout, class Pivoting>
void check_ratios(const MixedOptions& base = {}, double limit = 3) {
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{shape.rows, shape.cols});
    for (const Shape& s : shapes) {
      INFO("grid " << shape.rows << "x" << shape.cols << ", n " << s.n << ", nb " << s.nb
                   << ", look-ahead " << s.lookahead << ", inverted " << s.invert);
      MixedOptions options = base;
      options.lookahead = s.lookahead;
      options.invert_diagonal = s.invert;
      const auto a =
          Pivoting::exchanges_rows
              ? make_dense<double>(s.n, s.n, [](Index i, Index j) { return noise(i, j); })
              : scaled_diagonal(s.n);
      const plinth::MatrixLayoutOptions layout{
          .mb = s.nb, .nb = s.nb, .source_row = shape.rows - 1, .source_col = shape.cols / 2};
      CHECK(ratio_of<Precision, Layout, Pivoting>(grid, a, layout, options) < limit);
    }
  }
}

/// L with 0 and +-1/2, U with 0, +-1 and +-2: no rounding error in any type, in any order.
Dense<double> exact_factors(Index n) {
  return make_dense<double>(n, n, [](Index i, Index j) {
    const int choice = static_cast<int>((noise(i, j, 21) + 0.5) * 8);
    const double sign = choice % 2 == 0 ? 1 : -1;
    if (i > j) return choice < 5 ? 0 : sign * 0.5;
    if (i < j) return choice < 3 ? 0 : sign;
    return sign * (choice < 4 ? 1 : 2);
  });
}
/// No pivot is another row than its own.
std::vector<Index> in_place(Index n) {
  std::vector<Index> rows;
  for (Index i = 0; i < n; ++i) rows.push_back(i);
  return rows;
}
Dense<double> product(const Dense<double>& lu) {
  return ExactSystem<double>(lu, in_place(lu.rows)).a;
}

template <class Precision, class Layout, class Pivoting>
void check_exact(const Dense<double>& a, const Dense<double>& lu,
                 const std::vector<Index>& pivots, const MixedOptions& base = {}) {
  using Factor = typename plinth::PrecisionRoles<Precision>::Factor;
  REQUIRE(rounded<typename plinth::PrecisionRoles<Precision>::Operand>(a).data == a.data);
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{shape.rows, shape.cols});
    for (const Index lookahead : {0, 1, 2})
      for (const bool invert : {false, true}) {
        INFO("grid " << shape.rows << "x" << shape.cols << ", look-ahead " << lookahead
                     << ", inverted " << invert);
        MixedOptions options = base;
        options.lookahead = lookahead;
        options.invert_diagonal = invert;
        const auto factors = plinth::mixed_lu_factor<Precision>(
            Exec(), distribute<Factor, Layout>(grid, a, {.mb = 6, .nb = 6}), Pivoting{}, options);
        if (!grid.active()) continue;
        CHECK(unscaled(factors).data == lu.data);
        CHECK(gather_pivots(factors) == pivots);
        CHECK(factors.report()->lost == plinth::kernel::NarrowingCounts{});
      }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("Mixed LU without pivoting: L U is A", "[mixed]", MIXED_KINDS) {
  check_ratios<typename TestType::Precision, typename TestType::Layout, NoPivoting>();
}

TEST_CASE("Mixed LU: nothing to factor, and blocks of one column", "[mixed]") {
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{shape.rows, shape.cols});
    INFO("grid " << shape.rows << "x" << shape.cols);
    const auto none = plinth::mixed_lu_factor<plinth::DoubleHalf>(
        Exec(), distribute<half, LayoutRight>(grid, Dense<double>(0, 0), {.mb = 4, .nb = 4}));
    CHECK(none.order() == 0);
    CHECK_FALSE(none.first_zero_pivot());
    CHECK(none.report()->growth() == 0);
    const plinth::MatrixLayoutOptions single{.mb = 1, .nb = 1};
    CHECK(ratio_of<plinth::DoubleHalf, LayoutRight, NoPivoting>(grid, scaled_diagonal(11), single,
                                                                {.lookahead = 3}) < 3);
    CHECK(ratio_of<plinth::DoubleBfloat16, LayoutRight, PartialPivoting>(
              grid, scaled_diagonal(11), single, {}) < 30);
  }
}

TEMPLATE_TEST_CASE("Mixed LU with partial pivoting: L U is P A", "[mixed]", MIXED_KINDS) {
  check_ratios<typename TestType::Precision, typename TestType::Layout, PartialPivoting>({}, 30);
}

TEST_CASE("Mixed LU with sums in FP16", "[mixed]") {
  MixedOptions options;
  options.micro_kernel = plinth::kernel::lowp::portable::half_kernel();
  for (const Index flush_k : {0, 4, 64}) {
    INFO("flush_k " << flush_k);
    options.flush_k = flush_k;
    check_ratios<plinth::DoubleHalfFast, LayoutRight, NoPivoting>(options, 10);
  }
}

TEMPLATE_TEST_CASE("Mixed LU: exact factors are the same everywhere", "[mixed]", MIXED_KINDS) {
  using Precision = typename TestType::Precision;
  using Layout = typename TestType::Layout;
  const auto lu = exact_factors(50);
  check_exact<Precision, Layout, NoPivoting>(product(lu), lu, in_place(50));
  const auto pivoted = powers_of_two<double>(50);
  check_exact<Precision, Layout, PartialPivoting>(pivoted.a, pivoted.lu, pivoted.pivots);
}

TEST_CASE("Mixed LU with sums in FP16: exact factors", "[mixed]") {
  MixedOptions in_half;
  in_half.micro_kernel = plinth::kernel::lowp::portable::half_kernel();
  const auto lu = exact_factors(50);
  check_exact<plinth::DoubleHalfFast, LayoutRight, NoPivoting>(product(lu), lu, in_place(50),
                                                               in_half);
}
