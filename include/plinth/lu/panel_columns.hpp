// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>

#include "plinth/core/cpu.hpp"
#include "plinth/core/index.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/kernel/deal.hpp"
#include "plinth/kernel/panel_columns.hpp"
#include "plinth/kernel/run_parts.hpp"
#include "plinth/kernel/view.hpp"

namespace plinth::lu {

/// Where the columns of a panel are while it is factored, in memory that Kokkos calls `Space`.
///
/// The panel a is column-major, `lead` rows: its first `width` rows are the top block, in which
/// row j is the j-th pivot row, the others are the rows below. Where the rows that the top block
/// starts with are this process's to choose from (`has_top_rows`), the rows still in play when
/// column c is next are [c, lead), elsewhere [width, lead), and everything up to pivoting reads as
/// in LAPACK.
template <class T, class Space>
class PanelColumns {
 public:
  /// Takes a panel on.
  void reset(T* a, Index lead, Index width, bool has_top_rows) {
    a_ = a;
    lead_ = lead;
    width_ = width;
    has_top_rows_ = has_top_rows;
  }

  Index width() const { return width_; }
  bool has_top_rows() const { return has_top_rows_; }
  /// Rows still in play when column c is next.
  Range active(Index c) const { return {has_top_rows_ ? c : width_, lead_}; }

 protected:
  // The panel is column-major; its transpose is a row-major View, and products and triangular
  // solves are those of the transposes: one layout for all BLAS calls.
  auto transposed(Range rows, Range cols) const {
    return kernel::wrap<Kokkos::LayoutRight, Space>(a_ + rows.begin + cols.begin * lead_,
                                                    cols.size(), rows.size(), lead_);
  }
  /// What is due before column j is searched.
  kernel::ColumnStep<T> step(Index j, Index left_begin, Index right_end, bool scales) const {
    return {a_, lead_, j, left_begin, right_end, scales};
  }

  T* a_ = nullptr;
  Index lead_ = 0;
  Index width_ = 0;
  bool has_top_rows_ = false;
};

/// The columns of a panel in the host's memory: all that touches single elements of them.
template <class T, class HostExec>
class HostColumns : public PanelColumns<T, Kokkos::HostSpace> {
 public:
  using Candidate = kernel::PivotCandidate<RealOf<T>>;
  static constexpr bool on_device = false;

  explicit HostColumns(const HostExec& exec) : exec_(exec), deal_(exec.space()) {}

  const HostExec& exec() const { return exec_; }
  T& at(Index i, Index j) const { return this->a_[i + j * this->lead_]; }
  void read_row(Index i, T* row) const {
    for (Index j = 0; j < this->width_; ++j) row[j] = at(i, j);
  }
  void write_row(Index i, const T* row) const {
    for (Index j = 0; j < this->width_; ++j) at(i, j) = row[j];
  }

  /// Row j as the only candidate for column j, where this process has it.
  Candidate in_place(Index j) const { return {RealOf<T>(0), this->has_top_rows_ ? j : -1}; }
  /// The best candidate's row and row j, each where this process has it; returns the candidate.
  Candidate read_rows(Index j, const Candidate& best, T* winner, T* current) const {
    if (best.row >= 0) read_row(best.row, winner);
    if (this->has_top_rows_) read_row(j, current);
    return best;
  }
  /// Row `local`, unless it is negative, becomes `current`, row j then `winner`.
  void write_rows(Index j, Index local, const T* winner, const T* current) const {
    if (local >= 0) write_row(local, current);
    write_row(j, winner);
  }

 protected:
  /// kernel::advance_and_search in the rows in play; a column is due to be divided by its pivot,
  /// unless that is zero.
  template <class Merit>
  Candidate advance_and_search(kernel::ColumnStep<T> step, const Merit& merit) const {
    if (step.scales) {
      step.pivot = at(step.j - 1, step.j - 1);
      step.scales = step.pivot != T(0);
    }
    return kernel::advance_and_search(exec_.space(), step, this->active(step.j), best_isa(),
                                      merit);
  }
  /// a(rows, j) /= a(j, j), unless that is zero.
  void scale_column(Range rows, Index j) const {
    if (at(j, j) != T(0)) kernel::scale_column(this->a_, this->lead_, rows, j, at(j, j));
  }
  /// U(c0..j, j) := L^-1 of what stands there, L the unit lower triangle of the base's own
  /// columns.
  void solve_top_column(Index c0, Index j) const {
    for (Index c = c0; c < j; ++c)
      for (Index i = c + 1; i < j; ++i) at(i, j) -= at(i, c) * at(c, j);
  }
  /// U(j, j+1..c1) -= L(j, c0..j) U(c0..j, j+1..c1).
  void finish_top_row(Index c0, Index j, Index c1) const {
    for (Index q = j + 1; q < c1; ++q)
      for (Index c = c0; c < j; ++c) at(j, q) -= at(j, c) * at(c, q);
  }

  /// Deals rows to threads, each with so many threads of its own.
  template <class Work>
  void deal(Range rows, const Work& work) const {
    deal_(rows, work);
  }
  kernel::Threads threads(Index rows) const { return deal_.threads(rows); }

 private:
  HostExec exec_;
  kernel::Deal<typename HostExec::execution_space> deal_;
};

}  // namespace plinth::lu
