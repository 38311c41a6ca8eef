// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Complex.hpp>
#include <Kokkos_Core.hpp>
#include <complex>
#include <concepts>
#include <type_traits>

namespace plinth {

/// Facts about a scalar type that generic code needs. Specialised for each type that a matrix
/// can hold.
///
///   Real        the type of magnitudes and norms
///   is_complex  whether conj() does anything
///   epsilon     unit roundoff u of Real, 2^-53 for double: LAPACK's 'Epsilon', HPL's eps.
///               A compile-time constant, so that -ffast-math cannot change it.
///   max         largest finite number of Real
template <class T>
struct ScalarTraits;

/// Of double.
template <>
struct ScalarTraits<double> {
  using Real = double;  ///< of magnitudes and norms
  static constexpr bool is_complex = false;  ///< conj() does nothing
  static constexpr double epsilon = 0x1p-53;  ///< unit roundoff
  static constexpr double max = 0x1.fffffffffffffp+1023;  ///< largest finite number
  static constexpr double min_normal = 0x1p-1022;         ///< smallest normal number
};

/// Of float.
template <>
struct ScalarTraits<float> {
  using Real = float;  ///< of magnitudes and norms
  static constexpr bool is_complex = false;  ///< conj() does nothing
  static constexpr float epsilon = 0x1p-24f;  ///< unit roundoff
  static constexpr float max = 0x1.fffffep+127f;  ///< largest finite number
  static constexpr float min_normal = 0x1p-126f;  ///< smallest normal number
};

/// Of a complex type: those of its real one.
template <class R>
struct ScalarTraits<Kokkos::complex<R>> : ScalarTraits<R> {
  static constexpr bool is_complex = true;  ///< conj() changes a sign
};

/// The type of magnitudes and norms of T.
template <class T>
using RealOf = typename ScalarTraits<T>::Real;

/// A type that a DistributedMatrix can hold: ScalarTraits says what it is, and it is copied as
/// plain bytes (into a message, onto a device).
template <class T>
concept Scalar = std::is_trivially_copyable_v<T> && requires {
  typename ScalarTraits<T>::Real;
  { ScalarTraits<T>::is_complex } -> std::convertible_to<bool>;
};

/// A scalar that the BLAS computes with: float, double and their complex types.
template <class T>
concept BlasScalar = std::same_as<T, float> || std::same_as<T, double> ||
    std::same_as<T, Kokkos::complex<float>> || std::same_as<T, Kokkos::complex<double>>;

/// How a caller may write the scalar type T: as it is, or as the std::complex of the same bytes.
template <class U, class T>
concept ScalarAlias = std::is_same_v<std::remove_const_t<U>, T> ||
    (ScalarTraits<T>::is_complex&&
         std::is_same_v<std::remove_const_t<U>, std::complex<RealOf<T>>>);

/// |x| for a real, |re| + |im| for a complex: the magnitude that LAPACK's i?amax compares, cheap
/// and within a factor sqrt(2) of the modulus.
template <std::floating_point R>
KOKKOS_INLINE_FUNCTION R magnitude1(R x) {
  return x < R(0) ? -x : x;
}
/// Of a complex number.
template <class R>
KOKKOS_INLINE_FUNCTION R magnitude1(const Kokkos::complex<R>& x) {
  return magnitude1(x.real()) + magnitude1(x.imag());
}

/// The modulus |x|.
template <std::floating_point R>
KOKKOS_INLINE_FUNCTION R modulus(R x) {
  return x < R(0) ? -x : x;
}
/// Of a complex number.
template <class R>
KOKKOS_INLINE_FUNCTION R modulus(const Kokkos::complex<R>& x) {
  return Kokkos::abs(x);
}

/// The complex conjugate; a real is its own.
template <std::floating_point R>
KOKKOS_INLINE_FUNCTION R conjugate(R x) {
  return x;
}
/// Of a complex number.
template <class R>
KOKKOS_INLINE_FUNCTION Kokkos::complex<R> conjugate(const Kokkos::complex<R>& x) {
  return Kokkos::complex<R>(x.real(), -x.imag());
}

/// Whether x is a NaN, by its bits: true under -ffast-math as well.
KOKKOS_INLINE_FUNCTION bool is_nan(double x) {
  union {
    double value;
    unsigned long long bits;
  } u{x};
  return (u.bits & 0x7fffffffffffffffull) > 0x7ff0000000000000ull;
}
/// Of a float.
KOKKOS_INLINE_FUNCTION bool is_nan(float x) { return is_nan(static_cast<double>(x)); }
/// Whether either part of x is a NaN.
template <class R>
KOKKOS_INLINE_FUNCTION bool is_nan(const Kokkos::complex<R>& x) {
  return is_nan(x.real()) || is_nan(x.imag());
}

/// Whether x is neither infinite nor a NaN, by its bits.
KOKKOS_INLINE_FUNCTION bool is_finite(double x) {
  union {
    double value;
    unsigned long long bits;
  } u{x};
  return (u.bits & 0x7ff0000000000000ull) != 0x7ff0000000000000ull;
}
/// Of a float.
KOKKOS_INLINE_FUNCTION bool is_finite(float x) { return is_finite(static_cast<double>(x)); }
/// Whether both parts of x are finite.
template <class R>
KOKKOS_INLINE_FUNCTION bool is_finite(const Kokkos::complex<R>& x) {
  return is_finite(x.real()) && is_finite(x.imag());
}

}  // namespace plinth
