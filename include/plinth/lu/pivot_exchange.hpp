// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "plinth/comm/allreduce.hpp"
#include "plinth/comm/grid.hpp"
#include "plinth/comm/reduction_op.hpp"
#include "plinth/kernel/panel_columns.hpp"
#include "plinth/lu/pivot_reduction.hpp"

namespace plinth::lu {

/// The message of one pivot reduction: the best candidate so far (row = global row), the whole
/// panel row it stands in, and the whole current row, which only the process row of the diagonal
/// block can supply. After the all-reduction every process of the column has all three, so one
/// exchange per column finds the pivot and moves both rows.
///
/// The candidates are totally ordered and one process has the current row, so every way of
/// reducing gives the same message.
///
/// Bytes: about 48 + 2 width sizeof(T). Source of the scheme: netlib HPL's panel exchange.
template <class T>
class PivotMessage {
 public:
  using Candidate = kernel::PivotCandidate<RealOf<T>>;

  explicit PivotMessage(Index width)
      : row_bytes_(static_cast<std::size_t>(width) * sizeof(T)), bytes_(offset(row_bytes_, 2)) {}

  T* winner_row() { return row(0); }
  T* current_row() { return row(1); }
  Candidate candidate() const { return read(bytes_.data()).candidate; }

  void set(const Candidate& candidate, bool has_current) {
    Header h;
    h.candidate = candidate;
    h.has_current = has_current;
    h.row_bytes = row_bytes_;
    std::memcpy(bytes_.data(), &h, sizeof h);
  }

  /// Collective over the process column, by messages of our own.
  void reduce(const comm::Communicator& column, comm::SmallAllreduce& allreduce) {
    if (column.size() > 1)
      allreduce(column, bytes_.data(), static_cast<int>(bytes_.size()), combine);
  }
  /// The same by MPI, with an operation made by make_op().
  void reduce(const comm::Communicator& column, const comm::ReductionOp& op) {
    if (column.size() > 1)
      comm::check(
          MPI_Allreduce(MPI_IN_PLACE, bytes_.data(), 1, op.type(), op.op(), column.handle()),
          "MPI_Allreduce");
  }
  comm::ReductionOp make_op() const {
    return {to_int(static_cast<Index>(bytes_.size()), "pivot message"), combine_all};
  }
  std::size_t bytes() const { return bytes_.size(); }

 private:
  /// MPI's copies of a message need not be aligned for it: it is read and written by memcpy.
  struct Header {
    Candidate candidate;
    bool has_current = false;
    std::size_t row_bytes = 0;
  };
  static constexpr std::size_t header_bytes = (sizeof(Header) + 15) / 16 * 16;

  static std::size_t offset(std::size_t row_bytes, int row) {
    return header_bytes + static_cast<std::size_t>(row) * row_bytes;
  }
  T* row(int which) { return reinterpret_cast<T*>(bytes_.data() + offset(row_bytes_, which)); }
  static Header read(const std::byte* message) {
    Header h;
    std::memcpy(&h, message, sizeof h);
    return h;
  }
  /// Folds `other` into `mine`.
  static void combine(std::byte* mine, const std::byte* other) {
    Header h = read(mine);
    const Header o = read(other);
    if (h.candidate.loses_to(o.candidate)) {
      h.candidate = o.candidate;
      std::memcpy(mine + offset(h.row_bytes, 0), other + offset(h.row_bytes, 0), h.row_bytes);
    }
    if (!h.has_current && o.has_current) {
      h.has_current = true;
      std::memcpy(mine + offset(h.row_bytes, 1), other + offset(h.row_bytes, 1), h.row_bytes);
    }
    std::memcpy(mine, &h, sizeof h);
  }
  /// The same, as MPI calls it.
  static void combine_all(void* others, void* mine, int* count, MPI_Datatype*) {
    auto* into = static_cast<std::byte*>(mine);
    const auto* from = static_cast<const std::byte*>(others);
    for (int i = 0; i < *count; ++i) {
      const std::size_t bytes = offset(read(into).row_bytes, 2);
      combine(into, from);
      into += bytes;
      from += bytes;
    }
  }

  std::size_t row_bytes_;
  std::vector<std::byte> bytes_;
};

/// The pivot reductions of a process column, by the way that was asked for.
template <class T>
class PivotExchange {
 public:
  /// `width`: the largest width of a panel.
  PivotExchange(const ProcessGrid& grid, Index width, PivotReduction reduction)
      : grid_(grid),
        reduction_(reduction),
        message_(width),
        allreduce_(static_cast<Index>(message_.bytes()), grid.options().max_message) {
    if (grid.shape().rows > 1 && reduction != PivotReduction::point_to_point)
      op_ = message_.make_op();
  }

  PivotMessage<T>& message() { return message_; }

  /// Reduces the message. Collective over the process column. `first_column`: of a panel.
  void operator()(bool first_column) {
    const bool own = reduction_ == PivotReduction::point_to_point ||
                     (reduction_ == PivotReduction::hybrid && first_column);
    if (own) {
      message_.reduce(grid_.column_pivots(), allreduce_);
    } else {
      message_.reduce(grid_.column_pivots(), op_);
    }
  }

 private:
  ProcessGrid grid_;
  PivotReduction reduction_;
  PivotMessage<T> message_;
  comm::SmallAllreduce allreduce_;
  comm::ReductionOp op_;
};

}  // namespace plinth::lu
