// SPDX-License-Identifier: BSD-3-Clause
#include "run_case.hpp"

#include <array>
#include <memory>
#include <utility>

#include "linpack/device.hpp"
#include "linpack/measure.hpp"
#include "linpack/text.hpp"
#include "options.hpp"
#include "plinth/comm/mpi.hpp"
#include "system.hpp"

namespace hpl {

namespace {

using linpack::Case;
using linpack::Result;
using plinth::comm::check;

/// What is done around the timed part.
constexpr std::array around_names{"allocation", "generation", "check"};

/// What the processes of the grid know of a run, as it is sent to those that sit idle. Seconds are
/// the longest of all ranks.
struct Measured : linpack::Timed {
  std::int64_t zero_pivot = -1;  ///< column of the first, from 0, or -1
  std::array<double, around_names.size()> around{};
};

/// Collective over the grid.
Measured measure(const plinth::ProcessGrid& grid, System& system, const Case& c) {
  Measured m;
  double begin = MPI_Wtime();
  system.generate();
  m.around[1] = MPI_Wtime() - begin;
  check(MPI_Barrier(grid.all().handle()), "MPI_Barrier");
  m.start = std::time(nullptr);
  begin = MPI_Wtime();
  const auto outcome = system.factor(c.extensions.phases == linpack::PhaseReport::steps);
  // With a pivot that is no number the solution is none either, which the check will find.
  if (outcome.first_nonfinite < 0) m.zero_pivot = outcome.first_zero_pivot;
  if (m.zero_pivot < 0) system.back_substitute();
  m.seconds = MPI_Wtime() - begin;
  m.end = std::time(nullptr);
  linpack::longest_of_all(grid, &m.seconds, 1);
  m.phases = system.clock().total();
  linpack::longest_of_all(grid, m.phases.data(), m.phases.size());
  begin = MPI_Wtime();
  if (m.zero_pivot < 0 && c.checks()) m.judge_by(system.norms(), c.n);
  m.around[2] = MPI_Wtime() - begin;
  return m;
}

}  // namespace

Result run_case(MPI_Comm comm, const Case& c) {
  const plinth::ProcessGrid grid = make_grid(comm, c);
  std::unique_ptr<System> system;
  const double begin = MPI_Wtime();
  const std::string reason = linpack::allocate(comm, grid, bytes_needed(c), linpack::has_device,
                                               [&] { system = make_system(grid, c); });
  if (!reason.empty()) return linpack::skipped(c, "not enough memory: " + reason);
  const double allocation = MPI_Wtime() - begin;

  Measured m;
  std::vector<linpack::StepSeconds> steps;
  if (grid.active()) {
    m = measure(grid, *system, c);
    m.around[0] = allocation;
    linpack::longest_of_all(grid, m.around.data(), m.around.size());
    steps = linpack::step_seconds(grid, system->clock(), system->plan());
  }
  // Rank 0 is always on the grid.
  check(MPI_Bcast(&m, sizeof m, MPI_BYTE, 0, comm), "MPI_Bcast");
  if (m.zero_pivot >= 0)
    return linpack::skipped(
        c, linpack::print("the matrix is singular: the pivot of column %lld is zero",
                          static_cast<long long>(m.zero_pivot + 1)));
  Result result = linpack::result_of(c, m, linpack::named(around_names, m.around));
  result.steps = std::move(steps);
  return result;
}

}  // namespace hpl
