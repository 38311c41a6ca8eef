// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "plinth/comm/exchange.hpp"
#include "plinth/comm/grid.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/lu/row_exchanges.hpp"
#include "plinth/lu/row_permutation.hpp"
#include "plinth/lu/row_swap.hpp"
#include "plinth/matrix/distribution.hpp"
#include "plinth/trace/phase.hpp"

namespace plinth::lu {

/// Moves rows of a distributed matrix as a panel's pivots say, within process columns.
///
/// With one process row the rows are exchanged in place. Else the new top rows go from where they
/// stand to every process of the column (an all-gather) and the displaced ones from the top's
/// owner to where the pivots came from (a scatter), both by the algorithm that was asked for
/// (lu/row_swap.hpp), in pieces of columns that fit the message limit.
///
/// begin() starts an interchange, end() completes it; what happens in between hides its messages.
/// On a device start() and depart() do what begin() does, without and with waiting: what is
/// started in between hides the rows' way to the host where that, and the way back, are in a queue
/// of their own. With direct transport (comm/transport.hpp) rows go nowhere, and are waited for
/// all the same. An object has one interchange under way at a time; several objects may, each with
/// a `lane` of its own.
///
/// Error, on every rank of the grid: direct transport was asked for, and MPI cannot.
///
/// Workspace: width x cols elements in two buffers, each for half the columns at a time (for all
/// of them if they are no more than 1024).
template <class T, ExecutionPolicy Exec, class Layout>
class Interchange {
 public:
  using View = kernel::MatrixView<T, Layout, typename Exec::memory::space>;

  /// With rows' copies in the queue of kernels, for who waits at once.
  Interchange(const Exec& exec, const ProcessGrid& grid, const BlockCyclic& rows, Index max_width,
              Index max_cols, const RowSwap& swap = {})
      : Interchange(exec, exec, grid, rows, max_width, max_cols, swap, 0) {}
  /// With rows' copies in the queue of `beside`.
  Interchange(const Exec& exec, const Exec& beside, const ProcessGrid& grid,
              const BlockCyclic& rows, Index max_width, Index max_cols, const RowSwap& swap,
              int lane)
      : exec_(exec),
        beside_(beside),
        grid_(grid),
        rows_(rows),
        swap_(swap),
        lane_(lane),
        max_cols_(max_cols),
        exchanges_(grid.shape().rows == 1 ? max_width : 0) {
    const bool direct = grid.is_direct<typename Exec::memory>();
    if (grid.shape().rows == 1) return;
    lists_.reserve(4 * max_width);
    const Index limit = grid.options().max_message / static_cast<Index>(sizeof(T));
    const Index at_once = max_cols > 1024 ? ceil_div(max_cols, 2) : max_cols;
    piece_ =
        std::clamp<Index>(limit / std::max<Index>(max_width, 1), 1, std::max<Index>(at_once, 1));
    gathered_.reserve(max_width * piece_, direct);
    displaced_.reserve(max_width * piece_, direct);
  }

  /// How many columns it was made for.
  Index max_cols() const { return max_cols_; }

  /// Applies `swaps` to the columns of `a`, a View of some local columns with all local rows.
  /// With more than one process row, `top` (swaps.width x columns of a) receives the new top rows
  /// on every process, and the matrix's own top rows are left as they were: the caller stores
  /// what it makes of `top`. With one process row the matrix is complete and `top` is not used.
  /// `sink` learns how long messages were waited for.
  template <class Sink>
  void operator()(const Interchanges& swaps, const View& a, const View& top, Sink& sink) {
    begin(swaps, a, top);
    end(sink);
  }
  void operator()(const Interchanges& swaps, const View& a, const View& top) {
    trace::Off off;
    (*this)(swaps, a, top, off);
  }

  /// Packs the rows and starts their messages. Until end() the columns of `a` must be left alone;
  /// `top` is filled by end().
  void begin(const Interchanges& swaps, const View& a, const View& top) {
    start(swaps, a, top);
    depart();
  }
  /// Packs the rows and starts their way to the host. end() must follow; depart() may come before.
  void start(const Interchanges& swaps, const View& a, const View& top) {
    const Index cols = kernel::cols_of(a);
    if (cols == 0 || swaps.width == 0) return;
    if (grid_.shape().rows == 1) return exchange_in_place(swaps, a);
    chosen_ = swap_.choose(cols, grid_.shape().rows);
    prepare(row_permutation(swaps));
    a_ = a;
    top_ = top;
    piece_cols_ = {0, std::min(piece_, cols)};
    start_piece();
  }
  /// Starts the messages once the rows are where MPI is to find them. With them the host has waited
  /// for the interchange before, whose kernels read what messages are received into now.
  void depart() {
    if (piece_cols_.empty() || has_departed_) return;
    beside_.fence();
    if (chosen_ == SwapAlgorithm::collective) {
      start_collective(piece_cols_.size());
    } else {
      start_messages(piece_cols_.size());
    }
    has_departed_ = true;
  }

  /// Lets the messages advance. Never blocks.
  void progress() {
    if (piece_cols_.empty() || !has_departed_) return;
    gather_.progress();
    scatter_.progress();
  }

  /// Completes what begin() started. Kernels that start from now on find the rows in place.
  template <class Sink>
  void end(Sink& sink) {
    while (!piece_cols_.empty()) {
      depart();
      finish_piece(sink);
      const Index next = piece_cols_.end;
      piece_cols_ = {next, std::min(next + piece_, kernel::cols_of(a_))};
      if (!piece_cols_.empty()) start_piece();
    }
  }

  /// The whole interchange, with the new top rows stored into the matrix on their owner. Kernels
  /// that start from now on find it done.
  template <class Sink>
  void apply(const Interchanges& swaps, const View& a, const View& top, Sink& sink) {
    (*this)(swaps, a, top, sink);
    if (swaps.width == 0 || grid_.shape().rows == 1) return;
    if (rows_.owner(swaps.first) != grid_.coord().row) return;
    const Index begin = rows_.local(swaps.first);
    const Range all{0, kernel::cols_of(a)};
    kernel::copy(exec_, kernel::part(top, {0, swaps.width}, all),
                 kernel::part(a, {begin, begin + swaps.width}, all));
    if constexpr (is_host_accessible<Exec>) exec_.fence();
  }
  /// Likewise, and waits for it.
  void apply(const Interchanges& swaps, const View& a, const View& top) {
    trace::Off off;
    apply(swaps, a, top, off);
    exec_.fence();
  }

 private:
  void exchange_in_place(const Interchanges& swaps, const View& a) {
    exchanges_.prepare(exec_, swaps, rows_);
    exchanges_(exec_, a);
    exec_.fence();
  }

  /// Which rows are whose: counts per process, places in the two buffers, lists of local rows.
  void prepare(const RowPermutation& p) {
    const auto processes = static_cast<std::size_t>(grid_.shape().rows);
    const int me = grid_.coord().row;
    top_owner_ = rows_.owner(p.first);
    width_ = p.width();
    gathered_counts_.assign(processes, 0);
    displaced_counts_.assign(processes, 0);
    for (const Index source : p.source) ++gathered_counts_[owner(source)];
    for (const Index target : p.target) ++displaced_counts_[owner(target)];
    gathered_begin_ = comm::block_begins(
        gathered_counts_, comm::gather_order(gather_of(chosen_), grid_.shape().rows));
    displaced_begin_ = comm::block_begins(displaced_counts_,
                                          comm::scatter_order(top_owner_, grid_.shape().rows));

    Index* const mine = lists_.host();         // local rows that this process gives to the top
    Index* const place = mine + width_;        // gathered row -> top row
    Index* const leaving = place + width_;     // displaced row -> local row of the top's owner
    Index* const arriving = leaving + width_;  // local rows that this process gets
    std::vector<Index> next = gathered_begin_;
    Index mine_rows = 0;
    for (Index t = 0; t < width_; ++t) {
      const Index source = p.source[static_cast<std::size_t>(t)];
      place[next[owner(source)]++] = t;
      if (rows_.owner(source) == me) mine[mine_rows++] = rows_.local(source);
    }
    next = displaced_begin_;
    Index arriving_rows = 0;
    for (std::size_t b = 0; b < p.target.size(); ++b) {
      const Index at = next[owner(p.target[b])]++;
      if (me == top_owner_) leaving[at] = rows_.local(p.origin[b]);
      if (rows_.owner(p.target[b]) == me) arriving[arriving_rows++] = rows_.local(p.target[b]);
    }
    mine_ = block(gathered_begin_, gathered_counts_, me);
    arriving_ = block(displaced_begin_, displaced_counts_, me);
    leaving_rows_ = static_cast<Index>(p.target.size());
    lists_.to_device(exec_, 0, 4 * width_);
  }

  /// Everything that leaves is packed before anything arrives. Lists go with the kernels that read
  /// them, and are there when the rows are.
  void start_piece() {
    const Index cols = piece_cols_.size();
    const View a = kernel::part(a_, {0, kernel::rows_of(a_)}, piece_cols_);
    const Index* const mine = lists_.device();
    const Index* const leaving = mine + 2 * width_;
    kernel::gather_rows(exec_, mine, mine_.size(), a, packed(gathered_, mine_, cols));
    if (grid_.coord().row == top_owner_)
      kernel::gather_rows(exec_, leaving, leaving_rows_, a,
                          packed(displaced_, {0, leaving_rows_}, cols));
    beside_.after(exec_);
    gathered_.start_to_message(beside_, mine_.begin * cols, mine_.size() * cols);
    if (grid_.coord().row == top_owner_)
      displaced_.start_to_message(beside_, 0, leaving_rows_ * cols);
    has_departed_ = false;
  }

  template <class Sink>
  void finish_piece(Sink& sink) {
    const Index cols = piece_cols_.size();
    const View a = kernel::part(a_, {0, kernel::rows_of(a_)}, piece_cols_);
    const View top = kernel::part(top_, {0, width_}, piece_cols_);
    const Index* const place = lists_.device() + width_;
    const Index* const arriving = place + 2 * width_;
    wait_for_messages(sink);

    gathered_.from_message(beside_, 0, width_ * cols);
    displaced_.from_message(beside_, arriving_.begin * cols, arriving_.size() * cols);
    exec_.after(beside_);
    kernel::scatter_rows(exec_, place, width_, packed(gathered_, {0, width_}, cols), top);
    kernel::scatter_rows(exec_, arriving, arriving_.size(), packed(displaced_, arriving_, cols),
                         a);
    // What kernels read may be sent from and received into again; on a device copies are waited
    // for.
    if constexpr (is_host_accessible<Exec>) exec_.fence();
  }

  template <class Sink>
  void wait_for_messages(Sink& sink) {
    trace::Span span(sink, trace::Phase::wait);
    gather_.wait();
    scatter_.wait();
    comm::check(
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
    requests_.clear();
  }

  void start_messages(Index cols) {
    const Index row_bytes = cols * static_cast<Index>(sizeof(T));
    const Index limit = grid_.options().max_message;
    const int me = grid_.coord().row;
    comm::GatherSchedule gather(gather_of(chosen_), swap_.equilibrate, gathered_counts_, me);
    gather_.start(grid_.column_rows(), gathered_.message(), row_bytes, gather.take(), 2 * lane_,
                  limit);
    scatter_.start(grid_.column_rows(), displaced_.message(), row_bytes,
                   comm::scatter_schedule(scatter_of(chosen_), displaced_counts_, top_owner_, me),
                   2 * lane_ + 1, limit);
  }

  void start_collective(Index cols) {
    const Index row_bytes = cols * static_cast<Index>(sizeof(T));
    const Index limit = grid_.options().max_message;
    const MPI_Comm column = grid_.column_rows().handle();
    const int me = grid_.coord().row;
    auto* const gathered = reinterpret_cast<std::byte*>(gathered_.message());
    auto* const displaced = reinterpret_cast<std::byte*>(displaced_.message());
    collectives_.clear();
    const auto pieces = [&](const std::vector<Index>& counts, const std::vector<Index>& begins,
                            const auto& start) {
      std::vector<Index> bytes;
      for (const Index rows : counts) bytes.push_back(rows * row_bytes);
      comm::for_each_piece_of_blocks(bytes, limit, [&](Index offset, const auto& lengths) {
        CollectivePiece& piece = collectives_.emplace_back();
        piece.counts = lengths;
        for (const Index begin : begins)
          piece.displacements.push_back(to_int(begin * row_bytes + offset, "row message"));
        start(piece);
      });
    };
    pieces(gathered_counts_, gathered_begin_, [&](const CollectivePiece& piece) {
      comm::check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, gathered,
                                  piece.counts.data(), piece.displacements.data(), MPI_BYTE,
                                  column, &requests_.emplace_back()),
                  "MPI_Iallgatherv");
    });
    const auto self = static_cast<std::size_t>(me);
    pieces(displaced_counts_, displaced_begin_, [&](const CollectivePiece& piece) {
      const bool root = me == top_owner_;
      comm::check(
          MPI_Iscatterv(displaced, piece.counts.data(), piece.displacements.data(), MPI_BYTE,
                        root ? MPI_IN_PLACE : displaced + piece.displacements[self],
                        piece.counts[self], MPI_BYTE, top_owner_, column,
                        &requests_.emplace_back()),
          "MPI_Iscatterv");
    });
  }

  std::size_t owner(Index row) const { return static_cast<std::size_t>(rows_.owner(row)); }
  static Range block(const std::vector<Index>& begins, const std::vector<Index>& counts, int me) {
    const auto p = static_cast<std::size_t>(me);
    return {begins[p], begins[p] + counts[p]};
  }
  /// Rows as they travel: contiguous, one after the other.
  static auto packed(const kernel::MessageBuffer<T, Exec>& buffer, Range rows, Index cols) {
    return kernel::contiguous<Kokkos::LayoutRight, typename Exec::memory::space>(
        buffer.device() + rows.begin * cols, rows.size(), cols);
  }

  Exec exec_;
  Exec beside_;  ///< rows' copies
  ProcessGrid grid_;
  BlockCyclic rows_;
  RowSwap swap_;
  int lane_ = 0;
  Index max_cols_ = 0;
  Index piece_ = 0;
  RowExchanges<Exec> exchanges_;  ///< one process row
  kernel::Staged<Index, Exec> lists_;
  kernel::MessageBuffer<T, Exec> gathered_, displaced_;

  // The interchange under way: piece_cols_ is not empty.
  SwapAlgorithm chosen_ = SwapAlgorithm::direct;
  View a_, top_;
  Range piece_cols_;
  bool has_departed_ = false;  ///< its messages have been started
  Index width_ = 0;
  int top_owner_ = 0;
  Range mine_;              ///< rows of gathered_ that come from here
  Range arriving_;          ///< rows of displaced_ that come here
  Index leaving_rows_ = 0;  ///< of displaced_, the top owner's own included
  std::vector<Index> gathered_counts_, displaced_counts_;
  std::vector<Index> gathered_begin_, displaced_begin_;
  comm::Exchange gather_, scatter_;
  /// Arguments of a non-blocking collective call, which must outlive it.
  struct CollectivePiece {
    std::vector<int> counts, displacements;
  };
  std::vector<CollectivePiece> collectives_;
  std::vector<MPI_Request> requests_;
};

}  // namespace plinth::lu
