// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>

#include "plinth/core/index.hpp"
#include "plinth/core/options.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/kernel/triangle_base.hpp"
#include "plinth/policy/execution.hpp"

namespace plinth::kernel {

/// One right-hand side of a small triangular system, solved by one work item: op-less T, of which
/// the other triangle is not read, times x = b, over b.
template <class T>
struct TriangleLine {
  Strided<const T> triangle;
  Strided<T> b;  ///< a column for each right-hand side
  Index order;
  bool lower, unit, conj;

  KOKKOS_FUNCTION void operator()(const Index line) const {
    for (Index step = 0; step < order; ++step) {
      const Index i = row_of(step);
      T x = b(i, line);
      for (Index before = 0; before < step; ++before) {
        const Index q = row_of(before);
        x -= entry(i, q) * b(q, line);
      }
      if (!unit) x /= entry(i, i);
      b(i, line) = x;
    }
  }

 private:
  /// Which unknown is found so many steps after the first.
  KOKKOS_FUNCTION Index row_of(Index step) const { return lower ? step : order - 1 - step; }
  KOKKOS_FUNCTION T entry(Index i, Index q) const {
    if constexpr (ScalarTraits<T>::is_complex) {
      if (conj) return Kokkos::conj(triangle(i, q));
    }
    return triangle(i, q);
  }
};

/// Solves for all right-hand sides [0, lines), each on its own, by kernels of `Exec`. May still
/// run on return. For orders where products no longer help.
template <ExecutionPolicy Exec, class T>
void solve_lines(const Exec& exec, const TriangleLine<T>& line, Index lines) {
  using Space = typename Exec::execution_space;
  [[maybe_unused]] auto scope = exec.enter();
  Kokkos::parallel_for(
      "plinth::solve_lines",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec.space(), 0, lines), line);
}

}  // namespace plinth::kernel
