// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "plinth/comm/reduce.hpp"
#include "plinth/kernel/magnitude.hpp"
#include "plinth/matrix/local_on_host.hpp"

namespace plinth {

/// Estimates ||B||_1 for matrices B of order n that are known only by products B x and B^H x: one B
/// for each column of an n x c matrix of vectors, all of them at once, so that a product costs
/// little more than for one. The estimate is a lower bound, hardly ever less than a third.
///
///     x := (1, ..., 1) / n,  estimate := ||B x||_1
///     repeat, at most 4 times:
///       z := B^H sign(B x)                         sign(v) = v / |v|, 1 for 0
///       j := the place of the largest |z_j|        end: z is as large at the last j
///       x := e_j,  estimate := ||B x||_1           end: it has not grown; sign(B x) (real) neither
///     x_i := (-1)^i (1 + i / (n - 1)),  estimate := max(estimate, 2 ||B x||_1 / (3 n))
///
/// 4 to 5 products as a rule, 10 at most. Messages besides the products': per product one or three
/// allreduces of a number or two per column. Memory: x, and a byte per element where it is real.
/// Source: Higham 1988, Algorithm 4.1 and the alternating vector (LAPACK's lacn2).
template <ExecutionPolicy Exec, class Vectors>
class OneNormEstimator {
 public:
  using T = typename Vectors::value_type;

  /// Not collective. `x`: n x c, what the products are made of; its contents are lost, and it must
  /// outlive this object. Precondition: the grid is active here.
  OneNormEstimator(const Exec& exec, Vectors& x)
      : x_(x),
        host_(exec, x),
        rows_(x.local_extents().rows),
        cols_(x.local_extents().cols),
        signs_(is_complex ? 0 : static_cast<std::size_t>(rows_ * cols_)),
        columns_(static_cast<std::size_t>(x.cols())),
        sums_(2 * columns_.size()),
        places_(columns_.size()) {}

  /// `multiply(x)` does x := B x, `multiply_adjoint(x)` x := B^H x, column by column. Returns the
  /// estimates, the same on every rank: infinite or NaN where a product is so. Collective.
  template <class Multiply, class MultiplyAdjoint>
  std::vector<double> operator()(const Multiply& multiply,
                                 const MultiplyAdjoint& multiply_adjoint) {
    const auto n = static_cast<double>(x_.rows());
    std::fill(columns_.begin(), columns_.end(), Column{});
    if (x_.rows() == 0 || x_.cols() == 0) return estimates();
    fill([&](Index, Column&) { return T(static_cast<RealOf<T>>(1 / n)); });
    multiply(x_);
    take_sums();
    constexpr int most_steps = 4;
    for (int step = 0; x_.rows() > 1 && step < most_steps && any_active(); ++step) {
      replace_by_signs();
      multiply_adjoint(x_);
      find_largest(step == 0);
      if (!any_active()) break;
      fill([&](Index row, Column& c) { return T(c.active && row == c.place ? 1 : 0); });
      multiply(x_);
      take_sums();
    }
    if (x_.rows() > 1) {
      fill([&](Index row, Column&) {
        const double size = 1 + static_cast<double>(row) / (n - 1);
        return T(static_cast<RealOf<T>>(row % 2 == 0 ? size : -size));
      });
      multiply(x_);
      host_.fetch();
      sum_columns();
      for (std::size_t j = 0; j < columns_.size(); ++j)
        if (is_finite(columns_[j].estimate))
          columns_[j].estimate = kernel::larger(columns_[j].estimate, 2 * sums_[j] / (3 * n));
    }
    return estimates();
  }

 private:
  static constexpr bool is_complex = ScalarTraits<T>::is_complex;

  struct Column {
    double estimate = 0;
    Index place = -1;    ///< j of e_j
    bool active = true;  ///< whether it goes on
  };

  std::size_t global(Index local_col) const {
    return static_cast<std::size_t>(x_.global_col(local_col));
  }
  bool any_active() const {
    return std::any_of(columns_.begin(), columns_.end(),
                       [](const Column& c) { return c.active; });
  }
  std::vector<double> estimates() const {
    std::vector<double> result;
    for (const Column& c : columns_) result.push_back(c.estimate);
    return result;
  }

  /// x(i, j) := f(global row i, column j).
  template <class F>
  void fill(const F& f) {
    const auto x = host_.view();
    for (Index i = 0; i < rows_; ++i)
      for (Index j = 0; j < cols_; ++j) x(i, j) = f(x_.global_row(i), columns_[global(j)]);
    host_.write_back();
  }

  /// sums_ := of each column the sum of the moduli, then how many signs are others than before.
  void sum_columns() {
    std::fill(sums_.begin(), sums_.end(), 0.0);
    const std::size_t c = columns_.size();
    const auto x = host_.view();
    for (Index i = 0; i < rows_; ++i)
      for (Index j = 0; j < cols_; ++j) {
        sums_[global(j)] += static_cast<double>(modulus(x(i, j)));
        if constexpr (!is_complex)
          sums_[c + global(j)] += sign_at(i, j) != sign_of(x(i, j)) ? 1 : 0;
      }
    comm::sum_of_all(x_.grid().all(), sums_);
  }

  /// The estimates that B x gives, and which columns end with them.
  void take_sums() {
    host_.fetch();
    sum_columns();
    const std::size_t c = columns_.size();
    for (std::size_t j = 0; j < c; ++j) {
      Column& column = columns_[j];
      if (!column.active) continue;
      const bool first = column.place < 0;
      const bool grew = first || sums_[j] > column.estimate;
      const bool same_signs = !is_complex && !first && sums_[c + j] == 0;
      if (grew || is_nan(sums_[j])) column.estimate = sums_[j];
      column.active = grew && !same_signs && is_finite(sums_[j]);
    }
  }

  void replace_by_signs() {
    const auto x = host_.view();
    for (Index i = 0; i < rows_; ++i)
      for (Index j = 0; j < cols_; ++j) {
        const bool active = columns_[global(j)].active;
        if constexpr (is_complex) {
          const auto size = modulus(x(i, j));
          const bool tiny = !(size > std::numeric_limits<RealOf<T>>::min());
          x(i, j) = !active ? T(0) : tiny ? T(1) : x(i, j) / size;
        } else {
          signs_[static_cast<std::size_t>(i * cols_ + j)] = sign_of(x(i, j));
          x(i, j) = active ? T(sign_of(x(i, j))) : T(0);
        }
      }
    host_.write_back();
  }
  static signed char sign_of(T v) requires(!is_complex) {
    return static_cast<signed char>(v < T(0) ? -1 : 1);
  }
  signed char sign_at(Index i, Index j) const {
    return signs_[static_cast<std::size_t>(i * cols_ + j)];
  }

  /// The place of the largest modulus, the first of them; a column ends where the last place has it
  /// too, and where it is not finite.
  void find_largest(bool first) {
    host_.fetch();
    const std::size_t c = columns_.size();
    const auto x = host_.view();
    std::vector<double>& most = sums_;  // the largest, then the one at the last place
    std::fill(most.begin(), most.end(), 0.0);
    for (Index i = 0; i < rows_; ++i)
      for (Index j = 0; j < cols_; ++j) {
        const auto here = static_cast<double>(modulus(x(i, j)));
        most[global(j)] = kernel::larger(here, most[global(j)]);
        if (x_.global_row(i) == columns_[global(j)].place) most[c + global(j)] = here;
      }
    comm::max_of_all(x_.grid().all(), most);
    std::fill(places_.begin(), places_.end(), x_.rows());
    for (Index j = 0; j < cols_; ++j)
      for (Index i = 0; i < rows_; ++i)
        if (static_cast<double>(modulus(x(i, j))) == most[global(j)]) {
          places_[global(j)] = x_.global_row(i);
          break;
        }
    comm::for_each_chunk(static_cast<Index>(c), Index(1) << 27, [&](Index offset, int count) {
      comm::check(MPI_Allreduce(MPI_IN_PLACE, places_.data() + offset, count, MPI_INT64_T,
                                MPI_MIN, x_.grid().all().handle()),
                  "MPI_Allreduce");
    });
    for (std::size_t j = 0; j < c; ++j) {
      Column& column = columns_[j];
      if (!column.active) continue;
      if (!is_finite(most[j])) column.estimate = most[j];
      column.active = is_finite(most[j]) && (first || most[c + j] != most[j]);
      if (column.active) column.place = places_[j];
    }
  }

  Vectors& x_;
  LocalOnHost<Exec, Vectors> host_;
  Index rows_, cols_;
  std::vector<signed char> signs_;  ///< of B x, real numbers only
  std::vector<Column> columns_;
  std::vector<double> sums_;
  std::vector<Index> places_;
};

}  // namespace plinth
