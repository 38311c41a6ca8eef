// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "plinth/comm/agree.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/matrix/redistribute.hpp"
#include "plinth/matrix/redistribution.hpp"

namespace plinth {

/// A whole m x n matrix in host memory as kernels of exec.host() see it: lines (columns of
/// LayoutLeft, rows of LayoutRight) at a distance of `lead` elements.
template <class T, kernel::MatrixLayout Layout>
struct WholeArray {
  using View = kernel::MatrixView<T, Layout, Kokkos::HostSpace>;
  using layout = Layout;
  T* data = nullptr;
  Index rows = 0, cols = 0, lead = 0;

  Index length() const { return kernel::is_row_major<Layout> ? cols : rows; }
  Index lines() const { return kernel::is_row_major<Layout> ? rows : cols; }
  View view() const {
    return kernel::wrap<Layout, Kokkos::HostSpace>(data, rows, cols, std::max<Index>(lead, 1));
  }
  void check_storage() const {
    require(lead >= length(), "leading dimension " + std::to_string(lead) + " is less than " +
                                  std::to_string(length()));
    require(data != nullptr || rows == 0 || cols == 0, "the array is null");
    require(reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0, "the array is not aligned");
    to_int(length(), "array line");
  }
};

/// The array at `data`, column-major, of a matrix that is m x n.
template <class T, ScalarAlias<T> U>
auto whole_array(U* data, Index m, Index n, Index lead) {
  using Element = std::conditional_t<std::is_const_v<U>, const T, T>;
  return WholeArray<Element, Kokkos::LayoutLeft>{reinterpret_cast<Element*>(data), m, n, lead};
}
/// The array of a View.
template <class T, class V>
requires(Kokkos::is_view<V>::value) auto whole_array(const V& view) {
  using U = typename V::value_type;
  using Element = std::conditional_t<std::is_const_v<U>, const T, T>;
  static_assert(ScalarAlias<U, T>, "plinth: the View and the matrix have different scalar types");
  static_assert(
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename V::memory_space>::accessible,
      "plinth: the View must be readable on the host");
  static_assert(kernel::MatrixLayout<typename V::array_layout>,
                "plinth: the View must be LayoutLeft or LayoutRight");
  return WholeArray<Element, typename V::array_layout>{
      reinterpret_cast<Element*>(view.data()), kernel::rows_of(view), kernel::cols_of(view),
      std::max(kernel::leading_dimension(view), kernel::is_row_major<typename V::array_layout>
                                                    ? kernel::cols_of(view)
                                                    : kernel::rows_of(view))};
}

/// The distribution of a matrix that one process has.
inline Distribution undistributed(Index rows, Index cols) {
  return {BlockCyclic(rows, std::max<Index>(rows, 1), 1, 0),
          BlockCyclic(cols, std::max<Index>(cols, 1), 1, 0)};
}

/// A whole array on rank `root` as a side of a redistribution.
template <ExecutionPolicy Exec, class Array>
auto whole_side(const Exec& exec, const Array& array, const Distribution& d, int root) {
  return RedistributionSide<Exec, typename Array::View>{
      exec, d,
      [root](int rank) {
        return rank == root ? GridCoord{0, 0} : GridCoord{-1, -1};
      },
      array.view()};
}

/// Moves between A and a whole array on rank `root` of `all`, in either direction.
template <bool to_matrix, ExecutionPolicy Exec, class Matrix, class Array>
class WholeArrayMove {
 public:
  using T = typename Matrix::value_type;
  using HostExec = std::remove_cvref_t<decltype(std::declval<const Exec&>().host())>;
  using Side = RedistributionSide<Exec, typename Matrix::View>;
  using Whole = RedistributionSide<HostExec, typename Array::View>;
  using Move =
      std::conditional_t<to_matrix, Redistribution<Whole, Side>, Redistribution<Side, Whole>>;

  /// Not collective. `place`: where in A's grid a rank of `all` stands.
  WholeArrayMove(const Exec& exec, const comm::Communicator& all, const Matrix& a,
                 std::function<GridCoord(int)> place, const Array& array, int root)
      : cols_(a.cols()) {
    const Distribution whole = undistributed(a.rows(), a.cols());
    const RedistributionRoom room =
        redistribution_room(a.distribution(), whole, a.distribution().rows.block(), sizeof(T),
                            all.size(), 0, a.grid().options().max_message);
    const Side matrix{exec, a.distribution(), std::move(place), a.local()};
    const Whole other = whole_side<HostExec>(exec.host(), array, whole, root);
    if constexpr (to_matrix) {
      move_.emplace(all, other, matrix, room);
    } else {
      move_.emplace(all, matrix, other, room);
    }
  }
  void operator()() { (*move_)({0, cols_}); }

 private:
  Index cols_;
  std::optional<Move> move_;
};

/// The array of rank `root` := A, or A := that array; collective over A's grid.
template <bool to_matrix, ExecutionPolicy Exec, class Matrix, class Array>
void move_whole(const char* call, const Exec& exec, const Matrix& a, int root, Array array) {
  static_assert(std::is_same_v<typename Matrix::memory, typename Exec::memory>,
                "plinth: A must live in the memory of the execution policy");
  const ProcessGrid& grid = a.grid();
  std::optional<WholeArrayMove<to_matrix, Exec, Matrix, Array>> move;
  comm::Fingerprint arguments;
  arguments << a.distribution() << root;
  comm::agree_on(grid.all(), call, arguments.value(), [&] {
    require(root >= 0 && root < grid.shape().size(),
            "rank " + std::to_string(root) + " is not on the grid");
    if (!grid.active()) return;
    if (grid.all().rank() == root) {
      require(array.rows == a.rows() && array.cols == a.cols(),
              "the array and the matrix have different shapes");
      array.check_storage();
    } else {
      array = {};  // what others give is not looked at
    }
    const auto place = [grid](int rank) { return grid.coord_of(rank); };
    move.emplace(exec, grid.all(), a, place, array, root);
  });
  if (move) (*move)();
}

}  // namespace plinth
