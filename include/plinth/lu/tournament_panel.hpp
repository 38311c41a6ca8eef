// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "plinth/comm/grid.hpp"
#include "plinth/comm/mpi.hpp"
#include "plinth/kernel/panel_columns.hpp"
#include "plinth/lu/diagonal_block.hpp"
#include "plinth/lu/panel.hpp"
#include "plinth/lu/panel_factor.hpp"
#include "plinth/lu/panel_recursion.hpp"
#include "plinth/lu/pivot_tournament.hpp"
#include "plinth/lu/row_permutation.hpp"
#include "plinth/policy/panel.hpp"
#include "plinth/policy/pivoting.hpp"
#include "plinth/trace/phase.hpp"

namespace plinth::lu {

/// Factors panels as PanelFactorization does, with tournament pivoting:
///
///     the tournament                              rows, best first, to the top's owner
///     one message down the process column         the top block's L11 \ U11, where its rows come
///                                                 from, and the rows that they displace
///     displaced rows to their places; L21 := A21 U11^-1           by everybody alone
///
/// The pivots are recorded as the interchanges that bring the winners to the top one after the
/// other, so that nobody else need know. With one process row it is partial pivoting.
///
/// Workspace: that of the tournament, and 2 max_width^2 elements.
template <class T, class HostExec, class Sink = trace::Off>
class TournamentPanelFactorization {
 public:
  /// `max_rows`: the most rows of a panel that are this process's, the diagonal block's included.
  TournamentPanelFactorization(const HostExec& exec, const ProcessGrid& grid,
                               const RecursivePanel& policy, PivotReduction reduction,
                               Index max_width, Sink& sink, const TournamentPivoting& pivoting,
                               Index max_rows)
      : grid_(grid), recursion_(exec, policy), sink_(sink) {
    if (grid.shape().rows == 1) {
      alone_.emplace(exec, grid, policy, reduction, max_width, sink);
      return;
    }
    tournament_.emplace(exec, grid, policy, pivoting.radix, max_width, max_rows);
    result_.resize(result_bytes(max_width));
  }

  /// Factors `panel` in place; sets its pivots and outcome. Collective over the process column.
  /// global_row(r) is the global index of the panel's row width + r.
  template <class PanelType, class GlobalRow>
  void operator()(PanelType& panel, bool has_diagonal_rows, const GlobalRow& global_row) {
    if (alone_) return (*alone_)(panel, has_diagonal_rows, global_row);
    a_ = panel.host();
    lead_ = panel.lead();
    width_ = panel.width();
    const Index first = panel.step().cols.begin;
    const Index begin = has_diagonal_rows ? 0 : width_;  // of the rows in play here
    recursion_.reset(a_, lead_, width_, has_diagonal_rows);
    {
      trace::Span span(sink_, trace::Phase::pivot);
      (*tournament_)(a_ + begin, lead_, lead_ - begin, width_, panel.step().owner_row,
                     [&](Index i) {
                       const Index row = begin + i;
                       return row < width_ ? first + row : global_row(row - width_);
                     });
      if (has_diagonal_rows) write_result();
      for_each_piece_of_result([&](std::byte* piece, int count) {
        comm::check(MPI_Bcast(piece, count, MPI_BYTE, panel.step().owner_row,
                              grid_.column_pivots().handle()),
                    "MPI_Bcast");
      });
    }
    bring_to_top(first, winners(), width_, panel.pivots());
    place_displaced(row_permutation({first, panel.pivots(), width_}), global_row);
    for (Index j = 0; j < width_; ++j) std::copy_n(triangle() + j * width_, width_, &at(0, j));
    panel.outcome() = {};
    for (Index j = 0; j < width_; ++j) note_pivot(panel.outcome(), first + j, at(j, j));
    solve_below();
  }

 private:
  T& at(Index i, Index j) const { return recursion_.at(i, j); }

  // What the top's owner tells the others: L11 \ U11, the rows that stood there, both column by
  // column, and the global rows of the winners.
  static std::size_t result_bytes(Index width) {
    constexpr std::size_t unit = 16;
    const auto both = 2 * static_cast<std::size_t>(width * width) * sizeof(T);
    return (both + unit - 1) / unit * unit + static_cast<std::size_t>(width) * sizeof(Index);
  }
  T* triangle() { return reinterpret_cast<T*>(result_.data()); }
  T* former_top() { return triangle() + width_ * width_; }
  Index* winners() {
    const std::size_t end = result_bytes(width_);
    return reinterpret_cast<Index*>(result_.data() + end) - width_;
  }
  void write_result() {
    for (Index j = 0; j < width_; ++j)
      for (Index i = 0; i < width_; ++i) {
        triangle()[i + j * width_] = tournament_->triangle(i, j);
        former_top()[i + j * width_] = at(i, j);
      }
    std::copy_n(tournament_->winners().rows(), width_, winners());
  }
  template <class F>
  void for_each_piece_of_result(const F& f) {
    comm::for_each_chunk(static_cast<Index>(result_bytes(width_)), grid_.options().max_message,
                         [&](Index offset, int count) { f(result_.data() + offset, count); });
  }

  /// Rows below that receive one of the former top rows, where they are this process's.
  template <class GlobalRow>
  void place_displaced(const RowPermutation& moves, const GlobalRow& global_row) {
    const Index below = lead_ - width_;
    for (std::size_t b = 0; b < moves.target.size(); ++b) {
      Index r = 0;  // the first row below that is not above the target
      for (Index end = below; r < end;) {
        const Index middle = r + (end - r) / 2;
        if (global_row(middle) < moves.target[b]) {
          r = middle + 1;
        } else {
          end = middle;
        }
      }
      if (r == below || global_row(r) != moves.target[b]) continue;
      const T* const from = former_top() + (moves.origin[b] - moves.first);
      for (Index j = 0; j < width_; ++j) at(width_ + r, j) = from[j * width_];
    }
  }

  /// L21 := A21 U11^-1, so many columns at a time: products do most of it. A column whose pivot is
  /// zero is left undivided, as LAPACK leaves it; one whose pivot has no reciprocal, which a
  /// triangular solve may ask for, is divided by itself.
  void solve_below() {
    constexpr Index at_once = 64;
    const Range rows{width_, lead_};
    const auto is_regular = [&](Index j) {
      return !is_finite(at(j, j)) || kernel::has_reciprocal(at(j, j));
    };
    for (Index c = 0, end = 0; c < width_; c = end) {
      const bool regular = is_regular(c);
      end = c + 1;
      while (regular && end < width_ && end - c < at_once && is_regular(end)) ++end;
      recursion_.update_rows(rows, {0, c}, {c, end});
      if (regular) {
        recursion_.solve_rows(rows, {c, end});
      } else if (at(c, c) != T(0)) {
        kernel::scale_column(a_, lead_, rows, c, at(c, c));
      }
    }
  }

  ProcessGrid grid_;
  PanelRecursion<T, HostExec> recursion_;
  Sink& sink_;
  std::optional<PanelFactorization<T, PartialPivoting, HostExec, Sink>> alone_;
  std::optional<PivotTournament<T, HostExec>> tournament_;
  std::vector<std::byte> result_;

  T* a_ = nullptr;
  Index lead_ = 0;
  Index width_ = 0;
};

}  // namespace plinth::lu
