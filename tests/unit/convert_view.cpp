// SPDX-License-Identifier: BSD-3-Clause
//
// Matrices in 16 bits: copies, conversions and what they lose, transposition, rows exchanged,
// largest magnitudes.
#include "plinth/kernel/convert_view.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/magnitude.hpp"
#include "plinth/kernel/transpose.hpp"
#include "plinth/policy/precision.hpp"
#include "support/catch.hpp"
#include "support/framed.hpp"

using plinth::bfloat16;
using plinth::half;
using plinth::Index;
using plinth_test::Framed;
using Exec = plinth::HostExecution<>;

namespace {

double entry(Index i, Index j) { return std::sin(static_cast<double>(3 * i + 7 * j)) * 4; }

}  // namespace

TEMPLATE_TEST_CASE("Matrices of 16 bits are copied, transposed and their rows exchanged",
                   "[kernel][float16]", half, bfloat16) {
  using T = TestType;
  using Layout = Kokkos::LayoutRight;
  const Exec exec;
  const Index m = 37, n = 150;
  Framed<double, Layout> wide(m, n);
  Framed<T, Layout> a(m, n), b(m, n), flipped(n, m);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) wide.view()(i, j) = entry(i, j);
  plinth::kernel::copy(exec, wide.view(), a.view());
  plinth::kernel::fill(exec, b.view(), T(2.0f));
  exec.fence();
  CHECK(a.frame_is_whole());
  Index wrong = 0;
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j)
      wrong += a.view()(i, j) != T(entry(i, j)) || b.view()(i, j) != T(2.0f);
  CHECK(wrong == 0);

  plinth::kernel::transpose(exec, a.view(), flipped.view());
  exec.fence();
  CHECK(flipped.frame_is_whole());
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) wrong += flipped.view()(j, i) != a.view()(i, j);
  CHECK(wrong == 0);

  const std::vector<Index> upper{0, 1, 5}, lower{36, 5, 6};
  plinth::kernel::copy(exec, a.view(), b.view());
  plinth::kernel::swap_rows(exec, upper.data(), lower.data(), 3, a.view());
  exec.fence();
  for (Index j = 0; j < n; ++j) {
    wrong += a.view()(0, j) != b.view()(36, j) || a.view()(36, j) != b.view()(0, j);
    wrong += a.view()(1, j) != b.view()(5, j) || a.view()(5, j) != b.view()(6, j);
    wrong += a.view()(6, j) != b.view()(1, j) || a.view()(7, j) != b.view()(7, j);
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("Converted matrices are rounded once, scaled, and losses counted",
                   "[kernel][float16]", Kokkos::LayoutRight, Kokkos::LayoutLeft) {
  using Layout = TestType;
  const Exec exec;
  for (const Index m : {0, 1, 17, 90}) {
    const Index n = 83;
    INFO(m << " x " << n);
    Framed<double, Layout> from(m, n);
    Framed<float, Layout> single(m, n);
    Framed<half, Layout> small(m, n);
    Framed<bfloat16, Layout> brain(m, n);
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) from.view()(i, j) = entry(i, j) + 5;
    if (m > 0) {
      from.view()(0, 0) = 1e5;           // overflows
      from.view()(0, 1) = 1e-9;          // becomes zero
      from.view()(m - 1, 82) = 0x1p-15;  // half of it is subnormal
      from.view()(m - 1, 3) = std::numeric_limits<double>::infinity();
    }
    const auto lost = plinth::kernel::convert(exec, from.view(), small.view(), 0.25);
    CHECK(lost.overflowed == 0);  // 25000
    CHECK(lost.flushed == (m > 0));
    CHECK(lost.subnormal == (m > 0));
    CHECK(small.frame_is_whole());
    const auto again = plinth::kernel::convert(exec, from.view(), small.view());
    CHECK(again.overflowed == (m > 0));
    CHECK(plinth::kernel::convert(exec, from.view(), single.view(), 2) ==
          plinth::kernel::NarrowingCounts{});
    CHECK(plinth::kernel::convert(exec, small.view(), brain.view(), 4).flushed == 0);
    Index wrong = 0;
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        wrong += small.view()(i, j) != half(from.view()(i, j));
        wrong += single.view()(i, j) != static_cast<float>(2 * from.view()(i, j));
        wrong += brain.view()(i, j) != bfloat16(4 * static_cast<float>(small.view()(i, j)));
      }
    CHECK(wrong == 0);
    plinth::kernel::convert(exec, small.view(), single.view(), 0.5);
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j)
        wrong += single.view()(i, j) != static_cast<float>(small.view()(i, j)) / 2;
    CHECK(wrong == 0);
  }
}

TEST_CASE("Conversions from double to float count as well", "[kernel]") {
  const double from[] = {1e40, 1e-40, 1e-60, 1, std::numeric_limits<double>::infinity(), 0};
  float to[6];
  plinth::kernel::NarrowingCounts counts;
  plinth::kernel::convert_run(from, to, 6, 1, counts);
  CHECK(counts == plinth::kernel::NarrowingCounts{1, 1, 1});
  CHECK(to[3] == 1);
}

TEMPLATE_TEST_CASE("The largest magnitude of a matrix is found, and a NaN above all",
                   "[kernel][float16]", half, bfloat16, float, double) {
  using T = TestType;
  const Exec exec;
  for (const Index n : {1, 31, 300}) {
    Framed<T, Kokkos::LayoutRight> a(70, n);
    for (Index i = 0; i < 70; ++i)
      for (Index j = 0; j < n; ++j) a.view()(i, j) = T(static_cast<float>((i + j) % 3) - 1);
    a.view()(69, n - 1) = T(-12.0f);
    CHECK(plinth::kernel::largest_magnitude(exec, a.view()) == 12);
    a.view()(69, 0) = T(13.0f);
    CHECK(plinth::kernel::largest_magnitude(exec, a.view()) == 13);
    a.view()(0, 0) = T(std::numeric_limits<float>::infinity());
    CHECK(std::isinf(plinth::kernel::largest_magnitude(exec, a.view())));
    a.view()(35, n / 2) = T(std::numeric_limits<float>::quiet_NaN());
    CHECK(std::isnan(plinth::kernel::largest_magnitude(exec, a.view())));
    CHECK(std::isnan(plinth::kernel::largest_of_elements(exec, a.view())));
    CHECK(std::isnan(plinth::kernel::larger(std::nan(""), 1)));
    CHECK(std::isnan(plinth::kernel::larger(1, std::nan(""))));
  }
}

namespace {

/// Numbers of all sizes, zeros of both signs, and here and there an infinity or a NaN.
double wild_entry(Index i, Index j, bool finite) {
  const Index k = (7 * i + 3 * j) % 61;
  if (k == 0) return (i + j) % 2 == 0 ? 0.0 : -0.0;
  if (!finite && k == 1) return std::numeric_limits<double>::infinity();
  if (!finite && k == 2) return std::numeric_limits<double>::quiet_NaN();
  return std::ldexp(std::sin(static_cast<double>(i + 100 * j)), static_cast<int>(k - 35) * 5);
}

/// What devices do, against what hosts do.
template <class From, class To, class Layout>
void compare_elements_with_lines(double scale) {
  namespace kernel = plinth::kernel;
  const Exec exec;
  Framed<From, Layout> from(13, 140);
  Framed<To, Layout> by_lines(13, 140), by_elements(13, 140);
  for (Index i = 0; i < 13; ++i)
    for (Index j = 0; j < 140; ++j) from.view()(i, j) = From(wild_entry(i, j, j < 70));
  const auto lost = kernel::convert_lines_of(exec, from.view(), by_lines.view(), scale);
  CHECK(kernel::convert_matrix(exec, from.view(), by_elements.view(), scale) == lost);
  exec.fence();
  CHECK(by_elements.frame_is_whole());
  Index wrong = 0, first = -1;
  for (Index j = 0; j < 140; ++j)
    for (Index i = 0; i < 13; ++i) {
      const To a = by_lines.view()(i, j), b = by_elements.view()(i, j);
      wrong += !(a == b || (plinth::is_nan(a) && plinth::is_nan(b)));
      const bool over = plinth::is_finite(from.view()(i, j)) && !plinth::is_finite(a);
      if (over && first < 0) first = j;
    }
  CHECK(wrong == 0);
  CHECK(kernel::first_overflow(exec, from.view(), by_elements.view()) == first);
  if (!kernel::Conversion<From, To>::is_exact) CHECK((first >= 0) == (lost.overflowed > 0));
  const auto finite = kernel::part(from.view(), {0, 13}, {0, 70});
  CHECK(kernel::largest_of_elements(exec, finite) == kernel::largest_of_lines(exec, finite));
}

}  // namespace

TEMPLATE_TEST_CASE("Element by element, conversions and largest magnitudes are those of lines",
                   "[kernel][float16]", half, bfloat16, float, double) {
  for (const double scale : {1.0, 0.25, 1024.0}) {
    INFO("scale " << scale);
    compare_elements_with_lines<TestType, half, Kokkos::LayoutRight>(scale);
    compare_elements_with_lines<TestType, bfloat16, Kokkos::LayoutLeft>(scale);
    compare_elements_with_lines<TestType, float, Kokkos::LayoutRight>(scale);
    compare_elements_with_lines<TestType, double, Kokkos::LayoutRight>(scale);
  }
  const Exec exec;
  Framed<TestType, Kokkos::LayoutRight> a(1, 2);
  a.view()(0, 0) = TestType(-0.0f);
  a.view()(0, 1) = TestType(0.5f);
  CHECK(plinth::kernel::largest_of_elements(exec, a.view()) == 0.5);
  CHECK(plinth::kernel::largest_of_elements(
            exec, plinth::kernel::part(a.view(), {0, 0}, {0, 2})) == 0);
}

template <class P, class F, class O, class A, class N>
constexpr bool has_roles = std::is_same_v<typename plinth::PrecisionRoles<P>::Factor, F>&&
    std::is_same_v<typename plinth::PrecisionRoles<P>::Operand, O>&&
        std::is_same_v<typename plinth::PrecisionRoles<P>::Accumulate, A>&&
            std::is_same_v<typename plinth::PrecisionRoles<P>::Panel, N>&&
                std::is_same_v<typename plinth::PrecisionRoles<P>::Working, double>&&
                    std::is_same_v<typename plinth::PrecisionRoles<P>::Residual, double>;

TEST_CASE("Roles of the 16-bit precision policies", "[policy]") {
  STATIC_REQUIRE(has_roles<plinth::DoubleHalf, half, half, float, float>);
  STATIC_REQUIRE(has_roles<plinth::DoubleHalfFast, half, half, half, float>);
  STATIC_REQUIRE(has_roles<plinth::DoubleBfloat16, bfloat16, bfloat16, float, float>);
  STATIC_REQUIRE(has_roles<plinth::DoubleSingleHalf, float, half, float, float>);
  STATIC_REQUIRE(plinth::PrecisionRoles<plinth::DoubleHalfFast>::flush_k == 256);
  STATIC_REQUIRE(plinth::PrecisionRoles<plinth::DoubleHalf>::flush_k == 0);
}
