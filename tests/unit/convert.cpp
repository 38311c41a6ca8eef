// SPDX-License-Identifier: BSD-3-Clause
#include "plinth/kernel/convert.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "support/catch.hpp"

using plinth::bfloat16;
using plinth::half;
using plinth::Index;
using plinth::Isa;
using plinth::kernel::narrow;
using plinth::kernel::NarrowingCounts;
using plinth::kernel::widen;

namespace {

/// Numbers of every kind: random bits, random magnitudes about To's range, midpoints between two
/// of To's numbers and what is next to them, zeros, infinities, NaNs.
template <class From, class To>
std::vector<From> numbers() {
  using Bits = std::conditional_t<sizeof(From) == 4, std::uint32_t, std::uint64_t>;
  using Limits = std::numeric_limits<From>;
  std::mt19937_64 random(7);
  std::vector<From> x{From(0),
                      From(-0.0),
                      Limits::infinity(),
                      -Limits::infinity(),
                      Limits::quiet_NaN(),
                      Limits::max(),
                      Limits::denorm_min(),
                      From(1)};
  for (int i = 0; i < 20000; ++i) {
    x.push_back(std::bit_cast<From>(static_cast<Bits>(random())));
    const int exponent = static_cast<int>(random() % 60) - 40;
    x.push_back(
        static_cast<From>(std::ldexp(static_cast<double>(random() >> 11), exponent - 53)));
    const auto number = To::from_bits(static_cast<std::uint16_t>(random()));
    const auto next = To::from_bits(static_cast<std::uint16_t>(number.bits() + 1));
    const From middle =
        static_cast<From>(static_cast<double>(number) / 2 + static_cast<double>(next) / 2);
    x.push_back(middle);
    x.push_back(std::nextafter(middle, From(0)));
    x.push_back(std::nextafter(middle, Limits::infinity()));
  }
  return x;
}

template <class From, class To>
NarrowingCounts expected_counts(const std::vector<From>& in, From scale) {
  NarrowingCounts c;
  for (const From x : in) {
    const float y = static_cast<float>(To(static_cast<From>(x * scale)));
    c.overflowed += std::isfinite(x) && std::isinf(y);
    c.flushed += x != 0 && y == 0;
    c.subnormal += y != 0 && std::fabs(y) < plinth::ScalarTraits<To>::min_normal;
  }
  return c;
}

}  // namespace

TEMPLATE_TEST_CASE("bulk narrowing gives the scalar conversion's bits and counts losses",
                   "[kernel][convert]", (std::tuple<float, half>), (std::tuple<double, half>),
                   (std::tuple<float, bfloat16>), (std::tuple<double, bfloat16>)) {
  using From = std::tuple_element_t<0, TestType>;
  using To = std::tuple_element_t<1, TestType>;
  const auto in = numbers<From, To>();
  for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512}) {
    if (!plinth::is_available(isa)) continue;
    for (const From scale : {From(1), From(0x1p-9), From(0x1p20)}) {
      CAPTURE(to_string(isa), scale);
      std::vector<To> out(in.size() + 1, To(7));
      const auto counts =
          narrow(in.data(), out.data(), static_cast<Index>(in.size()), scale, isa);
      int wrong = 0;
      for (std::size_t i = 0; i < in.size(); ++i) {
        const To want(static_cast<From>(in[i] * scale));
        // Whether a NaN's payload goes through float is the hardware's affair.
        const bool right = plinth::is_nan(want) ? plinth::is_nan(out[i]) &&
                                                      (out[i].bits() & To::format::quiet) != 0
                                                : out[i].bits() == want.bits();
        wrong += !right;
      }
      REQUIRE(wrong == 0);
      REQUIRE(out.back() == To(7));
      REQUIRE(counts == expected_counts<From, To>(in, scale));
      REQUIRE((counts.flushed > 0 || scale > From(1)));
      REQUIRE((counts.overflowed > 0 || scale < From(1)));
      REQUIRE((counts.subnormal > 0 || scale > From(1)));
    }
  }
}

TEMPLATE_TEST_CASE("bulk widening is exact", "[kernel][convert]", (std::tuple<half, float>),
                   (std::tuple<half, double>), (std::tuple<bfloat16, float>),
                   (std::tuple<bfloat16, double>)) {
  using From = std::tuple_element_t<0, TestType>;
  using To = std::tuple_element_t<1, TestType>;
  std::vector<From> in;
  for (int i = 0; i < 0x10000; ++i) in.push_back(From::from_bits(static_cast<std::uint16_t>(i)));
  for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512}) {
    if (!plinth::is_available(isa)) continue;
    for (const To scale : {To(1), To(0x1p3)}) {
      std::vector<To> out(in.size() + 1, To(7));
      widen(in.data(), out.data(), static_cast<Index>(in.size()), scale, isa);
      int wrong = 0;
      for (std::size_t i = 0; i < in.size(); ++i) {
        const To want = static_cast<To>(in[i]) * scale;
        wrong += want != want ? out[i] == out[i] : out[i] != want;
      }
      CAPTURE(to_string(isa), scale);
      REQUIRE(wrong == 0);
      REQUIRE(out.back() == To(7));
    }
  }
}

TEST_CASE("bulk conversions touch only their numbers", "[kernel][convert]") {
  for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512}) {
    if (!plinth::is_available(isa)) continue;
    for (Index count = 0; count <= 40; ++count) {
      const Index lines = 3, in_ld = count + 1, out_ld = count + 2;
      std::vector<double> in(static_cast<std::size_t>(lines * in_ld), 1e30);
      std::vector<half> out(static_cast<std::size_t>(lines * out_ld), half(7));
      std::vector<float> back(static_cast<std::size_t>(lines * in_ld), -1.0f);
      for (Index l = 0; l < lines; ++l)
        for (Index i = 0; i < count; ++i)
          in[static_cast<std::size_t>(l * in_ld + i)] = static_cast<double>(100 * l + i);
      const auto counts = plinth::kernel::convert_lines(in.data(), in_ld, out.data(), out_ld,
                                                        lines, count, 0.5, isa);
      plinth::kernel::convert_lines(out.data(), out_ld, back.data(), in_ld, lines, count, 2.0,
                                    isa);
      CAPTURE(to_string(isa), count);
      REQUIRE(counts == NarrowingCounts{});
      int wrong = 0;
      for (Index l = 0; l < lines; ++l) {
        for (Index i = 0; i < in_ld; ++i) {
          const auto at = static_cast<std::size_t>(l * in_ld + i);
          wrong += back[at] != (i < count ? static_cast<float>(in[at]) : -1.0f);
        }
        for (Index i = count; i < out_ld; ++i)
          wrong += out[static_cast<std::size_t>(l * out_ld + i)] != half(7);
      }
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("doubles become floats as one by one, on every instruction set", "[kernel][convert]") {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> in{
      0.0,        -0.0,      1e40,       -1e40,    1e-40,   -1e-46,  1e-300,
      0x1p-126,   0x1p-149,  0x1p-150,   infinity, 1e300,   1.0 / 3, 0x1.fffffffp127,
      0x1.8p-149, -infinity, 0x1.8p-127, 0x1p127,  0x1p128, 1,       2};
  const auto size = static_cast<Index>(in.size());
  for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512}) {
    if (!plinth::is_available(isa)) continue;
    for (const double scale : {1.0, 0x1p-3, 0x1p200}) {
      CAPTURE(to_string(isa), scale);
      NarrowingCounts counts, expected;
      std::vector<float> out(in.size(), 7);
      plinth::kernel::convert_run(in.data(), out.data(), size, scale, counts, isa);
      int wrong = 0;
      for (std::size_t i = 0; i < in.size(); ++i) {
        const float want = static_cast<float>(in[i] * scale);
        wrong += out[i] != want || std::signbit(out[i]) != std::signbit(want);
        expected.overflowed += std::isinf(want) && !std::isinf(in[i]);
        expected.flushed += want == 0 && in[i] != 0;
        expected.subnormal += std::fpclassify(want) == FP_SUBNORMAL;
      }
      REQUIRE(wrong == 0);
      REQUIRE(counts == expected);
    }
    // Between doubles only scaling loses something, and widening nothing.
    std::vector<double> same(in.size());
    NarrowingCounts none, some;
    plinth::kernel::convert_run(in.data(), same.data(), size, 1.0, none, isa);
    REQUIRE(same == in);
    const std::vector<float> small(20, 1e-45f);
    plinth::kernel::convert_run(small.data(), same.data(), 20, 0x1p-200, none, isa);
    REQUIRE(same[19] == static_cast<double>(1e-45f) * 0x1p-200);
    REQUIRE(none == NarrowingCounts{});
    plinth::kernel::convert_run(in.data(), same.data(), size, 0x1p1000, some, isa);
    REQUIRE(some.overflowed == 6);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    float kept = 0;
    plinth::kernel::convert_run(&nan, &kept, 1, 0.5, some, isa);
    REQUIRE(kept != kept);
    REQUIRE(some.overflowed == 6);
  }
}
