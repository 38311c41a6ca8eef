// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "plinth/comm/allreduce.hpp"
#include "plinth/comm/grid.hpp"
#include "plinth/kernel/blas.hpp"
#include "plinth/kernel/deal.hpp"
#include "plinth/kernel/panel_columns.hpp"
#include "plinth/lu/panel.hpp"
#include "plinth/lu/pivot_exchange.hpp"
#include "plinth/policy/panel.hpp"
#include "plinth/policy/pivoting.hpp"
#include "plinth/trace/phase.hpp"

namespace plinth::lu {

/// Factors panels, on the host, together with the other processes of the owning process column.
///
/// The panel a is column-major, `lead` rows: its first `width` rows are the top block, which
/// every process builds up as pivots are found (row j is the j-th pivot row), the others are this
/// process's rows below. On the process row of the diagonal block, top rows that are not pivot
/// rows yet hold the diagonal block's own rows. So the rows still in play are [c, lead) there and
/// [width, lead) elsewhere, and everything up to pivoting reads as in LAPACK.
///
/// Recursion over column ranges [c0, c1): split into parts; each part is factored, the others
/// brought up to date by triangular solves and products, in the order that the variant says.
/// Triangular solves with the top block are done by every process alike, without a message.
/// Source: Toledo 1997; netlib HPL for the distributed exchange.
template <class T, PivotingPolicy Pivoting, class HostExec, class Sink = trace::Off>
class PanelFactorization {
 public:
  PanelFactorization(const HostExec& exec, const ProcessGrid& grid, const RecursivePanel& policy,
                     PivotReduction reduction, Index max_width, Sink& sink)
      : exec_(exec),
        deal_(exec.space()),
        policy_(policy),
        pivot_(grid, max_width, reduction),
        sink_(sink) {}

  /// Factors `panel` in place; sets its pivots and outcome. Collective over the process column.
  /// global_row(r) is the global index of the panel's row width + r.
  template <class PanelType, class GlobalRow>
  void operator()(PanelType& panel, bool has_diagonal_rows, const GlobalRow& global_row) {
    a_ = panel.host();
    lead_ = panel.lead();
    width_ = panel.width();
    first_row_ = panel.step().cols.begin;
    has_diagonal_rows_ = has_diagonal_rows;
    pivots_ = panel.pivots();
    outcome_ = {};
    factor_range(0, width_, global_row);
    panel.outcome() = outcome_;
  }

 private:
  /// Rows still in play when column c is next.
  Range active(Index c) const { return {has_diagonal_rows_ ? c : width_, lead_}; }

  template <class GlobalRow>
  void factor_range(Index c0, Index c1, const GlobalRow& global_row) {
    if (c1 - c0 <= policy_.nbmin) return factor_base(c0, c1, global_row);
    const Index units = ceil_div(c1 - c0, policy_.nbmin);
    const Index part = ceil_div(units, policy_.ndiv) * policy_.nbmin;
    for (Index c = c0; c < c1; c += part) {
      const Index end = std::min(c + part, c1);
      const Range done{c0, c}, here{c, end}, rest{end, c1};
      switch (policy_.variant) {
        case PanelVariant::left:
          solve_top(done, here);
          update_rows(active(c), done, here);
          factor_range(c, end, global_row);
          break;
        case PanelVariant::crout:
          update_rows(active(c), done, here);
          factor_range(c, end, global_row);
          update_rows(here, done, rest);
          solve_top(here, rest);
          break;
        case PanelVariant::right:
          factor_range(c, end, global_row);
          solve_top(here, rest);
          update_rows(active(end), here, rest);
          break;
      }
    }
  }

  /// Columns [c0, c1) one by one. The division of a column by its pivot waits for the next
  /// column's turn, so that each column costs one pass over the rows.
  template <class GlobalRow>
  void factor_base(Index c0, Index c1, const GlobalRow& global_row) {
    const bool right = policy_.base == PanelVariant::right;
    for (Index j = c0; j < c1; ++j) {
      if (policy_.base == PanelVariant::left) solve_top_column(c0, j);
      kernel::ColumnStep<T> step{a_, lead_, j, right ? j : c0};
      if (j > c0) {
        step.pivot = at(j - 1, j - 1);
        step.scales = step.pivot != T(0);
        if (right) step.right_end = c1;
      }
      exchange(j, kernel::advance_and_search(exec_.space(), step, active(j)), global_row);
      record(j, at(j, j));
      if (policy_.base == PanelVariant::crout) finish_top_row(c0, j, c1);
    }
    const Index last = c1 - 1;
    if (at(last, last) != T(0)) kernel::scale_column(a_, lead_, active(c1), last, at(last, last));
  }

  /// Finds the pivot of column j, and makes the pivot row the top block's row j everywhere; the
  /// row that it displaces takes its place.
  template <class GlobalRow>
  void exchange(Index j, kernel::PivotCandidate<RealOf<T>> candidate,
                const GlobalRow& global_row) {
    trace::Span span(sink_, trace::Phase::pivot);
    if constexpr (!Pivoting::exchanges_rows) candidate.row = has_diagonal_rows_ ? j : -1;
    PivotMessage<T>& message = pivot_.message();
    const Index local = candidate.row;
    if (local >= 0) {
      candidate.row = local < width_ ? first_row_ + local : global_row(local - width_);
      read_row(local, message.winner_row());
    }
    if (has_diagonal_rows_) read_row(j, message.current_row());
    message.set(candidate, has_diagonal_rows_);
    pivot_(j == 0);

    const Index winner = message.candidate().row;
    pivots_[j] = winner;
    if (local >= 0 && candidate.row == winner) write_row(local, message.current_row());
    write_row(j, message.winner_row());
  }

  void record(Index j, T pivot) {
    const Index column = first_row_ + j;
    if (outcome_.first_zero_pivot < 0 && pivot == T(0)) outcome_.first_zero_pivot = column;
    if (outcome_.first_nonfinite < 0 && !is_finite(pivot)) outcome_.first_nonfinite = column;
  }

  T& at(Index i, Index j) const { return a_[i + j * lead_]; }
  void read_row(Index i, T* row) const {
    for (Index j = 0; j < width_; ++j) row[j] = at(i, j);
  }
  void write_row(Index i, const T* row) const {
    for (Index j = 0; j < width_; ++j) at(i, j) = row[j];
  }

  /// U(c0..j, j) := L^-1 of what stands there, L the unit lower triangle of the base's own
  /// columns.
  void solve_top_column(Index c0, Index j) const {
    for (Index c = c0; c < j; ++c)
      for (Index i = c + 1; i < j; ++i) at(i, j) -= at(i, c) * at(c, j);
  }
  /// U(j, j+1..c1) -= L(j, c0..j) U(c0..j, j+1..c1).
  void finish_top_row(Index c0, Index j, Index c1) const {
    for (Index q = j + 1; q < c1; ++q)
      for (Index c = c0; c < j; ++c) at(j, q) -= at(j, c) * at(c, q);
  }

  // The panel is column-major; its transpose is a row-major View, and products and triangular
  // solves are those of the transposes: one layout for all BLAS calls.
  auto transposed(Range rows, Range cols) const {
    return kernel::wrap<Kokkos::LayoutRight, Kokkos::HostSpace>(
        a_ + rows.begin + cols.begin * lead_, cols.size(), rows.size(), lead_);
  }

  /// U(tri, cols) := L(tri, tri)^-1 of what stands there.
  void solve_top(Range tri, Range cols) const {
    if (tri.empty() || cols.empty()) return;
    const auto l = transposed(tri, tri);
    kernel::trsm(exec_, Side::right, Uplo::upper, Diag::unit, T(1),
                 kernel::Operand<decltype(l)>{l}, transposed(tri, cols));
  }
  /// a(rows, cols) -= a(rows, inner) U(inner, cols).
  void update_rows(Range rows, Range inner, Range cols) const {
    if (rows.empty() || inner.empty() || cols.empty()) return;
    const auto u = transposed(inner, cols);
    deal_(rows, [&](Range some) {
      kernel::gemm(exec_, T(-1), kernel::Operand<decltype(u)>{u}, transposed(some, inner), T(1),
                   transposed(some, cols));
    });
  }

  HostExec exec_;
  kernel::Deal<typename HostExec::execution_space> deal_;
  RecursivePanel policy_;
  PivotExchange<T> pivot_;
  Sink& sink_;

  T* a_ = nullptr;
  Index lead_ = 0;
  Index width_ = 0;
  Index first_row_ = 0;
  bool has_diagonal_rows_ = false;
  Index* pivots_ = nullptr;
  PanelOutcome outcome_;
};

}  // namespace plinth::lu
