// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>

#include "plinth/core/index.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/convert_view.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/transpose.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/lu/panel.hpp"
#include "plinth/lu/plan.hpp"

namespace plinth::lu {

/// A panel of floats as PanelFactorization wants it: column-major, top block first.
class ColumnPanel {
 public:
  ColumnPanel(float* data, const Step& step, Index below, Index* pivots)
      : data_(data), step_(step), below_(below), pivots_(pivots) {}
  float* host() const { return data_; }
  const Step& step() const { return step_; }
  Index width() const { return step_.width(); }
  Index lead() const { return width() + below_; }
  Index* pivots() const { return pivots_; }
  PanelOutcome& outcome() { return outcome_; }

 private:
  float* data_;
  Step step_;
  Index below_;
  Index* pivots_;
  PanelOutcome outcome_;
};

/// Where a process of the owner column factors a panel with pivoting, in float on the host:
/// column-major, the top block and L21 below it, whatever layout `Layout` the matrix has. And where
/// rows of the matrix become columns here a strip: some of them in the matrix's layout, on their
/// way between the two.
///
/// Memory: max_width times max_width and the rows below, and the strip.
template <class Layout>
class FloatPanel {
 public:
  using Single = kernel::MatrixView<float, Layout, Kokkos::HostSpace>;
  /// Whether rows of the matrix become columns here.
  static constexpr bool must_flip = kernel::is_row_major<Layout>;
  static constexpr Index strip_rows = 256;

  FloatPanel(Index max_width, Index max_rows)
      : work_(max_width * (max_rows + max_width)),
        strip_(must_flip ? max_width * strip_rows : 0) {}

  Index bytes() const { return (work_.size() + strip_.size()) * Index(sizeof(float)); }
  /// Takes the shape, contents unspecified.
  void reshape(Index width, Index below) {
    width_ = width;
    below_ = below;
  }

  float* data() const { return work_.data(); }
  float* l21_data() const { return work_.data() + width_; }
  /// Between columns.
  Index lead() const { return width_ + below_; }

  /// Calls f with the rows of L21 that fit in a strip, in turn.
  template <class F>
  void for_each_strip(const F& f) const {
    for_each_strip(below_, f);
  }

  /// L21's rows in the matrix's layout: where they are, or flipped into the strip.
  template <class Exec>
  Single rows_of_l21(const Exec& exec, Range rows) const {
    if constexpr (must_flip) {
      const Single to = strip(rows.size());
      kernel::transpose(exec, flipped(rows, width_), to);
      exec.fence();
      return to;
    } else {
      return whole({width_ + rows.begin, width_ + rows.end});
    }
  }

  /// The top block's rows, if it `has` them, and those below, from where they are in the matrix:
  /// from_top(rows) and from_below(rows) are Views of some.
  template <class Exec, class FromTop, class FromBelow>
  void load(const Exec& exec, bool has_top, const FromTop& from_top,
            const FromBelow& from_below) const {
    if (has_top) for_each_strip(width_, [&](Range rows) { load(exec, from_top(rows), rows, 0); });
    for_each_strip(below_, [&](Range rows) { load(exec, from_below(rows), rows, width_); });
  }
  /// to := the top block.
  template <class Exec>
  void copy_top(const Exec& exec, const Single& to) const {
    if constexpr (must_flip) {
      kernel::transpose(exec, flipped({0, width_}, 0), to);
    } else {
      kernel::copy(exec, whole({0, width_}), to);
    }
    exec.fence();
  }

 private:
  /// Room for so many rows, contents unspecified.
  Single strip(Index rows) const {
    return kernel::contiguous<Layout, Kokkos::HostSpace>(strip_.data(), rows, width_);
  }
  template <class F>
  static void for_each_strip(Index all, const F& f) {
    for (Index begin = 0; begin < all; begin += strip_rows)
      f(Range{begin, std::min(begin + strip_rows, all)});
  }
  /// Columns of the column-major panel as rows of a row-major View: its rows [rows] below `from`.
  Single flipped(Range rows, Index from) const {
    return kernel::part(
        kernel::wrap<Layout, Kokkos::HostSpace>(work_.data(), width_, lead(), lead()),
        {0, width_}, {from + rows.begin, from + rows.end});
  }
  /// Rows where they are. Not where they are flipped.
  Single whole(Range rows) const {
    return kernel::part(
        kernel::wrap<Layout, Kokkos::HostSpace>(work_.data(), lead(), width_, lead()), rows,
        {0, width_});
  }
  /// Rows [rows] below `to` := `from`.
  template <class Exec, class From>
  void load(const Exec& exec, const From& from, Range rows, Index to) const {
    if constexpr (must_flip) {
      const Single some = strip(rows.size());
      kernel::convert(exec, from, some);
      kernel::transpose(exec, some, flipped(rows, to));
      exec.fence();
    } else {
      kernel::convert(exec, from, whole({to + rows.begin, to + rows.end}));
    }
  }

  kernel::Buffer<float> work_, strip_;
  Index width_ = 0;
  Index below_ = 0;
};

}  // namespace plinth::lu
