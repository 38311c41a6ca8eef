// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <type_traits>

#include "plinth/core/scalar.hpp"
#include "plinth/kernel/convert_runs.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/policy/execution.hpp"

/// Conversions that count what they lose, an element a work item, by kernels of any space: what
/// devices do. A host has faster ones (kernel/convert.hpp), which give the same bits and counts.
namespace plinth::kernel {

/// From one type to another by way of the wider of both; of two 16-bit ones, of float.
template <class From, class To>
struct Conversion {
  using Wide = std::conditional_t<
      Scalar16<From>, std::conditional_t<Scalar16<To>, float, To>,
      std::conditional_t<Scalar16<To> || (sizeof(From) > sizeof(To)), From, To>>;
  /// Nothing is ever lost.
  static constexpr bool is_exact = Scalar16<From> && !Scalar16<To>;

  KOKKOS_FUNCTION static To of(From x, double scale) {
    return static_cast<To>(static_cast<Wide>(x) * static_cast<Wide>(scale));
  }
  KOKKOS_FUNCTION static bool overflows(From before, To after) {
    return is_finite(before) && !is_finite(after);
  }
  KOKKOS_FUNCTION static bool is_flushed(From before, To after) {
    return before != From(0.0f) && after == To(0.0f);
  }
  /// Has fewer bits than before, because it is small.
  KOKKOS_FUNCTION static bool is_subnormal(To after) {
    return (Scalar16<To> || sizeof(To) < sizeof(From)) && after != To(0.0f) &&
           modulus(after) < ScalarTraits<To>::min_normal;
  }
};

/// to(i, j) := value(i, j) scale, rounded once from type From to that of `to`; says what that lost.
/// `scale` a power of two. Done on return.
template <class From, ExecutionPolicy Exec, class To, class Value>
NarrowingCounts convert_elements(const Exec& exec, const To& to, const Value& value,
                                 double scale) {
  using T = typename To::non_const_value_type;
  using Convert = Conversion<From, T>;
  const ElementOrder elements(to);
  NarrowingCounts lost;
  if (elements.count == 0) return lost;
  [[maybe_unused]] auto scope = exec.enter();
  Kokkos::parallel_reduce(
      "plinth::convert_elements",
      Kokkos::RangePolicy<typename Exec::execution_space, Kokkos::IndexType<Index>>(
          exec.space(), 0, elements.count),
      KOKKOS_LAMBDA(const Index item, Index& overflowed, Index& flushed, Index& subnormal) {
        const Index i = elements.row(item), j = elements.col(item);
        const From before = value(i, j);
        const T after = Convert::of(before, scale);
        to(i, j) = after;
        overflowed += Convert::overflows(before, after) ? 1 : 0;
        flushed += Convert::is_flushed(before, after) ? 1 : 0;
        subnormal += Convert::is_subnormal(after) ? 1 : 0;
      },
      lost.overflowed, lost.flushed, lost.subnormal);
  return lost;
}

/// to := from scale, likewise; not done on return where nothing can be lost.
template <ExecutionPolicy Exec, class From, class To>
NarrowingCounts convert_matrix(const Exec& exec, const From& from, const To& to, double scale) {
  using S = typename From::non_const_value_type;
  using T = typename To::non_const_value_type;
  using Convert = Conversion<S, T>;
  if (Convert::is_exact || (std::same_as<S, T> && scale == 1)) {
    for_each<typename To::array_layout>(
        exec, rows_of(to), cols_of(to), KOKKOS_LAMBDA(const Index i, const Index j) {
          to(i, j) = Convert::of(from(i, j), scale);
        });
    return {};
  }
  return convert_elements<S>(
      exec, to, KOKKOS_LAMBDA(const Index i, const Index j) { return from(i, j); }, scale);
}

/// The first column of `to` with an entry that is not finite where that of `from` is; -1: there is
/// none. Same shape.
template <ExecutionPolicy Exec, class From, class To>
Index first_overflow(const Exec& exec, const From& from, const To& to) {
  const ElementOrder elements(to);
  if (elements.count == 0) return -1;
  const Index cols = cols_of(to);
  Index first = cols;
  [[maybe_unused]] auto scope = exec.enter();
  Kokkos::parallel_reduce(
      "plinth::first_overflow",
      Kokkos::RangePolicy<typename Exec::execution_space, Kokkos::IndexType<Index>>(
          exec.space(), 0, elements.count),
      KOKKOS_LAMBDA(const Index item, Index& least) {
        const Index i = elements.row(item), j = elements.col(item);
        if (j < least && is_finite(from(i, j)) && !is_finite(to(i, j))) least = j;
      },
      Kokkos::Min<Index>(first));
  return first < cols ? first : -1;
}

}  // namespace plinth::kernel
