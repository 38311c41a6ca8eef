// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>

#include "plinth/core/index.hpp"

namespace plinth::kernel {

/// Who works on a host kernel: all threads of its space, or, inside of another kernel, the calling
/// thread alone, which must neither start kernels nor wait for them there.
enum class Threads { all, this_one };

/// Calls work(part, parts) for all parts of a job, at once on as many threads as `space` has; one
/// call with parts = 1 if `enough` says no.
template <class Space, class Work>
void run_parts(const Space& space, Index lines, bool enough, const Work& work) {
  const Index parts =
      enough ? std::clamp<Index>(space.concurrency(), 1, std::max<Index>(lines, 1)) : 1;
  if (parts == 1) return work(Index(0), Index(1));
  Kokkos::parallel_for("plinth::run_parts",
                       Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, parts),
                       [=](const Index part) { work(part, parts); });
  space.fence();
}

}  // namespace plinth::kernel
