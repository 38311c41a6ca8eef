// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "plinth/comm/reduce.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/magnitude.hpp"
#include "plinth/matrix/norm.hpp"
#include "plinth/solve/report.hpp"

namespace plinth {

/// Scaling of a square matrix by powers of two, A' = R A S, where it pays: rows where their largest
/// moduli differ by more than a factor of 10, or the largest of all is near under- or overflow,
/// then columns where theirs (of R A) do. The largest modulus of each is in [1, 2) thereafter.
/// Without rounding, but for entries that underflow. A x = b becomes A' y = R b, x = S y.
///
/// A matrix with a row of zeros, or with something that is not finite, stays as it is; columns are
/// not scaled where one of them is zeros.
/// Memory: 2 n/P + n/Q numbers and norm()'s workspace.
/// Source: LAPACK's geequ and laqge (Anderson et al. 1999), powers of the radix as in its geequb.
template <ExecutionPolicy Exec, class Matrix>
class RowColumnScaling {
 public:
  using Real = RealOf<typename Matrix::value_type>;  ///< of R and S

  /// Not collective: allocates for matrices distributed like `a`. Precondition: the grid is active
  /// here.
  RowColumnScaling(const Exec& exec, const Matrix& a) : exec_(exec), mine_(a.local_extents()) {
    work_.reserve(mine_);
    rows_.reserve(mine_.rows);
    cols_.reserve(mine_.cols);
    solution_.reserve(mine_.rows);
    solution_sums_.resize(static_cast<std::size_t>(mine_.rows));
  }

  /// A := R A S. Collective; up to 2 passes over A to look and 2 to scale, two allreduces of n/P
  /// numbers along process rows and one of n/Q along process columns. Precondition: A is square.
  void equilibrate(const Matrix& a) {
    const ProcessGrid& grid = a.grid();
    rows_scaled_ = cols_scaled_ = false;
    row_condition_ = column_condition_ = 1;
    fold_local_lines<true, kernel::Fold::largest>(exec_, a.local(), work_);
    comm::max_of_all(grid.row_vectors(), work_.values);
    const Extremes row = extremes(grid);
    if (!row.sound()) return;
    constexpr double least = std::numeric_limits<Real>::min() / ScalarTraits<Real>::epsilon;
    row_condition_ = row.least / row.most;
    rows_scaled_ = row_condition_ < threshold || row.most < least || row.most > 1 / least;
    if (rows_scaled_) {
      set_factors(rows_);
      scale_rows(a, rows_);
    }
    fold_local_lines<false, kernel::Fold::largest>(exec_, a.local(), work_);
    comm::max_of_all(grid.column_vectors(), work_.values);
    const Extremes col = extremes(grid);
    if (!col.sound()) return;
    column_condition_ = col.least / col.most;
    cols_scaled_ = column_condition_ < threshold;
    if (!cols_scaled_) return;
    set_factors(cols_);
    kernel::scale_columns(exec_, static_cast<const Real*>(cols_.device()), a.local());
    exec_.fence();
    spread_to_rows(a);
  }

  /// What the last equilibrate() did.
  Equilibrated applied() const {
    if (rows_scaled_) return cols_scaled_ ? Equilibrated::both : Equilibrated::rows;
    return cols_scaled_ ? Equilibrated::columns : Equilibrated::none;
  }
  /// Smallest of the rows' largest moduli over the largest of them; 1 if not all are sound.
  double row_condition() const { return row_condition_; }
  /// Of the columns of R A likewise.
  double column_condition() const { return column_condition_; }

  /// v := R v, for v whose rows are dealt like A's. Not collective.
  template <class Vectors>
  void scale_rhs(const Vectors& v) const {
    if (rows_scaled_) scale_rows(v, rows_);
  }
  /// v := S v.
  template <class Vectors>
  void scale_solution(const Vectors& v) const {
    if (cols_scaled_) scale_rows(v, solution_);
  }

 private:
  static constexpr double threshold = 0.1;

  struct Extremes {
    double least, most;
    bool sound() const { return least > 0 && most > 0 && is_finite(most); }
  };
  /// Of work_.values on all processes. As one maximum: of the reciprocals, too.
  Extremes extremes(const ProcessGrid& grid) const {
    std::vector<double> most{0.0, 0.0};
    for (const Real here : work_.values) {
      most[0] = kernel::larger(most[0], static_cast<double>(here));
      most[1] = kernel::larger(most[1], -std::log2(static_cast<double>(here)) + shift);
    }
    comm::max_of_all(grid.all(), most);
    return {is_finite(most[1]) ? std::exp2(shift - most[1]) : 0.0, most[0]};
  }
  static constexpr double shift = 2048;  // logarithms of what is finite become positive

  /// factors[l] := the power of two that brings work_.values[l] into [1, 2), or as near as can be.
  void set_factors(const kernel::Staged<Real, Exec>& factors) const {
    constexpr int range = std::numeric_limits<Real>::max_exponent - 2;
    for (std::size_t l = 0; l < work_.values.size(); ++l)
      factors.host()[l] =
          std::ldexp(Real(1), std::clamp(-std::ilogb(work_.values[l]), -range, range));
    factors.to_device(exec_, 0, static_cast<Index>(work_.values.size()));
  }
  template <class Any>
  void scale_rows(const Any& v, const kernel::Staged<Real, Exec>& factors) const {
    kernel::scale_rows(exec_, static_cast<const Real*>(factors.device()), v.local());
    exec_.fence();
  }
  /// S is known where columns are, and the rows of a solution are dealt like rows: of each process
  /// row the process that has column g tells the others about row g.
  void spread_to_rows(const Matrix& a) {
    const BlockCyclic& cols = a.distribution().cols;
    for (Index i = 0; i < mine_.rows; ++i) {
      const Index g = a.global_row(i);
      solution_sums_[static_cast<std::size_t>(i)] =
          cols.owner(g) == a.grid().coord().col ? cols_.host()[cols.local(g)] : Real(0);
    }
    comm::sum_of_all(a.grid().row_vectors(), solution_sums_);
    std::copy(solution_sums_.begin(), solution_sums_.end(), solution_.host());
    solution_.to_device(exec_, 0, mine_.rows);
  }

  Exec exec_;
  Extents mine_;
  NormWorkspace<Real, Exec> work_;
  kernel::Staged<Real, Exec> rows_, cols_, solution_;  ///< R; S by column; S by row
  std::vector<Real> solution_sums_;
  bool rows_scaled_ = false, cols_scaled_ = false;
  double row_condition_ = 1, column_condition_ = 1;
};

}  // namespace plinth
