// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Macros.hpp>
#include <concepts>
#include <cstdint>

namespace plinth {

template <class T>
struct ScalarTraits;

/// What the bits of a 16-bit floating-point number mean: a sign, `exponent_bits` of exponent,
/// `mantissa_bits` of fraction, IEEE 754's rules for subnormals, infinities and NaNs.
template <int ExponentBits, int MantissaBits>
struct Format16 {
  static_assert(1 + ExponentBits + MantissaBits == 16);
  static constexpr int mantissa_bits = MantissaBits;  ///< bits of the fraction
  static constexpr int bias = (1 << (ExponentBits - 1)) - 1;  ///< what is added to the exponent
  /// Bits of infinity.
  static constexpr std::uint16_t infinity = ((1 << ExponentBits) - 1) << MantissaBits;
  static constexpr std::uint16_t quiet = 1 << (MantissaBits - 1);  ///< bit of a quiet NaN
};
using HalfFormat = Format16<5, 10>;  ///< IEEE 754 binary16
using Bfloat16Format = Format16<8, 7>;  ///< the upper half of a binary32

/// The bits of the number of `Format` nearest to the float (Bits = uint32_t) or the double
/// (uint64_t) whose bits are given: ties to even, subnormals exact, too large becomes infinite, a
/// NaN stays one and is made quiet. One rounding. Integer arithmetic without branches, so it
/// vectorizes and neither -ffast-math nor a flush-to-zero mode changes it.
template <class Format, class Bits>
KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint16_t encode16(Bits bits) {
  constexpr int width = 8 * sizeof(Bits), mantissa = width == 32 ? 23 : 52;
  constexpr int source_bias = width == 32 ? 127 : 1023;
  constexpr int shift = mantissa - Format::mantissa_bits;
  constexpr Bits one = 1, fraction = (one << mantissa) - 1;
  constexpr Bits infinity = ((one << (width - 1)) - 1) & ~fraction;
  constexpr Bits smallest_exponent = source_bias - Format::bias + 1;  // with a normal result

  const Bits sign = (bits >> (width - 16)) & 0x8000;
  const Bits magnitude = bits & ((one << (width - 1)) - 1);
  // Normal result: another bias, then round; a carry runs into the exponent as it should.
  Bits normal = magnitude - ((smallest_exponent - 1) << mantissa);
  normal = (normal + ((one << (shift - 1)) - 1) + ((normal >> shift) & 1)) >> shift;
  normal = normal > Format::infinity ? Bits(Format::infinity) : normal;
  // Subnormal result: the significand is shifted to the fixed exponent, then rounded.
  const Bits exponent = magnitude >> mantissa;
  const Bits significand = (magnitude & fraction) | (exponent != 0 ? fraction + 1 : Bits(0));
  const Bits missing = smallest_exponent - (exponent != 0 ? exponent : one) + shift;
  const Bits by = missing - 1 > mantissa + 1 ? Bits(mantissa + 2) : missing;  // 1 at least
  const Bits subnormal =
      (significand + ((one << (by - 1)) - 1) + ((significand >> by) & 1)) >> by;
  const Bits number = magnitude >= (smallest_exponent << mantissa) ? normal : subnormal;
  const Bits nan = Format::infinity | Format::quiet | ((magnitude & fraction) >> shift);
  return static_cast<std::uint16_t>(sign | (magnitude > infinity ? nan : number));
}

/// The float with the value of a 16-bit number: always exact. A NaN of half is made quiet.
template <class Format>
KOKKOS_FORCEINLINE_FUNCTION constexpr float decode16(std::uint16_t bits) {
  const std::uint32_t sign = (std::uint32_t(bits) & 0x8000u) << 16;
  if constexpr (Format::mantissa_bits == Bfloat16Format::mantissa_bits) {
    return __builtin_bit_cast(float, std::uint32_t(bits) << 16);
  } else {
    constexpr int shift = 23 - Format::mantissa_bits;
    const std::uint32_t magnitude = bits & 0x7fffu;
    const std::uint32_t normal = (magnitude << shift) + ((127u - Format::bias) << 23);
    const std::uint32_t special =
        (magnitude << shift) | 0x7f800000u | (magnitude > Format::infinity ? 0x400000u : 0u);
    // (nvcc 13 does not evaluate __builtin_bit_cast in a constant expression.)
    constexpr float smallest = 1.0f / (1 << (Format::bias + Format::mantissa_bits - 1));
    const float tiny = static_cast<float>(static_cast<std::int32_t>(magnitude)) * smallest;
    const std::uint32_t subnormal = __builtin_bit_cast(std::uint32_t, tiny);
    const std::uint32_t number = magnitude < (1u << Format::mantissa_bits) ? subnormal : normal;
    return __builtin_bit_cast(float, sign | (magnitude >= Format::infinity ? special : number));
  }
}

/// A 16-bit floating-point number to store and to convert; arithmetic is done in float. Trivially
/// copyable, 2 bytes, uninitialised by default; the same on host and device. Conversions round
/// once, to nearest even (from double as well), and are explicit.
template <class Format>
class Float16 {
 public:
  using format = Format;  ///< a Format16

  Float16() = default;
  /// Rounds to nearest, ties to even.
  KOKKOS_FORCEINLINE_FUNCTION explicit constexpr Float16(float x)
      : bits_(encode16<Format>(__builtin_bit_cast(std::uint32_t, x))) {}
  /// Rounds once, not by way of a float.
  KOKKOS_FORCEINLINE_FUNCTION explicit constexpr Float16(double x)
      : bits_(encode16<Format>(__builtin_bit_cast(std::uint64_t, x))) {}
  /// Of an integer of at most 53 bits.
  template <std::integral I>
  KOKKOS_FORCEINLINE_FUNCTION explicit constexpr Float16(I x) : Float16(static_cast<double>(x)) {}
  /// Of the other 16-bit type.
  template <class Other>
  KOKKOS_FORCEINLINE_FUNCTION explicit constexpr Float16(Float16<Other> x)
      : Float16(static_cast<float>(x)) {}

  /// Exact.
  KOKKOS_FORCEINLINE_FUNCTION explicit constexpr operator float() const {
    return decode16<Format>(bits_);
  }
  /// Exact.
  KOKKOS_FORCEINLINE_FUNCTION explicit constexpr operator double() const {
    return decode16<Format>(bits_);
  }

  /// The number with these bits.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr Float16 from_bits(std::uint16_t bits) {
    Float16 x{0.0f};
    x.bits_ = bits;
    return x;
  }
  /// The bits of this number.
  KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint16_t bits() const { return bits_; }

  /// The sign changed, of a NaN too.
  KOKKOS_FORCEINLINE_FUNCTION constexpr Float16 operator-() const {
    return from_bits(bits_ ^ 0x8000u);
  }
  /// IEEE 754's comparisons: -0 equals +0, a NaN is unordered. (One by one, because what <=>
  /// returns does not exist on a device.)
  KOKKOS_FORCEINLINE_FUNCTION friend constexpr bool operator==(Float16 a, Float16 b) {
    return static_cast<float>(a) == static_cast<float>(b);
  }
  /// False for a NaN, like those below.
  KOKKOS_FORCEINLINE_FUNCTION friend constexpr bool operator<(Float16 a, Float16 b) {
    return static_cast<float>(a) < static_cast<float>(b);
  }
  /// See above.
  KOKKOS_FORCEINLINE_FUNCTION friend constexpr bool operator>(Float16 a, Float16 b) {
    return static_cast<float>(a) > static_cast<float>(b);
  }
  /// See above.
  KOKKOS_FORCEINLINE_FUNCTION friend constexpr bool operator<=(Float16 a, Float16 b) {
    return static_cast<float>(a) <= static_cast<float>(b);
  }
  /// See above.
  KOKKOS_FORCEINLINE_FUNCTION friend constexpr bool operator>=(Float16 a, Float16 b) {
    return static_cast<float>(a) >= static_cast<float>(b);
  }

 private:
  std::uint16_t bits_;
};

using half = Float16<HalfFormat>;          ///< IEEE 754 binary16: 11 bits, 6e-8 to 65504
using bfloat16 = Float16<Bfloat16Format>;  ///< float's exponents with 8 bits of significand

/// Either 16-bit type.
template <class T>
concept Scalar16 = std::same_as<T, half> || std::same_as<T, bfloat16>;

/// Magnitudes and norms of 16-bit numbers are floats: a sum of few halves overflows a half.
/// epsilon, max and min_normal are those of the 16-bit type.
template <>
struct ScalarTraits<half> {
  using Real = float;  ///< of magnitudes and norms
  static constexpr bool is_complex = false;  ///< conj() does nothing
  static constexpr float epsilon = 0x1p-11f;  ///< unit roundoff
  static constexpr float max = 65504.0f;  ///< largest finite number
  static constexpr float min_normal = 0x1p-14f;  ///< smallest normal number
};
/// Of bfloat16, likewise.
template <>
struct ScalarTraits<bfloat16> {
  using Real = float;  ///< of magnitudes and norms
  static constexpr bool is_complex = false;  ///< conj() does nothing
  static constexpr float epsilon = 0x1p-8f;  ///< unit roundoff
  static constexpr float max = 0x1.fep+127f;  ///< largest finite number
  static constexpr float min_normal = 0x1p-126f;  ///< smallest normal number
};

/// The functions of core/scalar.hpp for 16-bit numbers.
template <class Format>
KOKKOS_INLINE_FUNCTION constexpr float modulus(Float16<Format> x) {
  return static_cast<float>(Float16<Format>::from_bits(x.bits() & 0x7fffu));
}
/// The modulus again.
template <class Format>
KOKKOS_INLINE_FUNCTION constexpr float magnitude1(Float16<Format> x) {
  return modulus(x);
}
/// The number itself.
template <class Format>
KOKKOS_INLINE_FUNCTION constexpr Float16<Format> conjugate(Float16<Format> x) {
  return x;
}
/// Whether x is a NaN, by its bits.
template <class Format>
KOKKOS_INLINE_FUNCTION constexpr bool is_nan(Float16<Format> x) {
  return (x.bits() & 0x7fffu) > Format::infinity;
}
/// Whether x is neither infinite nor a NaN.
template <class Format>
KOKKOS_INLINE_FUNCTION constexpr bool is_finite(Float16<Format> x) {
  return (x.bits() & 0x7fffu) < Format::infinity;
}

}  // namespace plinth
