// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>

#include "plinth/comm/grid.hpp"
#include "plinth/comm/mpi.hpp"
#include "plinth/kernel/blas.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
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
/// Flops: n^2 per right-hand side. Messages: one reduction along a line of the grid and one
/// broadcast along the other per block, NB c elements each. Workspace: (n/P or n/Q + 4 NB) c.
/// Source: the fan-out of x_k with delayed updates, after Li and Coleman 1988 and netlib HPL.
template <class T, ExecutionPolicy Exec, class Layout>
class Substitution {
 public:
  using Blocks = DiagonalBlocks<T, Exec, Layout>;
  using Space = typename Exec::memory::space;
  using View = kernel::MatrixView<T, Layout, Space>;

  Substitution(const Exec& exec, const ProcessGrid& grid, const Distribution& matrix,
               Index max_cols)
      : exec_(exec), grid_(grid), rows_(matrix.rows), cols_(matrix.cols) {
    const Index lines =
        std::max(rows_.local_size(grid.coord().row), cols_.local_size(grid.coord().col));
    waiting_.reserve(lines * max_cols);
    const Index block = std::min({rows_.block(), rows_.size(), cols_.size()});
    part_.reserve(block * max_cols);
    sum_.reserve(block * max_cols);
    for (auto& solution : x_) solution.reserve(block * max_cols);
  }

  /// `a`: the local part of A. `x`: B on entry, X on return. Collective.
  void operator()(Uplo uplo, Diag diag, Op op, const View& a, Blocks& x) {
    trace::Off off;
    (*this)(uplo, diag, op, a, x, off);
  }
  /// `sink` learns how long that took, and how long of it messages were waited for.
  template <class Sink>
  void operator()(Uplo uplo, Diag diag, Op op, const View& a, Blocks& x, Sink& sink) {
    const trace::Span span(sink, trace::Phase::substitution);
    uplo_ = uplo;
    diag_ = diag;
    op_ = op;
    a_ = a;
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
    kernel::for_each<Layout>(
        exec_, size, vectors_,
        KOKKOS_LAMBDA(const Index i, const Index j) { block(i, j) -= sum(i, j); });
    exec_.fence();
  }

  void solve_diagonal(Blocks& x, Index k) {
    const Index i = rows_.local(x.range(k).begin);
    const Index j = cols_.local(x.range(k).begin);
    const Index size = x.range(k).size();
    const View akk = kernel::part(a_, {i, i + size}, {j, j + size});
    // trsm wants the triangle of op(A): a transposed lower triangle is an upper one.
    const Uplo seen = (uplo_ == Uplo::lower) == by_rows_ ? Uplo::lower : Uplo::upper;
    kernel::trsm(exec_, Side::left, seen, diag_, T(1), kernel::Operand<View>{akk, op_}, x[k]);
    kernel::copy(exec_, x[k], buffer(solution(k), size));
  }

  template <class Sink>
  void send_solution(const Blocks& x, Index k, Sink& sink) {
    const Index count = x.range(k).size() * vectors_;
    const auto& xk = solution(k);
    if (x.owns(k)) xk.to_host(exec_, 0, count);
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
    const View a = by_rows_ ? kernel::part(a_, here, inner) : kernel::part(a_, inner, here);
    kernel::gemm(exec_, T(1), kernel::Operand<View>{a, op_}, buffer(solution(k), block.size()),
                 T(1), kernel::part(w_, here, {0, vectors_}));
  }
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

  Uplo uplo_ = Uplo::lower;
  Diag diag_ = Diag::unit;
  Op op_ = Op::none;
  bool by_rows_ = true;
  bool forward_ = true;
  Index vectors_ = 0;
  View a_, w_;
};

}  // namespace plinth::lu
