// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>

#include "plinth/core/index.hpp"
#include "plinth/core/scalar.hpp"

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

/// The best candidate among column[begin, end), in two passes of which the first vectorizes: the
/// largest magnitude, then the first row that has it.
template <class T>
PivotCandidate<RealOf<T>> search_pivot(const T* column, Index begin, Index end) {
  using Real = RealOf<T>;
  constexpr int lanes = 8;
  Real largest[lanes];
  bool ordered[lanes];
  for (int l = 0; l < lanes; ++l) {
    largest[l] = Real(-1);
    ordered[l] = true;
  }
  Index i = begin;
  for (; i + lanes <= end; i += lanes)
    for (int l = 0; l < lanes; ++l) {
      const Real here = magnitude1(column[i + l]);
      largest[l] = here > largest[l] ? here : largest[l];
      ordered[l] = ordered[l] && here >= Real(0);
    }
  for (; i < end; ++i) {
    const Real here = magnitude1(column[i]);
    largest[0] = here > largest[0] ? here : largest[0];
    ordered[0] = ordered[0] && here >= Real(0);
  }
  Real top = Real(-1);
  bool all_ordered = true;
  for (int l = 0; l < lanes; ++l) {
    top = largest[l] > top ? largest[l] : top;
    all_ordered = all_ordered && ordered[l];
  }
  for (i = begin; i < end; ++i) {
    if (!all_ordered && is_nan(column[i])) return {top, i, true};
    if (all_ordered && magnitude1(column[i]) == top) return {top, i, false};
  }
  return {};
}

/// Calls work(begin, end) for pieces of `rows`, in parallel where there is enough to do.
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
    Kokkos::parallel_for(
        "plinth::for_each_piece",
        Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, pieces), at);
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
                                                   Range rows, Index first, Index j, const T* u) {
  using Candidate = PivotCandidate<RealOf<T>>;
  constexpr Index piece = 512;
  T* const column = a + j * lead;
  const auto work = [=](Index p, Candidate& best) {
    const Index begin = rows.begin + p * piece;
    const Index end = std::min(begin + piece, rows.end);
    Index c = first;
    for (; c + 4 <= j; c += 4) {
      const T* const f0 = a + c * lead;
      const T* const f1 = f0 + lead;
      const T* const f2 = f1 + lead;
      const T* const f3 = f2 + lead;
      const T u0 = u[c - first], u1 = u[c - first + 1], u2 = u[c - first + 2],
              u3 = u[c - first + 3];
      for (Index i = begin; i < end; ++i)
        column[i] -= (f0[i] * u0 + f1[i] * u1) + (f2[i] * u2 + f3[i] * u3);
    }
    for (; c < j; ++c) {
      const T* const f0 = a + c * lead;
      const T u0 = u[c - first];
      for (Index i = begin; i < end; ++i) column[i] -= f0[i] * u0;
    }
    const Candidate here = search_pivot(column, begin, end);
    if (best.loses_to(here)) best = here;
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
void update_column(const Space& space, T* a, Index lead, Range rows, Index j, Index q, T u) {
  const T* const factor = a + j * lead;
  T* const column = a + q * lead;
  for_each_piece(space, rows, [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) column[i] -= factor[i] * u;
  });
}

/// a(i, j) /= pivot for i in rows, on the host: by the reciprocal, unless that would overflow.
template <class Space, class T>
void scale_column(const Space& space, T* a, Index lead, Range rows, Index j, T pivot) {
  using Real = RealOf<T>;
  T* const column = a + j * lead;
  const bool invertible = magnitude1(pivot) >= Real(4) / ScalarTraits<T>::max;
  const T reciprocal = invertible ? T(1) / pivot : T(0);
  for_each_piece(space, rows, [=](Index begin, Index end) {
    if (invertible)
      for (Index i = begin; i < end; ++i) column[i] *= reciprocal;
    else
      for (Index i = begin; i < end; ++i) column[i] /= pivot;
  });
}

}  // namespace plinth::kernel
