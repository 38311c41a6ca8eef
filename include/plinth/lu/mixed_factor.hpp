// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "plinth/kernel/lowp/gemm.hpp"
#include "plinth/kernel/lowp/kernels.hpp"
#include "plinth/kernel/magnitude.hpp"
#include "plinth/kernel/trsm.hpp"
#include "plinth/lu/block_exponents.hpp"
#include "plinth/lu/interchange.hpp"
#include "plinth/lu/mixed_options.hpp"
#include "plinth/lu/mixed_panel.hpp"
#include "plinth/lu/mixed_panel_factor.hpp"
#include "plinth/lu/mixed_report.hpp"
#include "plinth/lu/narrowing_log.hpp"
#include "plinth/lu/operand_scaling.hpp"
#include "plinth/lu/packed_block_row.hpp"
#include "plinth/lu/panel_on_host.hpp"
#include "plinth/lu/pivots.hpp"
#include "plinth/lu/plan.hpp"
#include "plinth/policy/precision.hpp"
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
/// floats and 2 x 1024 NB floats; with pivoting and several process rows 4 NB N/Q more
/// (DoubleSingleHalf: 8) for the interchange. Where kernels alone may touch the matrix, panels and
/// U12 are there and on the host, and so is the panel that is factored: 2 NB N/P bytes
/// (DoubleSingleHalf: 4).
template <class M, ExecutionPolicy Exec, PrecisionPolicy Precision,
          PivotingPolicy Pivoting = NoPivoting, class Sink = trace::Off>
class MixedFactorization {
 public:
  using Matrix = M;
  using Roles = PrecisionRoles<Precision>;
  using Factor = typename Roles::Factor;
  using Operand = typename Roles::Operand;
  using Layout = typename Matrix::layout;
  using View = typename Matrix::View;
  using Space = typename Exec::execution_space;
  using Setup = kernel::lowp::GemmSetup<Operand>;

  static_assert(
      Scalar16<Operand>,
      "plinth: LU in mixed precision multiplies 16-bit operands; where the operands are "
      "float or double use lu_factor");
  static_assert(std::is_same_v<typename Matrix::value_type, Factor>,
                "plinth: the matrix must hold the precision policy's Factor type");
  static_assert(std::is_same_v<Factor, Operand> || std::is_same_v<Factor, float>,
                "plinth: Factor must be the Operand type or float");
  static_assert(std::is_same_v<typename Roles::Panel, float>,
                "plinth: LU in mixed precision factors its panels in float");
  static_assert(std::is_same_v<Pivoting, PartialPivoting> || std::is_same_v<Pivoting, NoPivoting>,
                "plinth: LU in mixed precision pivots by PartialPivoting or NoPivoting: it scales "
                "16-bit operands by what bounds L");
  static_assert(std::is_same_v<typename Roles::Accumulate, float> ||
                    (std::is_same_v<typename Roles::Accumulate, half> &&
                     std::is_same_v<Operand, half>),
                "plinth: LU in mixed precision sums in float, or in half what is multiplied in "
                "half");
  static_assert(Roles::flush_k == 0 || std::is_same_v<typename Roles::Accumulate, half>,
                "plinth: flush_k is for sums in half");

  /// The product that the options and the precision policy ask for.
  static Setup setup_of(const MixedOptions& options) {
    using kernel::lowp::Accumulate;
    constexpr bool in_half = std::is_same_v<typename Roles::Accumulate, half>;
    Setup setup;
    setup.kernel = options.micro_kernel.value_or(kernel::lowp::best_kernel_of<Operand, Space>(
        in_half ? Accumulate::half : Accumulate::single));
    setup.order = kernel::is_row_major<Layout> ? kernel::lowp::Order::row_major
                                               : kernel::lowp::Order::column_major;
    setup.flush_k = options.flush_k.value_or(Roles::flush_k);
    return setup;
  }

  /// An Error unless the micro-kernel is one for these operands that this CPU, or device, runs.
  static void require_kernel(const Setup& setup) {
    require(setup.kernel.template multiplies<Operand>(),
            "the micro-kernel is for other operands");
    const auto kernels = kernel::lowp::kernels_of<Operand, Space>();
    require(std::any_of(kernels.begin(), kernels.end(),
                        [&](const kernel::lowp::MicroKernel& k) {
                          return std::string_view(k.name) == setup.kernel.name &&
                                 k.accumulate == setup.kernel.accumulate;
                        }),
            std::string("not among the micro-kernels that run here: ") + setup.kernel.name);
    require(kernel::runs_on_host<Space> || setup.flush_k == Roles::flush_k,
            "a device sums in float: flush_k has no meaning there");
  }

  /// Preconditions: the grid is active here; square blocks; the same options everywhere, and with
  /// them the micro-kernel. Errors: valid options; a micro-kernel for the operands that this CPU,
  /// or device, runs; flush_k on a host only.
  MixedFactorization(const Exec& exec, const ProcessGrid& grid, const Distribution& distribution,
                     const MixedOptions& options, Sink& sink)
      : exec_(exec),
        grid_(grid),
        options_(options),
        plan_(distribution, options.lookahead),
        at_(grid.coord()),
        setup_(setup_of(options)),
        scaling_(OperandScaling::of<Operand>(setup_.kernel.accumulate, plan_.max_width(),
                                             setup_.flush_k)),
        sink_(sink),
        panels_(exec.host(), grid, distribution.rows, setup_, scaling_, options,
                plan_.max_width(), distribution.rows.local_size(at_.row), sink),
        on_host_(plan_.max_width(), distribution.rows.local_size(at_.row)) {
    require(options.valid(), MixedOptions::requirement);
    require_kernel(setup_);
    const Index width = plan_.max_width();
    const Index in_flight =
        std::min(options.lookahead, std::max<Index>(plan_.steps() - 1, 0)) + 1;
    for (Index d = 0; d < in_flight; ++d)
      ring_.emplace_back(setup_, width, distribution.rows.local_size(at_.row));
    const Index cols = distribution.cols.local_size(at_.col);
    lanes_.emplace_back(setup_, width, std::min(width, cols), 0);
    lanes_.emplace_back(setup_, width, cols, 1);
    const Index piece = std::min(Lane::piece_cols(setup_), cols);
    unsolved_.reserve(width * piece);
    solved_.reserve(width * piece);
    if constexpr (Pivoting::exchanges_rows) {
      interchange_.emplace(exec, grid, distribution.rows, width, cols, options.swap);
      if (!has_top_in_place()) rows_.reserve(width * cols);
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
    Index bytes = panels_.workspace_bytes() + on_host_.bytes() +
                  (unsolved_.size() + solved_.size()) * Index(sizeof(float)) +
                  rows_.size() * Index(sizeof(Factor));
    for (const PanelType& panel : ring_) bytes += panel.bytes();
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
    for (auto& panel : ring_) panel.release();
    for (auto& lane : lanes_) lane.release();
    return log_.report(grid_.all(), outcome_, options_.matrix_exponent);
  }

  // What the walk calls.

  void factor(const Step& step) {
    sink_.at(step.k);
    const LocalStep mine = plan_.local(step, at_);
    PanelType& panel = slot(step);
    panel.reshape(step, mine);
    if (mine.has_panel) {
      trace::Span span(sink_, trace::Phase::panel);
      on_host_.fetch(exec_, a_, mine);
      panels_(panel, on_host_.columns(), on_host_.place(), log_);
    }
    {
      trace::Span span(sink_, trace::Phase::broadcast);
      panel.send(exec_, grid_, options_.broadcast);
    }
    if (mine.has_panel) {
      trace::Span span(sink_, trace::Phase::panel);
      panels_.store_l21(panel, on_host_.columns(), on_host_.place(), log_);
      on_host_.write_back(exec_, a_, mine);
    }
    progress();
  }

  void fetch(const Step& step, Range global_cols, Section section) {
    sink_.at(step.k);
    const Range cols = plan_.local_cols(global_cols, at_);
    if (cols.empty()) return;
    PanelType& panel = slot(step);
    await(panel);
    Lane& lane = this->lane(section);
    {
      trace::Span span(sink_, trace::Phase::wait);
      lane.reshape(exec_, panel.width(), cols.size());
    }
    if constexpr (Pivoting::exchanges_rows) {
      trace::Span span(sink_, trace::Phase::interchange);
      interchange_->begin(interchanges(panel), columns_of(cols),
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
      const PanelType& panel = slot(step);
      const LocalStep mine = plan_.local(step, at_);
      Lane& lane = this->lane(section);
      if constexpr (Pivoting::exchanges_rows) {
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
    PanelType& panel = slot(step);
    await(panel);
    const MixedPanelHeader& header = panel.header();
    pivots_->record(step, panel.pivots());
    exponents_->l[static_cast<std::size_t>(step.k)] = header.l;
    exponents_->u[static_cast<std::size_t>(step.k)] = header.u + options_.matrix_exponent;
    const auto earlier = [](Index& first, Index candidate) {
      if (candidate >= 0 && (first < 0 || candidate < first)) first = candidate;
    };
    earlier(outcome_.first_zero_pivot, header.outcome.first_zero_pivot);
    earlier(outcome_.first_nonfinite, header.outcome.first_nonfinite);
    if constexpr (Pivoting::exchanges_rows) permute_l(panel);
    if constexpr (!is_host_accessible<Exec>) exec_.fence();  // it may be on its way to kernels
    trace::Span span(sink_, trace::Phase::wait);
    panel.release();
  }

 private:
  using Memory = typename Exec::memory;
  using HostExec = std::remove_cvref_t<decltype(std::declval<const Exec&>().host())>;
  using PanelType = MixedPanel<Operand, Layout, Exec>;
  using Lane = PackedBlockRow<Operand, Exec>;
  using Single = kernel::MatrixView<float, Layout, typename Memory::space>;

  void await(PanelType& panel) {
    trace::Span span(sink_, trace::Phase::wait);
    panel.wait(exec_);
  }
  PanelType& slot(const Step& step) {
    return ring_[static_cast<std::size_t>(step.k) % ring_.size()];
  }
  Lane& lane(Section section) { return lanes_[section == Section::panel ? 0 : 1]; }
  Interchanges interchanges(const PanelType& panel) const {
    return {panel.step().cols.begin, panel.pivots(), panel.width()};
  }
  /// With one process row the pivot rows are brought to the top of the matrix itself, else to a
  /// buffer that each process row has.
  bool has_top_in_place() const { return grid_.shape().rows == 1; }

  View rows_of_top(Index width, Index cols) const {
    return kernel::contiguous<Layout, typename Memory::space>(rows_.data(), width, cols);
  }
  static Single single(const kernel::Buffer<float, Memory>& buffer, Index width, Index cols) {
    return kernel::contiguous<Layout, typename Memory::space>(buffer.data(), width, cols);
  }
  View columns_of(Range cols) const { return kernel::part(a_, {0, kernel::rows_of(a_)}, cols); }
  static Range within(Range cols, Range piece) {
    return {cols.begin + piece.begin, cols.begin + piece.end};
  }

  /// Piece p of U12 := L11^-1 A12: solved in float, packed, and into the matrix where it belongs.
  void solve_piece(const PanelType& panel, const LocalStep& mine, Range cols, Lane& lane,
                   Index p) {
    trace::Span span(sink_, trace::Phase::triangular_solve);
    const Range piece = lane.piece(p);
    const Range here = within(cols, piece);
    const Index width = panel.width();
    const bool from_buffer = Pivoting::exchanges_rows && !has_top_in_place();
    const View a12 = from_buffer ? View() : kernel::part(a_, mine.top, here);
    const View source =
        from_buffer ? kernel::part(rows_of_top(width, cols.size()), {0, width}, piece) : a12;
    const Single u12 = single(solved_, width, piece.size());
    if (panel.header().inverted) {
      const Single in = single(unsolved_, width, piece.size());
      kernel::convert(exec_, source, in);
      multiply_by_lower(exec_, panel.device_triangle(), in, u12);
    } else {
      kernel::convert(exec_, source, u12);
      kernel::trsm(exec_, Side::left, Uplo::lower, Diag::unit, 1.0f,
                   kernel::Operand<Single>{panel.device_triangle()}, u12);
    }
    exec_.fence();
    const double largest = kernel::largest_magnitude(exec_, u12);
    const int exponent = scaling_.of_u(largest);
    lane.exponent(p) = exponent;
    const auto lost = pack(u12, lane.packed(p), exponent);
    if (!mine.has_diagonal_rows) return;
    log_.see_u(largest);
    log_.count_multiplied(lost);
    log_.store(exec_, u12, kernel::part(a_, mine.top, here), panel.header().u, [&](Index j) {
      return plan_.distribution().cols.global(here.begin + j, at_.col);
    });
  }

  /// out := u12 2^exponent, packed; says what that lost.
  kernel::NarrowingCounts pack(const Single& u12, Operand* out, int exponent) const {
    [[maybe_unused]] const auto scope = exec_.enter();
    return kernel::lowp::pack_b(exec_.space(), setup_, kernel::rows_of(u12), kernel::cols_of(u12),
                                u12.data(), static_cast<Index>(u12.stride(0)),
                                static_cast<Index>(u12.stride(1)), out,
                                static_cast<float>(std::ldexp(1.0, exponent)));
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
  void permute_l(const PanelType& panel) {
    trace::Span span(sink_, trace::Phase::interchange);
    const Range cols = plan_.local_cols(Range{0, panel.step().cols.begin}, at_);
    interchange_->apply(interchanges(panel), columns_of(cols),
                        rows_of_top(panel.width(), cols.size()), sink_);
  }

  void progress() {
    trace::Span span(sink_, trace::Phase::broadcast);
    for (auto& panel : ring_) panel.progress();
    for (auto& lane : lanes_) lane.progress();
    if constexpr (Pivoting::exchanges_rows) interchange_->progress();
  }

  Exec exec_;
  ProcessGrid grid_;
  MixedOptions options_;
  Plan plan_;
  GridCoord at_;
  Setup setup_;
  OperandScaling scaling_;
  Sink& sink_;
  MixedPanelFactorization<Factor, PanelType, Pivoting, HostExec, Sink> panels_;
  PanelOnHost<Factor, Exec, Layout> on_host_;
  std::vector<PanelType> ring_;
  std::vector<Lane> lanes_;
  std::optional<Interchange<Factor, Exec, Layout>> interchange_;
  kernel::Buffer<Factor, Memory> rows_;
  kernel::Buffer<float, Memory> unsolved_, solved_;
  typename kernel::lowp::WorkspaceOf<Space>::type workspace_;

  View a_;
  Pivots* pivots_ = nullptr;
  BlockExponents* exponents_ = nullptr;
  PanelOutcome outcome_;
  NarrowingLog log_;
};

}  // namespace plinth::lu
