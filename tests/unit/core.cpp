// SPDX-License-Identifier: BSD-3-Clause
#if defined(__linux__) && __has_include(<linux/mempolicy.h>)
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "plinth/core/error.hpp"
#include "plinth/core/index.hpp"
#include "plinth/core/numa.hpp"
#include "plinth/core/options.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/lu/options.hpp"
#include "plinth/policy/layout.hpp"
#include "plinth/policy/precision.hpp"
#include "support/catch.hpp"

using namespace plinth;

TEST_CASE("Error says who speaks and what kind it is", "[error]") {
  const Error misuse("a is null");
  CHECK(std::string(misuse.what()) == "plinth: a is null");
  CHECK(std::string(misuse.message()) == "a is null");
  CHECK(misuse.kind() == ErrorKind::misuse);
  CHECK(Error("no room", ErrorKind::memory).kind() == ErrorKind::memory);
  CHECK_NOTHROW(require(true, "fine"));
  CHECK_THROWS_WITH(require(false, "not fine"), "plinth: not fine");
  CHECK_THROWS_WITH(require(false, std::string("nor this")), "plinth: nor this");
  CHECK_THROWS_AS(require(false, ""), std::runtime_error);
}

TEST_CASE("to_int passes what fits and names what does not", "[index]") {
  constexpr Index largest = std::numeric_limits<int>::max();
  constexpr Index smallest = std::numeric_limits<int>::min();
  for (const Index fits : {Index(0), Index(-1), largest, smallest})
    CHECK(to_int(fits, "x") == fits);
  for (const Index too_far : {largest + 1, smallest - 1, Index(1) << 40})
    CHECK_THROWS_WITH(to_int(too_far, "rows"),
                      plinth_test::contains("rows = " + std::to_string(too_far)));
}

TEST_CASE("ranges and quotients", "[index]") {
  CHECK(ceil_div(0, 5) == 0);
  CHECK(ceil_div(1, 5) == 1);
  CHECK(ceil_div(5, 5) == 1);
  CHECK(ceil_div(6, 5) == 2);
  CHECK(ceil_div((Index(1) << 40) + 1, 2) == (Index(1) << 39) + 1);
  CHECK(Range{2, 5}.size() == 3);
  CHECK(Range{5, 5}.empty());
  CHECK(Range{6, 5}.empty());
}

TEST_CASE("what is a number is told by its bits", "[scalar]") {
  struct Case {
    std::uint64_t bits;
    bool nan, finite;
  };
  constexpr Case cases[] = {
      {0x0000000000000000, false, true},   // 0
      {0x8000000000000000, false, true},   // -0
      {0x0000000000000001, false, true},   // the smallest subnormal
      {0x7fefffffffffffff, false, true},   // the largest number
      {0x7ff0000000000000, false, false},  // inf
      {0xfff0000000000000, false, false},  // -inf
      {0x7ff8000000000000, true, false},   // a quiet NaN
      {0xfff8000000000001, true, false},   // a negative NaN
      {0x7ff0000000000001, true, false},   // a signalling NaN
  };
  for (const auto& c : cases) {
    const double x = std::bit_cast<double>(c.bits);
    INFO(std::hex << c.bits);
    CHECK(is_nan(x) == c.nan);
    CHECK(is_finite(x) == c.finite);
    CHECK(is_nan(Kokkos::complex<double>(1, x)) == c.nan);
    CHECK(is_nan(Kokkos::complex<double>(x, 1)) == c.nan);
    CHECK(is_finite(Kokkos::complex<double>(1, x)) == c.finite);
    CHECK(is_finite(Kokkos::complex<double>(x, 1)) == c.finite);
  }
  CHECK(is_nan(std::numeric_limits<float>::quiet_NaN()));
  CHECK_FALSE(is_nan(std::numeric_limits<float>::infinity()));
  CHECK_FALSE(is_finite(std::numeric_limits<float>::infinity()));
  CHECK(is_finite(std::numeric_limits<float>::max()));
  CHECK(is_finite(std::numeric_limits<float>::denorm_min()));
}

TEST_CASE("magnitudes and conjugates", "[scalar]") {
  using Z = Kokkos::complex<double>;
  CHECK(magnitude1(-3.0) == 3.0);
  CHECK(magnitude1(Z(3, -4)) == 7.0);
  CHECK(modulus(Z(3, -4)) == 5.0);
  CHECK(modulus(-2.0f) == 2.0f);
  CHECK(conjugate(Z(3, -4)) == Z(3, 4));
  CHECK(conjugate(-2.0) == -2.0);
  CHECK(ScalarTraits<double>::epsilon == std::numeric_limits<double>::epsilon() / 2);
  CHECK(ScalarTraits<Kokkos::complex<float>>::epsilon ==
        std::numeric_limits<float>::epsilon() / 2);
  CHECK(ScalarTraits<double>::max == std::numeric_limits<double>::max());
  CHECK(ScalarTraits<float>::max == std::numeric_limits<float>::max());
}

namespace {

struct UserPolicy {
  using Working = double;
  using Operand = float;
  using Panel = double;
};
struct OnlyAccumulate {
  using Working = double;
  using Factor = float;
  using Accumulate = double;
};

template <class P, class... Expected>
constexpr bool roles_are() {
  using R = PrecisionRoles<P>;
  return std::is_same_v<
      std::tuple<typename R::Working, typename R::Factor, typename R::Operand,
                 typename R::Accumulate, typename R::Panel, typename R::Residual>,
      std::tuple<Expected...>>;
}

}  // namespace

TEST_CASE("roles of a precision policy default to those before", "[precision]") {
  // Working, Factor, Operand, Accumulate, Panel, Residual
  STATIC_REQUIRE(roles_are<Uniform<float>, float, float, float, float, float, float>());
  STATIC_REQUIRE(roles_are<DoubleSingle, double, float, float, float, float, double>());
  STATIC_REQUIRE(roles_are<UserPolicy, double, double, float, float, double, double>());
  STATIC_REQUIRE(roles_are<OnlyAccumulate, double, float, float, double, double, double>());
  STATIC_REQUIRE(PrecisionPolicy<UserPolicy>);
  STATIC_REQUIRE_FALSE(PrecisionPolicy<int>);
}

namespace {

/// Whether ranks 0, ..., P Q - 1 take every place of the grid once.
template <GridLayout Layout>
bool is_bijection(const Layout& layout) {
  const GridShape shape = layout.shape();
  std::set<std::pair<int, int>> places;
  for (int rank = 0; rank < shape.size(); ++rank) {
    const GridCoord at = layout.coord(rank);
    if (at.row < 0 || at.row >= shape.rows || at.col < 0 || at.col >= shape.cols) return false;
    places.insert({at.row, at.col});
  }
  return places.size() == static_cast<std::size_t>(shape.size());
}

}  // namespace

TEST_CASE("layouts put every rank at a place of its own", "[grid]") {
  for (const auto& [rows, cols] : {std::pair{1, 1}, {1, 7}, {7, 1}, {2, 3}, {3, 2}, {9, 8}}) {
    INFO(rows << "x" << cols);
    CHECK(is_bijection(RowMajorGrid{rows, cols}));
    CHECK(is_bijection(ColumnMajorGrid{rows, cols}));
    for (int p = 1; p <= rows; ++p)
      for (int q = 1; q <= cols; ++q) {
        const NodeBlockedGrid layout{rows, cols, p, q};
        CHECK(layout.valid() == (rows % p == 0 && cols % q == 0));
        if (layout.valid()) CHECK(is_bijection(layout));
      }
  }
  CHECK(RowMajorGrid{2, 3}.coord(4) == GridCoord{1, 1});
  CHECK(ColumnMajorGrid{2, 3}.coord(4) == GridCoord{0, 2});
  for (const int bad : {0, -1}) {
    CHECK_FALSE(RowMajorGrid{bad, 2}.valid());
    CHECK_FALSE(ColumnMajorGrid{2, bad}.valid());
    CHECK_FALSE(NodeBlockedGrid{2, 2, bad, 1}.valid());
    CHECK_FALSE(NodeBlockedGrid{2, 2, 1, bad}.valid());
  }
}

TEST_CASE("a node's ranks form a tile of the grid", "[grid]") {
  const NodeBlockedGrid layout{6, 4, 3, 2};
  for (int node = 0; node < 4; ++node) {
    const GridCoord corner = layout.coord(6 * node);
    CHECK(corner.row % 3 == 0);
    CHECK(corner.col % 2 == 0);
    for (int rank = 6 * node; rank < 6 * (node + 1); ++rank) {
      CHECK(layout.coord(rank).row / 3 == corner.row / 3);
      CHECK(layout.coord(rank).col / 2 == corner.col / 2);
    }
  }
}

TEST_CASE("options that make sense, and others", "[options]") {
  CHECK(lu::FactorOptions{}.valid());
  CHECK(lu::FactorOptions{.lookahead = 0}.valid());
  CHECK_FALSE(lu::FactorOptions{.lookahead = -1}.valid());
  CHECK_FALSE(lu::FactorOptions{.panel = {.ndiv = 1}}.valid());
  CHECK_FALSE(lu::FactorOptions{.panel = {.nbmin = 0}}.valid());
}

#if defined(MPOL_PREFERRED)
TEST_CASE("a NUMA node is preferred for a while, unless the thread has a policy", "[numa]") {
  const auto policy = [] {
    int mode = -1;
    syscall(SYS_get_mempolicy, &mode, nullptr, 0, nullptr, 0);
    return mode;
  };
  const int before = policy();
  const std::size_t bytes = std::size_t(1) << 20;
  for (const int node : {-1, 1023, 1024, std::numeric_limits<int>::max()}) {
    INFO("node " << node);  // is not there
    const PreferredNumaNode nobody(node);
    CHECK_FALSE(nobody.holds());
    CHECK(policy() == before);
  }
  {
    const PreferredNumaNode first(0);
    CHECK(policy() == (first.holds() ? MPOL_PREFERRED : before));
    const PreferredNumaNode second(0);
    CHECK_FALSE(second.holds());
    auto* const data = static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(data != MAP_FAILED);
    data[5000] = 1;
    int node = 0;
    if (first.holds())
      syscall(SYS_get_mempolicy, &node, nullptr, 0, data + 5000, MPOL_F_NODE | MPOL_F_ADDR);
    CHECK(node == 0);
    munmap(data, bytes);
  }
  CHECK(policy() == before);
}
#endif
