// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "plinth/comm/grid.hpp"
#include "plinth/comm/mpi.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/lu/panel_recursion.hpp"
#include "plinth/policy/panel.hpp"

namespace plinth::lu {

/// Rows that compete for a panel's top, at most its width of them: where they come from (global
/// rows) and what stands there before the factorization. One contiguous message.
template <class T>
class PivotRows {
 public:
  PivotRows() = default;
  explicit PivotRows(Index width) { reserve(width); }

  void reserve(Index width) { bytes_.resize(bytes_of(width)); }
  void reshape(Index width) {
    width_ = width;
    set_count(0);
  }

  Index count() const { return rows()[width_]; }
  void set_count(Index count) { rows()[width_] = count; }
  /// Global rows, best first.
  Index* rows() { return reinterpret_cast<Index*>(bytes_.data() + values_bytes(width_)); }
  const Index* rows() const {
    return reinterpret_cast<const Index*>(bytes_.data() + values_bytes(width_));
  }
  /// Column j of them.
  T* column(Index j) { return reinterpret_cast<T*>(bytes_.data()) + j * width_; }
  const T* column(Index j) const {
    return reinterpret_cast<const T*>(bytes_.data()) + j * width_;
  }

  std::byte* message() { return bytes_.data(); }
  Index message_bytes() const { return static_cast<Index>(bytes_of(width_)); }

 private:
  static std::size_t values_bytes(Index width) {
    constexpr std::size_t unit = 16;
    return (static_cast<std::size_t>(width * width) * sizeof(T) + unit - 1) / unit * unit;
  }
  static std::size_t bytes_of(Index width) {
    return values_bytes(width) + static_cast<std::size_t>(width + 1) * sizeof(Index);
  }

  Index width_ = 0;
  std::vector<std::byte> bytes_;
};

/// A tournament of rows for the top of a panel, among the processes of a column.
///
/// Each process picks the rows that LU with partial pivoting of its own rows picks; up a tree,
/// whose root is the process row of the diagonal block, those of `radix` processes at a time are
/// stacked and the ones that LU with partial pivoting of the stack picks go on. The last LU is
/// that of the panel's top block. Its first zero pivot is the panel's: rows that are picked span,
/// in the leading columns, what all rows span.
///
/// Every match is played by one process, so that all agree on its result whatever rounding does.
/// Workspace: max_width (max(max_rows, radix max_width) + (radix + 1) max_width) elements.
/// Source: Grigori, Demmel, Xiang 2011.
template <class T, class HostExec>
class PivotTournament {
 public:
  /// `max_rows`: how many rows this process may have in play.
  PivotTournament(const HostExec& exec, const ProcessGrid& grid, const RecursivePanel& policy,
                  Index radix, Index max_width, Index max_rows)
      : recursion_(exec, policy),
        grid_(grid),
        radix_(std::min<Index>(radix, grid.shape().rows)),
        mine_(max_width),
        winners_(max_width),
        others_(static_cast<std::size_t>(std::max<Index>(radix_ - 1, 0))),
        stack_(max_width * std::max(max_rows, radix_ * max_width)) {
    for (PivotRows<T>& other : others_) other.reserve(max_width);
  }

  /// Plays the tournament for a panel of `width` columns whose top belongs to process row `root`.
  /// This process has `count` rows in play: row i is global_row(i), and its entry in column j
  /// a[i + j lead]. Collective over the process column.
  ///
  /// On the root, the winners in the order of their columns: winners().rows(), and their L and U,
  /// triangle(i, j). What others have there is of no use.
  template <class GlobalRow>
  void operator()(const T* a, Index lead, Index count, Index width, int root,
                  const GlobalRow& global_row) {
    width_ = width;
    mine_.reshape(width);
    winners_.reshape(width);
    pick_own(a, lead, count, global_row);
    const int size = grid_.shape().rows;
    const int me = (grid_.coord().row - root + size) % size;
    for (Index step = 1; step < size; step *= radix_) {
      if (me % (step * radix_) != 0) {
        send(static_cast<int>(me - me % (step * radix_) + root) % size);
        return;
      }
      Index players = 0;
      for (Index child = me + step; child < me + step * radix_ && child < size; child += step) {
        PivotRows<T>& other = others_[static_cast<std::size_t>(players++)];
        other.reshape(width);
        receive(other, static_cast<int>(child + root) % size);
      }
      if (players > 0) play(players, me == 0);
    }
  }

  const PivotRows<T>& winners() const { return mine_; }
  T triangle(Index i, Index j) const { return recursion_.at(i, j); }

 private:
  static constexpr int tag = 8;

  /// The best of this process's rows, all of them if they are few.
  template <class GlobalRow>
  void pick_own(const T* a, Index lead, Index count, const GlobalRow& global_row) {
    start_order(count);
    if (count > width_) {
      for (Index j = 0; j < width_; ++j)
        std::copy_n(a + j * lead, count, stack_.data() + j * count);
      factor(count);
    }
    mine_.set_count(std::min(count, width_));
    for (Index t = 0; t < mine_.count(); ++t)
      mine_.rows()[t] = global_row(order_[static_cast<std::size_t>(t)]);
    for (Index j = 0; j < width_; ++j)
      for (Index t = 0; t < mine_.count(); ++t)
        mine_.column(j)[t] = a[order_[static_cast<std::size_t>(t)] + j * lead];
  }

  /// This process's candidates against those of so many others.
  void play(Index players, bool is_last) {
    Index count = mine_.count();
    for (Index p = 0; p < players; ++p) count += other(p).count();
    start_order(count);
    if (is_last || count > width_) {
      Index at = 0;
      for_each_player(players, [&](const PivotRows<T>& set) {
        for (Index j = 0; j < width_; ++j)
          std::copy_n(set.column(j), set.count(), stack_.data() + at + j * count);
        at += set.count();
      });
      factor(count);
    }
    winners_.set_count(std::min(count, width_));
    for (Index t = 0; t < winners_.count(); ++t) {
      Index i = order_[static_cast<std::size_t>(t)];
      const PivotRows<T>* from = &mine_;
      for (Index p = 0; i >= from->count(); ++p) {
        i -= from->count();
        from = &other(p);
      }
      winners_.rows()[t] = from->rows()[i];
      for (Index j = 0; j < width_; ++j) winners_.column(j)[t] = from->column(j)[i];
    }
    std::swap(mine_, winners_);
  }

  /// LU with partial pivoting of the stack of `count` >= width rows; order_ follows its rows.
  void factor(Index count) {
    recursion_.reset(stack_.data(), count, width_, true);
    recursion_.factor([](Index) { return kernel::ByMagnitude{}; },
                      [&](Index j, const auto& candidate) {
                        const Index row = candidate.row;
                        if (row == j) return;
                        std::swap(order_[static_cast<std::size_t>(j)],
                                  order_[static_cast<std::size_t>(row)]);
                        for (Index c = 0; c < width_; ++c)
                          std::swap(recursion_.at(j, c), recursion_.at(row, c));
                      });
  }
  void start_order(Index count) {
    order_.resize(static_cast<std::size_t>(count));
    std::iota(order_.begin(), order_.end(), Index(0));
  }

  const PivotRows<T>& other(Index p) const { return others_[static_cast<std::size_t>(p)]; }
  template <class F>
  void for_each_player(Index players, const F& f) const {
    f(mine_);
    for (Index p = 0; p < players; ++p) f(other(p));
  }

  void send(int to) {
    comm::for_each_chunk(mine_.message_bytes(), grid_.options().max_message,
                         [&](Index offset, int count) {
                           comm::check(MPI_Send(mine_.message() + offset, count, MPI_BYTE, to,
                                                tag, grid_.column_pivots().handle()),
                                       "MPI_Send");
                         });
  }
  void receive(PivotRows<T>& rows, int from) {
    comm::for_each_chunk(
        rows.message_bytes(), grid_.options().max_message, [&](Index offset, int count) {
          comm::check(MPI_Recv(rows.message() + offset, count, MPI_BYTE, from, tag,
                               grid_.column_pivots().handle(), MPI_STATUS_IGNORE),
                      "MPI_Recv");
        });
  }

  PanelRecursion<T, HostExec> recursion_;
  ProcessGrid grid_;
  Index radix_;
  PivotRows<T> mine_, winners_;
  std::vector<PivotRows<T>> others_;
  kernel::Buffer<T> stack_;
  std::vector<Index> order_;
  Index width_ = 0;
};

}  // namespace plinth::lu
