// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <type_traits>

#include "plinth/core/index.hpp"
#include "plinth/kernel/blas_info.hpp"
#include "plinth/kernel/run_parts.hpp"

namespace plinth::kernel {

/// Whether threads of `Space` may call the BLAS each by itself, and it then works on the calling
/// thread alone: a BLAS without threads, or one on OpenMP's called from OpenMP threads.
template <class Space>
bool threads_may_call(BlasThreading blas) {
#ifdef KOKKOS_ENABLE_OPENMP
  if constexpr (std::is_same_v<Space, Kokkos::OpenMP>)
    if (blas == BlasThreading::openmp) return true;
#endif
  return blas == BlasThreading::none &&
         Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible;
}

/// Deals lines (rows or columns that are independent) of BLAS calls to threads: work(Range) calls
/// the BLAS for some of them. A BLAS's own threads do badly where a matrix is thousands of rows
/// tall and a few columns wide. Without threads, or where those of the space may not call the BLAS,
/// work has all lines at once. Work neither fences nor starts kernels: it may be inside of one.
template <class Space>
class Deal {
 public:
  explicit Deal(const Space& space)
      : space_(space),
        threads_(threads_may_call<Space>(blas_info().threading) ? space.concurrency() : 1) {}

  /// The threads that work on some of so many lines may use: each its own, where they are dealt.
  Threads threads(Index lines) const {
    return parts_of(lines) > 1 ? Threads::this_one : Threads::all;
  }

  template <class Work>
  void operator()(Range lines, const Work& work) const {
    const Index parts = parts_of(lines.size());
    if (parts <= 1) return work(lines);
    constexpr Index unit = 8;  // whole cache lines
    const Index part = ceil_div(ceil_div(lines.size(), parts), unit) * unit;
    Kokkos::parallel_for("plinth::deal",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, 0, parts),
                         [=](const Index p) {
                           const Index begin = std::min(lines.begin + p * part, lines.end);
                           work(Range{begin, std::min(begin + part, lines.end)});
                         });
    space_.fence();
  }

 private:
  Index parts_of(Index lines) const {
    constexpr Index least = 256;  // lines that are worth a thread
    return std::min<Index>(threads_, lines / least);
  }

  Space space_;
  Index threads_;
};

}  // namespace plinth::kernel
