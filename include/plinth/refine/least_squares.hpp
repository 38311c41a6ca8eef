// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <vector>

#include "plinth/core/scalar.hpp"

namespace plinth::refine {

/// The real part of a number, which may be real.
template <std::floating_point R>
double real_part(R x) {
  return static_cast<double>(x);
}
template <class R>
double real_part(const Kokkos::complex<R>& x) {
  return static_cast<double>(x.real());
}

/// The small problem of a GMRES cycle, for one right-hand side: min over y of
/// || beta e_1 - H y ||_2 for an upper Hessenberg H that grows by a column per iteration, by Givens
/// rotations (Saad and Schultz 1986). O(k) per column k. Keeps its memory, k (k + 9) / 2 numbers
/// for k columns.
template <class T>
class HessenbergLeastSquares {
 public:
  using Real = RealOf<T>;

  /// Makes room for so many columns, so that nothing is allocated on the way to them.
  void reserve(std::size_t columns) {
    r_.reserve(first_of(columns) + 1);
    rotations_.reserve(columns);
    g_.reserve(columns + 1);
    y_.reserve(columns);
  }
  /// Begins with no column.
  void begin(double beta) {
    start_ = beta;
    r_.clear();
    rotations_.clear();
    g_.assign(1, number(beta));
  }
  /// Norm of the residual with no column.
  double start() const { return start_; }
  std::size_t columns() const { return rotations_.size(); }

  /// Column k of H, k + 2 entries; returns the norm of the residual that is left.
  double append(const std::vector<T>& column) {
    const std::size_t k = columns();
    r_.insert(r_.end(), column.begin(), column.end());
    T* const h = r_.data() + first_of(k);
    for (std::size_t i = 0; i < k; ++i) rotate(rotations_[i], h[i], h[i + 1]);
    const double length =
        std::hypot(static_cast<double>(modulus(h[k])), static_cast<double>(modulus(h[k + 1])));
    Rotation r{T(0), T(1)};  // an empty column leaves the residual as it is
    if (length > 0) r = {h[k] / number(length), h[k + 1] / number(length)};
    rotate(r, h[k], h[k + 1]);
    r_.pop_back();
    undone_ = g_[k];
    g_.push_back(T(0));
    rotate(r, g_[k], g_[k + 1]);
    rotations_.push_back(r);
    return static_cast<double>(modulus(g_.back()));
  }
  /// Takes back the last append, once.
  void drop_last() {
    rotations_.pop_back();
    r_.resize(first_of(columns()));
    g_.pop_back();
    g_.back() = undone_;
  }
  /// Finds y, one entry per column; an entry that H does not determine is 0.
  const std::vector<T>& solve() {
    y_.assign(columns(), T(0));
    for (std::size_t i = columns(); i-- > 0;) {
      T sum = g_[i];
      for (std::size_t j = i + 1; j < columns(); ++j) sum -= r_[first_of(j) + i] * y_[j];
      const T diagonal = r_[first_of(i) + i];
      y_[i] = diagonal == T(0) ? T(0) : sum / diagonal;
    }
    return y_;
  }
  /// What solve() found last.
  const std::vector<T>& solution() const { return y_; }

 private:
  /// Unitary: [x; y] := [conj(c) x + conj(s) y; -s x + c y].
  struct Rotation {
    T c, s;
  };
  static void rotate(const Rotation& r, T& x, T& y) {
    const T top = conjugate(r.c) * x + conjugate(r.s) * y;
    y = r.c * y - r.s * x;
    x = top;
  }
  static T number(double x) { return T(static_cast<Real>(x)); }
  /// Where column k of R begins, which has k + 1 entries.
  static std::size_t first_of(std::size_t k) { return k * (k + 1) / 2; }

  double start_ = 0;
  std::vector<T> r_;  ///< R, the triangle that rotations make of H, column after column
  std::vector<Rotation> rotations_;
  std::vector<T> g_, y_;
  T undone_ = T(0);
};

}  // namespace plinth::refine
