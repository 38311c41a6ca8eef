// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>

#include "plinth/comm/reduce.hpp"
#include "plinth/kernel/convert_view.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/matrix/copy.hpp"

namespace plinth {

/// How many numbers are finite in `before` and not in `after`, distributed alike, over all
/// processes. Collective; one allreduce.
template <ExecutionPolicy Exec, class From, class To>
kernel::NarrowingCounts count_overflow(const Exec& exec, const From& before, const To& after) {
  using Space = typename Exec::execution_space;
  const auto from = before.local();
  const auto to = after.local();
  const Index cols = kernel::cols_of(from);
  kernel::NarrowingCounts lost;
  {
    [[maybe_unused]] auto scope = exec.enter();
    Kokkos::parallel_reduce(
        "plinth::count_overflow",
        Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec.space(), 0,
                                                             kernel::rows_of(from)),
        KOKKOS_LAMBDA(const Index i, Index& count) {
          for (Index j = 0; j < cols; ++j)
            if (!is_finite(to(i, j)) && is_finite(from(i, j))) ++count;
        },
        lost.overflowed);
  }
  comm::sum_of_all(before.grid().all(), lost);
  return lost;
}

/// to := from, rounded, on any execution space and for complex numbers too; returns what that lost,
/// over all processes: where kernels do not run on the host, or numbers are complex, overflows
/// alone are counted. Collective; one allreduce. Preconditions as for copy().
template <ExecutionPolicy Exec, class From, class To>
kernel::NarrowingCounts narrow_matrix(const Exec& exec, const From& from, To& to) {
  using Space = typename Exec::execution_space;
  constexpr bool on_host = Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible;
  if constexpr (on_host && kernel::RealScalar<typename From::value_type> &&
                kernel::RealScalar<typename To::value_type>) {
    return convert(exec, from, to);
  } else {
    copy(exec, from, to);
    return from.grid().active() ? count_overflow(exec, from, to) : kernel::NarrowingCounts{};
  }
}

}  // namespace plinth
