// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>
#include <utility>

#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/lu/mixed_block_column_solve.hpp"
#include "plinth/lu/mixed_diagonal_block.hpp"
#include "plinth/lu/narrowing_log.hpp"
#include "plinth/lu/panel_beside.hpp"
#include "plinth/lu/panel_on_host.hpp"
#include "plinth/policy/execution.hpp"

namespace plinth::lu {

/// The owner column's work on panels (MixedPanel) of a matrix of type Factor without pivoting. The
/// diagonal block's owner factors it, on the host, and sends it down the column; L21 = A21 U11^-1
/// everywhere at once: one message, not one per column; then one number for the largest entry of
/// L.
///
/// L21 is made on the host, too, or, where panels are the device's, by kernels in the panels'
/// queue, `beside`: then only the diagonal block goes to the host and back, and what the host waits
/// for in this queue is a few numbers: L's largest entry, and counts.
///
/// Workspace: that of lu/mixed_block_column_solve.hpp and of the diagonal block, max_width^2
/// floats; where kernels alone may touch the matrix the panel's columns, there and, unless panels
/// are the device's, on the host.
template <class Factor, class Panel, ExecutionPolicy Exec>
class MixedUnpivotedPanels {
 public:
  using Operand = typename Panel::Operand;
  using Layout = typename Panel::layout;
  using HostExec = std::remove_cvref_t<decltype(std::declval<const Exec&>().host())>;
  using View = kernel::MatrixView<Factor, Layout, typename Exec::memory::space>;

  template <class Sink>
  MixedUnpivotedPanels(const MixedPanelSetting<Exec, Operand>& setting, const Sink&)
      : exec_(setting.exec),
        beside_(setting.beside),
        solver_(solver(setting)),
        block_(exec_.host(), setting),
        u11_(setting.max_width * setting.max_width),
        column_(solver_, setting.setup, setting.max_width, setting.max_rows(),
                setting.options.invert_diagonal),
        columns_(setting.max_width, setting.max_rows()) {}

  Index workspace_bytes() const {
    return column_.workspace_bytes() + block_.workspace_bytes() +
           u11_.size() * Index(sizeof(float)) + columns_.bytes();
  }

  /// Starts bringing a panel's columns, `mine` of them, from the local matrix to who works on them;
  /// what the host does is there after the next fence of the panels' queue.
  void start_load(const View& a, const LocalStep& mine) {
    a_ = a;
    mine_ = mine;
    columns_.start_fetch(exec_, beside_, a, mine);
  }

  /// Factors them into `panel`, which has the shape of the step: on return it is ready to be sent.
  /// Collective over the process column.
  void factor(Panel& panel, NarrowingLog& log) {
    block_.factor(panel, mine_.has_diagonal_rows, columns_.diagonal());
    const bool inverted = !mine_.below.empty() && prepare_u11(panel);
    column_.solve(square<typename Solver::memory::space>(u11_.device(), panel.width()), inverted,
                  columns_.below());
    block_.finish(panel, block_.largest_of_l(panel, column_.largest()), mine_.has_diagonal_rows,
                  columns_.diagonal(), log);
    log.count_multiplied(column_.pack(panel.header().l_operand,
                                      on_device ? panel.device_packed() : panel.packed()));
  }

  /// Stores what was factored last in the matrix; once it is on its way, so that nobody waits for
  /// this. Kernels that start from now on see it.
  void store(const Panel& panel, NarrowingLog& log) {
    column_.store(
        columns_.below(), panel.header().l,
        [&](Index j) { return panel.step().cols.begin + j; }, log);
    columns_.write_back(exec_, beside_, a_, mine_);
  }

 private:
  static constexpr bool on_device = has_panels_on_device<Exec>;
  /// Who makes L21.
  using Solver = std::conditional_t<on_device, Exec, HostExec>;
  using Columns = std::conditional_t<on_device, PanelBeside<Factor, Exec, Layout>,
                                     PanelOnHost<Factor, Exec, Layout>>;

  static Solver solver(const MixedPanelSetting<Exec, Operand>& setting) {
    if constexpr (on_device) {
      return setting.beside;
    } else {
      return setting.exec.host();
    }
  }
  template <class Space>
  static auto square(float* data, Index width) {
    return kernel::contiguous<Layout, Space>(data, width, width);
  }

  /// U11, or its inverse, to who makes L21; whether it is the inverse.
  bool prepare_u11(const Panel& panel) {
    const auto u11 = square<Kokkos::HostSpace>(u11_.host(), panel.width());
    const bool inverted = block_.invert_upper(panel, u11);
    const HostExec host = exec_.host();
    if (!inverted) kernel::copy(host, panel.triangle(), u11);
    host.fence();
    u11_.to_device(solver_, 0, panel.width() * panel.width());
    return inverted;
  }

  Exec exec_;
  Exec beside_;
  Solver solver_;
  MixedDiagonalBlock<Factor, Panel, HostExec> block_;
  kernel::Staged<float, Solver> u11_;
  MixedBlockColumnSolve<Factor, Operand, Layout, Solver> column_;
  Columns columns_;

  View a_;
  LocalStep mine_;
};

}  // namespace plinth::lu
