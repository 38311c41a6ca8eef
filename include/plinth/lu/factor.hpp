// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "plinth/kernel/blas.hpp"
#include "plinth/kernel/deal.hpp"
#include "plinth/kernel/trsm.hpp"
#include "plinth/lu/interchange.hpp"
#include "plinth/lu/options.hpp"
#include "plinth/lu/panel.hpp"
#include "plinth/lu/panel_factor.hpp"
#include "plinth/lu/panel_ring.hpp"
#include "plinth/lu/pivots.hpp"
#include "plinth/lu/plan.hpp"
#include "plinth/lu/tournament_panel.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/policy/pivoting.hpp"
#include "plinth/trace/phase.hpp"

namespace plinth::lu {

/// Everything that a factorization works with, allocated once and used as often as wanted on
/// matrices of one distribution: the ring of look-ahead + 1 panels, and lanes: a block row U12
/// and the buffers of an interchange each, one lane or with a split update one for each section.
///
/// The factorization itself is the walk over the plan (lu/plan.hpp) with, per step,
///
///     [ A11 ]           [ L11 ]                                 factor
///     [ A21 ]   ->    P [ L21 ] U11                             (and send)
///     [ A12 ]     P^T [ A12 ]
///     [ A22 ]   ->    [ A22 ],  A12 := L11^-1 A12,  A22 -= L21 A12      update
///
/// On a device kernels are in one queue, `exec`'s, copies of panels in another one, those of rows
/// in one for each lane: they go their ways while updates run. With one process row the host
/// waits once per step, for the panel's columns; with look-ahead the update that has been started
/// by then is not waited for (see walk). With several it waits for each interchange's rows, too:
/// those of L, where it is kept permuted, come after the step's update.
///
/// Where the device factors panels (PanelOn::device), it does so in the panels' queue. The host
/// then waits for a panel's pivots, with several process rows for every column's two rows, and for
/// a factored panel if it has to be sent.
///
/// Workspace per process, beyond the matrix: (d + 1) NB (NB + m/P) elements for panels, and with
/// more than one process row 2 NB n/Q for U12 and the interchange (3 NB^2 more with a split), and
/// for a tournament that of lu/tournament_panel.hpp.
template <class Matrix, ExecutionPolicy Exec, PivotingPolicy Pivoting = PartialPivoting,
          class Sink = trace::Off>
class Factorization {
 public:
  using T = typename Matrix::value_type;
  using Layout = typename Matrix::layout;
  using View = typename Matrix::View;

  /// Precondition: the grid is active here; square blocks; valid options and policy.
  Factorization(const Exec& exec, const ProcessGrid& grid, const Distribution& distribution,
                const FactorOptions& options, Sink& sink, const Pivoting& pivoting = {})
      : exec_(exec),
        beside_(exec.beside()),
        deal_(exec.space()),
        grid_(grid),
        options_(options),
        plan_(distribution, options.lookahead, grid.shape().rows > 1 ? options.split : 0),
        at_(grid.coord()),
        panel_factorization_(panel_factorization(pivoting, sink)),
        ring_(exec_, beside_, plan_, has_top_in_place() && Pivoting::exchanges_rows),
        sink_(sink) {
    require(options.valid(), FactorOptions::requirement);
    require(is_valid(pivoting), requirement_of(pivoting));
    ring_.fill(plan_.max_panel_elements(at_), max_width(),
               grid.is_direct<typename Exec::memory>());
    const Index cols = distribution.cols.local_size(at_.col);
    if (plan_.is_split()) {
      const Index left = plan_.local_cols({0, plan_.boundary()}, at_).size();
      for (const Index room : {std::min(max_width(), cols), left, cols - left}) add_lane(room);
    } else {
      add_lane(cols);
    }
  }

  /// Factors `a` in place and records the pivots. Collective.
  PanelOutcome operator()(Matrix& a, Pivots& pivots) {
    a_ = a.local();
    pivots_ = &pivots;
    outcome_ = {};
    walk(plan_, *this);
    sink_.at(trace::no_step);
    ring_.release();
    return outcome_;
  }

  // What the walk calls.

  void load(const Step& step) requires(runs_ahead<Exec>) { start_load(step); }

  void factor(const Step& step) {
    sink_.at(step.k);
    const LocalStep mine = plan_.local(step, at_);
    PanelType& panel = ring_[step];
    const auto global_row = [&](Index below) {
      return plan_.distribution().rows.global(mine.below.begin + below, at_.row);
    };
    if constexpr (!runs_ahead<Exec>) start_load(step);
    if constexpr (on_device)
      if (mine.has_panel) start_factor(panel, mine, global_row);
    if constexpr (!is_host_accessible<Exec>) {
      // With one process row the one place where the host waits for the device; who has no panel
      // needs the room on the host that the former one came through.
      trace::Span span(sink_, trace::Phase::wait);
      beside_.fence();
    }
    if (mine.has_panel) {
      trace::Span span(sink_, trace::Phase::panel);
      if constexpr (is_host_accessible<Exec>) exec_.fence();
      if constexpr (on_device) {
        panel_factorization_.take_pivots(panel, global_row);
      } else {
        panel_factorization_(panel, mine.has_diagonal_rows, global_row);
      }
    }
    {
      trace::Span span(sink_, trace::Phase::broadcast);
      panel.send(exec_, beside_, grid_, options_.broadcast);
    }
    if (mine.has_panel) {
      trace::Span span(sink_, trace::Phase::panel);
      panel.store(exec_, a_, mine, options_.keep_l == KeepL::permuted);
    }
    progress();
  }

  void fetch(const Step& step, Range global_cols, Section section) {
    sink_.at(step.k);
    // Who has none of the columns need not wait for the panel yet: others may be under way.
    const Range cols = plan_.local_cols(global_cols, at_);
    if (cols.empty()) return;
    const PanelType& panel = ring_[step];
    ring_.await(step, sink_);
    if (!rows_travel()) return;
    trace::Span span(sink_, trace::Phase::interchange);
    if (has_top_in_place()) return exchange_rows(step, columns_of(cols));
    Lane& lane = this->lane(section);
    lane.interchange.start(ring_.interchanges(step), columns_of(cols),
                           u12_of(lane, panel.width(), cols.size()));
    if constexpr (!runs_ahead<Exec>) lane.interchange.depart();
  }

  void update(const Step& step, Range global_cols, Section section) {
    sink_.at(step.k);
    const Range cols = plan_.local_cols(global_cols, at_);
    if (!cols.empty()) {
      const PanelType& panel = ring_[step];
      const LocalStep mine = plan_.local(step, at_);
      const View columns = columns_of(cols);
      Lane& lane = this->lane(section);
      {
        trace::Span span(sink_, trace::Phase::interchange);
        lane.interchange.end(sink_);
      }
      const View u12 = has_top_in_place() ? kernel::part(columns, mine.top, {0, cols.size()})
                                          : u12_of(lane, panel.width(), cols.size());
      if (options_.reproducible) {
        for_each_slice(global_cols, [&](Range slice) {
          update_columns(panel, mine, part_of(columns, slice), part_of(u12, slice));
          progress();
        });
      } else {
        update_columns(panel, mine, columns, u12);
      }
    }
    // Rows of other sections, whose way to the host has been hidden now.
    if constexpr (runs_ahead<Exec>)
      for (Lane& lane : lanes_) lane.interchange.depart();
    progress();
  }

  void finish(const Step& step) {
    sink_.at(step.k);
    const PanelType& panel = ring_[step];
    ring_.await(step, sink_);
    pivots_->record(step, panel.pivots());
    outcome_.merge(panel.outcome());
    if (options_.keep_l == KeepL::permuted && Pivoting::exchanges_rows) permute_l(step);
    ring_.finish(step, sink_);
  }

 private:
  using PanelType = Panel<T, Exec>;
  static constexpr bool on_device = has_panels_on_device<Exec>;  ///< panels are factored there
  static_assert(!on_device || std::is_same_v<Pivoting, PartialPivoting> ||
                    !Pivoting::exchanges_rows,
                "plinth: a device factors panels with PartialPivoting or NoPivoting; for other "
                "policies let the host do it (PanelOn::host)");

  static constexpr bool by_tournament = PanelPivoting<Pivoting>;
  using HostExec = std::remove_cvref_t<decltype(std::declval<const Exec&>().host())>;
  using PanelExec = std::conditional_t<on_device, Exec, HostExec>;
  using PanelFactorizationType =
      std::conditional_t<by_tournament, TournamentPanelFactorization<T, HostExec, Sink>,
                         PanelFactorization<T, Pivoting, PanelExec, Sink>>;

  PanelFactorizationType panel_factorization(const Pivoting& pivoting, Sink& sink) const {
    if constexpr (by_tournament) {
      return {exec_.host(), grid_, options_.panel, options_.pivot_reduction,
              max_width(),  sink,  pivoting,       plan_.distribution().rows.local_size(at_.row)};
    } else {
      return {panel_exec(), grid_, options_.panel, options_.pivot_reduction,
              max_width(),  sink,  pivoting};
    }
  }
  PanelExec panel_exec() const {
    if constexpr (on_device) {
      return beside_;
    } else {
      return exec_.host();
    }
  }

  Index max_width() const { return plan_.max_width(); }

  void start_load(const Step& step) {
    sink_.at(step.k);
    const LocalStep mine = plan_.local(step, at_);
    ring_.reshape(step, mine);
    if (!mine.has_panel) return;
    trace::Span span(sink_, trace::Phase::panel);
    ring_[step].start_load(exec_, beside_, a_, mine);
  }
  /// On the device.
  template <class GlobalRow>
  void start_factor(PanelType& panel, const LocalStep& mine, const GlobalRow& global_row) {
    trace::Span span(sink_, trace::Phase::panel);
    panel_factorization_(panel, mine.has_diagonal_rows, global_row);
    if (grid_.shape().cols > 1) panel.start_to_message(beside_);
  }
  /// With one process row.
  void exchange_rows(const Step& step, const View& columns) {
    ring_.exchanges(step)(exec_, columns);
    if constexpr (is_host_accessible<Exec>) exec_.fence();
  }

  /// One interchange under way, and the block row that it makes.
  struct Lane {
    Interchange<T, Exec, Layout> interchange;
    kernel::Buffer<T, typename Exec::memory> u12;
  };
  void add_lane(Index cols) {
    Lane& lane = lanes_.emplace_back(Lane{
        {exec_, has_top_in_place() ? exec_ : exec_.beside(), grid_, plan_.distribution().rows,
         max_width(), cols, options_.swap, static_cast<int>(lanes_.size())},
        {}});
    if (!has_top_in_place()) lane.u12.reserve(max_width() * cols);
  }
  Lane& lane(Section section) {
    return lanes_[lanes_.size() == 1 ? 0 : static_cast<std::size_t>(section)];
  }
  /// With one process row the pivot rows are brought to the top of the matrix itself, else to a
  /// buffer that each process row has.
  bool has_top_in_place() const { return grid_.shape().rows == 1; }
  bool rows_travel() const { return !has_top_in_place() || Pivoting::exchanges_rows; }

  /// Room for `cols` columns of U12.
  static View u12_of(const Lane& lane, Index width, Index cols) {
    return kernel::contiguous<Layout, typename Exec::memory::space>(lane.u12.data(), width, cols);
  }
  View columns_of(Range cols) const { return kernel::part(a_, {0, kernel::rows_of(a_)}, cols); }
  static View part_of(const View& a, Range cols) {
    return kernel::part(a, {0, kernel::rows_of(a)}, cols);
  }

  /// Calls f with the local columns of each fixed slice of `global_cols`, counted from its first.
  template <class F>
  void for_each_slice(Range global_cols, const F& f) const {
    const Index first = plan_.local_cols(global_cols, at_).begin;
    for (Index begin = global_cols.begin; begin < global_cols.end;) {
      const Index end = std::min(plan_.slice_end(begin), global_cols.end);
      const Range slice = plan_.local_cols({begin, end}, at_);
      if (!slice.empty()) f(Range{slice.begin - first, slice.end - first});
      begin = end;
    }
  }

  /// U12 := L11^-1 U12, A22 -= L21 U12 for some columns. Rows are taken so many at a time that
  /// messages get on meanwhile, and that the BLAS's packed operands stay in its caches.
  void update_columns(const PanelType& panel, const LocalStep& mine, const View& columns,
                      const View& u12) {
    solve_u12(panel, mine, columns, u12);
    trace::Span span(sink_, trace::Phase::update);
    constexpr Index at_once = 2048, unit = 8;
    const Index below = mine.below.size();
    const Index parts = std::max<Index>(1, ceil_div(below, at_once));
    const Index length = ceil_div(ceil_div(below, parts), unit) * unit;
    for (Index begin = 0; begin < below; begin += length) {
      if (begin > 0) progress();
      const Range rows{begin, std::min(begin + length, below)};
      const Range local{mine.below.begin + rows.begin, mine.below.begin + rows.end};
      kernel::gemm(exec_, T(-1), panel.template l21<Layout>(rows), u12, T(1),
                   kernel::part(columns, local, {0, kernel::cols_of(columns)}));
    }
  }

  /// U12 := L11^-1 U12, and into the matrix where it belongs.
  void solve_u12(const PanelType& panel, const LocalStep& mine, const View& columns,
                 const View& u12) {
    trace::Span span(sink_, trace::Phase::triangular_solve);
    const auto solve = [&](const View& some, kernel::Threads threads) {
      kernel::trsm(exec_, Side::left, Uplo::lower, Diag::unit, T(1), panel.template top<Layout>(),
                   some, threads);
    };
    if constexpr (is_host_accessible<Exec>) {
      const Index cols = kernel::cols_of(u12);
      const kernel::Threads threads = deal_.threads(cols);
      deal_({0, cols}, [&](Range some) { solve(part_of(u12, some), threads); });
    } else {
      solve(u12, kernel::Threads::all);
    }
    if (!has_top_in_place() && mine.has_diagonal_rows)
      kernel::copy(exec_, u12, kernel::part(columns, mine.top, {0, kernel::cols_of(columns)}));
  }

  /// Carries the interchanges over to the columns of L that are finished, as many at a time as a
  /// lane has room for. The left section's lane may be in use.
  void permute_l(const Step& step) {
    trace::Span span(sink_, trace::Phase::interchange);
    const Range cols = plan_.local_cols(Range{0, step.cols.begin}, at_);
    if (has_top_in_place()) return exchange_rows(step, columns_of(cols));
    const PanelType& panel = ring_[step];
    Lane& lane = lanes_.front().interchange.max_cols() < lanes_.back().interchange.max_cols()
                     ? lanes_.back()
                     : lanes_.front();
    const Index room = lane.interchange.max_cols();
    for (Index begin = cols.begin; begin < cols.end; begin += room) {
      const Range some{begin, std::min(begin + room, cols.end)};
      lane.interchange.apply(ring_.interchanges(step), columns_of(some),
                             u12_of(lane, panel.width(), some.size()), sink_);
    }
  }

  void progress() {
    trace::Span span(sink_, trace::Phase::broadcast);
    ring_.progress();
    for (auto& lane : lanes_) lane.interchange.progress();
  }

  Exec exec_;
  Exec beside_;  ///< panels' copies, and their factorization on a device
  kernel::Deal<typename Exec::execution_space> deal_;
  ProcessGrid grid_;
  FactorOptions options_;
  Plan plan_;
  GridCoord at_;
  PanelFactorizationType panel_factorization_;
  PanelRing<PanelType, Exec> ring_;
  Sink& sink_;
  std::vector<Lane> lanes_;

  View a_;
  Pivots* pivots_ = nullptr;
  PanelOutcome outcome_;
};

}  // namespace plinth::lu
