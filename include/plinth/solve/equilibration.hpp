// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "plinth/comm/reduce.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/line_moduli.hpp"
#include "plinth/kernel/run_parts.hpp"
#include "plinth/matrix/norm.hpp"
#include "plinth/solve/narrow.hpp"
#include "plinth/solve/report.hpp"

namespace plinth {

/// Which matrices an Equilibration scales.
enum class ScaleWhen {
  /// Rows where their largest moduli differ by more than a factor of 10, or the largest of all is
  /// near under- or overflow; then columns where theirs (of R A) do. Nothing where a row is zeros
  /// or something is not finite; no columns where one of them is zeros.
  it_pays,
  /// All of them, but for rows and columns of zeros, or with an infinity or NaN, which stay as they
  /// are: what lets a general matrix be held in 16 bits.
  always,
};

/// The exponent with which a matrix that is always scaled is rounded to FP16: entries up to 2^10
/// leave room for growth, and 2^24 below for small ones.
inline constexpr int room_for_growth = 10;

/// Scaling of a square matrix by powers of two from both sides, A' = R A S, after which the largest
/// modulus of each row and column that is scaled is in [1, 2), of rows below 2 once columns are
/// scaled. Without rounding, but for entries that underflow. A x = b becomes A' y = R b, x = S y.
/// Memory per process: 4 n/P + 2 n/Q numbers, and the larger of the two once more.
/// Sources: LAPACK's geequ and laqge (Anderson et al. 1999), powers of the radix as in its geequb;
/// Higham, Pranesh, Zounon 2019.
template <ExecutionPolicy Exec, class Matrix>
class Equilibration {
 public:
  using Real = RealOf<typename Matrix::value_type>;  ///< of R and S

  /// Not collective: allocates for matrices distributed like `a`. Precondition: the grid is active
  /// here.
  Equilibration(const Exec& exec, const Matrix& a) : exec_(exec), mine_(a.local_extents()) {
    rows_.reserve(mine_.rows);
    cols_.reserve(mine_.cols);
    solution_.reserve(mine_.rows);
    const auto most = static_cast<std::size_t>(std::max(mine_.rows, mine_.cols));
    row_values_.reserve(most);
    col_values_.reserve(most);
    if constexpr (counts)
      counts_.resize(static_cast<std::size_t>(std::max<Index>(exec.space().concurrency(), 1)));
  }

  /// Finds R and S. Collective; one pass over A, a second one where rows are scaled. Allreduces:
  /// of n/P numbers along process rows, n/Q along process columns and twice two numbers, and n/P
  /// once more where columns are scaled. Allocates nothing that grows with A. Precondition: A is
  /// square.
  void find(const Matrix& a, ScaleWhen when) {
    const ProcessGrid& grid = a.grid();
    scales_rows_ = scales_cols_ = false;
    row_condition_ = column_condition_ = 1;
    find_largest(a.local());
    fetch(rows_, row_values_);
    comm::max_of_all(grid.row_vectors(), row_values_);
    const Extremes row = extremes(grid, row_values_);
    if (when == ScaleWhen::it_pays && !row.sound()) return;
    if (row.sound()) row_condition_ = row.least / row.most;
    constexpr double least = std::numeric_limits<Real>::min() / ScalarTraits<Real>::epsilon;
    scales_rows_ = when == ScaleWhen::always
                       ? !row.level()
                       : row_condition_ < threshold || row.most < least || row.most > 1 / least;
    if (scales_rows_) {
      set_factors(row_values_, rows_);
      kernel::fold_moduli<false, kernel::Fold::largest>(
          exec_, a.local(), kernel::FoldedLines<Real>{cols_.device(), rows_.device()});
    }
    fetch(cols_, col_values_);
    comm::max_of_all(grid.column_vectors(), col_values_);
    const Extremes col = extremes(grid, col_values_);
    if (when == ScaleWhen::it_pays && !col.sound()) return;
    if (col.sound()) column_condition_ = col.least / col.most;
    scales_cols_ = when == ScaleWhen::always ? !col.level() : column_condition_ < threshold;
    if (!scales_cols_) return;
    set_factors(col_values_, cols_);
    spread_to_rows(a);
  }

  /// What the last find() found worth scaling.
  Equilibrated applied() const {
    if (scales_rows_) return scales_cols_ ? Equilibrated::both : Equilibrated::rows;
    return scales_cols_ ? Equilibrated::columns : Equilibrated::none;
  }
  /// Smallest of the rows' largest moduli over the largest of them; 1 if not all are sound.
  double row_condition() const { return row_condition_; }
  /// Of the columns of R A likewise.
  double column_condition() const { return column_condition_; }

  /// to := R from S 2^exponent, rounded to the type of `to`; says what that lost over all
  /// processes, as narrow_matrix() does. Collective; where types differ one allreduce.
  /// Precondition: `to` is distributed like `from` and A.
  template <class To>
  kernel::NarrowingCounts scale(const Matrix& from, const To& to, int exponent = 0) {
    using T = typename To::value_type;
    if constexpr (counts && kernel::RealScalar<T> && !std::is_same_v<T, Real>) {
      return narrow(from, to, exponent);
    } else {
      const auto source = from.local();
      const auto target = to.local();
      const auto factor = static_cast<Real>(std::ldexp(1.0, exponent));
      const Real* const r = scales_rows_ ? rows_.device() : nullptr;
      const Real* const s = scales_cols_ ? cols_.device() : nullptr;
      kernel::for_each<typename To::layout>(
          exec_, mine_.rows, mine_.cols, KOKKOS_LAMBDA(const Index i, const Index j) {
            auto entry = source(i, j);
            if (r != nullptr) entry *= r[i];
            if (s != nullptr) entry *= s[j];
            target(i, j) = static_cast<T>(entry * factor);
          });
      exec_.fence();
      if constexpr (std::is_same_v<T, typename Matrix::value_type>)
        return {};
      else
        return count_overflow(exec_, from, to);
    }
  }

  /// v := R v, for v whose rows are dealt like A's. Not collective.
  template <class Vectors>
  void scale_rhs(const Vectors& v) const {
    if (scales_rows_) scale_rows(v, rows_);
  }
  /// v := S v.
  template <class Vectors>
  void scale_solution(const Vectors& v) const {
    if (scales_cols_) scale_rows(v, solution_);
  }

 private:
  static constexpr double threshold = 0.1;
  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<typename Exec::execution_space, Kokkos::HostSpace>::accessible;
  /// Whether conversions count all that they lose.
  static constexpr bool counts =
      on_host && !ScalarTraits<typename Matrix::value_type>::is_complex;

  struct Extremes {
    double least, most;
    bool sound() const { return least > 0 && most > 0 && is_finite(most); }
    /// Whether there is nothing to scale.
    bool level() const { return least >= 1 && most < 2; }
  };
  /// Of `values` on all processes.
  static Extremes extremes(const ProcessGrid& grid, const std::vector<Real>& values) {
    // Both in one maximum: bits that are subtracted from those of infinity are in reverse order.
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr auto top = std::bit_cast<std::uint64_t>(infinity);
    const auto reversed = [](double x) {
      return std::bit_cast<double>(top - std::bit_cast<std::uint64_t>(x));
    };
    double least = infinity, most = 0;
    for (const Real value : values) {
      const auto here = static_cast<double>(value);
      most = kernel::larger(most, here);
      least = std::min(least, here);
    }
    std::vector<double> all{most, reversed(least)};
    comm::max_of_all(grid.all(), all);
    return {reversed(all[1]), all[0]};
  }

  /// rows_ and cols_ := the largest modulus of each local row and column, in one pass: what is at
  /// hand of A stays in the cache until both have been taken.
  template <class View>
  void find_largest(const View& a) {
    constexpr bool by_row = kernel::is_row_major<typename Matrix::layout>;
    constexpr Index at_hand = Index(1) << 17;
    const Index lines = by_row ? mine_.rows : mine_.cols,
                length = by_row ? mine_.cols : mine_.rows;
    const Index tile = on_host ? std::max<Index>(1, at_hand / std::max<Index>(length, 1)) : lines;
    Real* const along = (by_row ? rows_ : cols_).device();
    Real* const across = (by_row ? cols_ : rows_).device();
    Index begin = 0;
    do {
      const Range some{begin, std::min(begin + tile, lines)};
      const View part =
          by_row ? kernel::part(a, some, {0, length}) : kernel::part(a, {0, length}, some);
      kernel::fold_moduli<by_row, kernel::Fold::largest>(
          exec_, part, kernel::FoldedLines<Real>{along + begin});
      kernel::fold_moduli<!by_row, kernel::Fold::largest>(
          exec_, part, kernel::FoldedLines<Real>{across, nullptr, begin > 0});
      begin = some.end;
    } while (begin < lines);
  }
  void fetch(const kernel::Staged<Real, Exec>& from, std::vector<Real>& to) const {
    const Index count = &from == &rows_ ? mine_.rows : mine_.cols;
    from.to_host(exec_, 0, count);
    to.assign(from.host(), from.host() + count);
  }

  /// factors[l] := the power of two that brings values[l] into [1, 2), or as near as can be; 1
  /// where there is none.
  void set_factors(const std::vector<Real>& values,
                   const kernel::Staged<Real, Exec>& factors) const {
    constexpr int range = std::numeric_limits<Real>::max_exponent - 2;
    for (std::size_t l = 0; l < values.size(); ++l) {
      const bool sound = values[l] > 0 && is_finite(values[l]);
      factors.host()[l] =
          sound ? std::ldexp(Real(1), std::clamp(-std::ilogb(values[l]), -range, range))
                : Real(1);
    }
    factors.to_device(exec_, 0, static_cast<Index>(values.size()));
  }
  /// S is known where columns are, and the rows of a solution are dealt like rows: of each process
  /// row the process that has column g tells the others about row g.
  void spread_to_rows(const Matrix& a) {
    const BlockCyclic& cols = a.distribution().cols;
    row_values_.assign(static_cast<std::size_t>(mine_.rows), Real(0));
    for (Index i = 0; i < mine_.rows; ++i) {
      const Index g = a.global_row(i);
      if (cols.owner(g) == a.grid().coord().col)
        row_values_[static_cast<std::size_t>(i)] = cols_.host()[cols.local(g)];
    }
    comm::sum_of_all(a.grid().row_vectors(), row_values_);
    std::copy(row_values_.begin(), row_values_.end(), solution_.host());
    solution_.to_device(exec_, 0, mine_.rows);
  }

  /// scale() with all that it loses counted.
  template <class To>
  kernel::NarrowingCounts narrow(const Matrix& from, const To& to, int exponent) {
    constexpr bool by_row = kernel::is_row_major<typename Matrix::layout>;
    const auto source = from.local();
    const auto target = to.local();
    const Index lines = by_row ? mine_.rows : mine_.cols,
                length = by_row ? mine_.cols : mine_.rows;
    const Real* const r = scales_rows_ ? rows_.device() : nullptr;
    const Real* const s = scales_cols_ ? cols_.device() : nullptr;
    const Real* const of_line = by_row ? r : s;
    const Real* const along = by_row ? s : r;
    std::fill(counts_.begin(), counts_.end(), kernel::NarrowingCounts{});
    {
      [[maybe_unused]] auto scope = exec_.enter();
      const Index source_lead = kernel::leading_dimension(source);
      const Index target_lead = kernel::leading_dimension(target);
      const auto* const in = source.data();
      auto* const out = target.data();
      auto* const each = counts_.data();
      const double factor = std::ldexp(1.0, exponent);
      kernel::run_parts(exec_.space(), lines, true, [=](Index part, Index parts) {
        constexpr Index piece = 256;
        Real scaled[piece];
        for (Index l = lines * part / parts; l < lines * (part + 1) / parts; ++l)
          for (Index q = 0; q < length; q += piece) {
            const Index some = std::min(piece, length - q);
            const Real scale = of_line == nullptr ? Real(1) : of_line[l];
            for (Index p = 0; p < some; ++p) scaled[p] = in[l * source_lead + q + p] * scale;
            if (along != nullptr)
              for (Index p = 0; p < some; ++p) scaled[p] *= along[q + p];
            kernel::convert_run(scaled, out + l * target_lead + q, some, factor, each[part]);
          }
      });
    }
    kernel::NarrowingCounts lost;
    for (const auto& c : counts_) lost += c;
    comm::sum_of_all(from.grid().all(), lost);
    return lost;
  }

  template <class Vectors>
  void scale_rows(const Vectors& v, const kernel::Staged<Real, Exec>& factors) const {
    kernel::scale_rows(exec_, static_cast<const Real*>(factors.device()), v.local());
    exec_.fence();
  }

  Exec exec_;
  Extents mine_;
  kernel::Staged<Real, Exec> rows_, cols_, solution_;  ///< R; S by column; S by row
  std::vector<Real> row_values_, col_values_;
  std::vector<kernel::NarrowingCounts> counts_;  ///< of each thread
  bool scales_rows_ = false, scales_cols_ = false;
  double row_condition_ = 1, column_condition_ = 1;
};

}  // namespace plinth
