// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/measure.hpp"

#include <new>
#include <stdexcept>
#include <utility>

#include "linpack/memory.hpp"
#include "plinth/comm/mpi.hpp"
#include "plinth/core/devices.hpp"

namespace linpack {

using plinth::trace::PhaseClock;

void longest_of_all(const plinth::ProcessGrid& grid, double* seconds, std::size_t count) {
  plinth::comm::check(
      MPI_Allreduce(MPI_IN_PLACE, seconds, plinth::to_int(count, "number of times"), MPI_DOUBLE,
                    MPI_MAX, grid.all().handle()),
      "MPI_Allreduce");
}

Seconds by_name(const PhaseClock::Seconds& seconds) {
  Seconds out;
  for (std::size_t i = 0; i < seconds.size(); ++i)
    out.emplace_back(to_string(static_cast<plinth::trace::Phase>(i)), seconds[i]);
  return out;
}

std::vector<StepSeconds> step_seconds(const plinth::ProcessGrid& grid, const PhaseClock& clock,
                                      const plinth::lu::Plan& plan) {
  std::vector<PhaseClock::Seconds> seconds = clock.steps();
  if (seconds.empty()) return {};
  longest_of_all(grid, seconds.front().data(), seconds.size() * plinth::trace::phase_count);
  std::vector<StepSeconds> out;
  for (std::size_t k = 0; k < seconds.size(); ++k) {
    const plinth::lu::Step step = plan.step(static_cast<plinth::Index>(k));
    out.push_back({step.cols.begin, step.cols.end, step.owner_row, step.owner_col,
                   plan.flops(step).total(), by_name(seconds[k])});
  }
  return out;
}

void Timed::judge_by(const plinth::SystemNorms& check, std::int64_t n) {
  norms = {.residual_inf = check.residual_inf,
           .a_inf = check.a_inf,
           .a_one = check.a_one,
           .x_inf = check.x_inf,
           .x_one = check.x_one,
           .b_inf = check.b_inf};
  residual = check.scaled_residual(n);
}

Result result_of(const Case& ran, const Timed& timed, Seconds around) {
  Result result;
  result.ran = ran;
  result.seconds = timed.seconds;
  result.start = static_cast<std::time_t>(timed.start);
  result.end = static_cast<std::time_t>(timed.end);
  result.residual = timed.residual;
  result.norms = timed.norms;
  if (ran.extensions.phases != PhaseReport::none) {
    result.phases = by_name(timed.phases);
    result.around = std::move(around);
  }
  result.verdict = judge(timed.residual, ran.threshold);
  return result;
}

std::string allocate(MPI_Comm comm, const plinth::ProcessGrid& grid, double bytes, bool on_device,
                     const std::function<void()>& make) {
  // Below this size the question takes longer than the answer is worth.
  constexpr double worth_asking = 1 << 28;
  if (bytes > worth_asking) {
    const double mine = grid.active() ? bytes : 0;
    auto reason = on_device ? device_memory_shortage(comm, mine, plinth::free_device_memory())
                            : memory_shortage(comm, mine);
    if (!reason.empty()) return reason;
  }
  std::string complaint;
  try {
    if (grid.active()) make();
  } catch (const plinth::Error& error) {
    if (error.kind() != plinth::ErrorKind::memory) throw;
    complaint = error.message();
  } catch (const std::bad_alloc&) {
    complaint = "no memory for workspace";
  } catch (const std::length_error&) {
    complaint = "no memory for workspace";
  }
  return first_complaint(comm, complaint);
}

}  // namespace linpack
