// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <KokkosBlas3_trsm.hpp>
#include <type_traits>
#include <utility>

#include "plinth/core/index.hpp"
#include "plinth/core/options.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/kernel/blas.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/run_parts.hpp"
#include "plinth/kernel/triangle_base.hpp"
#include "plinth/kernel/triangle_lines.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/policy/execution.hpp"

namespace plinth::kernel {

/// A range cut near its middle, a multiple of `unit` from its begin. Precondition: it is longer.
inline std::pair<Range, Range> halves(Range all, Index unit) {
  const Index middle = all.begin + ceil_div(ceil_div(all.size(), unit), 2) * unit;
  return {{all.begin, middle}, {middle, all.end}};
}

/// KokkosBlas::trsm, on a device in the queue that `space` stands for, as call_gemm().
template <class Space, class... Arguments>
void call_trsm(const Space& space, const Arguments&... arguments) {
  if constexpr (runs_on_host<Space>) {
    KokkosBlas::trsm(arguments...);
  } else {
    KokkosBlas::trsm(space, arguments...);
  }
}

/// trsm() by the BLAS's own.
template <ExecutionPolicy Exec, class T, class AView, class BView>
void blas_trsm(const Exec& exec, Side side, Uplo uplo, Diag diag, T alpha,
               const Operand<AView>& a, const BView& b) {
  const bool stored_lower = (uplo == Uplo::lower) == (a.op == Op::none);
  const char side_c[] = {to_char(side), '\0'};
  const char uplo_c[] = {stored_lower ? 'L' : 'U', '\0'};
  const char op_c[] = {to_char(a.op), '\0'};
  const char diag_c[] = {to_char(diag), '\0'};
  call_trsm(exec.space(), side_c, uplo_c, op_c, diag_c, alpha, a.view, b);
}

/// Whether Kokkos Kernels solves triangular systems by a vendor's library on a device; elsewhere it
/// does so on the host, and not in a queue.
template <class Space>
inline constexpr bool has_vendor_trsm = false;
#if defined(KOKKOS_ENABLE_CUDA) && defined(KOKKOSKERNELS_ENABLE_TPL_CUBLAS)
template <>
inline constexpr bool has_vendor_trsm<Kokkos::Cuda> = true;
#endif

/// trsm() by halves of the triangle, so that most of it is products, which a BLAS does at several
/// times the rate of its triangular solves; alpha is 1. Small triangles are the host's affair, or
/// that of kernels.
///
///     [ A11     ]      B1 := A11^-1 B1,  B2 := B2 - A21 B1,  B2 := A22^-1 B2
///     [ A21 A22 ]
///
/// and likewise for an upper triangle, and from the right.
template <class Exec, class AView, class BView, bool by_kernels>
class TriangularSolve {
 public:
  using T = typename BView::non_const_value_type;
  /// Triangles that are solved with as they are: by solve_base(), or complex ones by the BLAS.
  static constexpr Index base =
      ScalarTraits<T>::is_complex && !by_kernels ? 64 : TriangleBase<RealOf<T>>::size;

  TriangularSolve(const Exec& exec, Side side, Uplo uplo, Diag diag, const Operand<AView>& a,
                  const BView& b, Threads threads)
      : exec_(exec),
        left_(side == Side::left),
        uplo_(uplo),
        diag_(diag),
        a_(a),
        b_(b),
        threads_(threads) {}

  /// Solves with the rows and columns `here` of op(A).
  void operator()(Range here) const {
    if (here.size() <= base) return solve_base_of(here);
    const auto [low, high] = halves(here, base);
    // Whose unknowns come first: a lower triangle's on the left from the top, and so on.
    const bool downwards = (uplo_ == Uplo::lower) == left_;
    const Range first = downwards ? low : high, second = downwards ? high : low;
    (*this)(first);
    if (left_) {
      gemm(exec_, T(-1), block(second, first), lines(first), T(1), lines(second));
    } else {
      gemm(exec_, T(-1), Operand<BView>{lines(first)}, block(first, second), T(1), lines(second));
    }
    (*this)(second);
  }

 private:
  /// op(A)(rows, cols).
  Operand<AView> block(Range rows, Range cols) const {
    return {a_.op == Op::none ? part(a_.view, rows, cols) : part(a_.view, cols, rows), a_.op};
  }
  /// The rows of B, or from the right the columns.
  BView lines(Range some) const {
    return left_ ? part(b_, some, {0, cols_of(b_)}) : part(b_, {0, rows_of(b_)}, some);
  }
  template <class View>
  static auto strided(const View& v) {
    return Strided<typename View::value_type>{v.data(), static_cast<Index>(v.stride(0)),
                                              static_cast<Index>(v.stride(1))};
  }

  void solve_base_of(Range here) const {
    const Operand<AView> a = block(here, here);
    const BView b = lines(here);
    // From the right it is op(A)^T X^T = B^T.
    const bool is_lower = (uplo_ == Uplo::lower) == left_;
    const auto stored = strided(a.view);
    Strided<const T> triangle{stored.data, stored.row, stored.col};
    if ((a.op == Op::none) != left_) triangle = triangle.transposed();
    const Strided<T> rhs = left_ ? strided(b) : strided(b).transposed();
    const Index count = left_ ? cols_of(b) : rows_of(b);
    if constexpr (by_kernels) {
      const TriangleLine<T> line{triangle, rhs,
                                 here.size(), is_lower,
                                 diag_ == Diag::unit, a.op == Op::conj_transpose};
      solve_lines(exec_, line, count);
    } else {
      if (threads_ == Threads::all) exec_.fence();  // what kernels and the BLAS do before
      if constexpr (ScalarTraits<T>::is_complex) {
        blas_trsm(exec_, left_ ? Side::left : Side::right, uplo_, diag_, T(1), a, b);
      } else {
        solve_base(exec_.space(), is_lower ? Uplo::lower : Uplo::upper, diag_, triangle,
                   here.size(), rhs, count, threads_);
      }
    }
  }

  Exec exec_;
  bool left_;
  Uplo uplo_;
  Diag diag_;
  Operand<AView> a_;
  BView b_;
  Threads threads_;
};

/// trsm() of a device without a vendor's: products, and kernels of our own.
template <ExecutionPolicy Exec, class T, class AView, class BView>
void trsm_by_kernels(const Exec& exec, Side side, Uplo uplo, Diag diag, T alpha,
                     const Operand<AView>& a, const BView& b) {
  if (alpha != T(1))
    for_each<typename BView::array_layout>(
        exec, rows_of(b), cols_of(b),
        KOKKOS_LAMBDA(const Index i, const Index j) { b(i, j) *= alpha; });
  const Index order = side == Side::left ? rows_of(b) : cols_of(b);
  TriangularSolve<Exec, AView, BView, true>(exec, side, uplo, diag, a, b,
                                            Threads::all)({0, order});
}

/// Solves op(A) X = alpha B (side left) or X op(A) = alpha B (side right) for a triangular A and
/// stores X over B. `uplo` names the triangle of op-less A as the caller thinks of it, that is of
/// the matrix a.op(a.view): a lower triangle L given as a transposed operand is still `lower`.
/// `threads`: on a host; a triangular solve that is itself dealt (kernel/deal.hpp) has one thread.
template <ExecutionPolicy Exec, class T, class AView, class BView>
void trsm(const Exec& exec, Side side, Uplo uplo, Diag diag, T alpha, const Operand<AView>& a,
          const BView& b, Threads threads = Threads::all) {
  using Layout = typename BView::array_layout;
  static_assert(std::is_same_v<typename AView::array_layout, Layout>,
                "plinth: trsm wants A and B in one layout (transpose through Operand)");
  static_assert(MatrixLayout<Layout>, "plinth: trsm wants LayoutLeft or LayoutRight");
  static_assert(BlasScalar<T> && std::is_same_v<typename BView::non_const_value_type, T>,
                "plinth: trsm wants float, double or their complex types, all the same");
  if (rows_of(b) == 0 || cols_of(b) == 0) return;
  require_blas_range(a.view);
  require_blas_range(b);
  [[maybe_unused]] auto scope = exec.enter();
  if constexpr (runs_on_host<typename Exec::execution_space>) {
    constexpr Index few = 8;  // right-hand sides that are not worth a chunk of vectors
    const bool left = side == Side::left;
    if (alpha == T(1) && (left ? cols_of(b) : rows_of(b)) > few)
      return TriangularSolve<Exec, AView, BView, false>(
          exec, side, uplo, diag, a, b, threads)({0, left ? rows_of(b) : cols_of(b)});
  } else if constexpr (!has_vendor_trsm<typename Exec::execution_space>) {
    return trsm_by_kernels(exec, side, uplo, diag, alpha, a, b);
  }
  blas_trsm(exec, side, uplo, diag, alpha, a, b);
}

}  // namespace plinth::kernel
