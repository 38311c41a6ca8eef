// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "plinth/comm/reduce.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/matrix/distributed_matrix.hpp"

namespace plinth::refine {

/// out[p columns + l] := f(a, row, l, result) folded over the rows of piece p of column l, in this
/// order and from 0; a piece has `piece` rows.
template <ExecutionPolicy Exec, class View, class T, class F>
void fold_columns(const Exec& exec, const View& a, Index piece, T* out, const F& f) {
  using Space = typename Exec::execution_space;
  const Index rows = kernel::rows_of(a), cols = kernel::cols_of(a);
  [[maybe_unused]] auto scope = exec.enter();
  Kokkos::parallel_for(
      "plinth::fold_columns",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec.space(), 0,
                                                           ceil_div(rows, piece) * cols),
      KOKKOS_LAMBDA(const Index item) {
        const Index begin = item / cols * piece;
        const Index end = begin + piece < rows ? begin + piece : rows;
        T result(0);
        for (Index r = begin; r < end; ++r) f(a, r, item % cols, result);
        out[item] = result;
      });
}

/// Operations on the columns of n x c matrices of one distribution, each column with a coefficient
/// of its own. Coefficients and results are indexed by global column and the same on every rank.
///
/// | call          | result                                            | messages      |
/// |---------------|---------------------------------------------------|---------------|
/// | dots(V, w)    | conj(V[i] e_j)^T w e_j for each i and column j    | one allreduce |
/// | inf_norms(V)  | largest modulus in column j of V[i], NaN above all| one allreduce |
/// | axpy(c, x, y) | y += x diag(c)                                    |               |
/// | scale(c, x, y)| y := x diag(c)                                    |               |
/// | subtract(b, y)| y := b - y                                        |               |
///
/// A coefficient of 0 takes no part, whatever x holds: axpy leaves the column, scale makes it 0.
/// Sums are formed over fixed pieces of rows, so that they do not depend on the number of threads.
///
/// A process that runs out of memory within one of these leaves the others waiting: reserve()
/// beforehand what the longest list asks for, in a part that is agreed on, and give results that
/// have room.
template <ExecutionPolicy Exec, class Vectors>
class ColumnOperations {
 public:
  using T = typename Vectors::value_type;
  using View = typename Vectors::View;
  using List = std::span<const Vectors* const>;

  /// Not collective. Precondition: the grid is active here.
  ColumnOperations(const Exec& exec, const Vectors& like)
      : exec_(exec),
        grid_(like.grid()),
        map_(like.distribution().cols),
        mine_(like.local_extents()),
        piece_(std::max<Index>(least_piece, ceil_div(mine_.rows, most_pieces))),
        coefficients_(std::max<Index>(mine_.cols, 1)) {}

  std::size_t cols() const { return static_cast<std::size_t>(map_.size()); }
  /// Makes room for lists of so many.
  void reserve(std::size_t list) { partial_.reserve(static_cast<Index>(list) * partials()); }

  /// Entry i cols() + j of the result is for V[i], column j.
  void dots(List v, const Vectors& w, std::vector<T>& result) {
    result.assign(v.size() * cols(), T(0));
    const auto b = w.local();
    pieces(
        v, KOKKOS_LAMBDA(const View& a, const Index r, const Index l, T& sum) {
          sum += conjugate(a(r, l)) * b(r, l);
        });
    collect(v.size(), [&](std::size_t at, T part) { result[at] += part; });
    comm::sum_of_all(grid_.all(), result);
  }

  /// Likewise.
  void inf_norms(List v, std::vector<double>& result) {
    result.assign(v.size() * cols(), 0.0);
    // Moduli as T, so that both reductions share their scratch.
    pieces(
        v, KOKKOS_LAMBDA(const View& a, const Index r, const Index l, T& most) {
          const auto here = modulus(a(r, l));
          if (is_nan(here) || (!is_nan(most) && here > modulus(most))) most = T(here);
        });
    collect(v.size(), [&](std::size_t at, T part) {
      const double here = is_nan(part) ? nan() : static_cast<double>(modulus(part));
      if (is_nan(here) || here > result[at]) result[at] = here;
    });
    comm::max_of_all(grid_.all(), result);
  }

  void axpy(const std::vector<T>& coefficients, const Vectors& x, const Vectors& y) {
    const T* const c = upload(coefficients);
    const auto a = x.local();
    const auto b = y.local();
    each(KOKKOS_LAMBDA(const Index i, const Index j) {
      if (c[j] != T(0)) b(i, j) += c[j] * a(i, j);
    });
  }
  void scale(const std::vector<T>& coefficients, const Vectors& x, const Vectors& y) {
    const T* const c = upload(coefficients);
    const auto a = x.local();
    const auto b = y.local();
    each(KOKKOS_LAMBDA(const Index i, const Index j) {
      b(i, j) = c[j] != T(0) ? c[j] * a(i, j) : T(0);
    });
  }
  void subtract(const Vectors& b, const Vectors& y) {
    const auto minuend = b.local();
    const auto value = y.local();
    each(KOKKOS_LAMBDA(const Index i, const Index j) {
      value(i, j) = minuend(i, j) - value(i, j);
    });
  }
  void copy(const Vectors& from, const Vectors& to) {
    kernel::copy(exec_, from.local(), to.local());
    exec_.fence();
  }

 private:
  static constexpr Index least_piece = 256;
  static constexpr Index most_pieces = 128;

  static double nan() { return std::numeric_limits<double>::quiet_NaN(); }
  std::size_t global(Index local) const {
    return static_cast<std::size_t>(map_.global(local, grid_.coord().col));
  }
  Index count() const { return ceil_div(mine_.rows, piece_); }
  /// Partial results of one matrix of a list.
  Index partials() const { return count() * mine_.cols; }

  /// partial_[(i pieces + p) columns + l] := f folded over piece p of column l of V[i], from 0.
  template <class F>
  void pieces(List v, const F& f) {
    reserve(v.size());
    for (std::size_t i = 0; i < v.size(); ++i)
      fold_columns(exec_, v[i]->local(), piece_,
                   partial_.device() + static_cast<Index>(i) * partials(), f);
    partial_.to_host(exec_, 0, static_cast<Index>(v.size()) * partials());
  }
  /// Calls f(place in the result, partial result), the pieces of each column in order.
  template <class F>
  void collect(std::size_t list, const F& f) const {
    const T* part = partial_.host();
    for (std::size_t i = 0; i < list; ++i)
      for (Index p = 0; p < count(); ++p)
        for (Index l = 0; l < mine_.cols; ++l) f(i * cols() + global(l), *part++);
  }
  template <class F>
  void each(const F& f) const {
    kernel::for_each<typename Vectors::layout>(exec_, mine_.rows, mine_.cols, f);
    exec_.fence();
  }
  /// The coefficients of this process's columns, for kernels.
  const T* upload(const std::vector<T>& coefficients) {
    for (Index l = 0; l < mine_.cols; ++l) coefficients_.host()[l] = coefficients[global(l)];
    coefficients_.to_device(exec_, 0, mine_.cols);
    return coefficients_.device();
  }

  Exec exec_;
  ProcessGrid grid_;
  BlockCyclic map_;
  Extents mine_;
  Index piece_;
  kernel::Staged<T, Exec> coefficients_, partial_;
};

}  // namespace plinth::refine
