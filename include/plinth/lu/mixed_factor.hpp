// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <vector>

#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/lowp/gemm.hpp"
#include "plinth/kernel/magnitude.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/lu/block_exponents.hpp"
#include "plinth/lu/interchange.hpp"
#include "plinth/lu/mixed_block_row_solve.hpp"
#include "plinth/lu/mixed_options.hpp"
#include "plinth/lu/mixed_panel.hpp"
#include "plinth/lu/mixed_pivoted_panels.hpp"
#include "plinth/lu/mixed_precision.hpp"
#include "plinth/lu/mixed_report.hpp"
#include "plinth/lu/mixed_unpivoted_panels.hpp"
#include "plinth/lu/narrowing_log.hpp"
#include "plinth/lu/operand_scaling.hpp"
#include "plinth/lu/packed_block_row.hpp"
#include "plinth/lu/panel_ring.hpp"
#include "plinth/lu/pivots.hpp"
#include "plinth/lu/plan.hpp"
#include "plinth/policy/execution.hpp"
#include "plinth/policy/pivoting.hpp"
#include "plinth/trace/phase.hpp"

namespace plinth::lu {

/// LU of a matrix in Factor type whose update multiplies 16-bit operands: everything that it works
/// with, allocated once and used as often as wanted on matrices of one distribution. It walks the
/// same plan as Factorization (lu/factor.hpp):
///
///     [ A11 ]           [ L11 ]
///     [ A21 ]   ->    P [ L21 ] U11         in float, stored as Factor          factor
///     pack L21, send L11 and L21 along the process row
///     U12 := L11^-1 P^T A12                 in float, stored as Factor          fetch or update
///     pack U12, send it down the process column (without pivoting)
///     A22 -= L21 U12                        packed operands, Accumulate         update
///
/// L21 and U12 are rounded and packed once, by their owners, scaled by powers of two
/// (lu/operand_scaling.hpp), and nobody packs them again. With pivoting each process row gets the
/// rows of A12 by the interchange, solves and packs them itself.
///
/// Workspace per process with N/P rows and N/Q columns, look-ahead d: 2 (d + 1) NB N/P bytes of
/// panels under way, 2 NB N/Q of U12, 4 NB N/P for the panel in float, and about (d + 4) NB^2
/// floats and 2 x 1024 NB floats (on a device 3 x 16384 NB); with pivoting and several process rows
/// 4 NB N/Q more (DoubleSingleHalf: 8) for the interchange. Where kernels alone may touch the
/// matrix, panels and
/// U12 are there and on the host, and so is the panel that is factored: 2 NB N/P bytes
/// (DoubleSingleHalf: 4). Where panels are the device's, that one is there alone, but for its
/// diagonal block, and so is the panel in float.
template <class M, ExecutionPolicy Exec, PrecisionPolicy Precision,
          PivotingPolicy Pivoting = NoPivoting, class Sink = trace::Off>
class MixedFactorization {
 public:
  using Matrix = M;
  using Layout = typename Matrix::layout;
  using View = typename Matrix::View;
  using Space = typename Exec::execution_space;
  using Mixed = MixedPrecision<Precision, Layout, Space>;
  using Factor = typename Mixed::Factor;
  using Operand = typename Mixed::Operand;
  using Setup = typename Mixed::Setup;

  static_assert(std::is_same_v<typename Matrix::value_type, Factor>,
                "plinth: the matrix must hold the precision policy's Factor type");
  static_assert(std::is_same_v<Pivoting, PartialPivoting> || std::is_same_v<Pivoting, NoPivoting>,
                "plinth: LU in mixed precision pivots by PartialPivoting or NoPivoting: it scales "
                "16-bit operands by what bounds L");
  static_assert(!has_panels_on_device<Exec> || !Pivoting::exchanges_rows,
                "plinth: LU in mixed precision has panels factored on the device without pivoting "
                "only: take NoPivoting, or an execution policy with PanelOn::host");

  /// Preconditions: the grid is active here; square blocks; the same options everywhere, and with
  /// them the micro-kernel. Errors: valid options; a micro-kernel for the operands that this CPU,
  /// or device, runs; flush_k on a host only; an MPI that reads the device's memory, where it is to
  /// be given that.
  MixedFactorization(const Exec& exec, const ProcessGrid& grid, const Distribution& distribution,
                     const MixedOptions& options, Sink& sink)
      : exec_(exec),
        beside_(exec.beside()),
        grid_(grid),
        options_(options),
        plan_(distribution, options.lookahead),
        at_(grid.coord()),
        setup_(Mixed::setup_of(options)),
        scaling_(OperandScaling::of<Operand>(setup_.kernel.accumulate, plan_.max_width(),
                                             setup_.flush_k)),
        sink_(sink),
        panels_({exec, beside_, grid, distribution.rows, setup_, scaling_, options,
                 plan_.max_width()},
                sink),
        block_row_(exec, setup_, scaling_, plan_.max_width(),
                   distribution.cols.local_size(at_.col)),
        ring_(exec, beside_, plan_, Pivoting::exchanges_rows && has_top_in_place()) {
    require(options.valid(), MixedOptions::requirement);
    Mixed::require_kernel(setup_);
    const Index width = plan_.max_width();
    const bool direct = grid.is_direct<Memory>();
    ring_.fill(setup_, width, distribution.rows.local_size(at_.row), direct);
    const Index cols = distribution.cols.local_size(at_.col);
    lanes_.emplace_back(setup_, width, std::min(width, cols), 0, direct);
    lanes_.emplace_back(setup_, width, cols, 1, direct);
    if (Pivoting::exchanges_rows && !has_top_in_place()) {
      interchange_.emplace(exec, grid, distribution.rows, width, cols, options.swap);
      rows_.reserve(width * cols);
    }
    if constexpr (kernel::runs_on_host<Space>) {
      workspace_.reserve(setup_, width, std::max<Index>(exec.space().concurrency(), 1));
    } else {
      workspace_.prepare();
    }
  }

  const Setup& setup() const { return setup_; }
  /// The matrices to come are A 2^exponent. Precondition, an Error: exponent in [-100, 100]. Not
  /// collective; the same on every process.
  void set_matrix_exponent(int exponent) {
    MixedOptions options = options_;
    options.matrix_exponent = exponent;
    require(options.valid(), MixedOptions::requirement);
    options_ = options;
  }
  /// Bytes of the workspace but for the interchange's, all of it allocated by now; of a device what
  /// is in its memory (panels and U12 are in the host's, too).
  Index workspace_bytes() const {
    Index bytes = panels_.workspace_bytes() + block_row_.workspace_bytes() +
                  rows_.size() * Index(sizeof(Factor));
    for (const PanelType& panel : ring_.panels()) bytes += panel.bytes();
    for (const Lane& lane : lanes_) bytes += lane.bytes();
    if constexpr (kernel::runs_on_host<Space>) bytes += workspace_.bytes();
    return bytes;
  }

  /// Factors `a` in place; sets the pivots and the exponents. Collective.
  MixedReport operator()(Matrix& a, Pivots& pivots, BlockExponents& exponents) {
    a_ = a.local();
    pivots_ = &pivots;
    exponents_ = &exponents;
    exponents.reset(plan_.steps());
    outcome_ = {};
    log_ = {};
    log_.see_a(kernel::largest_magnitude(exec_, a_));
    walk(plan_, *this);
    sink_.at(trace::no_step);
    ring_.release();
    for (auto& lane : lanes_) lane.release();
    return log_.report(grid_.all(), outcome_, options_.matrix_exponent);
  }

  // What the walk calls.

  void load(const Step& step) requires(runs_ahead<Exec>) { start_load(step); }

  void factor(const Step& step) {
    sink_.at(step.k);
    const LocalStep mine = plan_.local(step, at_);
    PanelType& panel = ring_[step];
    if constexpr (!runs_ahead<Exec>) start_load(step);
    if constexpr (is_host_accessible<Exec>) {
      exec_.fence();
    } else {
      // For the panel's columns, or its diagonal block; who has none needs the room on the host
      // that the former panel came through.
      trace::Span span(sink_, trace::Phase::wait);
      beside_.fence();
    }
    if (mine.has_panel) {
      trace::Span span(sink_, trace::Phase::panel);
      panels_.factor(panel, log_);
    }
    {
      trace::Span span(sink_, trace::Phase::broadcast);
      panel.send(exec_, beside_, grid_, options_.broadcast);
    }
    if (mine.has_panel) {
      trace::Span span(sink_, trace::Phase::panel);
      panels_.store(panel, log_);
    }
    progress();
  }

  void fetch(const Step& step, Range global_cols, Section section) {
    sink_.at(step.k);
    const Range cols = plan_.local_cols(global_cols, at_);
    if (cols.empty()) return;
    ring_.await(step, sink_);
    const PanelType& panel = ring_[step];
    Lane& lane = this->lane(section);
    {
      trace::Span span(sink_, trace::Phase::wait);
      lane.reshape(exec_, panel.width(), cols.size());
    }
    if constexpr (Pivoting::exchanges_rows) {
      trace::Span span(sink_, trace::Phase::interchange);
      if (has_top_in_place()) return exchange_rows(step, columns_of(cols));
      interchange_->begin(ring_.interchanges(step), columns_of(cols),
                          rows_of_top(panel.width(), cols.size()));
    } else {
      const LocalStep mine = plan_.local(step, at_);
      for (Index p = 0; p < lane.pieces(); ++p) {
        if (mine.has_diagonal_rows) solve_piece(panel, mine, cols, lane, p);
        if (has_top_in_place()) continue;
        trace::Span span(sink_, trace::Phase::broadcast);
        lane.send(exec_, grid_, step.owner_row, p, options_.broadcast);
        progress();
      }
    }
  }

  void update(const Step& step, Range global_cols, Section section) {
    sink_.at(step.k);
    const Range cols = plan_.local_cols(global_cols, at_);
    if (!cols.empty()) {
      const PanelType& panel = ring_[step];
      const LocalStep mine = plan_.local(step, at_);
      Lane& lane = this->lane(section);
      if (interchange_) {
        trace::Span span(sink_, trace::Phase::interchange);
        interchange_->end(sink_);
      }
      for (Index p = 0; p < lane.pieces(); ++p) {
        if constexpr (Pivoting::exchanges_rows) {
          solve_piece(panel, mine, cols, lane, p);
        } else {
          trace::Span span(sink_, trace::Phase::wait);
          lane.wait(exec_, p);
        }
        multiply_piece(panel, mine, cols, lane, p);
        progress();
      }
    }
    progress();
  }

  void finish(const Step& step) {
    sink_.at(step.k);
    ring_.await(step, sink_);
    const PanelType& panel = ring_[step];
    const MixedPanelHeader& header = panel.header();
    pivots_->record(step, panel.pivots());
    exponents_->l[static_cast<std::size_t>(step.k)] = header.l;
    exponents_->u[static_cast<std::size_t>(step.k)] = header.u + options_.matrix_exponent;
    outcome_.merge(header.outcome);
    if constexpr (Pivoting::exchanges_rows) permute_l(step);
    ring_.finish(step, sink_);
  }

 private:
  using Memory = typename Exec::memory;
  using PanelType = MixedPanel<Operand, Layout, Exec>;
  using Panels = std::conditional_t<Pivoting::exchanges_rows,
                                    MixedPivotedPanels<Factor, PanelType, Exec, Sink>,
                                    MixedUnpivotedPanels<Factor, PanelType, Exec>>;
  using Lane = PackedBlockRow<Operand, Exec>;

  void start_load(const Step& step) {
    sink_.at(step.k);
    const LocalStep mine = plan_.local(step, at_);
    ring_.reshape(step, mine);
    if (!mine.has_panel) return;
    trace::Span span(sink_, trace::Phase::panel);
    panels_.start_load(a_, mine);
  }
  /// With one process row.
  void exchange_rows(const Step& step, const View& columns) {
    ring_.exchanges(step)(exec_, columns);
    if constexpr (is_host_accessible<Exec>) exec_.fence();
  }
  Lane& lane(Section section) { return lanes_[section == Section::panel ? 0 : 1]; }
  /// With one process row the pivot rows are brought to the top of the matrix itself, else to a
  /// buffer that each process row has.
  bool has_top_in_place() const { return grid_.shape().rows == 1; }

  View rows_of_top(Index width, Index cols) const {
    return kernel::contiguous<Layout, typename Memory::space>(rows_.data(), width, cols);
  }
  View columns_of(Range cols) const { return kernel::part(a_, {0, kernel::rows_of(a_)}, cols); }
  static Range within(Range cols, Range piece) {
    return {cols.begin + piece.begin, cols.begin + piece.end};
  }

  /// Piece p of U12: solved, packed, and into the matrix where it belongs.
  void solve_piece(const PanelType& panel, const LocalStep& mine, Range cols, Lane& lane,
                   Index p) {
    trace::Span span(sink_, trace::Phase::triangular_solve);
    const Range piece = lane.piece(p);
    const Range here = within(cols, piece);
    const Index width = panel.width();
    const bool from_buffer = Pivoting::exchanges_rows && !has_top_in_place();
    const View a12 = from_buffer
                         ? kernel::part(rows_of_top(width, cols.size()), {0, width}, piece)
                         : kernel::part(a_, mine.top, here);
    block_row_.solve(panel, a12, lane, p);
    if (!mine.has_diagonal_rows) return;
    const BlockCyclic& all = plan_.distribution().cols;
    block_row_.store(
        kernel::part(a_, mine.top, here), panel.header().u,
        [&](Index j) { return all.global(here.begin + j, at_.col); }, log_);
  }

  /// A22 -= L21 U12 for the columns of piece p.
  void multiply_piece(const PanelType& panel, const LocalStep& mine, Range cols, const Lane& lane,
                      Index p) {
    trace::Span span(sink_, trace::Phase::update);
    const Range here = within(cols, lane.piece(p));
    const View c = kernel::part(a_, mine.below, here);
    const int exponent = panel.header().l_operand + lane.exponent(p);
    [[maybe_unused]] const auto scope = exec_.enter();
    kernel::lowp::gemm(exec_.space(), setup_, mine.below.size(), here.size(), panel.width(),
                       -static_cast<float>(std::ldexp(1.0, -exponent)), panel.device_packed(),
                       lane.packed(p), c.data(), kernel::leading_dimension(c), workspace_);
  }

  /// Carries the interchanges over to the columns of L that are finished.
  void permute_l(const Step& step) {
    trace::Span span(sink_, trace::Phase::interchange);
    const Range cols = plan_.local_cols(Range{0, step.cols.begin}, at_);
    if (has_top_in_place()) return exchange_rows(step, columns_of(cols));
    interchange_->apply(ring_.interchanges(step), columns_of(cols),
                        rows_of_top(step.width(), cols.size()), sink_);
  }

  void progress() {
    trace::Span span(sink_, trace::Phase::broadcast);
    ring_.progress();
    for (auto& lane : lanes_) lane.progress();
    if (interchange_) interchange_->progress();
  }

  Exec exec_;
  Exec beside_;  ///< panels' copies, and the kernels that make L21 on a device
  ProcessGrid grid_;
  MixedOptions options_;
  Plan plan_;
  GridCoord at_;
  Setup setup_;
  OperandScaling scaling_;
  Sink& sink_;
  Panels panels_;
  MixedBlockRowSolve<Factor, Operand, Layout, Exec> block_row_;
  PanelRing<PanelType, Exec> ring_;
  std::vector<Lane> lanes_;
  std::optional<Interchange<Factor, Exec, Layout>> interchange_;  ///< several process rows
  kernel::Buffer<Factor, Memory> rows_;
  typename kernel::lowp::WorkspaceOf<Space>::type workspace_;

  View a_;
  Pivots* pivots_ = nullptr;
  BlockExponents* exponents_ = nullptr;
  PanelOutcome outcome_;
  NarrowingLog log_;
};

}  // namespace plinth::lu
