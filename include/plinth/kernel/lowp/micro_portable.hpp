// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>

#include "plinth/kernel/lowp/micro_kernel.hpp"

/// Micro-kernels for any CPU: plain loops.
namespace plinth::kernel::lowp::portable {

inline constexpr int vector_width = 8, broadcast_width = 4;

/// Packed pairs of 16 bits to floats: out[(2 p + e) Width + i].
template <Scalar16 T, int Width>
void to_floats(const Pair* packed, Index pairs, void* out) {
  float* to = static_cast<float*>(out);
  for (Index p = 0; p < pairs; ++p, packed += Width, to += 2 * Width)
    for (int i = 0; i < Width; ++i) {
      to[i] = static_cast<float>(T::from_bits(static_cast<std::uint16_t>(packed[i])));
      to[Width + i] =
          static_cast<float>(T::from_bits(static_cast<std::uint16_t>(packed[i] >> 16)));
    }
}

/// c[i] += alpha sum[i].
template <TileScalar C>
void update_line(C* c, const float* sum, int count, float alpha) {
  for (int i = 0; i < count; ++i) c[i] = C(static_cast<float>(c[i]) + alpha * sum[i]);
}

template <TileScalar C>
void single(const Tile<C>& t) {
  const float* v = static_cast<const float*>(t.vector);
  const float* b = static_cast<const float*>(t.broadcast);
  float sum[broadcast_width][vector_width] = {};
  for (Index k = 0; k < 2 * t.pairs; ++k, v += vector_width, b += broadcast_width)
    for (int j = 0; j < broadcast_width; ++j)
      for (int i = 0; i < vector_width; ++i) sum[j][i] += b[j] * v[i];
  for (int j = 0; j < t.broadcast_count; ++j)
    update_line(t.c + j * t.line_stride, sum[j], t.vector_count, t.alpha);
}

/// x y + z, rounded to half. The product is exact in double.
inline half fma(half x, half y, half z) {
  return half(static_cast<double>(x) * static_cast<double>(y) + static_cast<double>(z));
}

/// What AVX512-FP16 does, step by step: even and odd k summed apart in half, both sums added to a
/// float every flush_pairs. Slow; it says what the arithmetic is.
template <TileScalar C>
void in_half(const Tile<C>& t) {
  const auto* v = static_cast<const Pair*>(t.vector);
  const auto* b = static_cast<const Pair*>(t.broadcast);
  const auto part = [](Pair pair, int e) {
    return half::from_bits(static_cast<std::uint16_t>(pair >> (16 * e)));
  };
  for (int j = 0; j < t.broadcast_count; ++j)
    for (int i = 0; i < t.vector_count; ++i) {
      float sum = 0;
      for (Index p = 0; p < t.pairs;) {
        const Index end = t.pairs - p > t.flush_pairs ? p + t.flush_pairs : t.pairs;
        half even(0.0f), odd(0.0f);
        for (; p < end; ++p) {
          const Pair x = v[p * vector_width + i], y = b[p * broadcast_width + j];
          even = fma(part(x, 0), part(y, 0), even);
          odd = fma(part(x, 1), part(y, 1), odd);
        }
        sum += static_cast<float>(even) + static_cast<float>(odd);
      }
      update_line(t.c + j * t.line_stride + i, &sum, 1, t.alpha);
    }
}

template <Scalar16 T>
constexpr MicroKernel single_kernel() {
  return {.name = "portable",
          .is_half = std::same_as<T, half>,
          .accumulate = Accumulate::single,
          .vector_width = vector_width,
          .broadcast_width = broadcast_width,
          .vector = {.run = &to_floats<T, vector_width>, .bytes = 8},
          .broadcast = {.run = &to_floats<T, broadcast_width>, .bytes = 8},
          .run_float = &single<float>,
          .run_half = &single<half>,
          .run_bfloat16 = &single<bfloat16>};
}
constexpr MicroKernel half_kernel() {
  return {.name = "portable-fp16",
          .is_half = true,
          .accumulate = Accumulate::half,
          .vector_width = vector_width,
          .broadcast_width = broadcast_width,
          .vector = {},
          .broadcast = {},
          .run_float = &in_half<float>,
          .run_half = &in_half<half>,
          .run_bfloat16 = &in_half<bfloat16>};
}

}  // namespace plinth::kernel::lowp::portable
