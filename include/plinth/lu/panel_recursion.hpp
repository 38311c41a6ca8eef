// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "plinth/kernel/blas.hpp"
#include "plinth/kernel/deal.hpp"
#include "plinth/kernel/panel_columns.hpp"
#include "plinth/kernel/trsm.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/policy/panel.hpp"

namespace plinth::lu {

/// The columns of a panel, on the host: everything about factoring them but where pivots come from.
///
/// The panel a is column-major, `lead` rows: its first `width` rows are the top block, in which
/// row j is the j-th pivot row, the others are the rows below. Where the rows that the top block
/// starts with are this process's to choose from (`has_top_rows`), the rows still in play when
/// column c is next are [c, lead), elsewhere [width, lead), and everything up to pivoting reads as
/// in LAPACK.
///
/// Recursion over column ranges [c0, c1): split into parts; each part is factored, the others
/// brought up to date by triangular solves and products, in the order that the variant says.
/// Source: Toledo 1997.
template <class T, class HostExec>
class PanelRecursion {
 public:
  PanelRecursion(const HostExec& exec, const RecursivePanel& policy)
      : exec_(exec), deal_(exec.space()), policy_(policy) {}

  /// Takes a panel on.
  void reset(T* a, Index lead, Index width, bool has_top_rows) {
    a_ = a;
    lead_ = lead;
    width_ = width;
    has_top_rows_ = has_top_rows;
  }

  Index width() const { return width_; }
  bool has_top_rows() const { return has_top_rows_; }
  T& at(Index i, Index j) const { return a_[i + j * lead_]; }
  void read_row(Index i, T* row) const {
    for (Index j = 0; j < width_; ++j) row[j] = at(i, j);
  }
  void write_row(Index i, const T* row) const {
    for (Index j = 0; j < width_; ++j) at(i, j) = row[j];
  }

  /// Factors it in place. merit(j) is what the candidates of column j compete by (see
  /// kernel::advance_and_search), exchange(j, candidate) makes a pivot row the row j; `candidate`
  /// is the best of the rows in play here, numbered as in the panel.
  template <class Merit, class Exchange>
  void factor(const Merit& merit, const Exchange& exchange) {
    factor_range(0, width_, merit, exchange);
  }

  /// a(rows, cols) := a(rows, cols) U(cols, cols)^-1.
  void solve_rows(Range rows, Range cols) const {
    if (rows.empty() || cols.empty()) return;
    const auto u = transposed(cols, cols);
    const kernel::Threads threads = deal_.threads(rows.size());
    deal_(rows, [&](Range some) {
      kernel::trsm(exec_, Side::left, Uplo::lower, Diag::non_unit, T(1),
                   kernel::Operand<decltype(u)>{u}, transposed(some, cols), threads);
    });
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

 private:
  /// Rows still in play when column c is next.
  Range active(Index c) const { return {has_top_rows_ ? c : width_, lead_}; }

  template <class Merit, class Exchange>
  void factor_range(Index c0, Index c1, const Merit& merit, const Exchange& exchange) {
    if (c1 - c0 <= policy_.nbmin) return factor_base(c0, c1, merit, exchange);
    const Index units = ceil_div(c1 - c0, policy_.nbmin);
    const Index part = ceil_div(units, policy_.ndiv) * policy_.nbmin;
    for (Index c = c0; c < c1; c += part) {
      const Index end = std::min(c + part, c1);
      const Range done{c0, c}, here{c, end}, rest{end, c1};
      switch (policy_.variant) {
        case PanelVariant::left:
          solve_top(done, here);
          update_rows(active(c), done, here);
          factor_range(c, end, merit, exchange);
          break;
        case PanelVariant::crout:
          update_rows(active(c), done, here);
          factor_range(c, end, merit, exchange);
          update_rows(here, done, rest);
          solve_top(here, rest);
          break;
        case PanelVariant::right:
          factor_range(c, end, merit, exchange);
          solve_top(here, rest);
          update_rows(active(end), here, rest);
          break;
      }
    }
  }

  /// Columns [c0, c1) one by one. The division of a column by its pivot waits for the next
  /// column's turn, so that each column costs one pass over the rows.
  template <class Merit, class Exchange>
  void factor_base(Index c0, Index c1, const Merit& merit, const Exchange& exchange) {
    const bool right = policy_.base == PanelVariant::right;
    for (Index j = c0; j < c1; ++j) {
      if (policy_.base == PanelVariant::left) solve_top_column(c0, j);
      kernel::ColumnStep<T> step{a_, lead_, j, right ? j : c0};
      if (j > c0) {
        step.pivot = at(j - 1, j - 1);
        step.scales = step.pivot != T(0);
        if (right) step.right_end = c1;
      }
      exchange(j,
               kernel::advance_and_search(exec_.space(), step, active(j), best_isa(), merit(j)));
      if (policy_.base == PanelVariant::crout) finish_top_row(c0, j, c1);
    }
    const Index last = c1 - 1;
    if (at(last, last) != T(0)) kernel::scale_column(a_, lead_, active(c1), last, at(last, last));
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

  HostExec exec_;
  kernel::Deal<typename HostExec::execution_space> deal_;
  RecursivePanel policy_;

  T* a_ = nullptr;
  Index lead_ = 0;
  Index width_ = 0;
  bool has_top_rows_ = false;
};

}  // namespace plinth::lu
