// SPDX-License-Identifier: BSD-3-Clause
//
// Matrices with a story: exact factors, ties, growth, zero pivots, extreme and non-finite
// entries.
#include <limits>

#include "plinth/lu/factors.hpp"
#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::ProcessGrid;

namespace {

plinth::MatrixLayoutOptions square(Index nb) { return {.mb = nb, .nb = nb}; }

template <class Layout = LayoutRight, class T>
TestFactors<T, Layout> factor(const ProcessGrid& grid, const Dense<T>& whole, Index nb,
                              Index lookahead = 1) {
  return plinth::lu_factor(Exec(), distribute<Layout>(grid, whole, square(nb)),
                           plinth::PartialPivoting{}, {.lookahead = lookahead});
}

struct Blocks {
  Index nb, lookahead;
};
constexpr Blocks blocks[] = {
    {1, 3},  // a panel per column, several under way
    {4, 0},  // one after the other
    {4, 1},  // the usual order
    {7, 2},  // ragged, two under way
};

template <class Layout, class T>
void check_exact(const ProcessGrid& grid, const ExactSystem<T>& exact) {
  for (const auto [nb, lookahead] : blocks) {
    INFO("n " << exact.a.rows << ", nb " << nb << ", look-ahead " << lookahead);
    const auto factors = factor<Layout>(grid, exact.a, nb, lookahead);
    CHECK(gather_pivots(factors) == exact.pivots);
    CHECK(gather(factors.matrix()).data == exact.lu.data);
    CHECK_FALSE(factors.first_zero_pivot());
  }
}

double random_entry(Index i, Index j) { return noise(i, j, 21); }

}  // namespace

TEST_CASE("LU of permutations: pivots and factors are exact", "[lu][exact]") {
  const Index n = 23;
  std::vector<Index> forward(static_cast<std::size_t>(n)), backward = forward, next = forward;
  for (Index i = 0; i < n; ++i) {
    forward[static_cast<std::size_t>(i)] = i;
    backward[static_cast<std::size_t>(i)] = n - 1 - i;  // every pivot is remote
    next[static_cast<std::size_t>(i)] = (i + 1) % n;    // one row travels all the way
  }
  on_every_active_grid([&](const ProcessGrid& grid) {
    check_exact<LayoutRight>(grid, permutation_matrix<double>(forward));
    check_exact<LayoutRight>(grid, permutation_matrix<double>(backward));
    check_exact<LayoutLeft>(grid, permutation_matrix<double>(backward));
    check_exact<LayoutRight>(grid, permutation_matrix<double>(next));
    check_exact<LayoutRight>(grid, permutation_matrix<double>(shuffled(n, 5)));
  });
}

TEST_CASE("LU of powers of two: the same pivots and factors on every grid", "[lu][exact]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    check_exact<LayoutRight>(grid, powers_of_two<double>(52));
    check_exact<LayoutLeft>(grid, powers_of_two<double>(39, 2));
    check_exact<LayoutRight>(grid, powers_of_two<float>(39, 3));
    check_exact<LayoutRight>(grid, powers_of_two<Kokkos::complex<double>>(39, 4));
    check_exact<LayoutRight>(grid, powers_of_two<Kokkos::complex<float>>(26, 5));
  });
}

TEST_CASE("LU with ties: the smaller row wins", "[lu]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 24;
    // Entries of equal magnitude everywhere, and in every Schur complement of the second.
    const auto signs = make_dense<double>(
        n, n, [](Index i, Index j) { return noise(i, j, 8) < 0 ? -1.0 : 1.0; });
    const auto factors = factor(grid, signs, 3);
    const auto pivots = gather_pivots(factors);
    CHECK(pivots[0] == 0);
    if (!factors.first_zero_pivot())
      CHECK(factor_ratio(signs, gather(factors.matrix()), pivots) < 30);
    // Walsh's matrix of order 16: its Schur complements hold 0 and +-2^k, without rounding, so
    // the pivots are the same everywhere, and those of a factorization by hand.
    const auto walsh = make_dense<double>(16, 16, [](Index i, Index j) {
      return __builtin_popcountll(static_cast<unsigned long long>(i & j)) % 2 == 0 ? 1.0 : -1.0;
    });
    Dense<double> by_hand = walsh;
    std::vector<Index> expected;
    for (Index k = 0; k < 16; ++k) {
      Index p = k;
      for (Index i = k + 1; i < 16; ++i)
        if (std::abs(by_hand(i, k)) > std::abs(by_hand(p, k))) p = i;
      expected.push_back(p);
      for (Index j = 0; j < 16; ++j) std::swap(by_hand(k, j), by_hand(p, j));
      for (Index i = k + 1; i < 16; ++i) {
        by_hand(i, k) /= by_hand(k, k);
        for (Index j = k + 1; j < 16; ++j) by_hand(i, j) -= by_hand(i, k) * by_hand(k, j);
      }
    }
    for (const Index nb : {1, 3, 4, 16}) {
      INFO("nb " << nb);
      const auto exact = factor(grid, walsh, nb, 2);
      CHECK(gather_pivots(exact) == expected);
      CHECK(gather(exact.matrix()).data == by_hand.data);
    }
  });
}

TEST_CASE("LU of Wilkinson's matrix: growth of 2^(n-1), without rounding", "[lu]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 40;
    const auto a = make_dense<double>(n, n, [=](Index i, Index j) {
      return i == j || j == n - 1 ? 1.0 : i > j ? -1.0 : 0.0;
    });
    const auto factors = factor(grid, a, 6);
    const auto pivots = gather_pivots(factors);
    const auto lu = gather(factors.matrix());
    bool in_place = true, doubled = true;
    for (Index k = 0; k < n; ++k) {
      in_place = in_place && pivots[static_cast<std::size_t>(k)] == k;
      doubled = doubled && lu(k, n - 1) == std::ldexp(1.0, static_cast<int>(k));
    }
    CHECK(in_place);
    CHECK(doubled);
  });
}

TEST_CASE("LU of Hilbert's matrix: a small residual in spite of its condition", "[lu]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 30;
    const auto a = make_dense<double>(
        n, n, [](Index i, Index j) { return 1.0 / static_cast<double>(i + j + 1); });
    const auto factors = factor(grid, a, 4);
    CHECK(factor_ratio(a, gather(factors.matrix()), gather_pivots(factors)) < 30);
  });
}

TEST_CASE("LU of badly scaled matrices", "[lu]") {
  struct Scaling {
    const char* name;
    int rows, cols;  // row i is scaled by 2^(rows i), column j by 2^(cols j)
    int all;         // and everything by 2^all
  };
  constexpr Scaling scalings[] = {
      {"near underflow", 0, 0, -960},
      {"near overflow", 0, 0, 960},
      {"rows", -12, 0, 300},
      {"columns", 0, 9, -300},
  };
  on_every_active_grid([&](const ProcessGrid& grid) {
    for (const auto& s : scalings) {
      INFO(s.name);
      const Index n = 34;
      const auto a = make_dense<double>(n, n, [&](Index i, Index j) {
        return std::ldexp(random_entry(i, j),
                          s.all + s.rows * static_cast<int>(i) + s.cols * static_cast<int>(j));
      });
      const auto factors = factor(grid, a, 5);
      CHECK_FALSE(factors.first_zero_pivot());
      CHECK_FALSE(factors.first_nonfinite_pivot());
      CHECK(factor_ratio(a, gather(factors.matrix()), gather_pivots(factors)) < 30);
    }
  });
}

TEST_CASE("LU: pivots too small for a reciprocal", "[lu]") {
  // The first column is subnormal: 1 / pivot overflows, the quotients do not.
  on_every_active_grid([](const ProcessGrid& grid) {
    const Index n = 12;
    const auto a = make_dense<double>(n, n, [](Index i, Index j) {
      return j == 0 ? std::ldexp(i == 7       ? 4.0
                                 : i % 2 == 0 ? 1.0
                                              : 2.0,
                                 -1072)
                    : random_entry(i, j);
    });
    const auto factors = factor(grid, a, 5);
    const auto lu = gather(factors.matrix());
    CHECK(gather_pivots(factors)[0] == 7);
    bool quotients = true;
    for (Index i = 1; i < n; ++i) quotients = quotients && (lu(i, 0) == 0.25 || lu(i, 0) == 0.5);
    CHECK(quotients);
    CHECK_FALSE(factors.first_nonfinite_pivot());
  });
}

TEST_CASE("LU: the first zero pivot, on every rank", "[lu][singular]") {
  const Index n = 29;
  struct Singular {
    const char* name;
    Dense<double> a;
    Index column;
  };
  const auto zero_column = [&](Index column) {
    return make_dense<double>(
        n, n, [=](Index i, Index j) { return j == column ? 0.0 : random_entry(i, j); });
  };
  auto last_two = permutation_matrix<double>(shuffled(n, 2)).a;
  for (Index i = 0; i < n; ++i) last_two(i, n - 2) = last_two(i, n - 1) = 0;
  const Singular cases[] = {
      {"zeros", Dense<double>(n, n), 0},
      {"ones", make_dense<double>(n, n, [](Index, Index) { return 1.0; }), 1},
      {"zero column first", zero_column(0), 0},
      {"zero column in the middle of a block", zero_column(13), 13},
      {"zero column first of a block", zero_column(16), 16},
      {"zero column last", zero_column(n - 1), n - 1},
      {"two zero columns: the first counts", last_two, n - 2},
      {"zero row: no column has a pivot left at the end",
       make_dense<double>(n, n,
                          [](Index i, Index j) { return i == 5 ? 0.0 : random_entry(i, j); }),
       n - 1},
  };
  on_every_active_grid([&](const ProcessGrid& grid) {
    for (const auto& c : cases)
      for (const Index lookahead : {0, 2}) {
        INFO(c.name << ", look-ahead " << lookahead);
        const auto factors = factor(grid, c.a, 4, lookahead);
        REQUIRE(factors.first_zero_pivot().has_value());
        CHECK(*factors.first_zero_pivot() == c.column);
        CHECK_FALSE(factors.first_nonfinite_pivot());
        CHECK(factor_ratio(c.a, gather(factors.matrix()), gather_pivots(factors)) < 30);
      }
  });
}

TEST_CASE("LU: a single bad number is found, on every rank", "[lu][non-finite]") {
  const Index n = 26;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double inf = std::numeric_limits<double>::infinity();
  struct Bad {
    Index i, j;
    double value;
  };
  constexpr Bad cases[] = {
      {0, 0, nan},    // on the first rank, in the first pivot's column
      {25, 25, nan},  // the very last entry
      {20, 3, nan},   // below the diagonal
      {1, 17, nan},   // above it: found when its column's turn comes
      {25, 0, inf},  {3, 20, inf}, {14, 14, -inf},
  };
  on_every_active_grid([&](const ProcessGrid& grid) {
    for (const auto& bad : cases)
      for (const Index lookahead : {0, 2}) {
        INFO("entry (" << bad.i << ", " << bad.j << ") is " << bad.value << ", look-ahead "
                       << lookahead);
        // Only the rank that owns the entry knows.
        auto a = make_dense<double>(n, n, random_entry);
        a(bad.i, bad.j) = bad.value;
        const auto factors = factor(grid, a, 4, lookahead);
        REQUIRE(factors.first_nonfinite_pivot().has_value());
        CHECK(*factors.first_nonfinite_pivot() == bad.j);
      }
  });
}

TEST_CASE("LU: complex pivots off the real axis", "[lu]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    using T = Kokkos::complex<double>;
    const Index n = 31;
    const auto imaginary =
        make_dense<T>(n, n, [](Index i, Index j) { return T(0, random_entry(i, j)); });
    const auto factors = factor(grid, imaginary, 4);
    CHECK(factor_ratio(imaginary, gather(factors.matrix()), gather_pivots(factors)) < 30);
  });
}
