// SPDX-License-Identifier: BSD-3-Clause
#include "plinth/kernel/panel_columns.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.hpp"

using plinth::Index;
using plinth::Isa;
using plinth::Range;
using plinth::kernel::ColumnStep;
using plinth::kernel::PivotCandidate;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();
using Candidate = PivotCandidate<double>;

/// The pivot of a column as it stands, with every instruction set that there is.
Candidate search(std::vector<double> column, Range rows) {
  const Kokkos::DefaultHostExecutionSpace space;
  Candidate portable;
  for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512}) {
    if (!plinth::is_available(isa)) continue;
    const auto found = plinth::kernel::advance_and_search(
        space,
        ColumnStep<double>{column.data(), static_cast<Index>(column.size()), Index(0), Index(0)},
        rows, isa);
    if (isa == Isa::portable) portable = found;
    CHECK(found.row == portable.row);
    CHECK(found.nan == portable.nan);
  }
  return portable;
}

}  // namespace

TEST_CASE("pivot candidates: a total order", "[pivots]") {
  // From worst to best.
  const Candidate ranked[] = {
      {},               // none
      {0.0, 9, false},  // a zero is better than nothing
      {1.0, 5, false},
      {1.0, 2, false},  // ties: the smaller row
      {2.0, 7, false},
      {infinite, 8, false},
      {1.0, 6, true},
      {5.0, 3, true},  // a NaN above all, whatever its magnitude says
  };
  const auto count = static_cast<int>(std::size(ranked));
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < count; ++j) {
      INFO(i << " against " << j);
      CHECK(ranked[i].loses_to(ranked[j]) == (i < j));
    }
}

TEST_CASE("pivot search: the largest magnitude, the first of equals, a NaN above all",
          "[pivots]") {
  struct Case {
    const char* name;
    std::vector<double> column;
    Index row;
    bool nan;
  };
  std::vector<double> long_column(1000, 0.25);
  long_column[777] = -0.5;
  std::vector<double> ties(1000, -0.25);
  ties[513] = 0.25;
  std::vector<double> late_nan(1000, 0.25);
  late_nan[999] = not_a_number;
  late_nan[10] = infinite;
  const Case cases[] = {
      {"one", {3}, 0, false},
      {"zeros", {0, -0.0, 0}, 0, false},
      {"a negative one is the largest", {1, -3, 2}, 1, false},
      {"equals", {1, -2, 2, 2}, 1, false},
      {"the last", {1, 1, 1, 1, 1, 1, 1, 1, 4}, 8, false},
      {"infinite", {1, -infinite, infinite}, 1, false},
      {"a NaN", {infinite, 1, not_a_number, not_a_number}, 2, true},
      {"NaNs only", {not_a_number, not_a_number}, 0, true},
      {"subnormal", {0, std::numeric_limits<double>::denorm_min()}, 1, false},
      {"the largest number", {1, std::numeric_limits<double>::max()}, 1, false},
      {"long", long_column, 777, false},
      {"long, all equal", ties, 0, false},
      {"long, a NaN at the end", late_nan, 999, true},
  };
  for (const auto& c : cases) {
    INFO(c.name);
    const auto found = search(c.column, {0, static_cast<Index>(c.column.size())});
    CHECK(found.row == c.row);
    CHECK(found.nan == c.nan);
    if (!c.nan) CHECK(found.magnitude == std::abs(c.column[static_cast<std::size_t>(c.row)]));
  }
  CHECK(search({9, 1, 2, 9}, {1, 3}).row == 2);  // not outside of the range
  CHECK(search({9, 1, 2, 9}, {2, 2}).row == -1);
}

TEST_CASE("pivot search by merit: another number in the magnitude's place", "[pivots]") {
  const Kokkos::DefaultHostExecutionSpace space;
  const auto best = [&](std::vector<double> column, const auto& merit) {
    Candidate portable;
    for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512}) {
      if (!plinth::is_available(isa)) continue;
      const auto size = static_cast<Index>(column.size());
      const auto found = plinth::kernel::advance_and_search(
          space, ColumnStep<double>{column.data(), size, Index(0), Index(0)}, {0, size}, isa,
          merit);
      if (isa == Isa::portable) portable = found;
      CHECK(found.row == portable.row);
      if (!found.nan) CHECK(found.magnitude == portable.magnitude);
    }
    return portable;
  };
  const auto prefers_1 = [](double magnitude, Index row) {
    return row == 1 ? 4 * magnitude : magnitude;
  };
  CHECK(best({1, 2, -7}, prefers_1).row == 1);
  CHECK(best({1, 2, -7}, prefers_1).magnitude == 8);
  CHECK(best({1, 2, 8, 9}, prefers_1).row == 3);
  CHECK(best({8, 2, 8}, prefers_1).row == 0);  // equals: the first
  CHECK(best({1, 2, not_a_number}, prefers_1).row == 2);
  const auto nothing = [](double, Index) { return 0.0; };
  CHECK(best({1, 2, 3}, nothing).row == 0);
  CHECK(best({1, 2, not_a_number}, nothing).nan);
  // Several threads' worth of rows.
  std::vector<double> column(5000, 1);
  column[4000] = 3;
  CHECK(best(column, [](double magnitude, Index row) {
          return row == 4000 ? 0 : row == 4500 ? 2 : magnitude;
        }).row == 4500);
}

TEST_CASE("pivot search of complex columns compares |re| + |im|", "[pivots]") {
  using Z = Kokkos::complex<double>;
  // Moduli 5 and 4.95 in the opposite order of 1-norms 5 and 7.
  std::vector<Z> column{Z(5, 0), Z(-3.5, 3.5), Z(1, not_a_number)};
  const Kokkos::DefaultHostExecutionSpace space;
  const auto best = [&](Index end) {
    return plinth::kernel::advance_and_search(
        space, ColumnStep<Z>{column.data(), Index(3), Index(0), Index(0)}, {0, end});
  };
  CHECK(best(2).row == 1);
  CHECK(best(2).magnitude == 7);
  CHECK(best(3).row == 2);
  CHECK(best(3).nan);
}

TEMPLATE_TEST_CASE("a step of a base block, as by hand", "[pivots]", double, float,
                   Kokkos::complex<double>, Kokkos::complex<float>) {
  using T = TestType;
  const Kokkos::DefaultHostExecutionSpace space;
  // Small integers, and pivots that are powers of two: exact in every order.
  const auto number = [](Index i, Index j) {
    const auto k = static_cast<double>((i * 7 + j * 13 + i * j) % 11 - 5);
    if constexpr (plinth::ScalarTraits<T>::is_complex)
      return T(static_cast<plinth::RealOf<T>>(k), static_cast<plinth::RealOf<T>>((i + j) % 3));
    else
      return static_cast<T>(k);
  };
  constexpr Index width = 9;
  struct Due {
    Index left_begin, right_end;
    bool scales;
  };
  for (const Index m : {12, 64, 700, 5000})  // below a vector, several pieces, all threads
    for (const Index j : {1, 4, 8})          // fewer than four columns at once, more
      for (const Due due : {Due{j, 0, false}, Due{0, 0, false}, Due{0, 0, true},
                            Due{j > 4 ? 1 : 0, 0, true}, Due{j, width, true}, Due{0, j, true}}) {
        INFO(m << " rows, column " << j << ", left from " << due.left_begin << ", right to "
               << due.right_end << (due.scales ? ", scaled" : ""));
        const Index lead = m + 3;
        std::vector<T> a(static_cast<std::size_t>(lead * width));
        for (Index c = 0; c < width; ++c)
          for (Index i = 0; i < lead; ++i)
            a[static_cast<std::size_t>(i + c * lead)] = number(i, c);
        auto expected = a;
        const auto at = [&](Index i, Index c) -> T& {
          return expected[static_cast<std::size_t>(i + c * lead)];
        };
        const Range rows{j + m / 3, m};
        PivotCandidate<plinth::RealOf<T>> best;
        for (Index i = rows.begin; i < rows.end; ++i) {
          if (due.scales) at(i, j - 1) *= T(0.25);
          for (Index q = j; q < due.right_end; ++q) at(i, q) -= at(i, j - 1) * at(j - 1, q);
          for (Index c = due.left_begin; c < j; ++c) at(i, j) -= at(i, c) * at(c, j);
          const PivotCandidate<plinth::RealOf<T>> here{plinth::magnitude1(at(i, j)), i, false};
          if (best.loses_to(here)) best = here;
        }
        for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512}) {
          if (!plinth::is_available(isa)) continue;
          auto b = a;
          const auto found = plinth::kernel::advance_and_search(
              space,
              ColumnStep<T>{b.data(), lead, j, due.left_begin, due.right_end, due.scales, T(4)},
              rows, isa);
          CHECK(found.row == best.row);
          CHECK(found.magnitude == best.magnitude);
          CHECK(b == expected);
        }
        plinth::kernel::scale_column(a.data(), lead, rows, j, T(4));
        for (Index i = 0; i < lead; ++i)
          CHECK(a[static_cast<std::size_t>(i + j * lead)] ==
                (i >= rows.begin && i < rows.end ? number(i, j) * T(0.25) : number(i, j)));
      }
}

TEST_CASE("division by pivots that have no reciprocal", "[pivots]") {
  const Kokkos::DefaultHostExecutionSpace space;
  const double tiny = std::ldexp(1.0, -1070);
  std::vector<double> column{tiny, -tiny / 2, tiny / 4, 0};
  plinth::kernel::scale_column(column.data(), Index(4), Range{1, 4}, Index(0), tiny);
  CHECK(column == std::vector<double>{tiny, -0.5, 0.25, 0});
  // The same within a step.
  std::vector<double> two{tiny, -tiny / 2, tiny / 4, 0, 1, 2, 3, 4};
  plinth::kernel::advance_and_search(
      space, ColumnStep<double>{two.data(), Index(4), Index(1), Index(1), Index(0), true, tiny},
      {1, 4});
  CHECK(two == std::vector<double>{tiny, -0.5, 0.25, 0, 1, 2, 3, 4});
}
