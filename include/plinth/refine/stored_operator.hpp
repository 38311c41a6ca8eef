// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <type_traits>

#include "plinth/kernel/blas.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/matrix/diagonal_blocks.hpp"
#include "plinth/matrix/distributed_matrix.hpp"

namespace plinth {

/// Products with a stored square matrix in square blocks: y := alpha A x for n x c matrices x and
/// y that are dealt alike, their rows like A's. Keeps its workspace, (n/P + n/Q) `at_once` elements
/// five times over; the columns are taken `at_once` at a time.
/// 2 n^2 c flops. Per piece: one all-to-all along rows each for x in and y out, an allgather along
/// columns, a reduce-scatter along rows.
template <ExecutionPolicy Exec, class Matrix>
class StoredOperator {
 public:
  using T = typename Matrix::value_type;  ///< scalar type
  using Layout = typename Matrix::layout;  ///< of A

  /// Not collective. Preconditions: A's grid is active here; at_once >= 1; an Error: square blocks.
  /// A must outlive the operator.
  StoredOperator(const Exec& exec, const Matrix& a, Index at_once)
      : exec_(exec), a_(a), width_(at_once), blocks_(exec, a.grid(), a.distribution(), at_once) {
    const Extents mine = a.local_extents();
    xs_.reserve(mine.cols * at_once);
    ys_.reserve(mine.rows * at_once);
  }

  /// Collective.
  template <class Vectors>
  void operator()(const Vectors& x, Vectors& y, T alpha = T(1)) {
    static_assert(std::is_same_v<typename Vectors::value_type, T>,
                  "plinth: a stored operator and its vectors have one scalar type");
    const Extents mine = a_.local_extents();
    const Index cols = x.cols();
    for (Index begin = 0; begin < cols; begin += width_) {
      const Range which{begin, std::min(begin + width_, cols)};
      blocks_.import_columns(x.local(), x.distribution().cols, which);
      const auto x_local = wrap(xs_, mine.cols, which.size());
      const auto y_local = wrap(ys_, mine.rows, which.size());
      blocks_.spread_to_columns(x_local);
      kernel::fill(exec_, y_local, T(0));
      kernel::gemm(exec_, alpha, kernel::Operand<typename Matrix::View>{a_.local()}, x_local,
                   T(1), y_local);
      blocks_.sum_from_rows(y_local);
      blocks_.export_columns(y.local(), y.distribution().cols, which);
    }
  }

 private:
  static auto wrap(const kernel::Buffer<T, typename Exec::memory>& buffer, Index rows, Index c) {
    return kernel::contiguous<Layout, typename Exec::memory::space>(buffer.data(), rows, c);
  }

  Exec exec_;
  const Matrix& a_;
  Index width_;
  DiagonalBlocks<T, Exec, Layout> blocks_;
  kernel::Buffer<T, typename Exec::memory> xs_, ys_;
};

}  // namespace plinth
