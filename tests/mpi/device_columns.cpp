// SPDX-License-Identifier: BSD-3-Clause
//
// A panel's columns on the stand-in device: as on the host, or by hand.
#include "plinth/kernel/device_columns.hpp"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "plinth/kernel/buffer.hpp"
#include "support/catch.hpp"
#include "support/locked_device.hpp"

using namespace plinth_test;
using plinth::Index;
using plinth::Range;
using plinth::kernel::ColumnStep;
using plinth::kernel::FoundPivot;
using plinth::kernel::PanelColumn;
using plinth::kernel::PivotCandidate;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double smallest = std::numeric_limits<double>::denorm_min();
using Candidate = PivotCandidate<double>;

/// Elements on the device.
template <class T>
class There {
 public:
  explicit There(const std::vector<T>& values) : There(static_cast<Index>(values.size())) {
    device_.to_device(data(), values.data(), values.size() * sizeof(T));
    device_.fence();
  }
  explicit There(Index size) : size_(size), memory_(size) {}
  T* data() const { return memory_.data(); }
  std::vector<T> here() const {
    std::vector<T> values(static_cast<std::size_t>(size_));
    device_.to_host(values.data(), data(), values.size() * sizeof(T));
    device_.fence();
    return values;
  }

 private:
  LockedDevice device_;
  Index size_;
  plinth::kernel::Buffer<T, LockedMemory> memory_;
};

/// The pivot of a column as it stands.
Candidate search(const std::vector<double>& column, Range rows) {
  const There<double> there(column);
  const There<Candidate> best(std::vector<Candidate>{{7, 7, true}});  // of a former column
  plinth::kernel::advance_and_search(
      LockedDevice(),
      ColumnStep<double>{there.data(), static_cast<Index>(column.size()), Index(0), Index(0)},
      rows, best.data());
  return best.here()[0];
}

/// Small integers, so that all sums are exact.
std::vector<double> whole_numbers(Index lead, Index width) {
  std::vector<double> a;
  for (Index c = 0; c < width; ++c)
    for (Index i = 0; i < lead; ++i)
      a.push_back(static_cast<double>((i * 7 + c * 13 + i * c) % 11 - 5));
  return a;
}

}  // namespace

TEST_CASE("pivot search on a device: the largest, the first of equals, a NaN above all",
          "[device][pivots]") {
  struct Case {
    const char* name;
    std::vector<double> column;
    Index row;
    bool nan;
  };
  std::vector<double> ties(5000, -0.25);
  ties[4513] = 0.25;
  std::vector<double> late_nan(5000, 0.25);
  late_nan[4999] = not_a_number;
  late_nan[10] = infinite;
  const Case cases[] = {
      {"one", {3}, 0, false},
      {"zeros", {0, -0.0, 0}, 0, false},
      {"equals", {1, -2, 2, 2}, 1, false},
      {"infinite", {1, -infinite, infinite}, 1, false},
      {"NaNs", {infinite, 1, not_a_number, not_a_number}, 2, true},
      {"subnormal", {0, smallest}, 1, false},
      {"long, all equal", ties, 0, false},
      {"long, a NaN at the end", late_nan, 4999, true},
  };
  for (const auto& c : cases) {
    INFO(c.name);
    const auto found = search(c.column, {0, static_cast<Index>(c.column.size())});
    CHECK(found.row == c.row);
    CHECK(found.nan == c.nan);
    if (!c.nan) CHECK(found.magnitude == std::abs(c.column[static_cast<std::size_t>(c.row)]));
  }
  CHECK(search({9, 1, 2, 9}, {1, 3}).row == 2);  // not outside of the range
  CHECK(search({9, 1, 2, 9}, {3, 4}).row == 3);
  CHECK(search({9, 1, 2, 9}, {2, 2}).row == -1);
  CHECK(is_idle(LockedDevice()));
}

TEST_CASE("a step of a base block on a device, as on the host", "[device][pivots]") {
  const LockedDevice device;
  const plinth::HostExecution<> host;
  constexpr Index width = 9;
  struct Due {
    Index left_begin, right_end;
    bool scales;
  };
  for (const double pivot : {4.0, 0.0, smallest, infinite, not_a_number})
    for (const Index m : {10, 64, 3000})
      for (const Index j : {1, 4, 8})
        for (const Due due : {Due{j, 0, false}, Due{0, 0, true}, Due{j, width, true}}) {
          INFO("pivot " << pivot << ", " << m << " rows, column " << j << ", left from "
                        << due.left_begin << ", right to " << due.right_end);
          const Index lead = m + 3;
          auto a = whole_numbers(lead, width);
          a[static_cast<std::size_t>((j - 1) + (j - 1) * lead)] = pivot;
          const There<double> there(a);
          const There<Candidate> best(1);
          const Range rows{j + m / 10, m};
          plinth::kernel::advance_and_search(
              device,
              ColumnStep<double>{there.data(), lead, j, due.left_begin, due.right_end,
                                 due.scales},
              rows, best.data());
          const auto expected = plinth::kernel::advance_and_search(
              host.space(),
              ColumnStep<double>{a.data(), lead, j, due.left_begin, due.right_end,
                                 due.scales && pivot != 0, pivot},
              rows);
          const Candidate found = best.here()[0];
          CHECK(found.row == expected.row);
          CHECK(found.nan == expected.nan);
          if (!found.nan) CHECK(found.magnitude == expected.magnitude);
          const auto b = there.here();
          bool same = true;
          for (std::size_t i = 0; i < a.size(); ++i)
            same = same && (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])));
          CHECK(same);
        }
  CHECK(is_idle(device));
}

TEST_CASE("division by a pivot on a device: not by zero, nor by a reciprocal that overflows",
          "[device][pivots]") {
  const auto divided = [](double pivot, const std::vector<double>& below) {
    std::vector<double> column{pivot};
    column.insert(column.end(), below.begin(), below.end());
    const There<double> there(column);
    const auto end = static_cast<Index>(column.size());
    plinth::kernel::scale_column(LockedDevice(), PanelColumn<double>{there.data(), end, Index(0)},
                                 Range{1, end});
    auto after = there.here();
    after.erase(after.begin());
    return after;
  };
  using Column = std::vector<double>;
  CHECK(divided(4, {2, 0, -8}) == Column{0.5, 0, -2});
  CHECK(divided(0, {2, 0, -8}) == Column{2, 0, -8});
  CHECK(divided(-0.0, {2}) == Column{2});
  CHECK(divided(4 * smallest, {2 * smallest, smallest, 0}) == Column{0.5, 0.25, 0});
  CHECK(divided(infinite, {2, -8}) == Column{0, 0});
  CHECK(std::isnan(divided(not_a_number, {2})[0]));
  CHECK(divided(4, {}).empty());
  CHECK(is_idle(LockedDevice()));
}

TEST_CASE("the top block's own part of a base on a device, by hand", "[device][pivots]") {
  const LockedDevice device;
  constexpr Index lead = 20, width = 9;
  const auto a = whole_numbers(lead, width);
  for (const Index begin : {0, 2})
    for (Index j = begin; j < width; ++j) {
      INFO("columns from " << begin << ", column " << j);
      auto expected = a;
      const auto at = [&](Index i, Index c) -> double& {
        return expected[static_cast<std::size_t>(i + c * lead)];
      };
      for (Index c = begin; c < j; ++c)
        for (Index i = c + 1; i < j; ++i) at(i, j) -= at(i, c) * at(c, j);
      const There<double> column(a);
      plinth::kernel::solve_top_column(device, PanelColumn<double>{column.data(), lead, j},
                                       begin);
      CHECK(column.here() == expected);

      expected = a;
      for (Index q = j + 1; q < width; ++q)
        for (Index c = begin; c < j; ++c) at(j, q) -= at(j, c) * at(c, q);
      const There<double> row(a);
      plinth::kernel::finish_top_row(device, PanelColumn<double>{row.data(), lead, j}, begin,
                                     width);
      CHECK(row.here() == expected);
    }
  CHECK(is_idle(device));
}

TEST_CASE("rows of a panel change places on a device", "[device][pivots]") {
  const LockedDevice device;
  constexpr Index lead = 12, width = 5, j = 3;
  const auto a = whole_numbers(lead, width);
  const auto element = [](const std::vector<double>& of, Index i, Index c) {
    return of[static_cast<std::size_t>(i + c * lead)];
  };
  const There<double> there(a);
  const PanelColumn<double> column{there.data(), lead, j};
  SECTION("one process's") {
    const Index row = GENERATE(Index(3), Index(4), Index(11));
    const There<Candidate> best(std::vector<Candidate>{{1, row, false}});
    const There<FoundPivot<double>> found(1);
    const bool in_place = GENERATE(false, true);
    plinth::kernel::exchange_rows(device, column, width, in_place ? nullptr : best.data(),
                                  found.data());
    const Index winner = in_place ? j : row;
    auto expected = a;
    for (Index c = 0; c < width; ++c)
      std::swap(expected[static_cast<std::size_t>(j + c * lead)],
                expected[static_cast<std::size_t>(winner + c * lead)]);
    CHECK(there.here() == expected);
    CHECK(found.here()[0].row == winner);
    CHECK(found.here()[0].value == element(a, winner, j));
  }
  SECTION("of several: they are read") {
    const bool has_current = GENERATE(true, false);
    const auto read = [&](const Candidate* best, std::vector<double>& rows) {
      const There<Candidate> candidate(1);
      const There<double> to(std::vector<double>(2 * width, 99));
      plinth::kernel::read_rows(device, column, width, has_current, best,
                                {candidate.data(), to.data(), to.data() + width});
      rows = to.here();
      return candidate.here()[0];
    };
    const There<Candidate> best(std::vector<Candidate>{{5, 7, false}});
    const There<Candidate> none(std::vector<Candidate>(1));
    std::vector<double> rows;
    const auto check = [&](Index winner) {
      for (Index c = 0; c < width; ++c) {
        CHECK(rows[static_cast<std::size_t>(c)] == (winner < 0 ? 99 : element(a, winner, c)));
        CHECK(rows[static_cast<std::size_t>(width + c)] == (has_current ? element(a, j, c) : 99));
      }
    };
    const Candidate found = read(best.data(), rows);
    CHECK(found.row == 7);
    CHECK(found.magnitude == 5);
    check(7);
    CHECK(read(none.data(), rows).row == -1);
    check(-1);
    CHECK(read(nullptr, rows).row == (has_current ? j : -1));  // the row in place
    check(has_current ? j : -1);
    CHECK(there.here() == a);
  }
  SECTION("of several: they are written") {
    const Index local = GENERATE(Index(-1), Index(8), Index(3));
    const There<double> winner(std::vector<double>(width, 21));
    const There<double> current(std::vector<double>(width, 22));
    plinth::kernel::write_rows(device, column, width, local, winner.data(), current.data());
    const auto b = there.here();
    for (Index c = 0; c < width; ++c)
      for (Index i = 0; i < lead; ++i)
        CHECK(element(b, i, c) == (i == j ? 21 : i == local ? 22 : element(a, i, c)));
  }
  CHECK(has_waited(device));
}
