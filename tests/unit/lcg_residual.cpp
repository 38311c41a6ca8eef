// SPDX-License-Identifier: BSD-3-Clause
#include "plinth/kernel/lcg_residual.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"

using plinth::HplGenerator;
using plinth::Index;
using plinth::Isa;
using plinth::kernel::IndexRun;
using plinth::kernel::residual_lcg;

namespace {

using Runs = std::vector<IndexRun>;

struct Vectors {
  std::vector<double> r, row_sums, col_sums;
  bool operator==(const Vectors&) const = default;
};

Index local_end(const Runs& runs) {
  Index end = 0;
  for (const IndexRun& run : runs) end = std::max(end, run.local + run.length);
  return end;
}

std::vector<double> some_numbers(Index count, double scale) {
  std::vector<double> result(static_cast<std::size_t>(count));
  for (Index k = 0; k < count; ++k)
    result[static_cast<std::size_t>(k)] = scale * HplGenerator{1, 7}(k, 0);
  return result;
}

/// By definition: entry by entry, in order, each operation rounded; column sums in whole numbers.
template <class T>
Vectors by_definition(const Runs& rows, const Runs& cols, Index n) {
  const Index row_end = local_end(rows), col_end = local_end(cols);
  const std::vector<double> x = some_numbers(col_end, 3.0);
  Vectors result{some_numbers(row_end, 1.0),
                 std::vector<double>(static_cast<std::size_t>(row_end), -1.0),
                 std::vector<double>(x.size(), -1.0)};
  for (const IndexRun& row : rows)
    for (Index i = 0; i < row.length; ++i) {
      const auto at = static_cast<std::size_t>(row.local + i);
      result.row_sums[at] = 0;
      for (const IndexRun& col : cols)
        for (Index j = 0; j < col.length; ++j) {
          const auto to = static_cast<std::size_t>(col.local + j);
          const double a = static_cast<T>(HplGenerator{n}(row.global + i, col.global + j));
          volatile double product = a * x[to];
          result.r[at] -= product;
          result.row_sums[at] += std::fabs(a);
        }
    }
  for (const IndexRun& col : cols)
    for (Index j = 0; j < col.length; ++j) {
      std::uint64_t high = 0, low = 0;
      for (const IndexRun& row : rows)
        for (Index i = 0; i < row.length; ++i) {
          const double a = static_cast<T>(HplGenerator{n}(row.global + i, col.global + j));
          const auto whole_part = static_cast<std::uint64_t>(std::rint(std::fabs(a) * 0x1p52));
          high += whole_part >> 26;
          low += whole_part & 0x3ffffff;
        }
      high += low >> 26;
      result.col_sums[static_cast<std::size_t>(col.local + j)] =
          std::ldexp(static_cast<double>(high), -26) +
          std::ldexp(static_cast<double>(low & 0x3ffffff), -52);
    }
  return result;
}

template <class T>
Vectors computed(const Runs& rows, const Runs& cols, Index n, Isa isa, bool sums = true) {
  const std::vector<double> x = some_numbers(local_end(cols), 3.0);
  Vectors result{some_numbers(local_end(rows), 1.0),
                 std::vector<double>(static_cast<std::size_t>(local_end(rows)), -1.0),
                 std::vector<double>(x.size(), -1.0)};
  residual_lcg<T>(Kokkos::DefaultHostExecutionSpace(), rows, cols,
                  {x.data(), result.r.data(), sums ? result.row_sums.data() : nullptr,
                   sums ? result.col_sums.data() : nullptr},
                  n, 100, isa);
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("the residual is b - A x, bit for bit with every instruction set", "[lcg]",
                   double, float) {
  struct Case {
    const char* name;
    Index n;
    Runs rows, cols;
  };
  const Index huge = 3'000'000'000;
  for (const Case& c : {
           Case{"nothing", 3, {}, {}},
           Case{"no rows", 3, {}, {{0, 0, 3}}},
           Case{"no columns", 3, {{0, 0, 3}}, {}},
           Case{"one entry", 1, {{0, 0, 1}}, {{0, 0, 1}}},
           Case{"fewer rows than lanes", 7, {{0, 0, 7}}, {{0, 0, 7}}},
           Case{"whole vectors", 64, {{0, 0, 64}}, {{0, 0, 64}}},
           Case{"ragged", 101, {{0, 0, 101}}, {{0, 0, 101}}},
           Case{"blocks", 60, {{0, 13, 13}, {13, 39, 13}}, {{0, 0, 9}, {9, 18, 9}, {18, 36, 9}}},
           Case{"gaps in the local part", 60, {{2, 13, 3}, {9, 39, 3}}, {{1, 0, 2}, {5, 50, 1}}},
           Case{"many pieces", 2100, {{0, 0, 2100}}, {{0, 0, 300}}},
           Case{"beyond 2^32", huge, {{0, huge - 40, 40}}, {{0, huge - 40, 40}}},
       }) {
    const Vectors want = by_definition<TestType>(c.rows, c.cols, c.n);
    for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512}) {
      if (!plinth::is_available(isa)) continue;
      CAPTURE(to_string(isa), c.name);
      const Vectors got = computed<TestType>(c.rows, c.cols, c.n, isa);
      CHECK(got.r == want.r);
      CHECK(got.row_sums == want.row_sums);
      CHECK(got.col_sums == want.col_sums);
      const Vectors without = computed<TestType>(c.rows, c.cols, c.n, isa, false);
      CHECK(without.r == want.r);
    }
  }
}

TEST_CASE("the residual does not depend on how runs are cut", "[lcg]") {
  const Index n = 700;
  Runs ones, odd;
  for (Index k = 0; k < n; ++k) ones.push_back({k, k, 1});
  for (Index k = 0; k < n; k += 37) odd.push_back({k, k, std::min<Index>(37, n - k)});
  const Isa isa = plinth::best_isa();
  const Vectors whole = computed<double>({{0, 0, n}}, {{0, 0, n}}, n, isa);
  CHECK(computed<double>(ones, odd, n, isa) == whole);
  CHECK(computed<double>(odd, ones, n, isa) == whole);
}

TEST_CASE("column sums are exact in any number of rows", "[lcg]") {
  const Index n = 100'000;  // beyond what one 64-bit sum of a tile could hold
  const Vectors got = computed<double>({{0, 0, n}}, {{0, 5, 1}}, n, plinth::best_isa());
  CHECK(got.col_sums[0] == by_definition<double>({{0, 0, n}}, {{0, 5, 1}}, n).col_sums[0]);
  CHECK(std::fabs(got.col_sums[0] / static_cast<double>(n) - 0.25) < 0.01);
}

TEST_CASE("the right-hand side minus A times ones", "[lcg]") {
  const Index n = 50;
  std::vector<double> x(50, 1.0), r(50);
  const Runs whole{{0, 0, n}};
  for (Index i = 0; i < n; ++i) r[static_cast<std::size_t>(i)] = HplGenerator{n}(i, n);
  residual_lcg(Kokkos::DefaultHostExecutionSpace(), whole, whole, {x.data(), r.data()}, n);
  for (Index i = 0; i < n; ++i) {
    double want = HplGenerator{n}(i, n);
    for (Index j = 0; j < n; ++j) want -= HplGenerator{n}(i, j);
    CHECK(r[static_cast<std::size_t>(i)] == want);
  }
}

TEST_CASE("sums of rows and of columns come together", "[lcg]") {
  double x[1] = {1}, r[1] = {0}, sums[1];
  const Runs one{{0, 0, 1}};
  const Kokkos::DefaultHostExecutionSpace space;
  CHECK_THROWS_AS(residual_lcg(space, one, one, {x, r, sums, nullptr}, 1), plinth::Error);
  CHECK_THROWS_AS(residual_lcg(space, one, one, {x, r, nullptr, sums}, 1), plinth::Error);
}
