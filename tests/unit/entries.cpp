// SPDX-License-Identifier: BSD-3-Clause
//
// Systems as sources of entries: published values, properties, and bulk kernels against the pure
// function, bit for bit.
#include <algorithm>
#include <cmath>
#include <vector>

#include "plinth/kernel/entries/dominant.hpp"
#include "plinth/kernel/entries/fasi_higham.hpp"
#include "plinth/kernel/entries/fill.hpp"
#include "plinth/kernel/entries/product.hpp"
#include "plinth/kernel/entries/scaled_diagonal.hpp"
#include "support/catch.hpp"

using namespace plinth;
using kernel::IndexRun;
using Runs = std::vector<IndexRun>;

namespace {

constexpr Isa every_isa[] = {Isa::portable, Isa::avx2, Isa::avx512};

/// f(system) for one of every kind.
template <class F>
void for_each_system(Index n, const F& f) {
  f(ScaledDiagonal(n, 0.75));
  f(FasiHigham(n, 0.125, 0.3));
  f(DominantReference(n));
  f(DominantOpenmxp(n));
}

/// n x n matrices by columns.
using Matrix = std::vector<double>;
std::size_t at(Index n, Index i, Index j) { return static_cast<std::size_t>(i + j * n); }

/// Row sums of |A^-1|, by Gauss-Jordan elimination without pivoting.
double norm_of_inverse(Index n, Matrix a) {
  Matrix inverse(a.size(), 0.0);
  for (Index i = 0; i < n; ++i) inverse[at(n, i, i)] = 1;
  for (Index k = 0; k < n; ++k) {
    const double pivot = a[at(n, k, k)];
    for (Index j = 0; j < n; ++j) {
      a[at(n, k, j)] /= pivot;
      inverse[at(n, k, j)] /= pivot;
    }
    for (Index i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = a[at(n, i, k)];
      for (Index j = 0; j < n; ++j) {
        a[at(n, i, j)] -= factor * a[at(n, k, j)];
        inverse[at(n, i, j)] -= factor * inverse[at(n, k, j)];
      }
    }
  }
  double norm = 0;
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (Index j = 0; j < n; ++j) sum += std::abs(inverse[at(n, i, j)]);
    norm = std::max(norm, sum);
  }
  return norm;
}

double norm_inf(Index n, const Matrix& a) {
  double norm = 0;
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (Index j = 0; j < n; ++j) sum += std::abs(a[at(n, i, j)]);
    norm = std::max(norm, sum);
  }
  return norm;
}

template <class S>
Matrix entries(const S& s) {
  const Index n = s.order();
  Matrix a(static_cast<std::size_t>(n * n));
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) a[at(n, i, j)] = s(i, j);
  return a;
}

}  // namespace

TEST_CASE("dominant systems have the published entries", "[entries]") {
  const DominantReference reference(4);
  CHECK(reference(1, 0) == 0x1.02c6333d3894cp-2);
  CHECK(reference(0, 1) == -0x1.3e3e93ef5ba05p-2);
  CHECK(reference(0, 0) == 0.5408520831390141);
  CHECK(reference(0, 4) == 0.19000103198883878);
  const DominantOpenmxp openmxp(4);
  CHECK(openmxp(1, 0) == 0.4687651846453776);
  CHECK(openmxp(0, 1) == 0.07391446735495504);
  CHECK(openmxp(0, 4) == -0.18239019544100302);
  CHECK(openmxp(0, 0) == 0.801428889978502);
}

TEST_CASE("the diagonal of a dominant system is the sum of its row", "[entries]") {
  for (const Index n : {1, 2, 40}) {
    const auto check = [n](const auto& s) {
      for (Index i = 0; i < n; ++i) {
        double sum = 0;
        for (Index j = 0; j < n; ++j)
          if (j != i) sum += std::abs(s(i, j));
        CHECK(s(i, i) == Catch::Approx(sum).epsilon(1e-14).margin(1e-15));
        CHECK(s(i, i) <= s.bound());
      }
    };
    check(DominantReference(n));
    check(DominantOpenmxp(n));
  }
}

TEST_CASE("scaled-diagonal is netlib HPL's system but for the diagonal", "[entries]") {
  const Index n = 16;
  const HplGenerator hpl{n};
  const ScaledDiagonal s(n, 0.5);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= n; ++j) CHECK(s(i, j) == hpl(i, j) + (i == j ? 2.0 : 0.0));
  CHECK_THROWS_AS(ScaledDiagonal(4, HUGE_VAL), Error);
  CHECK_THROWS_AS(ScaledDiagonal(-1), Error);
}

TEST_CASE("fasi-higham is the product of its factors", "[entries]") {
  const Index n = 23;
  const FasiHigham s(n, 0.25, 0.375);
  CHECK(s.alpha() == 0.25);
  CHECK(s.beta() == 0.375);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      double sum = 0;
      for (Index k = 0; k <= std::min(i, j); ++k)
        sum += (k == i ? 1.0 : -s.alpha()) * (k == j ? 1.0 : -s.beta());
      CHECK(s(i, j) == sum);
      CHECK(std::abs(s(i, j)) <= s.bound());
    }
  CHECK(s(3, n) == HplGenerator{n}(3, n));
}

TEST_CASE("fasi-higham has the condition number that it says, and that was wished", "[entries]") {
  for (const Index n : {1, 2, 3, 10, 50})
    for (const double kappa : {1.0, 10.0, 1e5, 1e9})
      for (const double rho : {1.0, 0.5, 0.1}) {
        CAPTURE(n, kappa, rho);
        const auto s = FasiHigham::with_condition(n, kappa, rho);
        const Matrix a = entries(s);
        CHECK(s.cond_inf() ==
              Catch::Approx(norm_inf(n, a) * norm_of_inverse(n, a)).epsilon(1e-6));
        CHECK(s.alpha() <= 1);
        if (s.alpha() < 1 && n > 1)
          CHECK(s.cond_inf() == Catch::Approx(kappa).epsilon(0.02));
        else
          CHECK(s.cond_inf() <= kappa * 1.02);
      }
  CHECK(FasiHigham::with_condition(1000, 1e16, 0.5).cond_inf() ==
        Catch::Approx(1e16).epsilon(0.02));
  CHECK_THROWS_AS(FasiHigham::with_condition(10, 0.5, 0.5), Error);
  CHECK_THROWS_AS(FasiHigham::with_condition(10, NAN, 0.5), Error);
  CHECK_THROWS_AS(FasiHigham::with_condition(10, 10, 0), Error);
  CHECK_THROWS_AS(FasiHigham::with_condition(10, 10, 1.5), Error);
}

TEST_CASE("systems are told apart by their keys", "[entries]") {
  std::vector<std::array<std::uint64_t, 4>> keys;
  for (const Index n : {3, 4})
    for_each_system(n, [&](const auto& s) { keys.push_back(s.key()); });
  keys.push_back(ScaledDiagonal(3, 0.5).key());
  keys.push_back(ScaledDiagonal(3, 0.75, 7).key());
  keys.push_back(FasiHigham(3, 0.125, 0.25).key());
  std::sort(keys.begin(), keys.end());
  CHECK(std::adjacent_find(keys.begin(), keys.end()) == keys.end());
}

TEMPLATE_TEST_CASE("bulk filling is the pure function, bit for bit with every instruction set",
                   "[entries]", double, float, half, bfloat16) {
  // Whole, and in blocks with gaps on both sides; the last column is the right-hand side.
  const Index n = 70;
  struct Part {
    Runs rows, cols;
  };
  for (const Part& part :
       {Part{{{0, 0, n}}, {{0, 0, n + 1}}},
        Part{{{1, 13, 13}, {14, 39, 31}}, {{0, 9, 9}, {9, 18, 20}, {30, 68, 3}}},
        Part{{{0, 5, 1}}, {{0, n, 1}}}, Part{{}, {{0, 0, 3}}}})
    for (const Index row_stride : {Index(80), Index(1)})
      for (const Isa isa : every_isa) {
        if (!is_available(isa)) continue;
        const double scale = 0x1p-3;
        for_each_system(n, [&](const auto& s) {
          CAPTURE(to_string(isa), row_stride, s.key()[0]);
          std::vector<TestType> a(80 * 80, TestType(-77.0f));
          const kernel::LcgTarget<TestType> target{a.data(), row_stride, 81 - row_stride,
                                                   part.rows, part.cols};
          const auto counts =
              kernel::fill_entries(Kokkos::DefaultHostExecutionSpace(), s, target, scale, isa);
          std::vector<TestType> want(80 * 80, TestType(-77.0f));
          for (const IndexRun& row : part.rows)
            for (const IndexRun& col : part.cols)
              for (Index k = 0; k < row.length; ++k)
                for (Index l = 0; l < col.length; ++l)
                  want[static_cast<std::size_t>((row.local + k) * row_stride +
                                                (col.local + l) * (81 - row_stride))] =
                      TestType(scale * s(row.global + k, col.global + l));
          CHECK(a == want);
          CHECK(counts.overflowed == 0);
        });
      }
}

TEST_CASE("filling counts what is lost", "[entries]") {
  const Index n = 64;
  const Runs all{{0, 0, n}};
  const auto counts = [&](auto zero, double scale, double sigma) {
    std::vector<decltype(zero)> a(static_cast<std::size_t>(n * n));
    return kernel::fill_entries(Kokkos::DefaultHostExecutionSpace(), ScaledDiagonal(n, sigma),
                                kernel::LcgTarget<decltype(zero)>{a.data(), n, 1, all, all},
                                scale);
  };
  // half ends at 65504, its normal numbers at 2^-14, its others at 2^-24.
  CHECK(counts(half(), 1, 1e5).overflowed == n);
  CHECK(counts(half(), 1, 1).overflowed == 0);
  CHECK(counts(half(), 0x1p-26, 1).flushed == n * (n - 1));
  CHECK(counts(half(), 0x1p-13, 1).subnormal > 0);
  CHECK(counts(bfloat16(), 1, 1e5) == kernel::NarrowingCounts{});
  CHECK(counts(bfloat16(), 1, 1e39).overflowed == n);
  CHECK(counts(float(), 1, 1e39).overflowed == n);
  CHECK(counts(float(), 0x1p-160, 1).flushed == n * n);
  CHECK(counts(float(), 0x1p-128, 1).subnormal == n * (n - 1));
  CHECK(counts(float(), 0x1p-128, 1).flushed == 0);
  CHECK(counts(double(), 1, 1e39) == kernel::NarrowingCounts{});
}

TEST_CASE("a product without a matrix is the product", "[entries]") {
  struct Part {
    Index n;
    Runs rows, cols;
  };
  const Index count = 3;
  for (const Part& part :
       {Part{301, {{0, 0, 301}}, {{0, 0, 301}}},
        Part{90, {{0, 13, 13}, {13, 39, 40}}, {{2, 0, 9}, {11, 18, 9}, {20, 36, 54}}},
        Part{1, {{0, 0, 1}}, {{0, 0, 1}}}, Part{5, {}, {{0, 0, 5}}}, Part{5, {{0, 0, 5}}, {}}})
    for (const Isa isa : every_isa) {
      if (!is_available(isa)) continue;
      for_each_system(part.n, [&](const auto& s) {
        CAPTURE(to_string(isa), part.n, s.key()[0]);
        constexpr Index ld = 310;
        const auto room = static_cast<std::size_t>(ld * count);
        std::vector<double> x(room), r(room, 0.5), rows(room, 0.0), cols(room, 0.0);
        for (std::size_t k = 0; k < room; ++k)
          x[k] = HplGenerator{1, 7}(static_cast<Index>(k), 0);
        const auto diagonal = kernel::local_diagonal(s, part.rows, part.cols, isa);
        kernel::subtract_product(
            Kokkos::DefaultHostExecutionSpace(), s, part.rows, part.cols, diagonal.data(),
            {count, x.data(), ld, r.data(), ld, rows.data(), cols.data()}, isa);
        std::vector<double> want(room, 0.5), size(room, 0.5), row_sums(room), col_sums(room);
        for (const IndexRun& row : part.rows)
          for (const IndexRun& col : part.cols)
            for (Index k = 0; k < row.length; ++k)
              for (Index l = 0; l < col.length; ++l) {
                const double a = s(row.global + k, col.global + l);
                const auto i = static_cast<std::size_t>(row.local + k);
                const auto j = static_cast<std::size_t>(col.local + l);
                for (std::size_t c = 0; c < room; c += ld) {
                  want[c + i] -= a * x[c + j];
                  size[c + i] += std::abs(a * x[c + j]);
                }
                row_sums[i] += std::abs(a);
                col_sums[j] += std::abs(a);
              }
        // Whatever the order of the sums, the error is below n eps of the terms' magnitudes.
        const double eps = 2 * static_cast<double>(part.n + 1) * 0x1p-53;
        for (std::size_t k = 0; k < room; ++k) {
          CHECK(std::abs(r[k] - want[k]) <= eps * size[k]);
          CHECK(std::abs(rows[k] - row_sums[k]) <= eps * row_sums[k]);
          CHECK(std::abs(cols[k] - col_sums[k]) <= eps * col_sums[k]);
        }
      });
    }
}
