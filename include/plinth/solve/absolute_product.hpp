// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "plinth/kernel/blas.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/matrix/diagonal_blocks.hpp"
#include "plinth/matrix/distributed_matrix.hpp"

namespace plinth {

/// Products with the moduli of a stored square matrix in square blocks: y := |A| x for real n x c
/// matrices x and y that are dealt alike, their rows like A's. |A| is made a piece at a time and
/// given to the BLAS. Keeps its workspace, (n/P + n/Q) `at_once` numbers five times over and a
/// piece of |A|; the columns are taken `at_once` at a time.
/// 2 n^2 c flops and n^2 moduli per piece of columns; messages as in StoredOperator.
template <ExecutionPolicy Exec, class Matrix>
class AbsoluteProduct {
 public:
  using Real = RealOf<typename Matrix::value_type>;
  using Layout = typename Matrix::layout;
  using Space = typename Exec::memory::space;

  /// Not collective. Preconditions: A's grid is active here; at_once >= 1; an Error: square blocks.
  /// A must outlive this object.
  AbsoluteProduct(const Exec& exec, const Matrix& a, Index at_once)
      : exec_(exec), a_(a), width_(at_once), blocks_(exec, a.grid(), a.distribution(), at_once) {
    const Extents mine = a.local_extents();
    xs_.reserve(mine.cols * at_once);
    ys_.reserve(mine.rows * at_once);
    tile_.reserve(tile_rows() * mine.cols);
  }

  /// Collective.
  template <class Reals>
  void operator()(const Reals& x, Reals& y) {
    const Extents mine = a_.local_extents();
    for (Index begin = 0; begin < x.cols(); begin += width_) {
      const Range which{begin, std::min(begin + width_, x.cols())};
      blocks_.import_columns(x.local(), x.distribution().cols, which);
      const View xs = wrap(xs_, mine.cols, which.size());
      const View ys = wrap(ys_, mine.rows, which.size());
      blocks_.spread_to_columns(xs);
      for (Index row = 0; row < mine.rows; row += tile_rows())
        multiply({row, std::min(row + tile_rows(), mine.rows)}, xs, ys);
      exec_.fence();
      blocks_.sum_from_rows(ys);
      blocks_.export_columns(y.local(), y.distribution().cols, which);
    }
  }

 private:
  using View = kernel::MatrixView<Real, Layout, Space>;
  using Room = kernel::Buffer<Real, typename Exec::memory>;

  static View wrap(const Room& room, Index rows, Index cols) {
    return kernel::contiguous<Layout, Space>(room.data(), rows, cols);
  }
  /// A piece stays in the second-level cache; it is wider where many threads share the work.
  Index tile_rows() const {
    constexpr Index per_thread = Index(1) << 15;
    const Index elements =
        per_thread * std::max<Index>(static_cast<Index>(exec_.space().concurrency()), 1);
    return std::max<Index>(1, elements / std::max<Index>(a_.local_extents().cols, 1));
  }
  void multiply(Range rows, const View& xs, const View& ys) {
    const Index cols = a_.local_extents().cols;
    const View tile = wrap(tile_, rows.size(), cols);
    kernel::moduli(exec_, kernel::part(a_.local(), rows, {0, cols}), tile);
    exec_.fence();
    kernel::gemm(exec_, Real(1), kernel::Operand<View>{tile}, xs, Real(0),
                 kernel::part(ys, rows, {0, kernel::cols_of(ys)}));
    exec_.fence();
  }

  Exec exec_;
  const Matrix& a_;
  Index width_;
  DiagonalBlocks<Real, Exec, Layout> blocks_;
  Room xs_, ys_, tile_;
};

}  // namespace plinth
