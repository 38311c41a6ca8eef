// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

#include "plinth/core/float16.hpp"
#include "plinth/core/scalar.hpp"
#include "support/catch.hpp"

using plinth::bfloat16;
using plinth::half;
using plinth::RealOf;
using plinth::ScalarTraits;

static_assert(sizeof(half) == 2 && std::is_trivial_v<half> && plinth::Scalar<half>);
static_assert(sizeof(bfloat16) == 2 && std::is_trivial_v<bfloat16> && plinth::Scalar<bfloat16>);
static_assert(std::is_same_v<RealOf<half>, float> && std::is_same_v<RealOf<bfloat16>, float>);
static_assert(!std::is_convertible_v<float, half> && !std::is_convertible_v<half, float>);
static_assert(half(1.0).bits() == 0x3c00 && bfloat16(1.0f).bits() == 0x3f80);

namespace {

/// The value of a 16-bit number by its definition.
template <class T>
double value_of(std::uint16_t bits) {
  constexpr int m = T::format::mantissa_bits;
  const int exponent = (bits & 0x7fff) >> m, fraction = bits & ((1 << m) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == T::format::infinity >> m)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign / 0.0;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - T::format::bias - m);
  return sign * std::ldexp((1 << m) + fraction, exponent - T::format::bias - m);
}

/// The nearest 16-bit number, ties to even, by search among all of them.
template <class T>
std::uint16_t nearest(double x) {
  const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double a = std::fabs(x);
  int low = 0, high = T::format::infinity;  // value_of(low) <= a < value_of(high)
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (value_of<T>(static_cast<std::uint16_t>(middle)) <= a ? low : high) = middle;
  }
  const double below = value_of<T>(static_cast<std::uint16_t>(low));
  // Infinity stands where the next number would be, for rounding.
  const double above = high == T::format::infinity
                           ? std::ldexp(1.0, T::format::bias + 1)
                           : value_of<T>(static_cast<std::uint16_t>(high));
  const double to_low = a - below, to_high = above - a;
  const bool up = to_high < to_low || (to_high == to_low && low % 2 != 0);
  return static_cast<std::uint16_t>(sign | (up ? high : low));
}

}  // namespace

TEMPLATE_TEST_CASE("16-bit numbers convert to float and double exactly, and back",
                   "[core][float16]", half, bfloat16) {
  int wrong = 0;
  for (int i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const auto x = TestType::from_bits(bits);
    const double want = value_of<TestType>(bits);
    if (want != want) {
      wrong += !plinth::is_nan(x) || plinth::is_finite(x);
      wrong += !plinth::is_nan(static_cast<float>(x)) || !plinth::is_nan(TestType(double(x)));
      wrong += TestType(float(x)).bits() != (bits | TestType::format::quiet);
      wrong += TestType(double(x)).bits() != (bits | TestType::format::quiet);
      continue;
    }
    wrong += plinth::is_nan(x) || plinth::is_finite(x) != (std::fabs(want) < 1e300);
    wrong += static_cast<double>(static_cast<float>(x)) != want;
    wrong += std::signbit(static_cast<float>(x)) != ((bits & 0x8000) != 0);
    wrong += static_cast<double>(x) != want;
    wrong += TestType(static_cast<float>(x)).bits() != bits || TestType(want).bits() != bits;
    wrong += (-x).bits() != (bits ^ 0x8000);
    wrong += plinth::modulus(x) != std::fabs(static_cast<float>(want));
  }
  REQUIRE(wrong == 0);
}

TEMPLATE_TEST_CASE("conversion to 16 bits rounds once, to nearest even", "[core][float16]", half,
                   bfloat16) {
  int wrong = 0;
  const auto check = [&](double x) {
    for (const double y : {x, -x}) {
      wrong += TestType(y).bits() != nearest<TestType>(y);
      const auto f = static_cast<float>(y);
      if (std::isfinite(f)) wrong += TestType(f).bits() != nearest<TestType>(f);
    }
  };
  SECTION("at every number, every midpoint, and their neighbours") {
    for (std::uint16_t i = 0; i < TestType::format::infinity; ++i) {
      const double x = value_of<TestType>(i);
      const double next = i + 1 == TestType::format::infinity
                              ? std::ldexp(1.0, TestType::format::bias + 1)
                              : value_of<TestType>(static_cast<std::uint16_t>(i + 1));
      const double middle = x / 2 + next / 2;
      for (const double y : {x, middle}) {
        check(y);
        // A float next to the midpoint would hide these: two roundings go wrong.
        check(std::nextafter(y, 0.0));
        check(std::nextafter(y, 1e300));
        check(static_cast<double>(std::nextafter(static_cast<float>(y), 0.0f)));
        check(static_cast<double>(std::nextafter(static_cast<float>(y), 1e38f)));
      }
    }
    REQUIRE(wrong == 0);
  }
  SECTION("at random bits") {
    std::mt19937_64 random(1);
    for (int i = 0; i < 200000; ++i) {
      const auto y = std::bit_cast<double>(random());
      if (std::isfinite(y)) check(std::fabs(y));
      const auto f = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
      if (std::isfinite(f)) check(std::fabs(static_cast<double>(f)));
    }
    REQUIRE(wrong == 0);
  }
  SECTION("of extreme numbers") {
    for (const double y : {std::numeric_limits<double>::max(), 0x1p-1074, 0x1p-149, 0x1p-150}) {
      check(y);
      check(std::nextafter(y, 1.0));
    }
    REQUIRE(wrong == 0);
    const double inf = std::numeric_limits<double>::infinity();
    REQUIRE(TestType(inf).bits() == TestType::format::infinity);
    REQUIRE(TestType(-static_cast<float>(inf)).bits() == (TestType::format::infinity | 0x8000));
    // Signalling NaNs whose payload lies in bits that are cut off.
    REQUIRE(plinth::is_nan(TestType(std::bit_cast<double>(0x7ff0000000000001ull))));
    REQUIRE(plinth::is_nan(TestType(std::bit_cast<float>(0x7f800001u))));
  }
}

TEMPLATE_TEST_CASE("16-bit numbers compare as numbers", "[core][float16]", half, bfloat16) {
  const TestType one(1), two(2.0f), zero(0.0), nan(std::nan(""));
  REQUIRE(one < two);
  REQUIRE(-two < -one);
  REQUIRE(-zero == zero);
  REQUIRE(one != two);
  REQUIRE_FALSE(nan == nan);
  REQUIRE_FALSE(nan < one);
  REQUIRE_FALSE(nan >= one);
  REQUIRE(plinth::magnitude1(-two) == 2.0f);
  REQUIRE(plinth::conjugate(two) == two);
}

TEMPLATE_TEST_CASE("the traits of 16-bit numbers", "[core][float16]", half, bfloat16) {
  using Traits = ScalarTraits<TestType>;
  const float u = Traits::epsilon;
  REQUIRE(TestType(1.0f + u) == TestType(1.0f));
  REQUIRE(TestType(1.0f + 2 * u) > TestType(1.0f));
  REQUIRE(static_cast<float>(TestType(Traits::max)) == Traits::max);
  REQUIRE(plinth::is_finite(TestType(Traits::max)));
  REQUIRE_FALSE(plinth::is_finite(TestType(Traits::max * (1.0 + u))));
  REQUIRE(TestType(Traits::min_normal).bits() == 1 << TestType::format::mantissa_bits);
}
