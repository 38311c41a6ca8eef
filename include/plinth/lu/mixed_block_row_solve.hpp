// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/convert_view.hpp"
#include "plinth/kernel/lowp/gemm.hpp"
#include "plinth/kernel/magnitude.hpp"
#include "plinth/kernel/trsm.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/lu/diagonal_block.hpp"
#include "plinth/lu/mixed_panel.hpp"
#include "plinth/lu/narrowing_log.hpp"
#include "plinth/lu/operand_scaling.hpp"
#include "plinth/lu/packed_block_row.hpp"

namespace plinth::lu {

/// U12 := L11^-1 A12, a piece of columns (PackedBlockRow) at a time:
///
///     A12 to float
///     solved with L11, or multiplied by its inverse
///     the largest entry, which says how the operands are scaled
///     rounded and packed, as the update reads them                   solve
///     stored in the matrix, by the row that owns the diagonal block  store
///
/// By kernels of `Exec`, which is waited for once a piece in the middle of this and at its end.
/// Workspace: two pieces of floats.
template <class Factor, Scalar16 Operand, class Layout, ExecutionPolicy Exec>
class MixedBlockRowSolve {
 public:
  using Setup = kernel::lowp::GemmSetup<Operand>;
  using Panel = MixedPanel<Operand, Layout, Exec>;
  using BlockRow = PackedBlockRow<Operand, Exec>;
  using Memory = typename Exec::memory;
  /// Of the matrix, or of rows that stand in for some of its.
  using View = kernel::MatrixView<Factor, Layout, typename Memory::space>;

  /// For block rows of up to so many rows and columns.
  MixedBlockRowSolve(const Exec& exec, const Setup& setup, const OperandScaling& scaling,
                     Index max_width, Index max_cols)
      : exec_(exec), setup_(setup), scaling_(scaling) {
    const Index piece = std::min(BlockRow::piece_cols(setup), max_cols);
    unsolved_.reserve(max_width * piece);
    solved_.reserve(max_width * piece);
  }

  Index workspace_bytes() const {
    return (unsolved_.size() + solved_.size()) * Index(sizeof(float));
  }

  /// Piece p of `to`, with its exponent, from the columns `a12` of the piece. The panel is here.
  void solve(const Panel& panel, const View& a12, const BlockRow& to, Index p) {
    u12_ = single(solved_, a12);
    if (panel.header().inverted) {
      const Single in = single(unsolved_, a12);
      kernel::convert(exec_, a12, in);
      multiply_by_lower(exec_, panel.device_triangle(), in, u12_);
    } else {
      kernel::convert(exec_, a12, u12_);
      kernel::trsm(exec_, Side::left, Uplo::lower, Diag::unit, 1.0f,
                   kernel::Operand<Single>{panel.device_triangle()}, u12_);
    }
    exec_.fence();
    largest_ = kernel::largest_magnitude(exec_, u12_);
    const int exponent = scaling_.of_u(largest_);
    to.exponent(p) = exponent;
    [[maybe_unused]] const auto scope = exec_.enter();
    lost_ = kernel::lowp::pack_b(exec_.space(), setup_, kernel::rows_of(u12_),
                                 kernel::cols_of(u12_), u12_.data(),
                                 static_cast<Index>(u12_.stride(0)),
                                 static_cast<Index>(u12_.stride(1)), to.packed(p),
                                 static_cast<float>(std::ldexp(1.0, exponent)));
  }

  /// to := what was solved last, times 2^exponent; that and what packing lost goes into the log.
  /// global_col(j) is the global column of column j.
  template <class GlobalCol>
  void store(const View& to, int exponent, const GlobalCol& global_col,
             NarrowingLog& log) const {
    log.see_u(largest_);
    log.count_multiplied(lost_);
    log.store(exec_, u12_, to, exponent, global_col);
  }

 private:
  using Single = kernel::MatrixView<float, Layout, typename Memory::space>;
  /// Room for as much as `like` has.
  static Single single(const kernel::Buffer<float, Memory>& buffer, const View& like) {
    return kernel::contiguous<Layout, typename Memory::space>(
        buffer.data(), kernel::rows_of(like), kernel::cols_of(like));
  }

  Exec exec_;
  Setup setup_;
  OperandScaling scaling_;
  kernel::Buffer<float, Memory> unsolved_, solved_;

  // Of the piece that was solved last.
  Single u12_;
  double largest_ = 0;
  kernel::NarrowingCounts lost_;
};

}  // namespace plinth::lu
