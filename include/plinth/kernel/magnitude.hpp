// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "plinth/core/cpu.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/kernel/convert.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/run_parts.hpp"
#include "plinth/kernel/simd.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/policy/execution.hpp"

namespace plinth::kernel {

/// An integer as wide as T.
template <RealScalar T>
using BitsOf =
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

/// The largest of the bits of `count` numbers, signs apart: the bits of the largest magnitude, and
/// a NaN is larger than all numbers.
template <RealScalar T>
struct LargestBits {
  const T* numbers;
  Index count;
  BitsOf<T>* most;

  PLINTH_SIMD_BODY void operator()() const {
    constexpr int lanes = 64 / sizeof(T);
    constexpr auto mask = static_cast<BitsOf<T>>(static_cast<BitsOf<T>>(-1) >> 1);
    BitsOf<T> lane[lanes] = {}, x[lanes];
    Index i = 0;
    for (; i + lanes <= count; i += lanes) {
      std::memcpy(x, numbers + i, sizeof x);
      for (int l = 0; l < lanes; ++l) {
        const auto here = static_cast<BitsOf<T>>(x[l] & mask);
        lane[l] = here > lane[l] ? here : lane[l];
      }
    }
    BitsOf<T> top = *most;
    for (; i < count; ++i) {
      std::memcpy(x, numbers + i, sizeof(T));
      top = std::max(top, static_cast<BitsOf<T>>(x[0] & mask));
    }
    for (int l = 0; l < lanes; ++l) top = std::max(top, lane[l]);
    *most = top;
  }
};

/// The largest magnitude of adjacent numbers, NaN if any is one; 0 of none. On the host.
template <RealScalar T>
double largest_magnitude(const T* x, Index count, Isa isa = best_isa()) {
  BitsOf<T> most = 0;
  run_simd(isa, LargestBits<T>{x, count, &most});
  if constexpr (Scalar16<T>)
    return static_cast<double>(T::from_bits(most));
  else
    return static_cast<double>(std::bit_cast<T>(most));
}

/// The larger one, NaN if any is one.
inline double larger(double a, double b) { return is_nan(a) || a > b ? a : b; }

/// The largest magnitude in a matrix, an element a work item: what devices do. NaN if it has one;
/// 0 if it is empty.
template <ExecutionPolicy Exec, class View>
double largest_of_elements(const Exec& exec, const View& a) {
  using T = typename View::non_const_value_type;
  using Wide = std::conditional_t<sizeof(T) == 8, double, float>;
  using Bits = BitsOf<Wide>;
  const ElementOrder elements(a);
  if (elements.count == 0) return 0;
  Bits most = 0;
  [[maybe_unused]] auto scope = exec.enter();
  Kokkos::parallel_reduce(
      "plinth::largest_of_elements",
      Kokkos::RangePolicy<typename Exec::execution_space, Kokkos::IndexType<Index>>(
          exec.space(), 0, elements.count),
      KOKKOS_LAMBDA(const Index item, Bits& largest) {
        const auto x = static_cast<Wide>(a(elements.row(item), elements.col(item)));
        const Bits here = __builtin_bit_cast(Bits, x) & (static_cast<Bits>(-1) >> 1);
        largest = here > largest ? here : largest;
      },
      Kokkos::Max<Bits>(most));
  return static_cast<double>(std::bit_cast<Wide>(most));
}

/// The same on a host, line by line.
template <ExecutionPolicy Exec, class View>
double largest_of_lines(const Exec& exec, const View& a) {
  constexpr bool by_rows = is_row_major<typename View::array_layout>;
  const Index lines = by_rows ? rows_of(a) : cols_of(a);
  const Index length = by_rows ? cols_of(a) : rows_of(a);
  if (lines == 0 || length == 0) return 0;
  const Index lead = leading_dimension(a);
  const auto* const data = a.data();
  const Isa isa = best_isa();
  [[maybe_unused]] auto scope = exec.enter();
  std::vector<double> most(
      static_cast<std::size_t>(std::max<Index>(exec.space().concurrency(), 1)), 0.0);
  double* const each = most.data();
  run_parts(exec.space(), lines, lines * length > 16384, [=](Index part, Index parts) {
    for (Index l = lines * part / parts; l < lines * (part + 1) / parts; ++l)
      each[part] = larger(each[part], largest_magnitude(data + l * lead, length, isa));
  });
  double all = 0;
  for (const double m : most) all = larger(all, m);
  return all;
}

/// The largest magnitude in a matrix, NaN if it has one; 0 if it is empty.
template <ExecutionPolicy Exec, class View>
double largest_magnitude(const Exec& exec, const View& a) {
  if constexpr (runs_on_host<typename Exec::execution_space>) {
    return largest_of_lines(exec, a);
  } else {
    return largest_of_elements(exec, a);
  }
}

}  // namespace plinth::kernel
