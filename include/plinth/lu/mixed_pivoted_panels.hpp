// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <type_traits>
#include <utility>

#include "plinth/comm/grid.hpp"
#include "plinth/kernel/lowp/gemm.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/lu/float_panel.hpp"
#include "plinth/lu/mixed_diagonal_block.hpp"
#include "plinth/lu/narrowing_log.hpp"
#include "plinth/lu/panel_factor.hpp"
#include "plinth/lu/panel_on_host.hpp"
#include "plinth/policy/pivoting.hpp"

namespace plinth::lu {

/// The owner column's work on panels (MixedPanel) of a matrix of type Factor with pivoting:
/// converted to float, factored as always (lu/panel_factor.hpp), scaled, rounded and packed. On the
/// host, with the other processes of the column.
///
/// Workspace: a FloatPanel; max_width^2 floats where diagonal blocks are inverted; where kernels
/// alone may touch the matrix the panel's columns.
template <class Factor, class Panel, ExecutionPolicy Exec, class Sink>
class MixedPivotedPanels {
 public:
  using Operand = typename Panel::Operand;
  using Layout = typename Panel::layout;
  using HostExec = std::remove_cvref_t<decltype(std::declval<const Exec&>().host())>;
  using View = kernel::MatrixView<Factor, Layout, typename Exec::memory::space>;

  MixedPivotedPanels(const MixedPanelSetting<Exec, Operand>& setting, Sink& sink)
      : exec_(setting.exec),
        beside_(setting.beside),
        host_(exec_.host()),
        grid_(setting.grid),
        rows_(setting.rows),
        setup_(setting.setup),
        block_(host_, setting),
        recursive_(host_, grid_, setting.options.panel, setting.options.pivot_reduction,
                   setting.max_width, sink),
        work_(setting.max_width, setting.max_rows()),
        columns_(setting.max_width, setting.max_rows()) {}

  Index workspace_bytes() const {
    return work_.bytes() + block_.workspace_bytes() + columns_.bytes();
  }

  /// Starts bringing a panel's columns to the host, `mine` of them, from the local matrix; they are
  /// there after the next fence of the panels' queue.
  void start_load(const View& a, const LocalStep& mine) {
    a_ = a;
    mine_ = mine;
    columns_.start_fetch(exec_, beside_, a, mine);
  }

  /// Factors them into `panel`, which has the shape of the step: on return it is ready to be sent.
  /// Collective over the process column.
  void factor(Panel& panel, NarrowingLog& log) {
    work_.reshape(panel.width(), panel.below());
    work_.load(
        host_, mine_.has_diagonal_rows,
        [&](Range rows) { return part_of(columns_.diagonal(), rows); },
        [&](Range rows) { return part_of(columns_.below(), rows); });
    ColumnPanel columns(work_.data(), panel.step(), panel.below(), panel.pivots());
    const int me = grid_.coord().row;
    const Index first_below = rows_.first_local(panel.step().cols.end, me);
    recursive_(columns, mine_.has_diagonal_rows,
               [&](Index row) { return rows_.global(first_below + row, me); });
    panel.header().outcome = columns.outcome();
    work_.copy_top(host_, panel.triangle());
    block_.judge(panel);
    block_.finish(panel, 1, mine_.has_diagonal_rows, columns_.diagonal(), log);
    log.count_multiplied(kernel::lowp::pack_a(
        host_.space(), setup_, panel.below(), panel.width(), work_.l21_data(), Index(1),
        work_.lead(), panel.packed(),
        static_cast<float>(std::ldexp(1.0, panel.header().l_operand))));
  }

  /// Stores what was factored last in the matrix; once it is on its way, so that nobody waits for
  /// this. Kernels that start from now on see it.
  void store(const Panel& panel, NarrowingLog& log) {
    const auto global_col = [&](Index j) { return panel.step().cols.begin + j; };
    work_.for_each_strip([&](Range rows) {
      log.store(host_, work_.rows_of_l21(host_, rows), part_of(columns_.below(), rows),
                panel.header().l, global_col);
    });
    columns_.write_back(exec_, beside_, a_, mine_);
  }

 private:
  template <class Rows>
  static Rows part_of(const Rows& all, Range some) {
    return kernel::part(all, some, {0, kernel::cols_of(all)});
  }

  Exec exec_;
  Exec beside_;
  HostExec host_;
  ProcessGrid grid_;
  BlockCyclic rows_;
  kernel::lowp::GemmSetup<Operand> setup_;
  MixedDiagonalBlock<Factor, Panel, HostExec> block_;
  PanelFactorization<float, PartialPivoting, HostExec, Sink> recursive_;
  FloatPanel<Layout> work_;
  PanelOnHost<Factor, Exec, Layout> columns_;

  View a_;
  LocalStep mine_;
};

}  // namespace plinth::lu
