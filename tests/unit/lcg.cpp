// SPDX-License-Identifier: BSD-3-Clause
#include "plinth/kernel/lcg.hpp"

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "plinth/core/cpu.hpp"
#include "plinth/kernel/lcg_tile.hpp"
#include "support/catch.hpp"

using plinth::Affine;
using plinth::HplGenerator;
using plinth::Index;
using plinth::Isa;
using plinth::Lcg64;
using plinth::lcg_value;

namespace {

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

/// The value as netlib HPL assembles it, from four pieces of 16 bits: only the last sum rounds.
double value_from_pieces(std::uint64_t x) {
  const auto piece = [x](int k) { return static_cast<double>((x >> (16 * k)) & 0xffff); };
  volatile double u = piece(0) * 0x1p-64 + piece(1) * 0x1p-48;  // -ffast-math must not regroup
  u = u + piece(2) * 0x1p-32;
  u = u + piece(3) * 0x1p-16;
  return 0.5 - u;
}

/// States where a conversion can go wrong: ends of the range, sign bit, 53 bits, ties.
std::vector<std::uint64_t> awkward_states() {
  std::vector<std::uint64_t> states;
  for (int power : {0, 10, 11, 31, 32, 33, 52, 53, 54, 55, 62, 63})
    for (std::uint64_t offset = 0; offset < 8; ++offset) {
      const std::uint64_t x = std::uint64_t{1} << power;
      states.insert(states.end(), {x + offset, x - offset, 0 - x - offset, x + (offset << 9)});
    }
  for (std::uint64_t low = 0; low < 4096; low += 512)  // halfway between two doubles, and near
    for (std::uint64_t high : {std::uint64_t{1} << 63, ~std::uint64_t{0} << 12})
      states.insert(states.end(), {high + low - 1, high + low, high + low + 1});
  return states;
}

}  // namespace

static_assert(Lcg64::jump(0) == Affine{1, 0});
static_assert(Lcg64::jump(1) == Affine{Lcg64::multiplier, Lcg64::increment});
static_assert(Lcg64::multiplier == (std::uint64_t{1481765933} << 32) + 1284865837);
static_assert(HplGenerator{4}.state(0, 0) == 0x800361b1ea65ad95u);

TEST_CASE("netlib HPL's matrix has netlib's states and bits", "[lcg]") {
  struct Row {
    Index i, j;
    std::uint64_t state;
    double value;
    std::uint64_t bits;
  };
  const HplGenerator generator{4};
  for (const Row& row : {
           Row{0, 0, 0x800361b1ea65ad95u, -5.1599441937666413e-05, 0xbf0b0d8f532d8000u},
           Row{1, 0, 0x1da99375e8b56e32u, 0.38413122531282284, 0x3fd8959b2285d2a4u},
           Row{0, 1, 0xf5a78a738e3972f1u, -0.45958772011929283, 0xbfdd69e29ce38e5cu},
           Row{3, 3, 0x364d2c22855e4e14u, 0.28788494260027764, 0x3fd26cb4f75ea86cu},
           Row{0, 4, 0xac784ad09bf3a585u, -0.17371051400182458, 0xbfc63c25684df9d4u},
           Row{3, 4, 0xbd5a73cf46685d60u, -0.23966144380975285, 0xbfcead39e7a33430u},
       }) {
    CAPTURE(row.i, row.j);
    CHECK(generator.state(row.i, row.j) == row.state);
    CHECK(generator(row.i, row.j) == row.value);
    CHECK(bits(generator(row.i, row.j)) == row.bits);
  }
}

TEST_CASE("whole systems have netlib's digests", "[lcg]") {
  struct Digest {
    Index n;
    std::uint64_t exclusive_or, fnv;
  };
  for (const Digest& want : {Digest{10, 0x00c8b26ebf933748u, 0x11ae87207b8c920eu},
                             Digest{100, 0x81e39ae44fc789c5u, 0x5f6cc4dad88a3c4bu}}) {
    const HplGenerator generator{want.n};
    std::uint64_t exclusive_or = 0, fnv = 0xcbf29ce484222325u;
    for (Index j = 0; j <= want.n; ++j)
      for (Index i = 0; i < want.n; ++i) {
        const std::uint64_t word = bits(generator(i, j));
        exclusive_or ^= word;
        for (int byte = 0; byte < 8; ++byte)
          fnv = (fnv ^ ((word >> (8 * byte)) & 0xff)) * 0x100000001b3u;
      }
    CAPTURE(want.n);
    CHECK(exclusive_or == want.exclusive_or);
    CHECK(fnv == want.fnv);
  }
}

TEST_CASE("a jump is as many steps", "[lcg]") {
  Affine steps;
  std::uint64_t x = 100;
  for (std::uint64_t k = 0; k <= 1000; ++k) {
    REQUIRE(Lcg64::jump(k) == steps);
    REQUIRE(Lcg64::jump(k)(100) == x);
    steps = steps.then(Lcg64::step());
    x = Lcg64::step()(x);
  }
}

TEST_CASE("jumps add up, wrap, and go back", "[lcg]") {
  const std::uint64_t far = 0x0123456789abcdefu, further = 0xfedcba9876543211u;
  CHECK(Lcg64::jump(far).then(Lcg64::jump(further)) == Lcg64::jump(far + further));
  CHECK(Lcg64::jump(far).power(3) == Lcg64::jump(3 * far));
  CHECK(Lcg64::jump(far).then(Lcg64::jump(0 - far)) == Affine{});
  CHECK(Lcg64::jump(std::uint64_t{1} << 63).power(2) == Affine{});  // the period is 2^64
}

TEST_CASE("states of a matrix beyond 2^32 entries, and beyond 2^63", "[lcg]") {
  const Index n = 3'000'000'000;
  const HplGenerator generator{n};
  const Affine down = Lcg64::step(), right = down.power(static_cast<std::uint64_t>(n));
  std::uint64_t x = down(100);  // of (0, 0)
  for (int k = 0; k < 5; ++k) {
    CHECK(generator.state(k, k) == x);
    x = right(down(x));
  }
  for (const Index i : {Index{0}, Index{1}, n / 2, n - 1})
    for (const Index j : {Index{0}, Index{2}, n / 3, n}) {
      CAPTURE(i, j);
      const Affine rows = down.power(static_cast<std::uint64_t>(i));
      const Affine cols = right.power(static_cast<std::uint64_t>(j));
      CHECK(generator.state(i, j) == down.then(rows).then(cols)(100));
    }
  const HplGenerator larger{Index{1} << 62};  // (0, 4) is a whole period from (0, 0)
  CHECK(larger.state(0, 4) == larger.state(0, 0));
}

TEST_CASE("a value is rounded once, to nearest even", "[lcg]") {
  CHECK(lcg_value(0) == 0.5);
  CHECK(lcg_value(~std::uint64_t{0}) == -0.5);
  CHECK(lcg_value(0 - std::uint64_t{1024}) == -0.5);  // a tie, to even
  CHECK(lcg_value(0 - std::uint64_t{1025}) == -0.5 + 0x1p-53);
  CHECK(lcg_value(std::uint64_t{1} << 63) == 0.0);
  for (const std::uint64_t x : awkward_states()) {
    CAPTURE(x);
    CHECK(bits(lcg_value(x)) == bits(value_from_pieces(x)));
  }
}

TEST_CASE("every instruction set rounds alike", "[lcg]") {
  const plinth::kernel::LcgSteps one_by_one(Affine{1, 1});  // states x, x+1, x+2, ...
  constexpr Index count = 45;
  for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512}) {
    if (!plinth::is_available(isa)) continue;
    for (const std::uint64_t x : awkward_states()) {
      CAPTURE(to_string(isa), x);
      double wide[count];
      float narrow[count];
      plinth::kernel::lcg_fill_tile<double>(isa, {wide, 1, count, count, x}, one_by_one, {});
      plinth::kernel::lcg_fill_tile<float>(isa, {narrow, 1, count, count, x}, one_by_one, {});
      Index wrong = 0;
      for (Index k = 0; k < count; ++k) {
        const double want = value_from_pieces(x + static_cast<std::uint64_t>(k));
        wrong += bits(wide[k]) != bits(want);
        wrong += std::bit_cast<std::uint32_t>(narrow[k]) !=
                 std::bit_cast<std::uint32_t>(static_cast<float>(want));
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("the best instruction set is available, and has a name", "[lcg]") {
  CHECK(plinth::is_available(Isa::portable));
  CHECK(plinth::is_available(plinth::best_isa()));
  CHECK(std::string(to_string(Isa::portable)) == "portable");
  CHECK(std::string(to_string(Isa::avx512)) == "AVX-512");
}
