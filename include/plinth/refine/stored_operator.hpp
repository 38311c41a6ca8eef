// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <type_traits>

#include "plinth/core/options.hpp"
#include "plinth/kernel/blas.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/matrix/diagonal_blocks.hpp"
#include "plinth/matrix/distributed_matrix.hpp"

namespace plinth {

/// Products with a stored square matrix in square blocks: y := alpha op(A) x for n x c matrices x
/// and y that are dealt alike, their rows like A's. Keeps its workspace, (n/P + n/Q) `at_once`
/// elements five times over; the columns are taken `at_once` at a time.
/// 2 n^2 c flops. Per piece: one all-to-all along rows each for x in and y out, an allgather along
/// columns, a reduce-scatter along rows; of a transposed A the latter two along rows and columns.
template <ExecutionPolicy Exec, class Matrix>
class StoredOperator {
 public:
  using T = typename Matrix::value_type;   ///< scalar type
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
  void operator()(const Vectors& x, Vectors& y, T alpha = T(1), Op op = Op::none) {
    static_assert(std::is_same_v<typename Vectors::value_type, T>,
                  "plinth: a stored operator and its vectors have one scalar type");
    const Extents mine = a_.local_extents();
    const Index cols = x.cols();
    for (Index begin = 0; begin < cols; begin += width_) {
      const Range which{begin, std::min(begin + width_, cols)};
      blocks_.import_columns(x.local(), x.distribution().cols, which);
      // As many elements as A's local columns, and as its rows.
      const auto by_column = wrap(xs_, mine.cols, which.size());
      const auto by_row = wrap(ys_, mine.rows, which.size());
      if (op == Op::none) {
        blocks_.spread_to_columns(by_column);
        multiply(op, alpha, by_column, by_row);
        blocks_.sum_from_rows(by_row);
      } else {
        blocks_.spread_to_rows(by_row);
        multiply(op, alpha, by_row, by_column);
        blocks_.sum_from_columns(by_column);
      }
      blocks_.export_columns(y.local(), y.distribution().cols, which);
    }
  }

 private:
  template <class View>
  void multiply(Op op, T alpha, const View& x, const View& y) const {
    kernel::fill(exec_, y, T(0));
    kernel::gemm(exec_, alpha, kernel::Operand<typename Matrix::View>{a_.local(), op}, x, T(1),
                 y);
  }
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
