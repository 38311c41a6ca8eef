// SPDX-License-Identifier: BSD-3-Clause
//
// What LU in mixed precision says about what it met: zero and non-finite pivots, growth, losses of
// rounding, exponents; the same on every rank. And what it refuses.
#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/mixed_instances.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using Kokkos::LayoutRight;
using plinth::bfloat16;
using plinth::half;
using plinth::NoPivoting;
using plinth::PartialPivoting;
using plinth::ProcessGrid;
using plinth::lu::MixedOptions;
using plinth::lu::MixedReport;

namespace {

template <class Precision>
auto distribute(const ProcessGrid& grid, const Dense<double>& a, Index nb) {
  MixedMatrix<Precision, LayoutRight> matrix(grid, a.rows, a.cols, {.mb = nb, .nb = nb});
  plinth::generate(Exec(), matrix, [&](Index i, Index j) { return a(i, j); });
  return matrix;
}
template <class Precision, class Pivoting = NoPivoting>
auto factor(const ProcessGrid& grid, const Dense<double>& a, Index nb,
            const MixedOptions& options = {}) {
  return plinth::mixed_lu_factor<Precision>(Exec(), distribute<Precision>(grid, a, nb),
                                            Pivoting{}, options);
}

Dense<double> identity(Index n) {
  return make_dense<double>(n, n, [](Index i, Index j) { return i == j ? 1.0 : 0.0; });
}

/// Calls f(grid) on all grids of these ranks.
template <class F>
void on_grids(const F& f) {
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{shape.rows, shape.cols});
    INFO("grid " << shape.rows << "x" << shape.cols);
    f(grid);
  }
}

/// Everything in a report as numbers that can be compared, -1 for a NaN.
std::vector<double> numbers(const MixedReport& r) {
  const auto number = [](double x) { return plinth::is_nan(x) ? -1.0 : x; };
  return {static_cast<double>(r.pivots.first_zero_pivot),
          static_cast<double>(r.pivots.first_nonfinite),
          static_cast<double>(r.lost.overflowed),
          static_cast<double>(r.lost.flushed),
          static_cast<double>(r.lost.subnormal),
          static_cast<double>(r.lost_multiplied.overflowed),
          static_cast<double>(r.lost_multiplied.flushed),
          static_cast<double>(r.lost_multiplied.subnormal),
          static_cast<double>(r.first_overflow),
          number(r.largest_a),
          number(r.largest_u)};
}
/// The report, after a check that all ranks of the grid have the same.
template <class Factors>
MixedReport report_of(const ProcessGrid& grid, const Factors& factors) {
  REQUIRE(factors.report());
  const auto mine = numbers(*factors.report());
  auto first = mine;
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_DOUBLE, 0, grid.all().handle());
  CHECK(mine == first);
  return *factors.report();
}

}  // namespace

TEST_CASE("Mixed LU: the first zero pivot is exact", "[mixed][outcome]") {
  const Index n = 20;
  on_grids([&](const ProcessGrid& grid) {
    for (const Index k : {0, 7, 19}) {
      for (const bool invert : {false, true}) {
        INFO("column " << k << ", inverted " << invert);
        const MixedOptions options{.invert_diagonal = invert};
        auto a = identity(n);
        a(k, k) = 0;
        const auto one = factor<plinth::DoubleHalf>(grid, a, 4, options);
        const auto two = factor<plinth::DoubleBfloat16, PartialPivoting>(grid, a, 4, options);
        if (!grid.active()) continue;
        CHECK(one.first_zero_pivot() == k);
        CHECK_FALSE(one.first_nonfinite_pivot());
        CHECK(report_of(grid, one).largest_u == 1);
        CHECK(two.first_zero_pivot() == k);
        CHECK_FALSE(two.first_nonfinite_pivot());
      }
    }
    // Without pivoting a zero pivot need not mean a singular matrix; what follows stays finite.
    auto a = make_dense<double>(n, n, [](Index i, Index j) { return noise(i, j); });
    a(0, 0) = 0;
    const auto factors = factor<plinth::DoubleBfloat16>(grid, a, 4);
    if (!grid.active()) return;
    CHECK(factors.first_zero_pivot() == 0);
    CHECK_FALSE(factors.first_nonfinite_pivot());
  });
}

TEST_CASE("Mixed LU: a zero pivot stays the first, whatever overflows after it",
          "[mixed][outcome]") {
  auto a = identity(12);
  a(2, 2) = 0;
  a(7, 2) = a(2, 9) = a(2, 7) = 60000;  // divided by 1: U(7, 7) = 1 - 60000^2
  on_grids([&](const ProcessGrid& grid) {
    for (const bool invert : {false, true}) {
      const auto factors = factor<plinth::DoubleHalf>(grid, a, 4, {.invert_diagonal = invert});
      if (!grid.active()) continue;
      CHECK(factors.first_zero_pivot() == 2);
      CHECK(factors.first_nonfinite_pivot() == 7);
    }
  });
}

TEST_CASE("Mixed LU: another exponent for the matrices to come", "[mixed]") {
  using plinth::lu::MixedFactorization;
  using Matrix = MixedMatrix<plinth::DoubleHalf, LayoutRight>;
  auto a = identity(6);
  a(1, 0) = -1;
  a(0, 2) = a(1, 2) = 60000;  // U(1, 2) = 120000
  const auto scaled = [&](int exponent) {
    return make_dense<double>(6, 6,
                              [&](Index i, Index j) { return std::ldexp(a(i, j), exponent); });
  };
  on_grids([&](const ProcessGrid& grid) {
    if (!grid.active()) return;
    plinth::trace::Off off;
    auto high = distribute<plinth::DoubleHalf>(grid, scaled(0), 2);
    MixedFactorization<Matrix, Exec, plinth::DoubleHalf> prepared(
        Exec(), grid, high.distribution(), {}, off);
    auto factors = plinth::mixed_lu_factor(prepared, std::move(high));
    CHECK(report_of(grid, factors).first_overflow == 2);
    CHECK_THROWS_AS(prepared.set_matrix_exponent(-101), plinth::Error);
    prepared.set_matrix_exponent(-4);
    Matrix low = std::move(factors).release();
    const auto entries = scaled(-4);
    plinth::generate(Exec(), low, [&](Index i, Index j) { return entries(i, j); });
    const auto lower = plinth::mixed_lu_factor(prepared, std::move(low));
    CHECK(report_of(grid, lower).first_overflow == -1);
    CHECK(report_of(grid, lower).largest_a == 60000);
    CHECK(report_of(grid, lower).largest_u == 120000);
    CHECK(lower.exponents().of_u(0) == -4);
  });
}

TEST_CASE("Mixed LU: a pivot that is zero as it is stored", "[mixed][outcome]") {
  on_grids([](const ProcessGrid& grid) {
    auto a = identity(4);
    // U11 has 2^16 and, by cancellation in float, 2^-24: with the former stored as 2^13 the latter
    // becomes 2^-27, which half does not hold.
    a(0, 0) = 32768;
    a(0, 1) = 32768;
    a(1, 0) = -32768;
    a(1, 1) = 32768;
    a(2, 2) = 0x1p-24;
    const auto small = factor<plinth::DoubleHalf>(grid, a, 4);
    const auto apart = factor<plinth::DoubleHalf>(grid, a, 2);  // another block, another exponent
    const auto wide = factor<plinth::DoubleSingleHalf>(grid, a, 4);
    if (!grid.active()) return;
    CHECK(small.first_zero_pivot() == 2);
    CHECK(report_of(grid, small).lost.flushed == 1);
    CHECK(small.exponents().of_u(0) == -3);
    CHECK_FALSE(apart.first_zero_pivot());
    CHECK_FALSE(wide.first_zero_pivot());
  });
}

TEST_CASE("Mixed LU: an infinity or a NaN on one rank is found by all", "[mixed][outcome]") {
  const Index n = 24;
  on_grids([&](const ProcessGrid& grid) {
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      for (const bool invert : {false, true}) {
        INFO("entry " << bad << ", inverted " << invert);
        const MixedOptions options{.invert_diagonal = invert};
        struct Place {
          Index i, j, pivot;
        };
        for (const Place p : {Place{0, 0, 0}, Place{9, 9, 9}, Place{3, 10, 10}, Place{14, 2, 14},
                              Place{23, 0, 23}}) {
          INFO("at " << p.i << ", " << p.j);
          auto a = make_dense<double>(
              n, n, [](Index i, Index j) { return noise(i, j) + (i == j ? 5.0 : 0.0); });
          a(p.i, p.j) = bad;
          const auto half_ = factor<plinth::DoubleHalf>(grid, a, 4, options);
          const auto brain = factor<plinth::DoubleBfloat16>(grid, a, 4, options);
          if (!grid.active()) continue;
          CHECK(half_.first_nonfinite_pivot() == p.pivot);
          CHECK(brain.first_nonfinite_pivot() == p.pivot);
          CHECK_FALSE(plinth::is_finite(report_of(grid, half_).largest_a));
        }
      }
    }
    const auto whole = make_dense<double>(n, n, [](Index i, Index j) {
      return i == 17 && j == 5 ? std::numeric_limits<double>::quiet_NaN() : noise(i, j);
    });
    const auto pivoted = factor<plinth::DoubleHalf, PartialPivoting>(grid, whole, 4);
    if (!grid.active()) return;
    CHECK(pivoted.first_nonfinite_pivot() == 5);  // a NaN is the best pivot
  });
}

TEST_CASE("Mixed LU: growth", "[mixed][outcome]") {
  // Wilkinson's matrix: ones in the last column, which double in each step.
  const Index n = 10;
  const auto a = make_dense<double>(n, n, [](Index i, Index j) {
    return i == j || j == n - 1 ? 1.0 : i > j ? -1.0 : 0.0;
  });
  on_grids([&](const ProcessGrid& grid) {
    const auto one = factor<plinth::DoubleHalf, PartialPivoting>(grid, a, 4);
    const auto two = factor<plinth::DoubleSingleHalf>(grid, a, 4);
    if (!grid.active()) return;
    CHECK(report_of(grid, one).growth() == 512);
    CHECK(report_of(grid, two).growth() == 512);
    CHECK(report_of(grid, two).largest_a == 1);
  });
}

TEST_CASE("Mixed LU: entries that overflow in narrowing", "[mixed][outcome]") {
  auto a = identity(6);
  a(1, 0) = -1;
  a(0, 2) = a(1, 2) = 60000;  // U(1, 2) = 120000
  a(0, 5) = a(1, 5) = 60000;
  on_grids([&](const ProcessGrid& grid) {
    const auto small = factor<plinth::DoubleHalf>(grid, a, 2);
    const auto brain = factor<plinth::DoubleBfloat16>(grid, a, 2);
    const auto wide = factor<plinth::DoubleSingleHalf>(grid, a, 2);
    // In the diagonal block it is known in time, and the block row is stored lower.
    const auto block = factor<plinth::DoubleHalf>(grid, a, 6);
    if (!grid.active()) return;
    CHECK(report_of(grid, small).lost.overflowed == 2);
    CHECK(report_of(grid, small).first_overflow == 2);
    CHECK(report_of(grid, brain).first_overflow == -1);
    CHECK(report_of(grid, wide).first_overflow == -1);
    CHECK(report_of(grid, wide).lost.overflowed == 0);
    CHECK(report_of(grid, block).first_overflow == -1);
    CHECK(block.exponents().of_u(0) == -3);
    const auto stored = gather(block.matrix());
    CHECK(static_cast<double>(stored(1, 2)) == 15000);
  });
}

TEST_CASE("Mixed LU: small multipliers are stored high, and those lost are counted",
          "[mixed][outcome]") {
  auto a = identity(8);
  a(0, 0) = 32768;
  a(1, 0) = 32768;    // L 1, stored as 2^14
  a(4, 0) = 0x1p-20;  // L 2^-35, stored as 2^-21: subnormal
  a(6, 0) = 0x1p-24;  // L 2^-39, stored as 2^-25: lost
  auto b = a;
  b(1, 0) = 0;  // L 2^-35 becomes the largest
  on_grids([&](const ProcessGrid& grid) {
    for (const Index nb : {2, 8}) {
      INFO("nb " << nb);
      const auto one = factor<plinth::DoubleHalf>(grid, a, nb);
      const auto operands = factor<plinth::DoubleSingleHalf>(grid, a, nb);
      const auto two = factor<plinth::DoubleHalf>(grid, b, nb);
      if (!grid.active()) continue;
      CHECK(report_of(grid, one).lost == plinth::kernel::NarrowingCounts{0, 1, 1});
      CHECK(one.exponents().of_l(0) == 14);
      CHECK(report_of(grid, two).lost == plinth::kernel::NarrowingCounts{});
      CHECK(two.exponents().of_l(0) == 49);
      CHECK(static_cast<double>(gather(two.matrix())(4, 0)) == 16384);
      // L in float loses nothing, but what is multiplied does, below the diagonal block.
      const Index lost = nb == 2 ? 1 : 0;
      CHECK(report_of(grid, operands).lost == plinth::kernel::NarrowingCounts{});
      CHECK(report_of(grid, operands).lost_multiplied ==
            plinth::kernel::NarrowingCounts{0, lost, lost});
      CHECK(operands.exponents().of_l(0) == 0);
    }
  });
}

TEST_CASE("Mixed LU: operands that are summed in half are scaled lower, and their losses counted",
          "[mixed][outcome]") {
  auto a = identity(8);
  a(0, 0) = a(2, 0) = 32768;
  a(4, 0) = 0x1p-7;   // L 2^-22: stored as 2^-8, multiplied as 2^-17
  a(6, 0) = 0x1p-15;  // L 2^-30: stored as 2^-16, multiplied as 2^-25, which is 0
  MixedOptions options;
  options.micro_kernel = plinth::kernel::lowp::portable::half_kernel();
  on_grids([&](const ProcessGrid& grid) {
    const auto in_half = factor<plinth::DoubleHalfFast>(grid, a, 2, options);
    const auto in_float = factor<plinth::DoubleHalf>(grid, a, 2);
    if (!grid.active()) return;
    CHECK(report_of(grid, in_half).lost == plinth::kernel::NarrowingCounts{0, 0, 1});
    CHECK(report_of(grid, in_half).lost_multiplied == plinth::kernel::NarrowingCounts{0, 1, 1});
    CHECK(report_of(grid, in_float).lost == plinth::kernel::NarrowingCounts{0, 0, 1});
    CHECK(report_of(grid, in_float).lost_multiplied == plinth::kernel::NarrowingCounts{0, 0, 1});
  });
}

TEST_CASE("Mixed LU: diagonal blocks whose inverse is too large are not inverted",
          "[mixed][outcome]") {
  // The inverse of L has 2^(i - j - 1), beyond the largest float in blocks of 192.
  const Index n = 200;
  const auto lower = make_dense<double>(n, n, [](Index i, Index j) {
    return i == j ? 1.0 : i > j ? -1.0 : 0.0;
  });
  const auto upper = make_dense<double>(n, n, [](Index i, Index j) {
    return i == j ? 1.0 : i < j ? -1.0 : 0.0;
  });
  on_grids([&](const ProcessGrid& grid) {
    for (const bool invert : {false, true}) {
      INFO("inverted " << invert);
      const MixedOptions options{.invert_diagonal = invert};
      const auto check = [&](const auto& factors, const Dense<double>& a) {
        if (!grid.active()) return;
        CHECK_FALSE(factors.first_nonfinite_pivot());
        CHECK(report_of(grid, factors).largest_u == 1);
        const auto stored = gather(factors.matrix());
        Index wrong = 0;
        for (Index j = 0; j < n; ++j)
          for (Index i = 0; i < n; ++i) {
            const int e =
                i > j ? factors.exponents().of_l(j / 192) : factors.exponents().of_u(i / 192);
            wrong += static_cast<double>(stored(i, j)) != std::ldexp(a(i, j), e);
          }
        CHECK(wrong == 0);
      };
      check(factor<plinth::DoubleHalf, PartialPivoting>(grid, lower, 192, options), lower);
      check(factor<plinth::DoubleHalf>(grid, lower, 192, options), lower);
      check(factor<plinth::DoubleHalf>(grid, upper, 192, options), upper);
    }
  });
}

TEST_CASE("Mixed LU: a matrix given as A 2^e has A's factors", "[mixed]") {
  const Index n = 23;
  const auto a = make_dense<double>(
      n, n, [](Index i, Index j) { return noise(i, j) + (i == j ? 6.0 : 0.0); });
  const auto scaled =
      make_dense<double>(n, n, [&](Index i, Index j) { return std::ldexp(a(i, j), 8); });
  on_grids([&](const ProcessGrid& grid) {
    const auto plain = factor<plinth::DoubleBfloat16>(grid, a, 5);
    const auto high = factor<plinth::DoubleBfloat16>(grid, scaled, 5, {.matrix_exponent = 8});
    if (!grid.active()) return;
    for (const Index k : {0, 4}) CHECK(high.exponents().of_u(k) == 8);
    CHECK(report_of(grid, high).largest_a == report_of(grid, plain).largest_a);
    CHECK(report_of(grid, high).largest_u == report_of(grid, plain).largest_u);
    const auto low = gather(plain.matrix());
    const auto stored = gather(high.matrix());
    Index wrong = 0;
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i)
        wrong += static_cast<double>(stored(i, j)) !=
                 std::ldexp(static_cast<double>(low(i, j)), i <= j ? 8 : 0);
    CHECK(wrong == 0);
  });
}

TEST_CASE("Mixed LU: the same bits by every broadcast, in messages of every length",
          "[mixed][comm]") {
  using plinth::comm::BroadcastAlgorithm;
  const Index n = 61;
  const auto a = make_dense<double>(
      n, n, [](Index i, Index j) { return noise(i, j) + (i == j ? 8.0 : 0.0); });
  for (const auto shape : {plinth::GridShape{1, world_size()}, plinth::GridShape{world_size(), 1},
                           plinth::GridShape{2, world_size() / 2}}) {
    if (shape.cols == 0) continue;
    INFO("grid " << shape.rows << "x" << shape.cols);
    const plinth::RowMajorGrid layout{shape.rows, shape.cols};
    const ProcessGrid grid(MPI_COMM_WORLD, layout);
    const ProcessGrid chunked(MPI_COMM_WORLD, layout, {.max_message = 100});
    const auto bits = [&](const ProcessGrid& g, const MixedOptions& options) {
      const auto factors = factor<plinth::DoubleHalf>(g, a, 8, options);
      return g.active() ? gather(factors.matrix()) : Dense<half>(0, 0);
    };
    const auto expected = bits(grid, {});
    CHECK(same_bits(bits(grid, {}), expected));
    for (const auto algorithm :
         {BroadcastAlgorithm::ring1, BroadcastAlgorithm::ring2, BroadcastAlgorithm::long_,
          BroadcastAlgorithm::bcast, BroadcastAlgorithm::ibcast}) {
      INFO("broadcast " << static_cast<int>(algorithm));
      CHECK(same_bits(bits(grid, {.broadcast = algorithm}), expected));
      CHECK(same_bits(bits(chunked, {.broadcast = algorithm}), expected));
    }
  }
}

TEST_CASE("Mixed LU refuses what it cannot do, on every rank", "[mixed][misuse]") {
  const int ranks = world_size();
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, ranks});
  const bool guilty = world_rank() == ranks - 1;
  const Dense<double> square(9, 9);
  // What is wrong on all ranks, and on one alone.
  const auto refused = [&](const std::string& text, const MixedOptions& options, Index cols = 9,
                           Index mb = 4) {
    for (const bool wrong : {true, guilty})
      CHECK_THAT(error_of([&] {
                   using Matrix = MixedMatrix<plinth::DoubleHalf, LayoutRight>;
                   Matrix good(grid, 9, 9, {.mb = 4, .nb = 4}),
                       bad(grid, 9, cols, {.mb = mb, .nb = 4});
                   plinth::mixed_lu_factor<plinth::DoubleHalf>(
                       Exec(), std::move(wrong ? bad : good), NoPivoting{},
                       wrong ? options : MixedOptions{});
                 }),
                 contains(text));
  };
  refused("not square", {}, 8);
  refused("blocks are not square", {}, 9, 3);
  refused("look-ahead", {.lookahead = -1});
  refused("matrix exponent", {.matrix_exponent = 101});
  refused("flush_k", {.flush_k = -1});
  refused("nbmin", {.panel = {.nbmin = 0}});
  MixedOptions other;
  other.micro_kernel = plinth::kernel::lowp::portable::single_kernel<bfloat16>();
  refused("other operands", other);
  auto unknown = plinth::kernel::lowp::portable::single_kernel<half>();
  unknown.name = "of another CPU";
  other.micro_kernel = unknown;
  refused("not among the micro-kernels that run here: of another CPU", other);
  if (ranks == 1) return;
  const auto differ = [&](const MixedOptions& options) {
    CHECK_THAT(error_of([&] {
                 factor<plinth::DoubleHalf>(grid, square, 4, guilty ? options : MixedOptions{});
               }),
               contains("different arguments"));
  };
  differ({.lookahead = 2});
  differ({.invert_diagonal = !MixedOptions{}.invert_diagonal});
  other.micro_kernel = plinth::kernel::lowp::portable::single_kernel<half>();
  differ(other);

  // Policies are types: what differs is the call.
  MixedOptions in_half;
  in_half.micro_kernel = plinth::kernel::lowp::portable::half_kernel();
  CHECK_THAT(error_of([&] {
               if (guilty)
                 factor<plinth::DoubleHalf, PartialPivoting>(grid, square, 4, in_half);
               else
                 factor<plinth::DoubleHalf>(grid, square, 4, in_half);
             }),
             contains("different arguments"));
  CHECK_THAT(error_of([&] {
               if (guilty)
                 factor<plinth::DoubleHalfFast>(grid, square, 4, in_half);
               else
                 factor<plinth::DoubleHalf>(grid, square, 4, in_half);
             }),
             contains("different arguments"));
}
