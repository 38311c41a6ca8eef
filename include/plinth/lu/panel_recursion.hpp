// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <type_traits>

#include "plinth/kernel/blas.hpp"
#include "plinth/kernel/panel_columns.hpp"
#include "plinth/kernel/trsm.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/lu/device_columns.hpp"
#include "plinth/lu/panel_columns.hpp"
#include "plinth/policy/execution.hpp"
#include "plinth/policy/panel.hpp"

namespace plinth::lu {

/// A panel's columns where kernels of Exec factor them.
template <class T, class Exec>
using PanelColumnsOf =
    std::conditional_t<is_host_accessible<Exec>, HostColumns<T, Exec>, DeviceColumns<T, Exec>>;

/// The columns of a panel, on the host or a device, and everything about factoring them but where
/// pivots come from.
///
/// Recursion over column ranges [c0, c1): split into parts; each part is factored, the others
/// brought up to date by triangular solves and products, in the order that the variant says.
/// Source: Toledo 1997.
template <class T, class Exec>
class PanelRecursion : public PanelColumnsOf<T, Exec> {
  using Columns = PanelColumnsOf<T, Exec>;
  using Columns::active, Columns::deal, Columns::transposed;

 public:
  PanelRecursion(const Exec& exec, const RecursivePanel& policy)
      : Columns(exec), policy_(policy) {}

  /// Factors it in place. merit(j) is what the candidates of column j compete by (see
  /// kernel::advance_and_search), exchange(j, candidate) makes a pivot row the row j; `candidate`
  /// is the best of the rows in play here, numbered as in the panel.
  template <class Merit, class Exchange>
  void factor(const Merit& merit, const Exchange& exchange) {
    factor_range(0, this->width(), merit, exchange);
  }

  /// a(rows, cols) := a(rows, cols) U(cols, cols)^-1.
  void solve_rows(Range rows, Range cols) const {
    if (rows.empty() || cols.empty()) return;
    const auto u = transposed(cols, cols);
    const kernel::Threads threads = this->threads(rows.size());
    deal(rows, [&](Range some) {
      kernel::trsm(this->exec(), Side::left, Uplo::lower, Diag::non_unit, T(1),
                   kernel::Operand<decltype(u)>{u}, transposed(some, cols), threads);
    });
  }
  /// a(rows, cols) -= a(rows, inner) U(inner, cols).
  void update_rows(Range rows, Range inner, Range cols) const {
    if (rows.empty() || inner.empty() || cols.empty()) return;
    const auto u = transposed(inner, cols);
    deal(rows, [&](Range some) {
      kernel::gemm(this->exec(), T(-1), kernel::Operand<decltype(u)>{u}, transposed(some, inner),
                   T(1), transposed(some, cols));
    });
  }

 private:
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
      if (policy_.base == PanelVariant::left) this->solve_top_column(c0, j);
      // The first column of a base has nothing to its left.
      const auto due = this->step(j, right ? j : c0, right && j > c0 ? c1 : 0, j > c0);
      exchange(j, this->advance_and_search(due, merit(j)));
      if (policy_.base == PanelVariant::crout) this->finish_top_row(c0, j, c1);
    }
    this->scale_column(active(c1), c1 - 1);
  }

  /// U(tri, cols) := L(tri, tri)^-1 of what stands there.
  void solve_top(Range tri, Range cols) const {
    if (tri.empty() || cols.empty()) return;
    const auto l = transposed(tri, tri);
    kernel::trsm(this->exec(), Side::right, Uplo::upper, Diag::unit, T(1),
                 kernel::Operand<decltype(l)>{l}, transposed(tri, cols));
  }

  RecursivePanel policy_;
};

}  // namespace plinth::lu
