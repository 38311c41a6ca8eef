// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <vector>

#include "plinth/comm/grid.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/lu/row_permutation.hpp"
#include "plinth/matrix/distribution.hpp"

namespace plinth::lu {

/// Moves rows of a distributed matrix as a panel's pivots say, within process columns.
///
/// With one process row the rows are exchanged in place. Else the new top rows go from where they
/// stand to every process of the column (an allgather) and the displaced ones from the top's owner
/// to where the pivots came from (point to point), in pieces of columns that fit the message limit.
///
/// Messages per piece: one allgatherv, and one from the owner to each process that gets a row.
/// Workspace: 3 width x cols elements.
template <class T, ExecutionPolicy Exec, class Layout>
class Interchange {
 public:
  using View = kernel::MatrixView<T, Layout, typename Exec::memory::space>;

  Interchange(const Exec& exec, const ProcessGrid& grid, const BlockCyclic& rows, Index max_width,
              Index max_cols)
      : exec_(exec), grid_(grid), rows_(rows), lists_(4 * max_width) {
    if (grid.shape().rows == 1) return;
    const Index limit = grid.options().max_message / static_cast<Index>(sizeof(T));
    piece_ = std::clamp<Index>(limit / std::max<Index>(max_width, 1), 1,
                               std::max<Index>(max_cols, 1));
    const Index room = max_width * piece_;
    mine_.reserve(room);
    gathered_.reserve(room);
    displaced_.reserve(room);
  }

  /// Applies `swaps` to the columns of `a`, a View of some local columns with all local rows. With
  /// more than one process row, `top` (swaps.width x columns of a) receives the new top rows on
  /// every process, and the matrix's own top rows are left as they were: the caller stores what it
  /// makes of `top`. With one process row the matrix is complete and `top` is not used.
  void operator()(const Interchanges& swaps, const View& a, const View& top) {
    const Index cols = kernel::cols_of(a);
    if (cols == 0 || swaps.width == 0) return;
    if (grid_.shape().rows == 1) return exchange_in_place(swaps, a);
    prepare(row_permutation(swaps));
    for (Index begin = 0; begin < cols; begin += piece_) {
      const Range part{begin, std::min(begin + piece_, cols)};
      exchange_piece(kernel::part(a, {0, kernel::rows_of(a)}, part),
                     kernel::part(top, {0, swaps.width}, part));
    }
  }

  /// The same, with the new top rows stored into the matrix on their owner.
  void apply(const Interchanges& swaps, const View& a, const View& top) {
    (*this)(swaps, a, top);
    if (swaps.width == 0 || grid_.shape().rows == 1) return;
    if (rows_.owner(swaps.first) != grid_.coord().row) return;
    const Index begin = rows_.local(swaps.first);
    const Range all{0, kernel::cols_of(a)};
    kernel::copy(exec_, kernel::part(top, {0, swaps.width}, all),
                 kernel::part(a, {begin, begin + swaps.width}, all));
    exec_.fence();
  }

 private:
  void exchange_in_place(const Interchanges& swaps, const View& a) {
    Index* const upper = lists_.host();
    Index* const lower = upper + swaps.width;
    Index count = 0;
    for (Index n = 0; n < swaps.width; ++n) {
      const Index t = swaps.inverse ? swaps.width - 1 - n : n;
      if (swaps.rows[t] == swaps.first + t) continue;
      upper[count] = rows_.local(swaps.first + t);
      lower[count++] = rows_.local(swaps.rows[t]);
    }
    if (count == 0) return;
    lists_.to_device(exec_, 0, 2 * swaps.width);
    kernel::swap_rows(exec_, lists_.device(), lists_.device() + swaps.width, count, a);
    exec_.fence();
  }

  /// Who sends which rows to whom.
  void prepare(const RowPermutation& p) {
    const int processes = grid_.shape().rows;
    const int me = grid_.coord().row;
    const int top_owner = rows_.owner(p.first);
    width_ = p.width();
    mine_rows_ = 0;
    gathered_counts_.assign(static_cast<std::size_t>(processes), 0);
    displaced_counts_.assign(static_cast<std::size_t>(processes), 0);
    Index* const mine = lists_.host();          // local rows that this process gives to the top
    Index* const place = mine + width_;         // gathered row -> top row
    Index* const leaving = place + width_;      // local rows that the top's owner gives away
    Index* const arriving = leaving + width_;   // local rows that this process gets
    leaving_rows_ = arriving_rows_ = 0;

    Index gathered = 0;
    for (int process = 0; process < processes; ++process)
      for (Index t = 0; t < width_; ++t) {
        const Index source = p.source[static_cast<std::size_t>(t)];
        if (rows_.owner(source) != process) continue;
        place[gathered++] = t;
        ++gathered_counts_[static_cast<std::size_t>(process)];
        if (process == me) mine[mine_rows_++] = rows_.local(source);
      }
    // Displaced rows in the order of their receivers, so that each gets one message.
    for (int process = 0; process < processes; ++process)
      for (std::size_t b = 0; b < p.target.size(); ++b) {
        if (rows_.owner(p.target[b]) != process) continue;
        ++displaced_counts_[static_cast<std::size_t>(process)];
        if (me == top_owner) leaving[leaving_rows_++] = rows_.local(p.origin[b]);
        if (me == process) arriving[arriving_rows_++] = rows_.local(p.target[b]);
      }
    top_owner_ = top_owner;
    lists_.to_device(exec_, 0, 4 * width_);
  }

  void exchange_piece(const View& a, const View& top) {
    const comm::Communicator& column = grid_.column_rows();
    const Index cols = kernel::cols_of(a);
    const int me = column.rank();
    const Index* const mine = lists_.device();
    const Index* const place = mine + width_;
    const Index* const leaving = place + width_;
    const Index* const arriving = leaving + width_;

    // Everything that leaves is packed before anything arrives.
    kernel::gather_rows(exec_, mine, mine_rows_, a, packed(mine_.device(), mine_rows_, cols));
    if (me == top_owner_)
      kernel::gather_rows(exec_, leaving, leaving_rows_, a,
                          packed(displaced_.device(), leaving_rows_, cols));
    mine_.to_host(exec_, 0, mine_rows_ * cols);
    if (me == top_owner_) displaced_.to_host(exec_, 0, leaving_rows_ * cols);

    allgather(column, cols);
    scatter_displaced(column, cols);

    gathered_.to_device(exec_, 0, width_ * cols);
    kernel::scatter_rows(exec_, place, width_, packed(gathered_.device(), width_, cols), top);
    if (arriving_rows_ > 0) {
      if (me != top_owner_) displaced_.to_device(exec_, 0, arriving_rows_ * cols);
      const Index skip = me == top_owner_ ? rows_before(me) * cols : 0;
      kernel::scatter_rows(exec_, arriving, arriving_rows_,
                           packed(displaced_.device() + skip, arriving_rows_, cols), a);
    }
    exec_.fence();
  }

  void allgather(const comm::Communicator& column, Index cols) {
    std::vector<int> counts, offsets;
    int offset = 0;
    for (const Index rows : gathered_counts_) {
      counts.push_back(to_int(rows * cols, "row interchange message"));
      offsets.push_back(offset);
      offset += counts.back();
    }
    comm::check(MPI_Allgatherv(mine_.host(), to_int(mine_rows_ * cols, "row interchange message"),
                               comm::datatype<T>(), gathered_.host(), counts.data(),
                               offsets.data(), comm::datatype<T>(), column.handle()),
                "MPI_Allgatherv");
  }

  void scatter_displaced(const comm::Communicator& column, Index cols) {
    const int me = column.rank();
    if (me != top_owner_) {
      if (arriving_rows_ > 0)
        comm::check(MPI_Recv(displaced_.host(), to_int(arriving_rows_ * cols, "message"),
                             comm::datatype<T>(), top_owner_, tag, column.handle(),
                             MPI_STATUS_IGNORE),
                    "MPI_Recv");
      return;
    }
    requests_.clear();
    for (int process = 0; process < column.size(); ++process) {
      const Index rows = displaced_counts_[static_cast<std::size_t>(process)];
      if (process == me || rows == 0) continue;
      comm::check(MPI_Isend(displaced_.host() + rows_before(process) * cols,
                            to_int(rows * cols, "message"), comm::datatype<T>(), process, tag,
                            column.handle(), &requests_.emplace_back()),
                  "MPI_Isend");
    }
    comm::check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(),
                            MPI_STATUSES_IGNORE),
                "MPI_Waitall");
  }

  Index rows_before(int process) const {
    Index rows = 0;
    for (int q = 0; q < process; ++q) rows += displaced_counts_[static_cast<std::size_t>(q)];
    return rows;
  }
  /// Rows as they travel: contiguous, one after the other.
  static auto packed(T* data, Index rows, Index cols) {
    return kernel::wrap<Kokkos::LayoutRight, typename Exec::memory::space>(data, rows, cols, cols);
  }

  static constexpr int tag = 11;

  Exec exec_;
  ProcessGrid grid_;
  BlockCyclic rows_;
  Index piece_ = 0;
  kernel::Staged<Index, Exec> lists_;
  kernel::Staged<T, Exec> mine_, gathered_, displaced_;

  Index width_ = 0;
  int top_owner_ = 0;
  Index mine_rows_ = 0;
  Index leaving_rows_ = 0;
  Index arriving_rows_ = 0;
  std::vector<Index> gathered_counts_;
  std::vector<Index> displaced_counts_;
  std::vector<MPI_Request> requests_;
};

}  // namespace plinth::lu
