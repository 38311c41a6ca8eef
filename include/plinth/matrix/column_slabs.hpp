// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "plinth/kernel/buffer.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/matrix/redistribute.hpp"

namespace plinth {

/// A matrix as a file has it, column after column, a slab at a time: in each slab the first
/// `holders` processes of the grid hold some whole columns each, one after the other, in host
/// memory. Moved into the matrix (to_matrix) or out of it.
///
/// Memory per process: about 4 MiB of columns, at least one column, and what redistribute() needs.
template <bool to_matrix, ExecutionPolicy Exec, class Matrix>
class ColumnSlabs {
 public:
  using T = typename Matrix::value_type;

  /// Not collective. Preconditions: the grid is active here; 1 <= holders <= processes.
  ColumnSlabs(const Exec& exec, const Matrix& a, int holders)
      : rows_(a.rows()),
        cols_(a.cols()),
        rank_(a.grid().all().rank()),
        holders_(holders),
        width_(width(a.rows(), a.cols(), holders)),
        buffer_(rank_ < holders ? rows_ * width_ : 0) {
    static_assert(std::is_same_v<typename Matrix::memory, typename Exec::memory>,
                  "plinth: the matrix must live in the memory of the execution policy");
    const Distribution slabs{BlockCyclic(rows_, std::max<Index>(rows_, 1), 1, 0),
                             BlockCyclic(cols_, width_, holders, 0)};
    RedistributionRoom room =
        redistribution_room(a.distribution(), slabs, a.distribution().rows.block(), sizeof(T),
                            a.grid().all().size(), 0, a.grid().options().max_message);
    room.line = std::min(room.line, width_);
    const Slab slab{exec.host(), slabs,
                    [holders](int rank) {
                      return rank < holders ? GridCoord{0, rank} : GridCoord{-1, -1};
                    },
                    kernel::contiguous<Kokkos::LayoutLeft, Kokkos::HostSpace>(
                        buffer_.data(), rows_, rank_ < holders ? width_ : 0)};
    const comm::Communicator& all = a.grid().all();
    if constexpr (to_matrix) {
      move_.emplace(all, slab, redistribution_side(exec, a), room);
    } else {
      move_.emplace(all, redistribution_side(exec, a), slab, room);
    }
  }

  Index count() const { return ceil_div(cols_, width_ * holders_); }
  /// The columns of slab s that this process holds.
  Range mine(Index s) const {
    if (rank_ >= holders_) return {};
    const Index begin = std::min((s * holders_ + rank_) * width_, cols_);
    return {begin, std::min(begin + width_, cols_)};
  }
  /// rows x mine(s).size() elements, column-major without gaps.
  T* data() const { return buffer_.data(); }

  /// Moves slab s. Collective over the grid.
  void move(Index s) {
    auto& slab = [&]() -> Slab& {
      if constexpr (to_matrix) {
        return move_->from();
      } else {
        return move_->to();
      }
    }();
    slab.first_col = s * width_;
    const Index begin = s * holders_ * width_;
    (*move_)({begin, std::min(begin + holders_ * width_, cols_)});
  }

 private:
  using HostExec = std::remove_cvref_t<decltype(std::declval<const Exec&>().host())>;
  using Slab =
      RedistributionSide<HostExec, kernel::MatrixView<T, Kokkos::LayoutLeft, Kokkos::HostSpace>>;
  using Side = RedistributionSide<Exec, typename Matrix::View>;

  static Index width(Index rows, Index cols, int holders) {
    constexpr Index budget = (Index(1) << 22) / static_cast<Index>(sizeof(T));
    return std::clamp<Index>(budget / std::max<Index>(rows, 1), 1,
                             std::max<Index>(1, ceil_div(cols, holders)));
  }

  Index rows_, cols_;
  int rank_, holders_;
  Index width_;
  kernel::Buffer<T, HostMemory> buffer_;
  std::optional<
      std::conditional_t<to_matrix, Redistribution<Slab, Side>, Redistribution<Side, Slab>>>
      move_;
};

}  // namespace plinth
