// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "linpack/result.hpp"
#include "plinth/comm/grid.hpp"
#include "plinth/lu/plan.hpp"
#include "plinth/refine/hpl_residual.hpp"
#include "plinth/trace/phase.hpp"

namespace linpack {

/// Each of `count` numbers, times as a rule, becomes the largest of all ranks of the grid. Collective.
void longest_of_all(const plinth::ProcessGrid& grid, double* seconds, std::size_t count);

/// Seconds by the names of the phases.
Seconds by_name(const plinth::trace::PhaseClock::Seconds& seconds);

/// Where the time of each step went, the longest of all ranks; empty if the clock keeps no steps.
/// Collective over the grid.
std::vector<StepSeconds> step_seconds(const plinth::ProcessGrid& grid,
                                      const plinth::trace::PhaseClock& clock,
                                      const plinth::lu::Plan& plan);

Norms norms_of(const plinth::SystemNorms& norms);

/// Collective over `comm`: calls make() on the processes of the grid, which allocates all that a
/// run needs, `bytes` on each. Returns why some process has no memory for it, "" if all have.
std::string allocate(MPI_Comm comm, const plinth::ProcessGrid& grid, double bytes,
                     const std::function<void()>& make);

}  // namespace linpack
