// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>

#include "plinth/core/index.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/policy/execution.hpp"

namespace plinth::kernel {

/// The elements of a matrix, numbered as they are stored, for kernels with a work item for each.
template <class View>
struct ElementOrder {
  explicit ElementOrder(const View& a)
      : count(rows_of(a) * cols_of(a)), length(by_rows ? cols_of(a) : rows_of(a)) {}

  KOKKOS_FUNCTION Index row(Index item) const { return by_rows ? item / length : item % length; }
  KOKKOS_FUNCTION Index col(Index item) const { return by_rows ? item % length : item / length; }

  static constexpr bool by_rows = is_row_major<typename View::array_layout>;
  Index count;
  Index length;  ///< of a row or column
};

/// f at an element that is known by its places in its line and of the line.
template <bool by_rows, class F>
struct AtElement {
  F f;
  Index length;  ///< of a line

  KOKKOS_FUNCTION void operator()(const Index in_line, const Index line) const {
    if constexpr (by_rows) {
      f(line, in_line);
    } else {
      f(in_line, line);
    }
  }
  KOKKOS_FUNCTION void operator()(const Index item) const {
    (*this)(item % length, item / length);
  }
};

/// for_each() on a device: neighbouring work items come to neighbouring elements. (The first index
/// is that of neighbours in every Kokkos, with Iterate::Left.)
template <bool by_rows, class Space, class F>
void for_each_element(const Space& space, Index rows, Index cols, const F& f) {
  constexpr Index along = 64, across = 4;
  const Index length = by_rows ? cols : rows, lines = by_rows ? rows : cols;
  const AtElement<by_rows, F> at{f, length};
  if (length < along) {  // vectors above all
    Kokkos::parallel_for(
        "plinth::for_each",
        Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, length * lines), at);
  } else {
    constexpr auto order = Kokkos::Iterate::Left;
    Kokkos::parallel_for(
        "plinth::for_each",
        Kokkos::MDRangePolicy<Space, Kokkos::Rank<2, order, order>, Kokkos::IndexType<Index>>(
            space, {Index(0), Index(0)}, {length, lines}, {along, across}),
        at);
  }
}

/// Calls f(i, j) for every 0 <= i < rows, 0 <= j < cols, in parallel, in an order that suits
/// matrices of layout `Layout`. On a host the contiguous index runs innermost, in pieces of
/// `host_piece` elements, so that f vectorizes; on a device every element is a work item.
/// The kernel may still run on return (exec.fence()).
template <MatrixLayout Layout, ExecutionPolicy Exec, class F>
void for_each(const Exec& exec, Index rows, Index cols, const F& f) {
  if (rows <= 0 || cols <= 0) return;
  [[maybe_unused]] auto scope = exec.enter();
  using Space = typename Exec::execution_space;
  constexpr bool on_host = Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible;
  if constexpr (on_host) {
    constexpr Index host_piece = 512;
    const Index inner = is_row_major<Layout> ? cols : rows;
    const Index outer = is_row_major<Layout> ? rows : cols;
    const Index pieces = ceil_div(inner, host_piece);
    Kokkos::parallel_for(
        "plinth::for_each",
        Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec.space(), 0, outer * pieces),
        [=](const Index item) {
          const Index o = item / pieces;
          const Index begin = (item % pieces) * host_piece;
          const Index end = begin + host_piece < inner ? begin + host_piece : inner;
          for (Index q = begin; q < end; ++q) {
            if constexpr (is_row_major<Layout>) {
              f(o, q);
            } else {
              f(q, o);
            }
          }
        });
  } else {
    for_each_element<is_row_major<Layout>>(exec.space(), rows, cols, f);
  }
}

/// to(i, j) = from(i, j), converting the scalar type where it differs. Same shape, same layout.
template <ExecutionPolicy Exec, class From, class To>
void copy(const Exec& exec, const From& from, const To& to) {
  using T = typename To::non_const_value_type;
  for_each<typename To::array_layout>(
      exec, rows_of(to), cols_of(to),
      KOKKOS_LAMBDA(const Index i, const Index j) { to(i, j) = static_cast<T>(from(i, j)); });
}

/// Every element of `a` becomes `value`.
template <ExecutionPolicy Exec, class View>
void fill(const Exec& exec, const View& a, typename View::non_const_value_type value) {
  for_each<typename View::array_layout>(
      exec, rows_of(a), cols_of(a),
      KOKKOS_LAMBDA(const Index i, const Index j) { a(i, j) = value; });
}

/// y := alpha x + beta y.
template <ExecutionPolicy Exec, class Real, class X, class Y>
void axpby(const Exec& exec, Real alpha, const X& x, Real beta, const Y& y) {
  for_each<typename Y::array_layout>(
      exec, rows_of(y), cols_of(y), KOKKOS_LAMBDA(const Index i, const Index j) {
        y(i, j) = alpha * x(i, j) + beta * y(i, j);
      });
}

/// to := alpha a, and a := beta a.
template <ExecutionPolicy Exec, class Real, class To, class A>
void scaled_copy(const Exec& exec, Real alpha, const A& a, const To& to, Real beta) {
  for_each<typename To::array_layout>(
      exec, rows_of(to), cols_of(to), KOKKOS_LAMBDA(const Index i, const Index j) {
        to(i, j) = alpha * a(i, j);
        a(i, j) = beta * a(i, j);
      });
}

/// to(i, j) = |from(i, j)|.
template <ExecutionPolicy Exec, class From, class To>
void moduli(const Exec& exec, const From& from, const To& to) {
  for_each<typename To::array_layout>(
      exec, rows_of(to), cols_of(to),
      KOKKOS_LAMBDA(const Index i, const Index j) { to(i, j) = modulus(from(i, j)); });
}

/// a(i, j) := factors(i, j) a(i, j).
template <ExecutionPolicy Exec, class Factors, class View>
void scale_entries(const Exec& exec, const Factors& factors, const View& a) {
  for_each<typename View::array_layout>(
      exec, rows_of(a), cols_of(a),
      KOKKOS_LAMBDA(const Index i, const Index j) { a(i, j) *= factors(i, j); });
}

/// a(i, j) := factors[i] a(i, j); `factors` is readable by kernels.
template <ExecutionPolicy Exec, class Real, class View>
void scale_rows(const Exec& exec, const Real* factors, const View& a) {
  for_each<typename View::array_layout>(
      exec, rows_of(a), cols_of(a),
      KOKKOS_LAMBDA(const Index i, const Index j) { a(i, j) *= factors[i]; });
}

/// a(i, j) := factors[j] a(i, j); likewise.
template <ExecutionPolicy Exec, class Real, class View>
void scale_columns(const Exec& exec, const Real* factors, const View& a) {
  for_each<typename View::array_layout>(
      exec, rows_of(a), cols_of(a),
      KOKKOS_LAMBDA(const Index i, const Index j) { a(i, j) *= factors[j]; });
}

/// to(i, j) = from(i, place(j)) for the columns of `to`.
template <ExecutionPolicy Exec, class From, class Place, class To>
void gather_columns(const Exec& exec, const From& from, const Place& place, const To& to) {
  for_each<typename To::array_layout>(
      exec, rows_of(to), cols_of(to),
      KOKKOS_LAMBDA(const Index i, const Index j) { to(i, j) = from(i, place(j)); });
}

/// to(i, place(j)) = from(i, j) for the columns of `from`; the places are distinct.
template <ExecutionPolicy Exec, class From, class To, class Place>
void scatter_columns(const Exec& exec, const From& from, const To& to, const Place& place) {
  for_each<typename From::array_layout>(
      exec, rows_of(from), cols_of(from),
      KOKKOS_LAMBDA(const Index i, const Index j) { to(i, place(j)) = from(i, j); });
}

/// to(r, j) = from(rows[r], j) for r < count; `rows` is readable by kernels.
template <ExecutionPolicy Exec, class From, class To>
void gather_rows(const Exec& exec, const Index* rows, Index count, const From& from,
                 const To& to) {
  for_each<typename From::array_layout>(
      exec, count, cols_of(from),
      KOKKOS_LAMBDA(const Index r, const Index j) { to(r, j) = from(rows[r], j); });
}

/// to(rows[r], j) = from(r, j) for r < count; the rows are distinct.
template <ExecutionPolicy Exec, class From, class To>
void scatter_rows(const Exec& exec, const Index* rows, Index count, const From& from,
                  const To& to) {
  for_each<typename To::array_layout>(
      exec, count, cols_of(to),
      KOKKOS_LAMBDA(const Index r, const Index j) { to(rows[r], j) = from(r, j); });
}

/// Rows and columns of a matrix that take part in something: lists readable by kernels.
struct Selection {
  const Index* rows = nullptr;
  const Index* cols = nullptr;
};

/// to(i, j) = from(which.rows[i], which.cols[j]).
template <ExecutionPolicy Exec, class From, class To>
void gather_entries(const Exec& exec, const From& from, Selection which, const To& to) {
  for_each<typename To::array_layout>(
      exec, rows_of(to), cols_of(to), KOKKOS_LAMBDA(const Index i, const Index j) {
        to(i, j) = from(which.rows[i], which.cols[j]);
      });
}

/// to(which.rows[i], which.cols[j]) = from(i, j); no entry twice.
template <ExecutionPolicy Exec, class From, class To>
void scatter_entries(const Exec& exec, const From& from, const To& to, Selection which) {
  for_each<typename From::array_layout>(
      exec, rows_of(from), cols_of(from), KOKKOS_LAMBDA(const Index i, const Index j) {
        to(which.rows[i], which.cols[j]) = from(i, j);
      });
}

/// Entry (i, j) of a selection of `to` = that of a selection of `from`, of the same shape.
template <ExecutionPolicy Exec, class From, class To>
void copy_entries(const Exec& exec, Extents count, const From& from, Selection source,
                  const To& to, Selection target) {
  for_each<typename To::array_layout>(
      exec, count.rows, count.cols, KOKKOS_LAMBDA(const Index i, const Index j) {
        to(target.rows[i], target.cols[j]) = from(source.rows[i], source.cols[j]);
      });
}

/// Exchanges rows upper[s] and lower[s] of `a`, for s = 0, ..., count - 1 in this order. Columns
/// are independent: each work item does all exchanges for a piece of them.
template <ExecutionPolicy Exec, class View>
void swap_rows(const Exec& exec, const Index* upper, const Index* lower, Index count,
               const View& a) {
  using Space = typename Exec::execution_space;
  using T = typename View::non_const_value_type;
  constexpr bool on_host = Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible;
  constexpr Index piece = on_host ? 512 : 1;
  const Index cols = cols_of(a);
  [[maybe_unused]] auto scope = exec.enter();
  Kokkos::parallel_for(
      "plinth::swap_rows",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec.space(), 0,
                                                           ceil_div(cols, piece)),
      KOKKOS_LAMBDA(const Index item) {
        const Index begin = item * piece;
        const Index end = begin + piece < cols ? begin + piece : cols;
        for (Index s = 0; s < count; ++s)
          for (Index j = begin; j < end; ++j) {
            const T kept = a(upper[s], j);
            a(upper[s], j) = a(lower[s], j);
            a(lower[s], j) = kept;
          }
      });
}

}  // namespace plinth::kernel
