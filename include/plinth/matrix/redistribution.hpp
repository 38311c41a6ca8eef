// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "plinth/comm/communicator.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/matrix/distribution.hpp"

namespace plinth {

/// One side of a redistribution: whose entries are where, as every process knows it, and this
/// process's part.
template <ExecutionPolicy Exec, class View>
struct RedistributionSide {
  using exec_type = Exec;
  using value_type = typename View::non_const_value_type;

  Exec exec;  ///< of kernels that touch the view
  Distribution distribution;
  std::function<GridCoord(int)> place;  ///< where a rank stands; (-1, -1): it owns nothing
  View view;  ///< this process's rows, and its columns from `first_col` (local) on
  Index first_col = 0;
};

template <ExecutionPolicy Exec, class View>
RedistributionSide(Exec, Distribution, std::function<GridCoord(int)>, View)
    -> RedistributionSide<Exec, View>;

/// How much a redistribution moves at a time; the same on every rank.
struct RedistributionRoom {
  Index line = 0;   ///< at least the columns that pass between any two processes in one call
  Index lines = 1;  ///< rows of the buffer for sending, and of the one for receiving
  int at_once = 1;  ///< messages to, and from, so many processes in flight; at most `lines`
  Index max_message = Index(1) << 30;  ///< bytes; longer ones travel in pieces
};

/// Moves a matrix from one distribution to another, over any processes.
///
/// Ring-k all-to-all: in step s each process sends to the process s after it and receives from the
/// one s before it, k steps at a time. What goes from one to another is the rows that the first
/// has and the second wants, times the columns likewise, in pieces of as many rows as fit a k-th
/// of the buffer. Nobody is sent what he has, and empty messages are not sent.
///
/// Memory per process: 2 `lines` x `line` elements, and m/P + n/Q indices of either side.
template <class From, class To>
class Redistribution {
 public:
  using T = typename To::value_type;
  static_assert(std::is_same_v<typename From::value_type, T>,
                "plinth: redistribution does not convert the scalar type");

  /// Not collective. The communicator must outlive this object.
  Redistribution(const comm::Communicator& all, From from, To to, const RedistributionRoom& room)
      : all_(all),
        from_(std::move(from)),
        to_(std::move(to)),
        room_(room),
        slot_(room.lines / room.at_once * room.line) {
    send_.reserve(slot_ * room.at_once);
    receive_.reserve(slot_ * room.at_once);
    const GridCoord source = from_.place(all.rank()), target = to_.place(all.rank());
    const BlockCyclic &f = from_.distribution.rows, &t = to_.distribution.rows;
    out_rows_.sort(from_.exec, f, source.row, t, {0, f.size()}, 0);
    in_rows_.sort(to_.exec, t, target.row, f, {0, t.size()}, 0);
  }

  From& from() { return from_; }
  To& to() { return to_; }

  /// Moves the (global) columns `which`. Collective.
  void operator()(Range which) {
    const GridCoord source = from_.place(all_.rank()), target = to_.place(all_.rank());
    const BlockCyclic &f = from_.distribution.cols, &t = to_.distribution.cols;
    out_cols_.sort(from_.exec, f, source.col, t, which, from_.first_col);
    in_cols_.sort(to_.exec, t, target.col, f, which, to_.first_col);
    int first = 0;
    if constexpr (std::is_same_v<typename From::exec_type, typename To::exec_type>) {
      const Stream out = outgoing(all_.rank()), in = incoming(all_.rank());
      kernel::copy_entries(to_.exec, out.count, from_.view, out.selection(0), to_.view,
                           in.selection(0));
      to_.exec.fence();
      first = 1;
    }
    for (int step = first; step < all_.size(); step += room_.at_once)
      exchange(step, std::min(step + room_.at_once, all_.size()));
  }

 private:
  /// Local indices of one dimension, ordered by who has them on the other side.
  template <ExecutionPolicy Exec>
  struct Sorted {
    std::vector<Index> begin;
    kernel::Staged<Index, Exec> local;

    void sort(const Exec& exec, const BlockCyclic& mine, int me, const BlockCyclic& theirs,
              Range which, Index offset) {
      begin.assign(static_cast<std::size_t>(theirs.processes()) + 1, 0);
      if (me < 0) return;
      const Range own{mine.first_local(which.begin, me), mine.first_local(which.end, me)};
      local.reserve(own.size());
      const auto owner = [&](Index l) {
        return static_cast<std::size_t>(theirs.owner(mine.global(l, me)));
      };
      for (Index l = own.begin; l < own.end; ++l) ++begin[owner(l) + 1];
      for (std::size_t p = 1; p < begin.size(); ++p) begin[p] += begin[p - 1];
      std::vector<Index> next(begin.begin(), begin.end() - 1);
      for (Index l = own.begin; l < own.end; ++l) local.host()[next[owner(l)]++] = l - offset;
      local.to_device(exec, 0, own.size());
      exec.fence();  // who has nothing to move uses none of them, and must not change or free them
    }
    Range of(int process) const {
      if (process < 0) return {};
      const auto p = static_cast<std::size_t>(process);
      return {begin[p], begin[p + 1]};
    }
  };

  /// All that goes to, or comes from, one process, in pieces of rows.
  struct Stream {
    int peer = 0;
    Extents count;
    const Index* rows = nullptr;
    const Index* cols = nullptr;
    Index done = 0;  ///< rows

    kernel::Selection selection(Index first_row) const { return {rows + first_row, cols}; }
    bool more() const { return done < count.rows && count.cols > 0; }
    /// Rows of the next piece.
    Index next(Index slot) const { return std::min(slot / count.cols, count.rows - done); }
  };
  template <class Rows, class Cols>
  static Stream stream(int peer, GridCoord at, const Rows& rows, const Cols& cols) {
    const Range r = rows.of(at.row), c = cols.of(at.col);
    return {peer,
            {r.size(), c.size()},
            rows.local.device() + r.begin,
            cols.local.device() + c.begin,
            0};
  }
  Stream outgoing(int peer) const { return stream(peer, to_.place(peer), out_rows_, out_cols_); }
  Stream incoming(int peer) const { return stream(peer, from_.place(peer), in_rows_, in_cols_); }

  void exchange(int first, int last) {
    std::vector<Stream> out, in;
    for (int step = first; step < last; ++step) {
      out.push_back(outgoing((all_.rank() + step) % all_.size()));
      in.push_back(incoming((all_.rank() - step + all_.size()) % all_.size()));
    }
    const auto more = [](const Stream& s) { return s.more(); };
    while (std::any_of(out.begin(), out.end(), more) || std::any_of(in.begin(), in.end(), more)) {
      requests_.clear();
      for (std::size_t k = 0; k < in.size(); ++k)
        if (in[k].more()) post(in[k], k, false);
      for (std::size_t k = 0; k < out.size(); ++k)
        if (out[k].more()) {
          pack(out[k], k);
          post(out[k], k, true);
          out[k].done += out[k].next(slot_);
        }
      comm::check(
          MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitall");
      for (std::size_t k = 0; k < in.size(); ++k)
        if (in[k].more()) {
          unpack(in[k], k);
          in[k].done += in[k].next(slot_);
        }
      to_.exec.fence();
    }
  }

  Index begin_of(std::size_t k) const { return static_cast<Index>(k) * slot_; }
  template <class Exec>
  auto message(const kernel::Staged<T, Exec>& buffer, std::size_t k, const Stream& s) const {
    using Layout = typename decltype(to_.view)::array_layout;
    return kernel::contiguous<Layout, typename Exec::memory::space>(buffer.device() + begin_of(k),
                                                                    s.next(slot_), s.count.cols);
  }
  void pack(const Stream& s, std::size_t k) const {
    kernel::gather_entries(from_.exec, from_.view, s.selection(s.done), message(send_, k, s));
    send_.to_host(from_.exec, begin_of(k), s.next(slot_) * s.count.cols);
  }
  void unpack(const Stream& s, std::size_t k) const {
    receive_.to_device(to_.exec, begin_of(k), s.next(slot_) * s.count.cols);
    kernel::scatter_entries(to_.exec, message(receive_, k, s), to_.view, s.selection(s.done));
  }
  void post(const Stream& s, std::size_t k, bool send) {
    char* const data =
        reinterpret_cast<char*>((send ? send_.host() : receive_.host()) + begin_of(k));
    const Index bytes = s.next(slot_) * s.count.cols * static_cast<Index>(sizeof(T));
    comm::for_each_chunk(bytes, room_.max_message, [&](Index offset, int count) {
      MPI_Request& request = requests_.emplace_back();
      comm::check(
          send ? MPI_Isend(data + offset, count, MPI_BYTE, s.peer, 0, all_.handle(), &request)
               : MPI_Irecv(data + offset, count, MPI_BYTE, s.peer, 0, all_.handle(), &request),
          send ? "MPI_Isend" : "MPI_Irecv");
    });
  }

  const comm::Communicator& all_;
  From from_;
  To to_;
  RedistributionRoom room_;
  Index slot_;  ///< elements of one message at most
  kernel::Staged<T, typename From::exec_type> send_;
  kernel::Staged<T, typename To::exec_type> receive_;
  Sorted<typename From::exec_type> out_rows_, out_cols_;
  Sorted<typename To::exec_type> in_rows_, in_cols_;
  std::vector<MPI_Request> requests_;
};

/// The room for moving whole rows between two distributions of one matrix, with buffers of at most
/// `lines` of them. Messages of 64 KiB, of which k go at once: enough for a wire to be busy, and
/// the more the shorter they are. `at_once` > 0: that k.
inline RedistributionRoom redistribution_room(const Distribution& a, const Distribution& b,
                                              Index lines, Index element_bytes, int processes,
                                              int at_once, Index max_message) {
  const auto most = [](const BlockCyclic& map) { return map.local_size(map.source()); };
  RedistributionRoom room;
  room.max_message = max_message;
  room.line = std::max<Index>(1, std::min(most(a.cols), most(b.cols)));
  const Index whole = std::max<Index>(1, std::min(most(a.rows), most(b.rows)));  // of a message
  const Index wanted = std::min(whole, ceil_div(Index(1) << 16, room.line * element_bytes));
  const Index k = at_once > 0 ? at_once : lines / wanted;
  room.at_once = static_cast<int>(std::clamp<Index>(k, 1, std::min<Index>(lines, processes)));
  room.lines = std::min(lines, whole * room.at_once);
  return room;
}

}  // namespace plinth
