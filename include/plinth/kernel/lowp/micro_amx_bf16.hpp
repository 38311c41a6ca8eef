// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "plinth/kernel/lowp/micro_avx512.hpp"

/// 1 where tiles can be compiled and asked for.
#if PLINTH_X86_KERNELS && defined(__linux__) && (defined(__clang__) || __GNUC__ >= 11)
#define PLINTH_AMX_KERNELS 1
#else
#define PLINTH_AMX_KERNELS 0
#endif

#if PLINTH_AMX_KERNELS
#include <sys/syscall.h>
#include <unistd.h>

#define PLINTH_AMX_TARGET "avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl,amx-tile,amx-bf16"
#define PLINTH_AMX __attribute__((target(PLINTH_AMX_TARGET)))

/// Micro-kernel with AMX-BF16: 32 x 32 sums in four tiles of 16 x 16 floats. Subnormal operands
/// and sums count as zero. Only where is_available().
///
/// A tile of the vector side holds 16 pairs of k, each of 16 indices: that is the packed form. A
/// tile of the broadcast side holds 16 indices, each with 16 pairs of k.
namespace plinth::kernel::lowp::amx_bf16 {

inline constexpr int width = 32;  ///< of both sides
inline constexpr int tile = 16;   ///< rows of a tile, and 32-bit columns

/// Asks Linux for the tiles' registers, for the whole process. Once it has them it keeps them.
inline bool request_tiles() {
  constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM
  return cpu_features().amx_bf16_cpu &&
         syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

/// Whether this CPU has the tiles and this process may use them.
inline bool is_available() {
  static const bool available = request_tiles();
  return available;
}

/// The packed form with pairs filled up to whole tiles.
inline void fill_up(const Pair* packed, Index pairs, void* out) {
  auto* to = static_cast<Pair*>(out);
  const Index count = pairs * width, whole = ceil_div(pairs, tile) * tile * width;
  for (Index i = 0; i < count; ++i) to[i] = packed[i];
  for (Index i = count; i < whole; ++i) to[i] = 0;
}

/// Tiles of the broadcast side: out[((p / 16) width + j) 16 + p % 16] = packed[p width + j].
inline void make_tiles(const Pair* packed, Index pairs, void* out) {
  auto* to = static_cast<Pair*>(out);
  for (Index first = 0; first < pairs; first += tile, to += tile * width)
    for (int j = 0; j < width; ++j)
      for (Index p = 0; p < tile; ++p)
        to[j * tile + p] = first + p < pairs ? packed[(first + p) * width + j] : 0u;
}

/// What LDTILECFG reads: palette 1, eight tiles of 16 rows of 64 bytes.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

/// sum[j width + i] = sum over k of broadcast(j, k) vector(i, k).
PLINTH_AMX inline void multiply(const Pair* v, const Pair* b, Index pairs, float* sum) {
  const TileConfig config;
  constexpr long v_row = width * 4, b_row = tile * 4, sum_row = width * 4;
  // GCC's intrinsics do not say how much memory they read and write.
  __asm__ volatile("" : : "r"(&config), "r"(v), "r"(b) : "memory");
  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (Index p = 0; p < pairs; p += tile, v += tile * width, b += tile * width) {
    _tile_loadd(4, b, b_row);
    _tile_loadd(5, b + tile * tile, b_row);
    _tile_loadd(6, v, v_row);
    _tile_loadd(7, v + tile, v_row);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, sum, sum_row);
  _tile_stored(1, sum + tile, sum_row);
  _tile_stored(2, sum + tile * width, sum_row);
  _tile_stored(3, sum + tile * width + tile, sum_row);
  _tile_release();
  __asm__ volatile("" : : "r"(sum) : "memory");
}

template <TileScalar C>
PLINTH_AMX void single(const Tile<C>& t) {
  alignas(64) float sum[width * width];
  avx512::prefetch(t);
  multiply(static_cast<const Pair*>(t.vector), static_cast<const Pair*>(t.broadcast), t.pairs,
           sum);
  const __m512 alpha = _mm512_set1_ps(t.alpha);
  const __mmask16 low = avx512::first_lanes(t.vector_count);
  const __mmask16 high = avx512::first_lanes(t.vector_count > 16 ? t.vector_count - 16 : 0);
  for (int j = 0; j < t.broadcast_count; ++j) {
    C* const line = t.c + j * t.line_stride;
    avx512::update(line, low, _mm512_load_ps(sum + j * width), alpha);
    avx512::update(line + 16, high, _mm512_load_ps(sum + j * width + 16), alpha);
  }
}

constexpr MicroKernel single_kernel() {
  return {.name = "AMX-BF16",
          .is_half = false,
          .accumulate = Accumulate::single,
          .vector_width = width,
          .broadcast_width = width,
          .vector = {.run = &fill_up, .bytes = 4, .pair_multiple = tile},
          .broadcast = {.run = &make_tiles, .bytes = 4, .pair_multiple = tile},
          .run_float = &single<float>,
          .run_half = &single<half>,
          .run_bfloat16 = &single<bfloat16>};
}

}  // namespace plinth::kernel::lowp::amx_bf16

#undef PLINTH_AMX
#undef PLINTH_AMX_TARGET
#endif
