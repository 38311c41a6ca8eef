// SPDX-License-Identifier: BSD-3-Clause

// AMX's tiles without AMX: what the micro-kernel's instructions are defined to do (Intel's manual
// of the instruction set, TILELOADD and TDPBF16PS), step by step, on what it is given.

#include "plinth/kernel/lowp/kernels.hpp"

#if PLINTH_AMX_KERNELS
#include <cstdint>
#include <vector>

#include "support/catch.hpp"

using plinth::bfloat16;
using plinth::Index;
namespace amx = plinth::kernel::lowp::amx_bf16;
using plinth::kernel::lowp::Pair;

namespace {

float low(Pair x) {
  return static_cast<float>(bfloat16::from_bits(static_cast<std::uint16_t>(x)));
}
float high(Pair x) { return low(x >> 16); }

/// A tile's 16 rows of 16 32-bit columns, loaded with a stride in units of 32 bits.
struct LoadedTile {
  LoadedTile(const Pair* from, Index stride) {
    for (Index r = 0; r < 16; ++r)
      for (Index c = 0; c < 16; ++c) at[r][c] = from[r * stride + c];
  }
  Pair at[16][16];
};

/// sum += a b, with pairs along the columns of a and along the rows of b.
void dot_pairs(float sum[16][16], const LoadedTile& a, const LoadedTile& b) {
  for (int m = 0; m < 16; ++m)
    for (int k = 0; k < 16; ++k)
      for (int n = 0; n < 16; ++n)
        sum[m][n] += low(a.at[m][k]) * low(b.at[k][n]) + high(a.at[m][k]) * high(b.at[k][n]);
}

}  // namespace

TEST_CASE("AMX's tiles hold what the instruction multiplies", "[kernel][lowp]") {
  constexpr Index width = amx::width;
  for (const Index pairs : {1, 15, 16, 17, 48}) {
    const auto vector_at = [](Index i, Index k) {
      return static_cast<float>((3 * i + k) % 7 - 3);
    };
    const auto broadcast_at = [](Index j, Index k) {
      return static_cast<float>((j + 5 * k) % 9 - 4);
    };
    const auto pack = [&](const auto& x) {
      std::vector<std::uint32_t> packed(static_cast<std::size_t>(pairs * width));
      for (Index p = 0; p < pairs; ++p)
        for (Index i = 0; i < width; ++i)
          packed[static_cast<std::size_t>(p * width + i)] =
              bfloat16(x(i, 2 * p)).bits() |
              static_cast<std::uint32_t>(bfloat16(x(i, 2 * p + 1)).bits()) << 16;
      return packed;
    };
    const auto vector = pack(vector_at), broadcast = pack(broadcast_at);
    const Index whole = plinth::ceil_div(pairs, amx::tile) * amx::tile;
    std::vector<std::uint32_t> v(static_cast<std::size_t>(whole * width), 0xffffffffu), b(v);
    amx::fill_up(vector.data(), pairs, v.data());
    amx::make_tiles(broadcast.data(), pairs, b.data());

    // The loop of amx::multiply().
    float sum[4][16][16];
    for (auto& tile : sum)
      for (auto& row : tile)
        for (float& x : row) x = 0;
    const Pair *at_v = v.data(), *at_b = b.data();
    for (Index p = 0; p < pairs; p += amx::tile) {
      const LoadedTile t4(at_b, amx::tile), t5(at_b + amx::tile * amx::tile, amx::tile);
      const LoadedTile t6(at_v, width), t7(at_v + amx::tile, width);
      dot_pairs(sum[0], t4, t6);
      dot_pairs(sum[1], t4, t7);
      dot_pairs(sum[2], t5, t6);
      dot_pairs(sum[3], t5, t7);
      at_v += amx::tile * width;
      at_b += amx::tile * width;
    }
    int wrong = 0;
    for (Index j = 0; j < width; ++j)
      for (Index i = 0; i < width; ++i) {
        float want = 0;
        for (Index k = 0; k < 2 * pairs; ++k) want += broadcast_at(j, k) * vector_at(i, k);
        wrong += sum[2 * (j / 16) + i / 16][j % 16][i % 16] != want;
      }
    CAPTURE(pairs);
    REQUIRE(wrong == 0);
  }
}
#endif
