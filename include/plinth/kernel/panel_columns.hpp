// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>

#include "plinth/core/cpu.hpp"
#include "plinth/core/index.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/kernel/simd.hpp"

namespace plinth::kernel {

/// The candidate for a pivot: its magnitude and where it is.
template <class Real>
struct PivotCandidate {
  Real magnitude = Real(-1);  ///< |re| + |im|
  Index row = -1;             ///< which numbering is the user's affair; -1: no candidate
  bool nan = false;           ///< ranks above every number, so that a NaN is found

  /// Whether `other` is the better pivot: a NaN, else the larger magnitude, else the smaller row.
  /// A total order, so every way of reducing gives the same winner.
  KOKKOS_FUNCTION bool loses_to(const PivotCandidate& other) const {
    if (other.row < 0) return false;
    if (row < 0) return true;
    if (nan != other.nan) return other.nan;
    if (!nan && magnitude != other.magnitude) return magnitude < other.magnitude;
    return other.row < row;
  }
};

/// Kokkos reducer: the best of all candidates.
template <class Real>
class BestPivot {
 public:
  using reducer = BestPivot;
  using value_type = PivotCandidate<Real>;
  using result_view_type =
      Kokkos::View<value_type, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  explicit BestPivot(value_type& result) : result_(&result) {}
  void join(value_type& best, const value_type& other) const {
    if (best.loses_to(other)) best = other;
  }
  void join(volatile value_type& best, const volatile value_type& other) const {
    join(const_cast<value_type&>(best), const_cast<const value_type&>(other));
  }
  void init(value_type& best) const { best = value_type(); }
  value_type& reference() const { return *result_.data(); }
  result_view_type view() const { return result_; }
  bool references_scalar() const { return true; }

 private:
  result_view_type result_;
};

/// Brings rows [begin, end) of a column up to date with some columns to its left, and finds the
/// best pivot candidate among them: an independent piece of update_column_and_search.
template <class T>
struct ColumnPiece {
  using Real = RealOf<T>;
  T* column;
  const T* left;  ///< first of the columns to the left
  Index lead;
  Index count;  ///< how many columns to the left
  const T* u;   ///< count multipliers
  Index begin, end;
  PivotCandidate<Real>* best;

  PLINTH_SIMD_BODY void operator()() const {
    update();
    search();
  }

 private:
  PLINTH_SIMD_BODY void update() const {
    T* const __restrict__ y = column;
    Index c = 0;
    for (; c + 4 <= count; c += 4) {
      const T* const f0 = left + c * lead;
      const T* const f1 = f0 + lead;
      const T* const f2 = f1 + lead;
      const T* const f3 = f2 + lead;
      const T u0 = u[c], u1 = u[c + 1], u2 = u[c + 2], u3 = u[c + 3];
      for (Index i = begin; i < end; ++i)
        y[i] -= (f0[i] * u0 + f1[i] * u1) + (f2[i] * u2 + f3[i] * u3);
    }
    for (; c < count; ++c) {
      const T* const f0 = left + c * lead;
      const T u0 = u[c];
      for (Index i = begin; i < end; ++i) y[i] -= f0[i] * u0;
    }
  }

  /// Two passes, of which the first vectorizes: the largest magnitude, then the first row with it.
  PLINTH_SIMD_BODY void search() const {
    constexpr int lanes = 64 / sizeof(Real);
    Real most[lanes];
    Real sum[lanes];  // not a number if any magnitude is not
    for (int l = 0; l < lanes; ++l) most[l] = Real(-1), sum[l] = Real(0);
    Index i = begin;
    for (; i + lanes <= end; i += lanes)
      for (int l = 0; l < lanes; ++l) {
        const Real here = magnitude1(column[i + l]);
        most[l] = here > most[l] ? here : most[l];
        sum[l] += here * Real(0);
      }
    for (; i < end; ++i) {
      const Real here = magnitude1(column[i]);
      most[0] = here > most[0] ? here : most[0];
      sum[0] += here * Real(0);
    }
    Real top = Real(-1);
    bool finite = true;
    for (int l = 0; l < lanes; ++l) {
      top = most[l] > top ? most[l] : top;
      finite = finite && sum[l] == Real(0);
    }
    if (!finite) return search_non_finite();
    for (i = begin; i < end; ++i)
      if (magnitude1(column[i]) == top) break;
    if (i == end) return search_non_finite();
    consider({top, i, false});
  }
  void search_non_finite() const {
    for (Index i = begin; i < end; ++i) consider({magnitude1(column[i]), i, is_nan(column[i])});
  }
  PLINTH_SIMD_BODY void consider(const PivotCandidate<Real>& here) const {
    if (best->loses_to(here)) *best = here;
  }
};

/// column[begin, end) -= factor[begin, end) u.
template <class T>
struct ColumnAxpy {
  T* column;
  const T* factor;
  T u;
  Index begin, end;
  PLINTH_SIMD_BODY void operator()() const {
    for (Index i = begin; i < end; ++i) column[i] -= factor[i] * u;
  }
};

/// column[begin, end) *= factor.
template <class T>
struct ColumnScale {
  T* column;
  T factor;
  Index begin, end;
  PLINTH_SIMD_BODY void operator()() const {
    for (Index i = begin; i < end; ++i) column[i] *= factor;
  }
};

/// Pieces of `rows`, a few KiB of each column long: work(begin, end) for each, in parallel where
/// there is enough to do.
template <class Space, class Work>
void for_each_piece(const Space& space, Range rows, const Work& work) {
  constexpr Index piece = 2048;
  const Index pieces = ceil_div(std::max<Index>(rows.size(), 0), piece);
  const auto at = [=](Index p) {
    work(rows.begin + p * piece, std::min(rows.begin + (p + 1) * piece, rows.end));
  };
  if (space.concurrency() == 1 || pieces < 4) {
    for (Index p = 0; p < pieces; ++p) at(p);
  } else {
    Kokkos::parallel_for("plinth::for_each_piece",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, pieces),
                         at);
  }
}

/// Brings one column of a column-major panel up to date and finds its pivot candidate, on the host:
///
///     a(i, j) -= sum over c in [first, j) of a(i, c) u[c - first]      for i in rows
///
/// then the entry of largest magnitude in a(rows, j), a NaN above all, ties to the smaller i.
/// u holds j - first elements. Reads j - first columns, writes one: 2 rows (j - first) flops.
template <class Space, class T>
PivotCandidate<RealOf<T>> update_column_and_search(const Space& space, T* a, Index lead,
                                                   Range rows, Index first, Index j, const T* u,
                                                   Isa isa = best_isa()) {
  using Candidate = PivotCandidate<RealOf<T>>;
  constexpr Index piece = 512;
  const auto work = [=](Index p, Candidate& best) {
    const Index begin = rows.begin + p * piece;
    run_simd(isa, ColumnPiece<T>{a + j * lead, a + first * lead, lead, j - first, u, begin,
                                 std::min(begin + piece, rows.end), &best});
  };
  Candidate best;
  if (rows.empty()) return best;
  const Index pieces = ceil_div(rows.size(), piece);
  if (space.concurrency() == 1 || pieces < 8) {
    for (Index p = 0; p < pieces; ++p) work(p, best);
  } else {
    Kokkos::parallel_reduce(
        "plinth::update_column_and_search",
        Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, pieces), work,
        BestPivot<RealOf<T>>(best));
  }
  return best;
}

/// a(i, q) -= a(i, j) u for i in rows, on the host: one column of a rank-1 update.
template <class Space, class T>
void update_column(const Space& space, T* a, Index lead, Range rows, Index j, Index q, T u,
                   Isa isa = best_isa()) {
  for_each_piece(space, rows, [=](Index begin, Index end) {
    run_simd(isa, ColumnAxpy<T>{a + q * lead, a + j * lead, u, begin, end});
  });
}

/// a(i, j) /= pivot for i in rows, on the host: by the reciprocal, unless that would overflow.
template <class Space, class T>
void scale_column(const Space& space, T* a, Index lead, Range rows, Index j, T pivot,
                  Isa isa = best_isa()) {
  using Real = RealOf<T>;
  T* const column = a + j * lead;
  const bool invertible = magnitude1(pivot) >= Real(4) / ScalarTraits<T>::max;
  const T reciprocal = invertible ? T(1) / pivot : T(0);
  for_each_piece(space, rows, [=](Index begin, Index end) {
    if (invertible) {
      run_simd(isa, ColumnScale<T>{column, reciprocal, begin, end});
    } else {
      for (Index i = begin; i < end; ++i) column[i] /= pivot;
    }
  });
}

}  // namespace plinth::kernel
