// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "plinth/comm/grid.hpp"
#include "plinth/comm/mpi.hpp"
#include "plinth/kernel/blas.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/stored_factors.hpp"
#include "plinth/kernel/trsm.hpp"
#include "plinth/lu/block_exponents.hpp"
#include "plinth/matrix/diagonal_blocks.hpp"
#include "plinth/trace/phase.hpp"

namespace plinth::lu {

/// Solves op(A) X = B in place for a triangular n x n matrix A and a few right-hand sides, which
/// live with the diagonal blocks.
///
/// For op = none the unknown x_k updates the rows of block column k, in the process column that
/// owns it; contributions wait in a vector over the local rows and are summed along the process row
/// when their turn comes:
///
///     for each block k:                   (ascending for a lower triangle, else descending)
///       b_k -= sum along the process row of w(k)
///       x_k := A(k, k)^-1 b_k
///       send x_k along the process column
///       w(next) += A(next, k) x_k         at once: the next owner waits for it
///       w(rest) += A(rest, k) x_k         later, while the next block is under way
///
/// For the transpose, rows and columns change places throughout.
///
/// A may be stored in another type S than the vectors have (T), and scaled by powers of two
/// (lu/block_exponents.hpp): it is read as it is, in S, and the vectors take the scaling. With
/// l, u the exponents of step k:
///
/// | A   | b_k is multiplied by | w(k) by | rest of A(k, k) by | x_k for products by | x_k by |
/// |-----|----------------------|---------|--------------------|---------------------|--------|
/// | L   | 1                    | 1       | 2^-l               | 2^-l                | 1      |
/// | U   | 2^u                  | 1       | 1                  | 1                   | 1      |
/// | L^T | 1                    | 2^-l    | 2^-l               | 1                   | 1      |
/// | U^T | 1                    | 1       | 1                  | 1                   | 2^u    |
///
/// Flops: n^2 per right-hand side. Messages: one reduction along a line of the grid and one
/// broadcast along the other per block, NB c elements each. Workspace: (n/P or n/Q + 4 NB) c.
/// Source: the fan-out of x_k with delayed updates, after Li and Coleman 1988 and netlib HPL.
template <class T, ExecutionPolicy Exec, class Layout, class S = T>
class Substitution {
 public:
  using Blocks = DiagonalBlocks<T, Exec, Layout>;
  using Space = typename Exec::memory::space;
  using View = kernel::MatrixView<T, Layout, Space>;
  using Stored = kernel::MatrixView<S, Layout, Space>;

  /// `scaled`: A comes with exponents. Not collective.
  Substitution(const Exec& exec, const ProcessGrid& grid, const Distribution& matrix,
               Index max_cols, bool scaled = false)
      : exec_(exec), grid_(grid), rows_(matrix.rows), cols_(matrix.cols), stored_(exec) {
    const Index lines =
        std::max(rows_.local_size(grid.coord().row), cols_.local_size(grid.coord().col));
    waiting_.reserve(lines * max_cols);
    const Index block = std::min({rows_.block(), rows_.size(), cols_.size()});
    part_.reserve(block * max_cols);
    sum_.reserve(block * max_cols);
    for (auto& solution : x_) solution.reserve(block * max_cols);
    if (scaled || !std::is_same_v<S, T>) stored_.reserve(lines, block, max_cols);
  }

  /// `a`: the local part of A. `x`: B on entry, X on return. Collective.
  void operator()(Uplo uplo, Diag diag, Op op, const Stored& a, Blocks& x) {
    trace::Off off;
    (*this)(uplo, diag, op, a, x, off);
  }
  /// `sink` learns how long that took, and how long of it messages were waited for.
  template <class Sink>
  void operator()(Uplo uplo, Diag diag, Op op, const Stored& a, Blocks& x, Sink& sink,
                  const BlockExponents& exponents = {}) {
    const trace::Span span(sink, trace::Phase::substitution);
    uplo_ = uplo;
    diag_ = diag;
    op_ = op;
    a_ = a;
    exponents_ = &exponents;
    by_rows_ = op == Op::none;
    forward_ = (uplo == Uplo::lower) == by_rows_;
    vectors_ = x.cols();
    if (vectors_ == 0 || x.blocks() == 0) return;
    const BlockCyclic& lines = by_rows_ ? rows_ : cols_;
    const Index count = lines.local_size(my_line());
    w_ = kernel::contiguous<Layout, Space>(waiting_.data(), count, vectors_);
    kernel::fill(exec_, w_, T(0));

    const Index blocks = x.blocks();
    Index pending = -1;
    for (Index n = 0; n < blocks; ++n) {
      const Index k = forward_ ? n : blocks - 1 - n;
      if (line_of(x, k) == my_line()) sum_contributions(x, k, sink);
      if (x.owns(k)) solve_diagonal(x, k);
      const bool mine = across_of(x, k) == my_across();
      if (mine) send_solution(x, k, sink);
      if (pending >= 0) update(x, pending, rest(x, pending));
      pending = -1;
      if (mine) {
        update(x, k, next(x, k));
        pending = k;
      }
    }
    exec_.fence();
  }

 private:
  // A line is a process row for op = none, a process column for the transpose.
  int my_line() const { return by_rows_ ? grid_.coord().row : grid_.coord().col; }
  int my_across() const { return by_rows_ ? grid_.coord().col : grid_.coord().row; }
  int line_of(const Blocks& x, Index k) const { return by_rows_ ? x.row_of(k) : x.col_of(k); }
  int across_of(const Blocks& x, Index k) const { return by_rows_ ? x.col_of(k) : x.row_of(k); }
  const comm::Communicator& along_line() const {
    return by_rows_ ? grid_.row_vectors() : grid_.column_vectors();
  }
  const comm::Communicator& across_lines() const {
    return by_rows_ ? grid_.column_vectors() : grid_.row_vectors();
  }
  Range local_lines(Range global) const {
    const BlockCyclic& lines = by_rows_ ? rows_ : cols_;
    return {lines.first_local(global.begin, my_line()), lines.first_local(global.end, my_line())};
  }

  Range next(const Blocks& x, Index k) const {
    const Index n = forward_ ? k + 1 : k - 1;
    return n < 0 || n >= x.blocks() ? Range{} : x.range(n);
  }
  Range rest(const Blocks& x, Index k) const {
    if (forward_) return {std::min((k + 2) * x.block(), x.order()), x.order()};
    return {0, std::max<Index>(k - 1, 0) * x.block()};
  }

  template <class Sink>
  void sum_contributions(Blocks& x, Index k, Sink& sink) {
    const Range here = local_lines(x.range(k));
    const Index size = x.range(k).size();
    kernel::copy(exec_, kernel::part(w_, here, {0, vectors_}), buffer(part_, size));
    part_.to_host(exec_, 0, size * vectors_);
    {
      const trace::Span waiting(sink, trace::Phase::wait);
      comm::check(
          MPI_Reduce(part_.host(), sum_.host(), to_int(size * vectors_, "vector message"),
                     comm::datatype<T>(), MPI_SUM, across_of(x, k), along_line().handle()),
          "MPI_Reduce");
    }
    if (!x.owns(k)) return;
    sum_.to_device(exec_, 0, size * vectors_);
    const View block = x[k];
    const View sum = buffer(sum_, size);
    kernel::axpby(exec_, -scales(k).sum, sum, scales(k).rhs, block);
    exec_.fence();
  }

  void solve_diagonal(Blocks& x, Index k) {
    const Index i = rows_.local(x.range(k).begin);
    const Index j = cols_.local(x.range(k).begin);
    const Index size = x.range(k).size();
    const Stored akk = kernel::part(a_, {i, i + size}, {j, j + size});
    // The triangle of op(A) is named: that of a transposed lower triangle is an upper one.
    const Uplo seen = (uplo_ == Uplo::lower) == by_rows_ ? Uplo::lower : Uplo::upper;
    const Scales scale = scales(k);
    const View block = x[k];
    if (uses_blas()) {
      if constexpr (std::is_same_v<S, T>)
        kernel::trsm(exec_, Side::left, seen, diag_, T(1), kernel::Operand<View>{akk, op_},
                     block);
    } else {
      stored_.solve(seen, diag_, kernel::Operand<Stored>{akk, op_}, block, scale.triangle);
    }
    kernel::scaled_copy(exec_, scale.product, block, buffer(solution(k), size), scale.result);
  }

  template <class Sink>
  void send_solution(const Blocks& x, Index k, Sink& sink) {
    const Index count = x.range(k).size() * vectors_;
    const auto& xk = solution(k);
    if (x.owns(k)) {
      xk.to_host(exec_, 0, count);
    } else {
      exec_.fence();  // the message before last may be under way to kernels from this buffer
    }
    {
      const trace::Span waiting(sink, trace::Phase::wait);
      comm::check(MPI_Bcast(xk.host(), to_int(count, "vector message"), comm::datatype<T>(),
                            line_of(x, k), across_lines().handle()),
                  "MPI_Bcast");
    }
    xk.to_device(exec_, 0, count);
  }

  /// w(lines) += op(A)(lines, k) x_k for global `lines`.
  void update(const Blocks& x, Index k, Range lines) {
    const Range here = local_lines(lines);
    if (here.empty()) return;
    const Range block = x.range(k);
    const Index begin = (by_rows_ ? cols_ : rows_).local(block.begin);
    const Range inner{begin, begin + block.size()};
    const Stored a = by_rows_ ? kernel::part(a_, here, inner) : kernel::part(a_, inner, here);
    const View xk = buffer(solution(k), block.size());
    const View w = kernel::part(w_, here, {0, vectors_});
    if (uses_blas()) {
      if constexpr (std::is_same_v<S, T>)
        kernel::gemm(exec_, T(1), kernel::Operand<View>{a, op_}, xk, T(1), w);
    } else {
      stored_.multiply_add({a, op_}, xk, w);
    }
  }

  /// What the vectors are multiplied by in step k; see the table above.
  struct Scales {
    RealOf<T> rhs = 1, sum = 1, triangle = 1, product = 1, result = 1;
  };
  Scales scales(Index k) const {
    Scales s;
    if (exponents_->empty()) return s;
    const auto power = [](int exponent) {
      return static_cast<RealOf<T>>(std::ldexp(1.0, exponent));
    };
    if (uplo_ == Uplo::lower) {
      s.triangle = power(-exponents_->of_l(k));
      (by_rows_ ? s.product : s.sum) = s.triangle;
    } else {
      (by_rows_ ? s.rhs : s.result) = power(exponents_->of_u(k));
    }
    return s;
  }
  bool uses_blas() const { return std::is_same_v<S, T> && exponents_->empty(); }

  /// Two of them: x_k is still needed for w(rest) when the next block is solved.
  const kernel::Staged<T, Exec>& solution(Index k) const {
    return x_[static_cast<std::size_t>(k % 2)];
  }

  View buffer(const kernel::Staged<T, Exec>& staged, Index rows) const {
    return kernel::contiguous<Layout, Space>(staged.device(), rows, vectors_);
  }

  Exec exec_;
  ProcessGrid grid_;
  BlockCyclic rows_;
  BlockCyclic cols_;
  kernel::Buffer<T, typename Exec::memory> waiting_;
  kernel::Staged<T, Exec> part_, sum_;
  std::array<kernel::Staged<T, Exec>, 2> x_;
  kernel::StoredFactors<S, T, Exec, Layout> stored_;

  Uplo uplo_ = Uplo::lower;
  Diag diag_ = Diag::unit;
  Op op_ = Op::none;
  bool by_rows_ = true;
  bool forward_ = true;
  Index vectors_ = 0;
  const BlockExponents* exponents_ = nullptr;
  Stored a_;
  View w_;
};

}  // namespace plinth::lu
