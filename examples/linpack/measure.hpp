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

/// Each of `count` numbers, times as a rule, becomes the largest of all ranks. Collective.
void longest_of_all(const plinth::ProcessGrid& grid, double* seconds, std::size_t count);

/// Seconds by the names of the phases.
Seconds by_name(const plinth::trace::PhaseClock::Seconds& seconds);

/// names[i] with seconds[i].
template <class Names, class Numbers>
Seconds named(const Names& names, const Numbers& seconds) {
  Seconds out;
  for (std::size_t i = 0; i < seconds.size(); ++i) out.emplace_back(names[i], seconds[i]);
  return out;
}

/// Where the time of each step went, the longest of all ranks; empty if the clock keeps no steps.
/// Collective over the grid.
std::vector<StepSeconds> step_seconds(const plinth::ProcessGrid& grid,
                                      const plinth::trace::PhaseClock& clock,
                                      const plinth::lu::Plan& plan);

/// What the processes of a grid measure of a run, as it is sent to ranks that are not on it.
struct Timed {
  double seconds = 0;
  double residual = 0;
  Norms norms;
  std::int64_t start = 0;
  std::int64_t end = 0;
  plinth::trace::PhaseClock::Seconds phases{};

  /// Takes over what the check says of a solution of a system of order n.
  void judge_by(const plinth::SystemNorms& check, std::int64_t n);
};

/// A run that has been timed, with its verdict. `around`: what was done before and after, which is
/// told if phases are.
Result result_of(const Case& ran, const Timed& timed, Seconds around);

/// Collective over `comm`: calls make() on the processes of the grid, which allocates all that a
/// run needs, `bytes` on each, of a device or of the host. Returns why some process has no memory
/// for it, "" if all have.
std::string allocate(MPI_Comm comm, const plinth::ProcessGrid& grid, double bytes, bool on_device,
                     const std::function<void()>& make);

}  // namespace linpack
