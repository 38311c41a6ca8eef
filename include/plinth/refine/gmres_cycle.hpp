// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "plinth/comm/agree.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/policy/execution.hpp"
#include "plinth/refine/column_operations.hpp"
#include "plinth/refine/least_squares.hpp"

namespace plinth::refine {

/// A cycle of GMRES, preconditioned from the left (Saad and Schultz 1986): for each column r of a
/// matrix the combination d of v_0, v_1, ... that makes || r - M^-1 A d ||_2 least. All columns in
/// lockstep, so that they share every product with A, every solve and every reduction.
///
///     v_0 := r / || r ||
///     loop: w := M^-1 A v_k
///           w made orthogonal to v_0, ..., v_k    classical Gram-Schmidt, twice
///           close enough, nothing new in w, long enough?
///           v_{k+1} := w / || w ||
///
/// A column ends by itself; from then on it takes part as zeros.
///
/// Memory: a matrix like r for each v, made when it is needed first, and what the small problems of
/// the columns take. `columns` is the same in all calls.
template <ExecutionPolicy Exec, class Vectors>
class GmresCycle {
 public:
  using T = typename Vectors::value_type;
  using Columns = ColumnOperations<Exec, Vectors>;
  using Flags = std::vector<bool>;

  /// The v will have this layout.
  explicit GmresCycle(const MatrixLayoutOptions& layout) : layout_(layout) {}

  /// Room for `list` of the v, but for themselves. Not collective: to be called in a part that is
  /// agreed on, once before anything else.
  void prepare(Columns& columns, std::size_t list) {
    const std::size_t c = columns.cols();
    running_.reserve(c);
    broken_.reserve(c);
    iterations_.reserve(c);
    factors_.reserve(c);
    tolerance_.reserve(c);
    problems_.resize(c);
    prepare_lists(columns, list);
    prepared_ = list;
  }
  /// Allocates what cycles of up to so many iterations come to use. Collective. Errors, on every
  /// rank: enough memory.
  void reserve(Columns& columns, const Vectors& like, std::size_t length) {
    grow(columns, like, length + 1, length + 1);
    for (std::size_t i = 0; i <= length; ++i) basis_vector(i, like);
  }

  /// Up to `length` iterations for the columns of r that are `active`, each until the estimate of
  /// its residual is below its part `tolerance` of || r ||. Collective. times and solve as for
  /// Refinement. Errors as above, and those of times and solve. Two allreduces per iteration and
  /// one before.
  template <class Times, class Solve>
  void operator()(Columns& columns, const Times& times, const Solve& solve, const Vectors& r,
                  const Flags& active, const std::vector<double>& tolerance,
                  std::size_t length) {
    begin(columns, r, active, tolerance);
    const auto any = [](const Flags& f) { return std::find(f.begin(), f.end(), true) != f.end(); };
    while (v_.size() <= length && any(running_)) {
      grow(columns, r, v_.size() + 1, length + 1);
      Vectors& w = basis_vector(v_.size(), r);
      times(*v_.back(), w);
      solve(w);
      orthogonalize(columns, w);
      for (std::size_t j = 0; j < columns.cols(); ++j) factors_[j] = running_[j] ? next(j) : T(0);
      columns.scale(factors_, w, w);
      v_.push_back(&w);
    }
    for (auto& problem : problems_) problem.solve();
  }

  // What the last cycle found: each column's d is the sum of vector(i) coefficients(i).

  std::size_t size() const { return v_.size(); }
  const Vectors& vector(std::size_t i) const { return *v_[i]; }
  /// A number for each column. Good until the next call of anything here.
  const std::vector<T>& coefficients(std::size_t i) {
    for (std::size_t j = 0; j < problems_.size(); ++j) {
      const std::vector<T>& y = problems_[j].solution();
      factors_[j] = i < y.size() ? y[i] : T(0);
    }
    return factors_;
  }
  /// Products with A, and solves.
  int steps() const { return static_cast<int>(v_.size()) - 1; }
  /// Those that a column took part in.
  int iterations(std::size_t column) const { return iterations_[column]; }
  /// Whether an infinity or NaN came up in a column that was active.
  bool is_broken(std::size_t column) const { return broken_[column]; }

 private:
  using Real = RealOf<T>;

  void prepare_lists(Columns& columns, std::size_t list) {
    const std::size_t c = problems_.size();
    columns.reserve(list);
    basis_.resize(std::max(basis_.size(), list));
    v_.reserve(list);
    h_.reserve(list + 1);
    for (auto* products : {&first_, &second_}) products->reserve(list * c);
    for (auto& problem : problems_) problem.reserve(list);
  }
  /// Makes room for `list` of the v, and some more up to `most`. Collective.
  void grow(Columns& columns, const Vectors& like, std::size_t list, std::size_t most) {
    if (list <= prepared_) return;
    const std::size_t room = std::max(list, std::min({2 * prepared_, list + 16, most}));
    // What counts as prepared is the same on every rank, or some would ask the others in vain.
    comm::agree_on(like.grid().all(), "refine", 0, [&] { prepare_lists(columns, room); });
    prepared_ = room;
    for (std::size_t i = 0; i < v_.size(); ++i) v_[i] = &*basis_[i];  // they have moved
  }
  /// Collective where there is none yet.
  Vectors& basis_vector(std::size_t i, const Vectors& like) {
    if (!basis_[i]) basis_[i].emplace(like.grid(), like.rows(), like.cols(), layout_);
    return *basis_[i];
  }

  /// v_0 := r / || r ||.
  void begin(Columns& columns, const Vectors& r, const Flags& active,
             const std::vector<double>& tolerance) {
    const std::size_t c = columns.cols();
    v_.clear();
    running_ = active;
    broken_.assign(c, false);
    iterations_.assign(c, 0);
    factors_.assign(c, T(0));
    tolerance_.assign(c, 0.0);
    const std::array<const Vectors*, 1> residual{&r};
    columns.dots(residual, r, first_);
    for (std::size_t j = 0; j < c; ++j) {
      problems_[j].begin(0);
      if (!running_[j]) continue;
      const double beta = std::sqrt(real_part(first_[j]));
      broken_[j] = !is_finite(beta);
      running_[j] = is_finite(beta) && beta > 0;
      if (running_[j]) {
        problems_[j].begin(beta);
        factors_[j] = T(static_cast<Real>(1 / beta));
      }
      tolerance_[j] = beta * tolerance[j];
    }
    columns.scale(factors_, r, basis_vector(0, r));
    v_.push_back(&*basis_[0]);
  }

  /// w := w - V V^H w, twice: first_ and second_ hold V^H w, and the latter then || w ||^2 as it
  /// was between the two.
  void orthogonalize(Columns& columns, const Vectors& w) {
    const std::size_t c = columns.cols();
    const auto subtract = [&](const std::vector<T>& products) {
      for (std::size_t i = 0; i < v_.size(); ++i) {
        for (std::size_t j = 0; j < c; ++j)
          factors_[j] = running_[j] ? -products[i * c + j] : T(0);
        columns.axpy(factors_, *v_[i], w);
      }
    };
    columns.dots(v_, w, first_);
    subtract(first_);
    v_.push_back(&w);
    columns.dots(v_, w, second_);
    v_.pop_back();
    subtract(second_);
  }

  /// Appends a column to the small problem of column j, which goes on or ends by that. Returns what
  /// w is to be multiplied by.
  T next(std::size_t j) {
    const std::size_t c = problems_.size();
    ++iterations_[j];
    h_.assign(v_.size() + 1, T(0));
    double length2 = real_part(second_[v_.size() * c + j]), before2 = length2;
    for (std::size_t i = 0; i < v_.size(); ++i) {
      const T more = second_[i * c + j];
      h_[i] = first_[i * c + j] + more;
      length2 -= real_part(conjugate(more) * more);
      before2 += real_part(conjugate(h_[i]) * h_[i]);
    }
    // A remainder at the level of rounding errors means that w adds nothing new.
    const double u = static_cast<double>(ScalarTraits<T>::epsilon);
    if (length2 <= 100 * u * u * before2) length2 = 0;
    const double norm = std::sqrt(length2);
    h_.back() = T(static_cast<Real>(norm));
    const double left = problems_[j].append(h_);
    running_[j] = false;
    if (!is_finite(norm) || !is_finite(left) || !is_finite(before2)) {
      problems_[j].drop_last();
      broken_[j] = true;
    } else if (norm > 0 && left > tolerance_[j]) {
      running_[j] = true;
      return T(static_cast<Real>(1 / norm));
    }
    return T(0);
  }

  MatrixLayoutOptions layout_;
  std::size_t prepared_ = 0;  ///< for lists of so many matrices
  std::vector<std::optional<Vectors>> basis_;
  std::vector<const Vectors*> v_;  ///< those in use

  // Of each column.
  Flags running_, broken_;
  std::vector<int> iterations_;
  std::vector<double> tolerance_;
  std::vector<T> factors_;
  std::vector<HessenbergLeastSquares<T>> problems_;

  std::vector<T> first_, second_, h_;
};

}  // namespace plinth::refine
