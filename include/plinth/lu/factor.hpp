// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "plinth/kernel/blas.hpp"
#include "plinth/lu/interchange.hpp"
#include "plinth/lu/options.hpp"
#include "plinth/lu/panel.hpp"
#include "plinth/lu/panel_factor.hpp"
#include "plinth/lu/pivots.hpp"
#include "plinth/lu/plan.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/trace/phase.hpp"

namespace plinth::lu {

/// Everything that a factorization works with, allocated once and used as often as wanted on
/// matrices of one distribution: the ring of look-ahead + 1 panels, the block row U12, the buffers
/// of the interchange.
///
/// The factorization itself is the walk over the plan (lu/plan.hpp) with, per step,
///
///     [ A11 ]           [ L11 ]                                 factor
///     [ A21 ]   ->    P [ L21 ] U11                             (and send)
///     [ A12 ]     P^T [ A12 ]
///     [ A22 ]   ->    [ A22 ],  A12 := L11^-1 A12,  A22 -= L21 A12      update
///
/// Workspace per process, beyond the matrix: (d + 1) NB (NB + m/P) elements for panels, and with
/// more than one process row 4 NB n/Q for U12 and the interchange.
template <class Matrix, ExecutionPolicy Exec, PivotingPolicy Pivoting = PartialPivoting,
          class Sink = trace::Off>
class Factorization {
 public:
  using T = typename Matrix::value_type;
  using Layout = typename Matrix::layout;
  using View = typename Matrix::View;

  /// Precondition: the grid is active here; square blocks; valid options.
  Factorization(const Exec& exec, const ProcessGrid& grid, const Distribution& distribution,
                const FactorOptions& options, Sink& sink)
      : exec_(exec),
        grid_(grid),
        options_(options),
        plan_(distribution, options.lookahead),
        at_(grid.coord()),
        interchange_(exec, grid, distribution.rows, max_width(),
                     distribution.cols.local_size(at_.col)),
        panel_factorization_(exec.host(), grid, options.panel, max_width(), sink),
        sink_(sink) {
    require(options.valid(), "FactorOptions: look-ahead >= 0, ndiv >= 2 and nbmin >= 1 wanted");
    const Index in_flight = std::min(options.lookahead, std::max<Index>(plan_.steps() - 1, 0)) + 1;
    for (Index d = 0; d < in_flight; ++d)
      ring_.emplace_back(plan_.max_panel_elements(at_), max_width());
    if (grid.shape().rows > 1)
      u12_.reserve(max_width() * distribution.cols.local_size(at_.col));
  }

  /// Factors `a` in place and records the pivots. Collective.
  PanelOutcome operator()(Matrix& a, Pivots& pivots) {
    a_ = a.local();
    pivots_ = &pivots;
    outcome_ = {};
    walk(plan_, *this);
    for (auto& panel : ring_) panel.release();
    return outcome_;
  }

  // What the walk calls.

  void factor(const Step& step) {
    const LocalStep mine = plan_.local(step, at_);
    PanelType& panel = slot(step);
    panel.reshape(step, mine);
    if (mine.has_panel) {
      trace::Span span(sink_, trace::Phase::panel);
      panel.load(exec_, a_, mine);
      const BlockCyclic& rows = plan_.distribution().rows;
      panel_factorization_(panel, mine.has_diagonal_rows, [&](Index below) {
        return rows.global(mine.below.begin + below, at_.row);
      });
    }
    trace::Span span(sink_, trace::Phase::broadcast);
    panel.send(exec_, grid_, options_.broadcast);
    if (mine.has_panel) panel.store(exec_, a_, mine, options_.keep_l == KeepL::permuted);
    progress();
  }

  void update(const Step& step, Range global_cols) {
    PanelType& panel = slot(step);
    {
      trace::Span span(sink_, trace::Phase::broadcast);
      panel.wait(exec_);
    }
    const Range cols = plan_.local_cols(global_cols, at_);
    if (!cols.empty()) {
      const LocalStep mine = plan_.local(step, at_);
      const View columns = kernel::part(a_, {0, kernel::rows_of(a_)}, cols);
      const View u12 = exchange_rows(panel, mine, columns);
      solve_u12(panel, mine, columns, u12);
      trace::Span span(sink_, trace::Phase::update);
      kernel::gemm(exec_, T(-1), panel.template l21<Layout>(), u12, T(1),
                   kernel::part(columns, mine.below, {0, cols.size()}));
    }
    progress();
  }

  void finish(const Step& step) {
    PanelType& panel = slot(step);
    {
      trace::Span span(sink_, trace::Phase::broadcast);
      panel.wait(exec_);
    }
    pivots_->record(step, panel.pivots());
    const auto earlier = [](Index& first, Index candidate) {
      if (candidate >= 0 && (first < 0 || candidate < first)) first = candidate;
    };
    earlier(outcome_.first_zero_pivot, panel.outcome().first_zero_pivot);
    earlier(outcome_.first_nonfinite, panel.outcome().first_nonfinite);
    if (options_.keep_l == KeepL::permuted && Pivoting::exchanges_rows) permute_l(panel);
    exec_.fence();
    panel.release();
  }

 private:
  using PanelType = Panel<T, Exec>;
  using HostExec = std::remove_cvref_t<decltype(std::declval<const Exec&>().host())>;

  Index max_width() const { return std::min(plan_.block(), plan_.order()); }
  PanelType& slot(const Step& step) {
    return ring_[static_cast<std::size_t>(step.k) % ring_.size()];
  }
  Interchanges interchanges(const PanelType& panel) const {
    return {panel.step().cols.begin, panel.pivots(), panel.width()};
  }
  /// Room for `cols` columns of U12.
  View u12_buffer(Index width, Index cols) const {
    return kernel::wrap<Layout, typename Exec::memory::space>(
        u12_.data(), width, cols, kernel::is_row_major<Layout> ? std::max<Index>(cols, 1) : width);
  }

  /// Brings the panel's pivot rows to the top: in the matrix itself, or with several process rows
  /// in a buffer that each of them has.
  View exchange_rows(const PanelType& panel, const LocalStep& mine, const View& columns) {
    trace::Span span(sink_, trace::Phase::interchange);
    const Index cols = kernel::cols_of(columns);
    if (grid_.shape().rows == 1) {
      if constexpr (Pivoting::exchanges_rows)
        interchange_(interchanges(panel), columns, View());
      return kernel::part(columns, mine.top, {0, cols});
    }
    const View u12 = u12_buffer(panel.width(), cols);
    interchange_(interchanges(panel), columns, u12);
    return u12;
  }

  /// U12 := L11^-1 U12, and into the matrix where it belongs.
  void solve_u12(const PanelType& panel, const LocalStep& mine, const View& columns,
                 const View& u12) {
    trace::Span span(sink_, trace::Phase::triangular_solve);
    kernel::trsm(exec_, Side::left, Uplo::lower, Diag::unit, T(1), panel.template top<Layout>(),
                 u12);
    if (grid_.shape().rows > 1 && mine.has_diagonal_rows)
      kernel::copy(exec_, u12, kernel::part(columns, mine.top, {0, kernel::cols_of(columns)}));
  }

  /// Carries the interchanges over to the columns of L that are finished.
  void permute_l(const PanelType& panel) {
    trace::Span span(sink_, trace::Phase::interchange);
    const Range cols = plan_.local_cols({0, panel.step().cols.begin}, at_);
    if (cols.empty()) return;
    interchange_.apply(interchanges(panel), kernel::part(a_, {0, kernel::rows_of(a_)}, cols),
                       u12_buffer(panel.width(), cols.size()));
  }

  void progress() {
    for (auto& panel : ring_) panel.progress();
  }

  Exec exec_;
  ProcessGrid grid_;
  FactorOptions options_;
  Plan plan_;
  GridCoord at_;
  Interchange<T, Exec, Layout> interchange_;
  PanelFactorization<T, Pivoting, HostExec, Sink> panel_factorization_;
  Sink& sink_;
  std::vector<PanelType> ring_;
  kernel::Buffer<T, typename Exec::memory> u12_;

  View a_;
  Pivots* pivots_ = nullptr;
  PanelOutcome outcome_;
};

}  // namespace plinth::lu
