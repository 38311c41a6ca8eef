// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <type_traits>

#include "plinth/core/cpu.hpp"
#include "plinth/core/index.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/kernel/simd.hpp"

namespace plinth::kernel {

/// The candidate for a pivot: its magnitude and where it is.
template <class Real>
struct PivotCandidate {
  Real magnitude = Real(-1);  ///< |re| + |im|, or what competes in its place
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

/// What is due in a base block of a column-major panel before column j can be searched for its
/// pivot. All of it is done in one pass over the rows:
///
///     a(i, j - 1) := a(i, j - 1) / pivot                                     if scales
///     a(i, q) := a(i, q) - a(i, j - 1) a(j - 1, q)      for q in [j, right_end)
///     a(i, j) := a(i, j) - sum over c in [left_begin, j) of a(i, c) a(c, j)
///
/// a(c, j) and a(j - 1, q) are entries of the panel's top block.
template <class T>
struct ColumnStep {
  T* a;
  Index lead;
  Index j;
  Index left_begin;     ///< j: no column to the left is due
  Index right_end = 0;  ///< at most j: no column to the right is due
  bool scales = false;
  T pivot = T(1);
};

/// Whether a column may be multiplied by the reciprocal of its pivot, which must not overflow.
template <class T>
KOKKOS_FUNCTION bool has_reciprocal(T pivot) {
  using Real = RealOf<T>;
  return magnitude1(pivot) >= Real(4) / ScalarTraits<T>::max;
}

/// Candidates compete by their magnitude.
struct ByMagnitude {};

/// A ColumnStep in rows [begin, end), and the best pivot candidate among them. They compete by
/// merit(magnitude, row), which is not negative; a NaN is not asked about.
template <class T, class Merit = ByMagnitude>
struct ColumnPiece {
  using Real = RealOf<T>;
  ColumnStep<T> step;
  Index begin, end;
  PivotCandidate<Real>* best;
  Merit merit = {};

  PLINTH_SIMD_BODY void operator()() const {
    if (step.scales) scale();
    for (Index q = step.j; q < step.right_end; ++q) update_right(q);
    update();
    if constexpr (std::is_same_v<Merit, ByMagnitude>) {
      search();
    } else {
      search_by_merit();
    }
  }

 private:
  PLINTH_SIMD_BODY T* column(Index c) const { return step.a + c * step.lead; }

  PLINTH_SIMD_BODY void scale() const {
    T* const y = column(step.j - 1);
    if (has_reciprocal(step.pivot)) {
      const T factor = T(1) / step.pivot;
      for (Index i = begin; i < end; ++i) y[i] *= factor;
    } else {
      for (Index i = begin; i < end; ++i) y[i] /= step.pivot;
    }
  }
  PLINTH_SIMD_BODY void update_right(Index q) const {
    T* const __restrict__ y = column(q);
    const T* const f = column(step.j - 1);
    const T u = y[step.j - 1];
    for (Index i = begin; i < end; ++i) y[i] -= f[i] * u;
  }
  PLINTH_SIMD_BODY void update() const {
    T* const __restrict__ y = column(step.j);
    const T* const u = y;
    Index c = step.left_begin;
    for (; c + 4 <= step.j; c += 4) {
      const T* const f0 = column(c);
      const T* const f1 = column(c + 1);
      const T* const f2 = column(c + 2);
      const T* const f3 = column(c + 3);
      const T u0 = u[c], u1 = u[c + 1], u2 = u[c + 2], u3 = u[c + 3];
      for (Index i = begin; i < end; ++i)
        y[i] -= (f0[i] * u0 + f1[i] * u1) + (f2[i] * u2 + f3[i] * u3);
    }
    for (; c < step.j; ++c) {
      const T* const f0 = column(c);
      const T u0 = u[c];
      for (Index i = begin; i < end; ++i) y[i] -= f0[i] * u0;
    }
  }

  /// Two passes, of which the first vectorizes: the largest magnitude, then the first row with it.
  PLINTH_SIMD_BODY void search() const {
    const T* const y = column(step.j);
    constexpr int lanes = 64 / sizeof(Real);
    Real most[lanes];
    Real sum[lanes];  // not a number if any magnitude is not
    for (int l = 0; l < lanes; ++l) most[l] = Real(-1), sum[l] = Real(0);
    Index i = begin;
    for (; i + lanes <= end; i += lanes)
      for (int l = 0; l < lanes; ++l) {
        const Real here = magnitude1(y[i + l]);
        most[l] = here > most[l] ? here : most[l];
        sum[l] += here * Real(0);
      }
    for (; i < end; ++i) {
      const Real here = magnitude1(y[i]);
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
      if (magnitude1(y[i]) == top) break;
    if (i == end) return search_non_finite();
    consider({top, i, false});
  }
  void search_non_finite() const {
    const T* const y = column(step.j);
    for (Index i = begin; i < end; ++i) consider({magnitude1(y[i]), i, is_nan(y[i])});
  }
  void search_by_merit() const {
    const T* const y = column(step.j);
    for (Index i = begin; i < end; ++i) {
      const Real magnitude = magnitude1(y[i]);
      if (is_nan(y[i])) {
        consider({magnitude, i, true});
      } else {
        consider({merit(magnitude, i), i, false});
      }
    }
  }
  PLINTH_SIMD_BODY void consider(const PivotCandidate<Real>& here) const {
    if (best->loses_to(here)) *best = here;
  }
};

/// One step of the factorization of a base block on the host (see ColumnStep), in rows `rows`;
/// returns the entry of largest magnitude of a(rows, j), a NaN above all, ties to the smaller row.
/// With `merit` it is that of the largest merit(magnitude, row), which takes the magnitude's place.
/// One parallel region, where there is enough to do for one.
/// Precondition: `rows` has none of the top block's rows before j.
template <class Space, class T, class Merit = ByMagnitude>
PivotCandidate<RealOf<T>> advance_and_search(const Space& space, const ColumnStep<T>& step,
                                             Range rows, Isa isa = best_isa(),
                                             const Merit& merit = {}) {
  struct alignas(64) Best : PivotCandidate<RealOf<T>> {};
  constexpr Index most_parts = 64;
  constexpr Index least = 1024;  // rows that are worth a thread
  constexpr Index piece = 512;   // rows of eight columns stay in a first-level cache
  const Index parts =
      std::clamp<Index>(rows.size() / least, 1, std::min<Index>(most_parts, space.concurrency()));
  const Index part = ceil_div(rows.size(), parts);
  Best best[most_parts];
  const auto work = [=, found = &best[0]](const Index p) {
    const Index end = std::min(rows.begin + (p + 1) * part, rows.end);
    for (Index begin = rows.begin + p * part; begin < end; begin += piece)
      run_simd(isa, ColumnPiece<T, Merit>{step, begin, std::min(begin + piece, end), found + p,
                                          merit});
  };
  if (parts == 1) {
    work(0);
  } else {
    Kokkos::parallel_for("plinth::advance_and_search",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, parts),
                         work);
    space.fence();
    for (Index p = 1; p < parts; ++p)
      if (best[0].loses_to(best[p])) best[0] = best[p];
  }
  return best[0];
}

/// y[begin, end) *= factor.
template <class T>
struct ColumnScale {
  T* y;
  T factor;
  Index begin, end;
  PLINTH_SIMD_BODY void operator()() const {
    for (Index i = begin; i < end; ++i) y[i] *= factor;
  }
};

/// a(i, j) /= pivot for i in rows, on the host: by the reciprocal, unless that would overflow.
template <class T>
void scale_column(T* a, Index lead, Range rows, Index j, T pivot, Isa isa = best_isa()) {
  T* const column = a + j * lead;
  if (has_reciprocal(pivot)) {
    run_simd(isa, ColumnScale<T>{column, T(1) / pivot, rows.begin, rows.end});
  } else {
    for (Index i = rows.begin; i < rows.end; ++i) column[i] /= pivot;
  }
}

}  // namespace plinth::kernel
