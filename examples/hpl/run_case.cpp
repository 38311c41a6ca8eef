// SPDX-License-Identifier: BSD-3-Clause
#include "run_case.hpp"

#include <array>
#include <memory>
#include <new>
#include <stdexcept>

#include "linpack/memory.hpp"
#include "linpack/text.hpp"
#include "options.hpp"
#include "plinth/comm/mpi.hpp"
#include "system.hpp"

namespace hpl {

namespace {

using linpack::Case;
using linpack::Result;
using plinth::comm::check;

using plinth::trace::PhaseClock;

/// What is done around the timed part.
constexpr std::array around_names{"allocation", "generation", "check"};

/// What the processes of the grid know of a run, as it is sent to those that sit idle. Seconds are
/// the longest of all ranks.
struct Measured {
  double seconds = 0;
  double residual = 0;
  linpack::Norms norms;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t zero_pivot = -1;  ///< column of the first, from 0, or -1
  PhaseClock::Seconds phases{};
  std::array<double, around_names.size()> around{};
};

void longest_of_all(const plinth::ProcessGrid& grid, double* seconds, std::size_t count) {
  check(MPI_Allreduce(MPI_IN_PLACE, seconds, plinth::to_int(count, "number of times"), MPI_DOUBLE,
                      MPI_MAX, grid.all().handle()),
        "MPI_Allreduce");
}

linpack::Seconds by_name(const PhaseClock::Seconds& seconds) {
  linpack::Seconds out;
  for (std::size_t i = 0; i < seconds.size(); ++i)
    out.emplace_back(to_string(static_cast<plinth::trace::Phase>(i)), seconds[i]);
  return out;
}

/// Collective over the grid.
std::vector<linpack::StepSeconds> step_seconds(const plinth::ProcessGrid& grid,
                                               const System& system) {
  std::vector<PhaseClock::Seconds> seconds = system.clock().steps();
  if (seconds.empty()) return {};
  longest_of_all(grid, seconds.front().data(), seconds.size() * plinth::trace::phase_count);
  std::vector<linpack::StepSeconds> out;
  for (std::size_t k = 0; k < seconds.size(); ++k) {
    const plinth::lu::Step step = system.plan().step(static_cast<plinth::Index>(k));
    out.push_back({step.cols.begin, step.cols.end, step.owner_row, step.owner_col,
                   system.plan().flops(step).total(), by_name(seconds[k])});
  }
  return out;
}

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
  longest_of_all(grid, &m.seconds, 1);
  m.phases = system.clock().total();
  longest_of_all(grid, m.phases.data(), m.phases.size());
  begin = MPI_Wtime();
  if (m.zero_pivot < 0 && c.checks()) {
    const plinth::SystemNorms norms = system.norms();
    m.norms = {.residual_inf = norms.residual_inf,
               .a_inf = norms.a_inf,
               .a_one = norms.a_one,
               .x_inf = norms.x_inf,
               .x_one = norms.x_one,
               .b_inf = norms.b_inf};
    m.residual = norms.scaled_residual(c.n);
  }
  m.around[2] = MPI_Wtime() - begin;
  return m;
}

/// Collective: memory for the system on every process of the grid, or the reason why not.
std::string allocate(MPI_Comm comm, const plinth::ProcessGrid& grid, const Case& c,
                     std::unique_ptr<System>& system) {
  // Below this size the question takes longer than the answer is worth.
  constexpr double worth_asking = 1 << 28;
  const double bytes = bytes_needed(c);
  if (bytes > worth_asking)
    if (auto reason = linpack::memory_shortage(comm, grid.active() ? bytes : 0); !reason.empty())
      return reason;
  std::string complaint;
  try {
    if (grid.active()) system = make_system(grid, c);
  } catch (const plinth::Error& error) {
    if (error.kind() != plinth::ErrorKind::memory) throw;
    complaint = error.message();
  } catch (const std::bad_alloc&) {
    complaint = "no memory for workspace";
  } catch (const std::length_error&) {
    complaint = "no memory for workspace";
  }
  return linpack::first_complaint(comm, complaint);
}

}  // namespace

Result run_case(MPI_Comm comm, const Case& c) {
  const plinth::ProcessGrid grid = make_grid(comm, c);
  std::unique_ptr<System> system;
  const double begin = MPI_Wtime();
  if (const std::string reason = allocate(comm, grid, c, system); !reason.empty())
    return linpack::skipped(c, "not enough memory: " + reason);

  const double allocation = MPI_Wtime() - begin;

  Measured m;
  Result result;
  if (grid.active()) {
    m = measure(grid, *system, c);
    m.around[0] = allocation;
    longest_of_all(grid, m.around.data(), m.around.size());
    result.steps = step_seconds(grid, *system);
  }
  // Rank 0 is always on the grid.
  check(MPI_Bcast(&m, sizeof m, MPI_BYTE, 0, comm), "MPI_Bcast");
  if (m.zero_pivot >= 0)
    return linpack::skipped(
        c, linpack::print("the matrix is singular: the pivot of column %lld is zero",
                          static_cast<long long>(m.zero_pivot + 1)));
  result.ran = c;
  result.seconds = m.seconds;
  result.start = static_cast<std::time_t>(m.start);
  result.end = static_cast<std::time_t>(m.end);
  result.residual = m.residual;
  result.norms = m.norms;
  if (c.extensions.phases != linpack::PhaseReport::none) {
    result.phases = by_name(m.phases);
    for (std::size_t i = 0; i < around_names.size(); ++i)
      result.around.emplace_back(around_names[i], m.around[i]);
  }
  result.verdict = linpack::judge(m.residual, c.threshold);
  return result;
}

}  // namespace hpl
