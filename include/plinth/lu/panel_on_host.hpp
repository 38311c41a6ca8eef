// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/lu/plan.hpp"

namespace plinth::lu {

/// A panel's columns of the local matrix, from the diagonal block's rows on, where the host works
/// on them: in place, or, where kernels alone may touch the matrix, in a copy that comes and goes
/// in one piece.
template <class T, ExecutionPolicy Exec, class Layout>
class PanelOnHost {
 public:
  /// Of the panel, on the host.
  using View = kernel::MatrixView<T, Layout, Kokkos::HostSpace>;
  /// Of the local matrix, where kernels reach it.
  using Matrix = kernel::MatrixView<T, Layout, typename Exec::memory::space>;

  /// For panels of up to so many columns, and a matrix of so many local rows.
  PanelOnHost(Index max_width, Index max_rows) {
    if constexpr (!in_place) copy_.reserve(max_width * max_rows);
  }
  /// Bytes of the copy, in each of its two places.
  Index bytes() const { return copy_.size() * Index(sizeof(T)); }

  /// Starts bringing the panel of a step, `mine` of it; it is there after the next fence of
  /// `beside`, the queue of all of this object's copies.
  void start_fetch(const Exec& exec, const Exec& beside, const Matrix& a, const LocalStep& mine) {
    if constexpr (in_place) {
      columns_ = a;
      place_ = mine;
    } else {
      const Range rows = rows_of(mine);
      columns_ = kernel::contiguous<Layout, Kokkos::HostSpace>(copy_.host(), rows.size(),
                                                               mine.panel.size());
      place_ = mine;
      place_.top = shifted(mine.top, rows.begin);
      place_.below = shifted(mine.below, rows.begin);
      place_.panel = {0, mine.panel.size()};
      kernel::copy(exec, kernel::part(a, rows, mine.panel), on_device(mine));
      beside.after(exec);
      copy_.start_to_host(beside, 0, rows.size() * mine.panel.size());
    }
  }
  /// Puts it back; kernels of `exec` that start from now on see it. The host must leave it alone
  /// until the next panel is there.
  void write_back(const Exec& exec, const Exec& beside, const Matrix& a,
                  const LocalStep& mine) const {
    if constexpr (!in_place) {
      const Range rows = rows_of(mine);
      copy_.to_device(beside, 0, rows.size() * mine.panel.size());
      exec.after(beside);
      kernel::copy(exec, on_device(mine), kernel::part(a, rows, mine.panel));
    }
  }

  /// What the host may read and write between the two: the diagonal block, or no rows, and the
  /// rows below it.
  View diagonal() const { return kernel::part(columns_, place_.top, place_.panel); }
  View below() const { return kernel::part(columns_, place_.below, place_.panel); }

 private:
  static constexpr bool in_place = is_host_accessible<Exec>;

  /// The diagonal block's rows and those below adjoin each other.
  static Range rows_of(const LocalStep& mine) {
    return {mine.has_diagonal_rows ? mine.top.begin : mine.below.begin, mine.below.end};
  }
  static Range shifted(Range range, Index by) { return {range.begin - by, range.end - by}; }
  Matrix on_device(const LocalStep& mine) const {
    return kernel::contiguous<Layout, typename Exec::memory::space>(
        copy_.device(), rows_of(mine).size(), mine.panel.size());
  }

  kernel::Staged<T, Exec> copy_;
  View columns_;
  LocalStep place_;  ///< where in columns_ the panel stands
};

}  // namespace plinth::lu
