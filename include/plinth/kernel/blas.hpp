// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <KokkosBlas2_gemv.hpp>
#include <KokkosBlas3_gemm.hpp>
#include <type_traits>

#include "plinth/core/index.hpp"
#include "plinth/core/options.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/policy/execution.hpp"

namespace plinth::kernel {

/// Checked narrowing of everything that a BLAS takes as a 32-bit int.
template <class View>
void require_blas_range(const View& a) {
  to_int(rows_of(a), "matrix rows");
  to_int(cols_of(a), "matrix columns");
  to_int(leading_dimension(a), "leading dimension");
}

/// KokkosBlas::gemm, on a device in the queue that `space` stands for. That wants Kokkos Kernels 4;
/// older ones take no queue, which is as good on a host.
template <class Space, class... Arguments>
void call_gemm(const Space& space, const Arguments&... arguments) {
  if constexpr (runs_on_host<Space>) {
    KokkosBlas::gemm(arguments...);
  } else {
    KokkosBlas::gemm(space, arguments...);
  }
}
/// Likewise KokkosBlas::gemv.
template <class Space, class... Arguments>
void call_gemv(const Space& space, const Arguments&... arguments) {
  if constexpr (runs_on_host<Space>) {
    KokkosBlas::gemv(arguments...);
  } else {
    KokkosBlas::gemv(space, arguments...);
  }
}
/// Whether a matrix is one column whose elements are adjacent.
template <class View>
bool is_single_column(const View& a) {
  return cols_of(a) == 1 && (!is_row_major<typename View::array_layout> || a.stride(0) == 1);
}

/// A row-major matrix as the column-major one that it is transposed.
template <class View>
auto transposed(const View& a) {
  return wrap<Kokkos::LayoutLeft, typename View::memory_space>(a.data(), cols_of(a), rows_of(a),
                                                               leading_dimension(a));
}

/// y := alpha op(A) x + beta y for one-column x and y, by the BLAS's gemv, which reads A once.
/// Kokkos Kernels knows it for column-major matrices only: a row-major A is given as the transpose
/// that it is. False, and nothing done, for the conjugate transpose of a row-major A, which gemv
/// cannot spell.
template <class Space, class T, class AView, class XView, class YView>
bool gemv(const Space& space, T alpha, const Operand<AView>& a, const XView& x, T beta,
          const YView& y) {
  using Memory = typename AView::memory_space;
  using Kokkos::LayoutLeft;
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  const Kokkos::View<const T*, LayoutLeft, Memory, Unmanaged> from(x.data(), x.extent(0));
  const Kokkos::View<T*, LayoutLeft, Memory, Unmanaged> to(y.data(), y.extent(0));
  if constexpr (is_row_major<typename AView::array_layout>) {
    if (ScalarTraits<T>::is_complex && a.op == Op::conj_transpose) return false;
    const char op[] = {to_char(a.op == Op::none ? Op::transpose : Op::none), '\0'};
    call_gemv(space, op, alpha, transposed(a.view), from, beta, to);
  } else {
    const char op[] = {to_char(a.op), '\0'};
    call_gemv(space, op, alpha,
              wrap<LayoutLeft, Memory>(a.view.data(), rows_of(a.view), cols_of(a.view),
                                       leading_dimension(a.view)),
              from, beta, to);
  }
  return true;
}

/// C := alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) is k x n, C is m x n.
/// All three have one layout and one scalar type: only then does Kokkos Kernels hand the product
/// to the BLAS. A single column goes to the BLAS's gemv, which reads A only once. Does nothing
/// where m or n is 0.
template <ExecutionPolicy Exec, class T, class AView, class BView, class CView>
void gemm(const Exec& exec, T alpha, const Operand<AView>& a, const Operand<BView>& b, T beta,
          const CView& c) {
  using Layout = typename CView::array_layout;
  static_assert(std::is_same_v<typename AView::array_layout, Layout> &&
                    std::is_same_v<typename BView::array_layout, Layout>,
                "plinth: gemm wants A, B and C in one layout (transpose through Operand)");
  static_assert(MatrixLayout<Layout>, "plinth: gemm wants LayoutLeft or LayoutRight");
  static_assert(BlasScalar<T> && std::is_same_v<typename CView::non_const_value_type, T>,
                "plinth: gemm wants float, double or their complex types, all the same");
  if (rows_of(c) == 0 || cols_of(c) == 0) return;
  require_blas_range(a.view);
  require_blas_range(b.view);
  require_blas_range(c);
  if ((a.op == Op::none ? cols_of(a.view) : rows_of(a.view)) == 0) {
    // Kokkos Kernels would leave C as it is.
    if (beta != T(1))
      for_each<Layout>(
          exec, rows_of(c), cols_of(c), KOKKOS_LAMBDA(const Index i, const Index j) {
            c(i, j) = beta == T(0) ? T(0) : beta * c(i, j);
          });
    return;
  }
  const char op_a[] = {to_char(a.op), '\0'};
  const char op_b[] = {to_char(b.op), '\0'};
  [[maybe_unused]] auto scope = exec.enter();
  if (b.op == Op::none && is_single_column(b.view) && is_single_column(c) &&
      gemv(exec.space(), alpha, a, b.view, beta, c))
    return;
  if constexpr (is_row_major<Layout>) {
    // C^T := alpha op(B)^T op(A)^T + beta C^T, which is what the BLAS gets in any case. Given C
    // itself, Kokkos Kernels from 4 on takes a single column for one without gaps.
    call_gemm(exec.space(), op_b, op_a, alpha, transposed(b.view), transposed(a.view), beta,
              transposed(c));
  } else {
    call_gemm(exec.space(), op_a, op_b, alpha, a.view, b.view, beta, c);
  }
}

template <ExecutionPolicy Exec, class T, class AView, class BView, class CView>
void gemm(const Exec& exec, T alpha, const Operand<AView>& a, const BView& b, T beta,
          const CView& c) {
  gemm(exec, alpha, a, Operand<BView>{b}, beta, c);
}

/// The operand op(operand): transposing a transposed operand gives it back.
/// Precondition: not both a conjugation and a plain transpose, which has no BLAS spelling.
template <class View>
Operand<View> apply(Op op, const Operand<View>& operand) {
  if (op == Op::none) return operand;
  if (operand.op == Op::none) return {operand.view, op};
  constexpr bool is_complex = ScalarTraits<typename View::non_const_value_type>::is_complex;
  require(!is_complex || op == operand.op,
          "conjugation without transposition has no BLAS equivalent");
  return {operand.view, Op::none};
}

}  // namespace plinth::kernel
