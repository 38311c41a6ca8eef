// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>

#include "plinth/core/index.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/kernel/panel_columns.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/policy/execution.hpp"

/// What the columns of a panel are factored by where the host does not reach them: the kernels
/// between its products and triangular solves. What they find stays in the device's memory, too,
/// and the host waits for none of them. All may still run on return.
namespace plinth::kernel {

/// The best candidate of a parallel_reduce, in memory that Kokkos calls `Space`.
template <class Real, class Space>
class BestCandidate {
 public:
  // What Kokkos asks a reducer for.
  using reducer = BestCandidate;
  using value_type = PivotCandidate<Real>;
  using result_view_type =
      Kokkos::View<value_type, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  explicit BestCandidate(value_type* best) : best_(best) {}

  KOKKOS_FUNCTION void init(value_type& best) const { best = value_type(); }
  KOKKOS_FUNCTION void join(value_type& best, const value_type& other) const {
    if (best.loses_to(other)) best = other;
  }
  /// As Kokkos before 4.0 calls it.
  KOKKOS_FUNCTION void join(volatile value_type& best, const volatile value_type& other) const {
    join(const_cast<value_type&>(best), const_cast<const value_type&>(other));
  }
  KOKKOS_FUNCTION value_type& reference() const { return *best_.data(); }
  KOKKOS_FUNCTION result_view_type view() const { return best_; }
  KOKKOS_FUNCTION bool references_scalar() const { return false; }

 private:
  result_view_type best_;
};

/// x divided by a pivot as scale_column() does it; by a zero one it is not.
template <class T>
KOKKOS_FUNCTION T divided_by_pivot(const T& x, const T& pivot) {
  if (pivot == T(0)) return x;
  if (!has_reciprocal(pivot)) return x / pivot;
  return x * (T(1) / pivot);
}

/// A ColumnStep in row i, which then is a candidate. The pivot is a(j - 1, j - 1), whatever the
/// step says.
template <class T>
struct AdvanceRow {
  ColumnStep<T> step;

  KOKKOS_FUNCTION void operator()(const Index i, PivotCandidate<RealOf<T>>& best) const {
    const Index j = step.j, lead = step.lead;
    const T* const top = step.a;
    T* const row = step.a + i;
    if (step.scales)
      row[(j - 1) * lead] = divided_by_pivot(row[(j - 1) * lead], top[(j - 1) + (j - 1) * lead]);
    for (Index q = j; q < step.right_end; ++q)
      row[q * lead] -= row[(j - 1) * lead] * top[(j - 1) + q * lead];
    T here = row[j * lead];
    for (Index c = step.left_begin; c < j; ++c) here -= row[c * lead] * top[c + j * lead];
    row[j * lead] = here;
    const PivotCandidate<RealOf<T>> candidate{magnitude1(here), i, is_nan(here)};
    if (best.loses_to(candidate)) best = candidate;
  }
};

/// As on the host: a step in rows `rows`; *best, in the device's memory, becomes the entry of
/// largest magnitude of a(rows, j), a NaN above all, ties to the smaller row, or none. Where the
/// step scales, the column before j is divided by its pivot, unless that is zero.
/// Precondition: `rows` has none of the top block's rows before j.
template <ExecutionPolicy Exec, class T>
void advance_and_search(const Exec& exec, const ColumnStep<T>& step, Range rows,
                        PivotCandidate<RealOf<T>>* best) {
  using Space = typename Exec::execution_space;
  [[maybe_unused]] auto scope = exec.enter();
  Kokkos::parallel_reduce(
      "plinth::advance_and_search",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec.space(), rows.begin, rows.end),
      AdvanceRow<T>{step}, BestCandidate<RealOf<T>, typename Exec::memory::space>(best));
}

/// f(i) for i in `range`, f being a functor for kernels.
template <ExecutionPolicy Exec, class F>
void for_each_index(const Exec& exec, const char* label, Range range, const F& f) {
  if (range.empty()) return;
  using Space = typename Exec::execution_space;
  [[maybe_unused]] auto scope = exec.enter();
  Kokkos::parallel_for(
      label,
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec.space(), range.begin, range.end),
      f);
}

/// A column-major panel and a column of it.
template <class T>
struct PanelColumn {
  T* a;
  Index lead;
  Index j;
};

/// a(i, j) /= a(j, j), unless that is zero.
template <class T>
struct ScaleColumn {
  PanelColumn<T> at;
  KOKKOS_FUNCTION void operator()(const Index i) const {
    T* const y = at.a + at.j * at.lead;
    y[i] = divided_by_pivot(y[i], y[at.j]);
  }
};
/// The same for i in `rows`, which are below row j.
template <ExecutionPolicy Exec, class T>
void scale_column(const Exec& exec, const PanelColumn<T>& at, Range rows) {
  for_each_index(exec, "plinth::scale_column", rows, ScaleColumn<T>{at});
}

/// a(begin..j, j) := L^-1 a(begin..j, j), L the unit lower triangle of columns [begin, j), by one
/// team.
template <class Space, class T>
struct SolveTopColumn {
  using Team = typename Kokkos::TeamPolicy<Space>::member_type;
  PanelColumn<T> at;
  Index begin;
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    T* const y = at.a + at.j * at.lead;
    for (Index c = begin; c + 1 < at.j; ++c) {
      const T* const l = at.a + c * at.lead;
      for (Index i = c + 1 + team.team_rank(); i < at.j; i += team.team_size())
        y[i] -= l[i] * y[c];
      team.team_barrier();
    }
  }
};
/// The same.
template <ExecutionPolicy Exec, class T>
void solve_top_column(const Exec& exec, const PanelColumn<T>& at, Index begin) {
  if (begin + 1 >= at.j) return;
  using Space = typename Exec::execution_space;
  [[maybe_unused]] auto scope = exec.enter();
  // A few rows, and a barrier for each column: one warp is enough.
  const int threads = runs_on_host<Space> ? 1 : 32;
  Kokkos::parallel_for("plinth::solve_top_column",
                       Kokkos::TeamPolicy<Space>(exec.space(), 1, threads),
                       SolveTopColumn<Space, T>{at, begin});
}

/// a(j, q) -= a(j, begin..j) a(begin..j, q).
template <class T>
struct FinishTopRow {
  PanelColumn<T> at;
  Index begin;
  KOKKOS_FUNCTION void operator()(const Index q) const {
    T* const y = at.a + q * at.lead;
    T here = y[at.j];
    for (Index c = begin; c < at.j; ++c) here -= at.a[at.j + c * at.lead] * y[c];
    y[at.j] = here;
  }
};
/// The same for j < q < end.
template <ExecutionPolicy Exec, class T>
void finish_top_row(const Exec& exec, const PanelColumn<T>& at, Index begin, Index end) {
  if (begin < at.j)
    for_each_index(exec, "plinth::finish_top_row", {at.j + 1, end}, FinishTopRow<T>{at, begin});
}

/// A pivot where the whole column of processes is one: the panel's row that it was found in, and
/// its value.
template <class T>
struct FoundPivot {
  Index row;
  T value;
};

/// Exchanges rows j and best->row (if there is a `best`) in column q, and notes the pivot.
template <class T>
struct ExchangeRows {
  PanelColumn<T> at;
  const PivotCandidate<RealOf<T>>* best;
  FoundPivot<T>* found;
  KOKKOS_FUNCTION void operator()(const Index q) const {
    T* const y = at.a + q * at.lead;
    const Index row = best == nullptr ? at.j : best->row;
    const T pivot = y[row];
    y[row] = y[at.j];
    y[at.j] = pivot;
    if (q == at.j) *found = {row, pivot};
  }
};
/// The same in columns [0, width). `best` and `found` are in the device's memory.
template <ExecutionPolicy Exec, class T>
void exchange_rows(const Exec& exec, const PanelColumn<T>& at, Index width,
                   const PivotCandidate<RealOf<T>>* best, FoundPivot<T>* found) {
  for_each_index(exec, "plinth::exchange_rows", {0, width}, ExchangeRows<T>{at, best, found});
}

/// What a process tells of column j, in memory of the device: its best candidate and the rows
/// that compete, each with an element per column.
template <class T>
struct CandidateRows {
  PivotCandidate<RealOf<T>>* candidate;
  T* winner;   ///< the candidate's row, if there is one
  T* current;  ///< row j, where the top block's rows are this process's
};

/// Entry q of the rows of *best, or without a `best` of row j.
template <class T>
struct ReadRows {
  PanelColumn<T> at;
  bool has_current;
  const PivotCandidate<RealOf<T>>* best;
  CandidateRows<T> to;
  KOKKOS_FUNCTION void operator()(const Index q) const {
    const T* const y = at.a + q * at.lead;
    PivotCandidate<RealOf<T>> candidate;
    if (best != nullptr) {
      candidate = *best;
    } else if (has_current) {
      candidate = {RealOf<T>(0), at.j, false};
    }
    if (candidate.row >= 0) to.winner[q] = y[candidate.row];
    if (has_current) to.current[q] = y[at.j];
    if (q == 0) *to.candidate = candidate;
  }
};
/// The same in columns [0, width).
template <ExecutionPolicy Exec, class T>
void read_rows(const Exec& exec, const PanelColumn<T>& at, Index width, bool has_current,
               const PivotCandidate<RealOf<T>>* best, const CandidateRows<T>& to) {
  for_each_index(exec, "plinth::read_rows", {0, width}, ReadRows<T>{at, has_current, best, to});
}

/// Entry q of row `local`, unless that is negative, becomes that of `current`, then of row j that
/// of `winner`.
template <class T>
struct WriteRows {
  PanelColumn<T> at;
  Index local;
  const T* winner;
  const T* current;
  KOKKOS_FUNCTION void operator()(const Index q) const {
    T* const y = at.a + q * at.lead;
    if (local >= 0) y[local] = current[q];
    y[at.j] = winner[q];
  }
};
/// The same in columns [0, width).
template <ExecutionPolicy Exec, class T>
void write_rows(const Exec& exec, const PanelColumn<T>& at, Index width, Index local,
                const T* winner, const T* current) {
  for_each_index(exec, "plinth::write_rows", {0, width},
                 WriteRows<T>{at, local, winner, current});
}

}  // namespace plinth::kernel
