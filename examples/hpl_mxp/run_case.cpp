// SPDX-License-Identifier: BSD-3-Clause
#include "run_case.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "factored.hpp"
#include "generated.hpp"
#include "hpl/options.hpp"
#include "hpl/run_case.hpp"
#include "linpack/device.hpp"
#include "linpack/measure.hpp"
#include "linpack/memory.hpp"
#include "linpack/text.hpp"
#include "options.hpp"
#include "plinth/comm/agree.hpp"
#include "plinth/kernel/entries/fasi_higham.hpp"
#include "plinth/refine/refinement.hpp"

namespace hpl_mxp {

namespace {

using linpack::Case;
using linpack::MixedResult;
using linpack::Precision;
using linpack::Result;
using plinth::Index;
using plinth::comm::check;
using plinth::trace::PhaseClock;

constexpr std::array around_names{"allocation", "check"};

/// Runs `make` on every process of the grid: it throws on all or on none. `make` may communicate,
/// if it does so before whatever may fail on one process alone.
template <class Make>
void on_all_or_none(const plinth::ProcessGrid& grid, const Make& make) {
  const auto complaint = plinth::comm::complaint_of(make, plinth::ErrorKind::user_callback);
  plinth::comm::agree(grid.all(), "hpl_mxp", complaint, 0);
}

/// Everything that a case works with, on the processes of the grid. The constructor is collective
/// over them. A process without memory for a part is agreed on before the next part communicates;
/// for the last, factored, whose matrix comes first, that is left to linpack::allocate.
struct Work {
  Work(const plinth::ProcessGrid& grid, const Case& c)
      : b(grid, c.n, 1, {.mb = block_size(c), .nb = block_size(c), .align = 1}),
        x(grid, c.n, 1, {.mb = block_size(c), .nb = block_size(c), .align = 1}),
        plan(plinth::Distribution{plinth::BlockCyclic(c.n, block_size(c), grid.shape().rows, 0),
                                  plinth::BlockCyclic(c.n, block_size(c), grid.shape().cols, 0)},
             c.depth) {
    on_all_or_none(grid, [&] { refinement.emplace(Exec(), b); });
    if (c.extensions.mixed->refinement == linpack::Refinement::gmres)
      on_all_or_none(grid, [&] { refinement->reserve(b, plinth::GmresRefinement{}); });
    on_all_or_none(grid, [&] { system = make_generated(grid, c); });
    factored = make_factored(grid, c, *system, clock);
  }

  PhaseClock clock;
  std::unique_ptr<Generated> system;
  std::unique_ptr<Factored> factored;
  Vector b, x;
  std::optional<plinth::Refinement<Exec, Vector>> refinement;
  plinth::lu::Plan plan;
};

/// What the processes of the grid know of a run, as it is sent to those that sit idle. Seconds are
/// the longest of all ranks.
struct Measured : linpack::Timed {
  double fill = 0, factor = 0, refine = 0;
  std::int64_t zero_pivot = -1;  ///< column of the first, from 0, or -1
  std::int64_t overflow = -1;    ///< likewise, of an overflow in L or U
  std::int64_t unfit = 0;        ///< entries of A that the precision cannot hold
  double bound = 0;              ///< of A's entries
  std::array<double, around_names.size()> around{};
};

plinth::RefinementReport refine(Work& work, linpack::Refinement how) {
  const auto times = [&](const Vector& x, Vector& y) { work.system->multiply(x, y); };
  const auto solve = [&](Vector& r) { work.factored->solve(r); };
  const double a_norm = work.system->norm_inf();
  const plinth::HplResidualBelow done{1};
  const auto with = [&](const auto& policy) {
    return (*work.refinement)(times, solve, a_norm, work.b, work.x, policy, done);
  };
  switch (how) {
    case linpack::Refinement::classical:
      return with(plinth::ClassicalRefinement{});
    case linpack::Refinement::none:
      return with(plinth::NoRefinement{});
    default:
      return with(plinth::GmresRefinement{});
  }
}

/// Column of the first thing that was not finite or overflowed, -1: none.
Index first_overflow(const plinth::lu::MixedReport& lu) {
  const Index stored = lu.first_overflow, pivot = lu.pivots.first_nonfinite;
  return stored < 0 || pivot < 0 ? std::max(stored, pivot) : std::min(stored, pivot);
}

/// Fills the matrix and factors it; if that overflows once more, scaled lower. Collective over the
/// grid.
plinth::lu::MixedReport factor(Work& work, Measured& m, MixedResult& mixed,
                               plinth::kernel::NarrowingCounts& lost) {
  while (true) {
    const double begin = MPI_Wtime();
    lost = work.factored->fill(*work.system);
    m.unfit = lost.overflowed;
    const double filled = MPI_Wtime();
    m.fill += filled - begin;
    if (m.unfit > 0) return {};
    const plinth::lu::MixedReport lu = work.factored->factor();
    m.factor += MPI_Wtime() - filled;
    const int exponent = work.factored->exponent();
    if (first_overflow(lu) < 0 || !work.factored->scale_lower()) return lu;
    mixed.overflowed_exponent = exponent;
  }
}

/// From the matrix to the solution. Collective over the grid.
void solve(Work& work, const Case& c, Measured& m, MixedResult& mixed) {
  plinth::kernel::NarrowingCounts lost;
  const plinth::lu::MixedReport lu = factor(work, m, mixed, lost);
  if (m.unfit > 0) return;
  const double factored = MPI_Wtime();
  // What follows a zero pivot may overflow because of it. After an overflow the solution is no
  // number, which the check will find.
  m.overflow = first_overflow(lu);
  m.zero_pivot = lu.pivots.first_zero_pivot;
  if (m.overflow >= 0 && m.overflow <= m.zero_pivot) m.zero_pivot = -1;
  if (m.zero_pivot >= 0) return;
  const plinth::RefinementReport report = refine(work, c.extensions.mixed->refinement);
  m.refine = MPI_Wtime() - factored;

  lost += lu.lost;
  lost += lu.lost_multiplied;
  if (lu.largest_a > 0) mixed.growth = lu.growth();
  mixed.overflowed = lost.overflowed;
  mixed.flushed = lost.flushed;
  mixed.subnormal = lost.subnormal;
  mixed.iterations = report.iterations();
  mixed.products = report.products;
  mixed.solves = report.solves;
  mixed.outcome = to_string(report.columns.front().outcome);
  const double unit = 0x1p-53 * static_cast<double>(std::max<Index>(c.n, 1));
  for (const double error : report.columns.front().backward_errors)
    mixed.residuals.push_back(error / unit);
  mixed.easy = !mixed.residuals.empty() &&
               linpack::judge(mixed.residuals.front(), c.threshold) == linpack::Verdict::passed;
}

/// Collective over the grid.
Measured measure(const plinth::ProcessGrid& grid, Work& work, const Case& c, MixedResult& mixed) {
  Measured m;
  work.system->right_hand_side(work.b);
  work.clock.reset(c.extensions.phases == linpack::PhaseReport::steps ? work.plan.steps() : 0);
  m.bound = work.system->bound();
  check(MPI_Barrier(grid.all().handle()), "MPI_Barrier");
  m.start = std::time(nullptr);
  double begin = MPI_Wtime();
  solve(work, c, m, mixed);
  m.seconds = MPI_Wtime() - begin;
  m.end = std::time(nullptr);
  for (double* seconds : {&m.seconds, &m.fill, &m.factor, &m.refine})
    linpack::longest_of_all(grid, seconds, 1);
  m.phases = work.clock.total();
  linpack::longest_of_all(grid, m.phases.data(), m.phases.size());
  begin = MPI_Wtime();
  if (m.unfit == 0 && m.zero_pivot < 0 && c.checks()) m.judge_by(work.system->norms(work.x), c.n);
  m.around[1] = MPI_Wtime() - begin;
  mixed.exponent = work.factored->exponent();
  mixed.arithmetic = work.factored->arithmetic();
  mixed.condition = work.system->condition();
  mixed.fill = m.fill;
  mixed.factor = m.factor;
  mixed.refine = m.refine;
  return m;
}

/// Bytes of a number in the matrix.
Index scalar_bytes(const Case& c) {
  const Precision precision = c.extensions.mixed->precision;
  return precision == Precision::fp32 || precision == Precision::fp32_fp16 ? 4 : 2;
}

/// Bytes that the process at (0, 0), which has most, needs for a case.
double bytes_needed(const Case& c) {
  const Index block = block_size(c);
  const auto most = [&](int processes) {
    return static_cast<double>(plinth::BlockCyclic(c.n, block, processes, 0).local_size(0));
  };
  const double rows = most(c.grid.rows), cols = most(c.grid.cols);
  const auto scalar = static_cast<double>(scalar_bytes(c));
  const double line = 8.0 * c.alignment;
  const double matrix = rows * (std::ceil(scalar * cols / line) * line);
  const auto nb = static_cast<double>(block);
  const linpack::Mixed& mixed = c.extensions.mixed.value();
  const auto panels =
      static_cast<double>(std::min<Index>(c.depth, plinth::ceil_div(c.n, block)) + 2);
  const double vectors = mixed.refinement == linpack::Refinement::gmres
                             ? plinth::GmresRefinement{}.restart + 10
                             : 10;
  return matrix + 4 * nb * (rows + cols) + scalar * panels * nb * (rows + cols) +
         8 * vectors * (rows + cols);
}

/// Why a case has no system as it was asked for, "" if it has. The same on every rank.
std::string impossible(const Case& c) {
  const linpack::Mixed& mixed = c.extensions.mixed.value();
  if (8 / scalar_bytes(c) * c.alignment > std::numeric_limits<int>::max())
    return linpack::print(
        "lines of the matrix that begin on multiples of %d 8-byte words have "
        "more numbers than an integer of 32 bits counts",
        c.alignment);
  if (mixed.matrix != linpack::SystemKind::fasi_higham || c.n == 0) return {};
  // The nearest is taken, as reported, where the rounding of its parameters or their bounds keep
  // it from kappa; another matrix is not.
  const double reached =
      plinth::FasiHigham::with_condition(c.n, mixed.kappa, mixed.rho).cond_inf();
  return reached >= mixed.kappa / 2
             ? std::string()
             : linpack::print(
                   "no fasi-higham matrix of order %lld with rho %g has a condition "
                   "number of %g: the largest is %.3g",
                   static_cast<long long>(c.n), mixed.rho, mixed.kappa, reached);
}

/// The LU in low precision is no solution by itself, whatever its residual.
void demand_refinement(const Case& c, Result& result) {
  using linpack::Verdict;
  if (c.extensions.mixed->refinement != linpack::Refinement::none ||
      result.verdict == Verdict::failed)
    return;
  result.reason = "without refinement no run passes";
  if (result.verdict == Verdict::passed)
    result.reason += "; this matrix is so easy that its residual would";
  result.verdict = Verdict::failed;
}

/// HPL's system in FP64, to compare: `result` fails, or is skipped, where FP64 does, so that the
/// program's status tells. Collective over `comm`.
void compare(MPI_Comm comm, const Case& c, Result& result) {
  using linpack::Verdict;
  Case plain = c;
  plain.extensions.mixed.reset();
  plain.extensions.panels = linpack::Panels::on_host;
  const Result alone = hpl::run_case(comm, hpl::effective(plain));
  linpack::Fp64Result fp64{.verdict = alone.verdict,
                           .reason = alone.reason,
                           .seconds = alone.seconds,
                           .residual = alone.residual};
  const bool failed = result.verdict == Verdict::failed;
  if (fp64.verdict == Verdict::skipped && !failed) {
    result = linpack::skipped(c, "the comparison in FP64: " + fp64.reason);
    return;
  }
  if (fp64.verdict == Verdict::failed) {
    result.verdict = Verdict::failed;
    if (result.reason.empty()) result.reason = "the solution in FP64 failed";
  } else if (!failed && result.seconds > 0) {
    fp64.speedup = fp64.seconds / result.seconds;
  }
  result.mixed.value().fp64 = std::move(fp64);
}

}  // namespace

Result run_case(MPI_Comm comm, const Case& c) {
  if (std::string reason = impossible(c); !reason.empty())
    return linpack::skipped(c, std::move(reason));
  const plinth::ProcessGrid grid = hpl::make_grid(comm, c);
  std::unique_ptr<Work> work;
  double memory = -linpack::peak_memory();
  const double begin = MPI_Wtime();
  const std::string reason = linpack::allocate(comm, grid, bytes_needed(c), linpack::has_device,
                                               [&] { work = std::make_unique<Work>(grid, c); });
  if (!reason.empty()) return linpack::skipped(c, "not enough memory: " + reason);
  const double allocation = MPI_Wtime() - begin;

  Measured m;
  MixedResult mixed;
  std::vector<linpack::StepSeconds> steps;
  if (grid.active()) {
    m = measure(grid, *work, c, mixed);
    m.around[0] = allocation;
    linpack::longest_of_all(grid, m.around.data(), m.around.size());
    steps = linpack::step_seconds(grid, work->clock, work->plan);
  }
  memory += linpack::peak_memory();
  if (grid.active()) linpack::longest_of_all(grid, &memory, 1);
  mixed.memory = memory;
  work.reset();
  // Rank 0 is always on the grid.
  check(MPI_Bcast(&m, sizeof m, MPI_BYTE, 0, comm), "MPI_Bcast");
  if (m.unfit > 0)
    return linpack::skipped(
        c, linpack::print("%lld entries of the matrix, which are up to %.3g in magnitude, are "
                          "beyond the range of the precision",
                          static_cast<long long>(m.unfit), m.bound));
  if (m.zero_pivot >= 0)
    return linpack::skipped(
        c, linpack::print("LU without pivoting does not solve it in this precision: the pivot of "
                          "column %lld is zero",
                          static_cast<long long>(m.zero_pivot + 1)));
  Result result = linpack::result_of(c, m, linpack::named(around_names, m.around));
  result.steps = std::move(steps);
  result.mixed = mixed;
  if (result.verdict == linpack::Verdict::failed && m.overflow >= 0)
    result.reason = linpack::print("the LU overflowed, first in column %lld",
                                   static_cast<long long>(m.overflow + 1));
  demand_refinement(c, result);
  if (c.extensions.mixed->compare_fp64 == linpack::Switch::on) compare(comm, c, result);
  return result;
}

}  // namespace hpl_mxp
