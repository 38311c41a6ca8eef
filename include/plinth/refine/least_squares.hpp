// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <concepts>
#include <utility>
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
/// rotations (Saad and Schultz 1986). O(k) per column k.
template <class T>
class HessenbergLeastSquares {
 public:
  using Real = RealOf<T>;

  /// Begins with no column.
  void begin(double beta) {
    start_ = beta;
    columns_.clear();
    rotations_.clear();
    g_.assign(1, number(beta));
  }
  /// Norm of the residual with no column.
  double start() const { return start_; }
  std::size_t columns() const { return columns_.size(); }

  /// Column k of H, k + 2 entries; returns the norm of the residual that is left.
  double append(std::vector<T> h) {
    const std::size_t k = columns_.size();
    for (std::size_t i = 0; i < k; ++i) rotate(rotations_[i], h[i], h[i + 1]);
    const double length =
        std::hypot(static_cast<double>(modulus(h[k])), static_cast<double>(modulus(h[k + 1])));
    Rotation r{T(0), T(1)};  // an empty column leaves the residual as it is
    if (length > 0) r = {h[k] / number(length), h[k + 1] / number(length)};
    rotate(r, h[k], h[k + 1]);
    undone_ = g_[k];
    g_.push_back(T(0));
    rotate(r, g_[k], g_[k + 1]);
    rotations_.push_back(r);
    h.pop_back();
    columns_.push_back(std::move(h));
    return static_cast<double>(modulus(g_.back()));
  }
  /// Takes back the last append, once.
  void drop_last() {
    columns_.pop_back();
    rotations_.pop_back();
    g_.pop_back();
    g_.back() = undone_;
  }
  /// y, one entry per column; an entry that H does not determine is 0.
  std::vector<T> solve() const {
    std::vector<T> y(columns_.size(), T(0));
    for (std::size_t i = columns_.size(); i-- > 0;) {
      T sum = g_[i];
      for (std::size_t j = i + 1; j < columns_.size(); ++j) sum -= columns_[j][i] * y[j];
      y[i] = columns_[i][i] == T(0) ? T(0) : sum / columns_[i][i];
    }
    return y;
  }

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

  double start_ = 0;
  std::vector<std::vector<T>> columns_;  ///< of R
  std::vector<Rotation> rotations_;
  std::vector<T> g_;
  T undone_ = T(0);
};

}  // namespace plinth::refine
