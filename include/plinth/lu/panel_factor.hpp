// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "plinth/comm/grid.hpp"
#include "plinth/kernel/panel_columns.hpp"
#include "plinth/lu/diagonal_block.hpp"
#include "plinth/lu/panel.hpp"
#include "plinth/lu/panel_recursion.hpp"
#include "plinth/lu/pivot_exchange.hpp"
#include "plinth/policy/panel.hpp"
#include "plinth/policy/pivoting.hpp"
#include "plinth/trace/phase.hpp"

namespace plinth::lu {

/// What the candidates of one column compete by, as kernel::advance_and_search asks for it:
/// `global_row(i)` is the global index of the panel's row i.
template <class Pivoting, class GlobalRow>
struct ColumnMerit {
  Pivoting pivoting;
  GlobalRow global_row;
  Index column;  ///< global

  template <class Real>
  Real operator()(Real magnitude, Index i) const {
    const auto merit = static_cast<Real>(pivoting.merit(magnitude, global_row(i), column));
    return is_nan(merit) || merit < Real(0) ? Real(0) : merit;
  }
};

/// The global index of each row of a panel as it comes: the top block's rows are the diagonal
/// block's, row width + r is global_row(r).
template <class GlobalRow>
auto rows_of_panel(const Step& step, const GlobalRow& global_row) {
  return [first = step.cols.begin, width = step.width(), &global_row](Index i) {
    return i < width ? first + i : global_row(i - width);
  };
}

/// Factors panels, on the host or on a device, together with the other processes of the owning
/// process column, a column at a time.
///
/// Every process builds the panel's top block up as pivots are found (row j is the j-th pivot row).
/// On the process row of the diagonal block, top rows that are not pivot rows yet hold the diagonal
/// block's own rows. Triangular solves with the top block are done by every process alike, without
/// a message.
///
/// On a device all work on the panel is started in the queue of `exec`, behind that which brings it
/// there. With one process row the host waits for none of it, and take_pivots() is to be called
/// after the queue's next fence; with several, for each column's two rows.
/// Source: netlib HPL for the distributed exchange.
template <class T, PivotingPolicy Pivoting, class Exec, class Sink = trace::Off>
class PanelFactorization {
 public:
  PanelFactorization(const Exec& exec, const ProcessGrid& grid, const RecursivePanel& policy,
                     PivotReduction reduction, Index max_width, Sink& sink,
                     const Pivoting& pivoting = {})
      : recursion_(exec, policy),
        pivot_(grid, max_width, reduction),
        pivoting_(pivoting),
        sink_(sink),
        is_alone_(grid.shape().rows == 1) {
    if constexpr (on_device) recursion_.reserve(max_width, is_alone_);
  }

  /// Factors `panel` in place; sets its pivots and outcome. Collective over the process column.
  /// global_row(r) is the global index of the panel's row width + r.
  template <class PanelType, class GlobalRow>
  void operator()(PanelType& panel, bool has_diagonal_rows, const GlobalRow& global_row) {
    first_row_ = panel.step().cols.begin;
    pivots_ = panel.pivots();
    outcome_ = {};
    recursion_.reset(data_of(panel), panel.lead(), panel.width(), has_diagonal_rows);
    const auto global = rows_of_panel(panel.step(), global_row);
    const auto exchange = [&](Index j, const auto& best) { this->exchange(j, best, global); };
    if constexpr (std::is_same_v<Pivoting, PartialPivoting> || !Pivoting::exchanges_rows) {
      recursion_.factor([](Index) { return kernel::ByMagnitude{}; }, exchange);
    } else {
      recursion_.factor(
          [&](Index j) {
            return ColumnMerit<Pivoting, decltype(global)>{pivoting_, global, first_row_ + j};
          },
          exchange);
    }
    panel.outcome() = outcome_;
    if constexpr (on_device)
      if (is_alone_) recursion_.start_found_to_host();
  }

  /// Sets the pivots and the outcome of a panel that one process has factored on a device.
  template <class PanelType, class GlobalRow>
  void take_pivots(PanelType& panel, const GlobalRow& global_row) const
      requires(PanelColumnsOf<T, Exec>::on_device) {
    if (!is_alone_) return;
    const auto global = rows_of_panel(panel.step(), global_row);
    for (Index j = 0; j < panel.width(); ++j) {
      const kernel::FoundPivot<T>& found = recursion_.found(j);
      panel.pivots()[j] = global(found.row);
      note_pivot(panel.outcome(), panel.step().cols.begin + j, found.value);
    }
  }

 private:
  static constexpr bool on_device = PanelColumnsOf<T, Exec>::on_device;

  template <class PanelType>
  static T* data_of(const PanelType& panel) {
    if constexpr (on_device) {
      return panel.device();
    } else {
      return panel.host();
    }
  }

  /// Finds the pivot of column j, and makes the pivot row the top block's row j everywhere; the
  /// row that it displaces takes its place.
  template <class Best, class GlobalRow>
  void exchange(Index j, Best best, const GlobalRow& global) {
    trace::Span span(sink_, trace::Phase::pivot);
    if constexpr (!Pivoting::exchanges_rows) best = recursion_.in_place(j);
    if constexpr (on_device)
      if (is_alone_) return recursion_.exchange_rows(j, best);
    PivotMessage<T>& message = pivot_.message();
    auto candidate = recursion_.read_rows(j, best, message.winner_row(), message.current_row());
    Index local = candidate.row;
    if (local >= 0) candidate.row = global(local);
    message.set(candidate, recursion_.has_top_rows());
    pivot_(j == 0);

    pivots_[j] = message.candidate().row;
    if (candidate.row != pivots_[j]) local = -1;
    recursion_.write_rows(j, local, message.winner_row(), message.current_row());
    note_pivot(outcome_, first_row_ + j, message.winner_row()[j]);
  }

  PanelRecursion<T, Exec> recursion_;
  PivotExchange<T> pivot_;
  Pivoting pivoting_;
  Sink& sink_;
  bool is_alone_;  ///< one process row

  Index first_row_ = 0;
  Index* pivots_ = nullptr;
  PanelOutcome outcome_;
};

}  // namespace plinth::lu
