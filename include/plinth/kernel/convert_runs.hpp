// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "plinth/core/float16.hpp"
#include "plinth/core/index.hpp"

namespace plinth::kernel {

/// What a narrowing conversion did to its numbers.
struct NarrowingCounts {
  Index overflowed = 0;  ///< finite before, infinite after
  Index flushed = 0;     ///< not zero before, zero after
  Index subnormal = 0;   ///< not zero and subnormal after: some bits are missing

  NarrowingCounts& operator+=(const NarrowingCounts& other) {
    overflowed += other.overflowed;
    flushed += other.flushed;
    subnormal += other.subnormal;
    return *this;
  }
  bool operator==(const NarrowingCounts&) const = default;
};

/// The bits of a float or a double without its sign.
template <std::floating_point T>
constexpr auto magnitude_bits(T x) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return static_cast<Bits>(__builtin_bit_cast(Bits, x) & (~Bits(0) >> 1));
}

/// Whether a conversion to T with these bits has to be looked at for NarrowingCounts.
template <Scalar16 T>
constexpr bool is_special(std::uint16_t bits) {
  using Format = typename T::format;
  return (bits & 0x7fffu) < 1u << Format::mantissa_bits || (bits & 0x7fffu) == Format::infinity;
}

/// Counts what became of in[i] in out[i].
template <std::floating_point From, Scalar16 To>
void count_narrowing(const From* in, const To* out, Index count, NarrowingCounts& counts) {
  constexpr auto infinity = magnitude_bits(static_cast<From>(__builtin_inff()));
  for (Index i = 0; i < count; ++i) {
    if (!is_special<To>(out[i].bits())) continue;
    const auto before = magnitude_bits(in[i]);
    const unsigned after = out[i].bits() & 0x7fffu;
    if (after == 0)
      counts.flushed += before != 0;
    else if (after == To::format::infinity)
      counts.overflowed += before < infinity;
    else
      ++counts.subnormal;
  }
}

/// out[i] = in[i] scale, narrowed, by any CPU. (encode16 works on integers, without branches.)
template <std::floating_point From, Scalar16 To>
void narrow_portable(const From* in, To* out, Index count, From scale, NarrowingCounts& counts) {
  for (Index i = 0; i < count; ++i) out[i] = To(static_cast<From>(in[i] * scale));
  count_narrowing(in, out, count, counts);
}

/// out[i] = in[i] scale, widened, by any CPU.
template <Scalar16 From, std::floating_point To>
void widen_portable(const From* in, To* out, Index count, To scale) {
  for (Index i = 0; i < count; ++i) out[i] = static_cast<To>(in[i]) * scale;
}

}  // namespace plinth::kernel
