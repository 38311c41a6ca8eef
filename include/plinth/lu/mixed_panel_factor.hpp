// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "plinth/comm/mpi.hpp"
#include "plinth/comm/reduce.hpp"
#include "plinth/kernel/deal.hpp"
#include "plinth/kernel/transpose.hpp"
#include "plinth/kernel/trsm.hpp"
#include "plinth/lu/diagonal_block.hpp"
#include "plinth/lu/mixed_options.hpp"
#include "plinth/lu/mixed_panel.hpp"
#include "plinth/lu/narrowing_log.hpp"
#include "plinth/lu/operand_scaling.hpp"
#include "plinth/lu/panel_factor.hpp"

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

/// The owner column's work on a panel (MixedPanel) of a matrix of type Factor: converted to float,
/// factored, scaled, rounded and packed. On the host, with the other processes of the column.
///
/// With pivoting the panel is factored as always (lu/panel_factor.hpp). Without, the diagonal
/// block's owner factors it and sends it down the column, and L21 = A21 U11^-1 everywhere at once:
/// one message, not one per column; then one number for the largest entry of L.
///
/// Workspace: max_width (max_width + rows below) floats and 256 rows more.
template <class Factor, class Panel, PivotingPolicy Pivoting, class Exec, class Sink>
class MixedPanelFactorization {
 public:
  using Operand = typename Panel::Operand;
  using Layout = typename Panel::layout;
  using Matrix = kernel::MatrixView<Factor, Layout, Kokkos::HostSpace>;
  using Single = kernel::MatrixView<float, Layout, Kokkos::HostSpace>;
  static constexpr bool pivots = Pivoting::exchanges_rows;

  MixedPanelFactorization(const Exec& exec, const ProcessGrid& grid, const BlockCyclic& rows,
                          const kernel::lowp::GemmSetup<Operand>& setup,
                          const OperandScaling& scaling, const MixedOptions& options,
                          Index max_width, Index max_rows, Sink& sink)
      : exec_(exec),
        deal_(exec.space()),
        grid_(grid),
        rows_(rows),
        setup_(setup),
        scaling_(scaling),
        invert_(options.invert_diagonal),
        recursive_(exec, grid, options.panel, options.pivot_reduction, pivots ? max_width : 0,
                   sink),
        work_(max_width * (max_rows + (pivots ? max_width : 0))),
        strip_(max_width * strip_rows),
        inverse_(invert_ ? max_width * max_width : 0) {
    zeros_.reserve(static_cast<std::size_t>(max_width));
  }

  Index workspace_bytes() const {
    return (work_.size() + strip_.size() + inverse_.size()) * Index(sizeof(float));
  }

  /// Factors `panel`, which has the shape of the step; on return it is ready to be sent, and the
  /// diagonal block is stored in the matrix. `mine`: where in `a` the panel stands (lu/plan.hpp; in
  /// a copy elsewhere than in the local matrix). Collective over the process column.
  void operator()(Panel& panel, const Matrix& a, const LocalStep& mine, NarrowingLog& log) {
    panel_ = &panel;
    width_ = panel.width();
    below_ = panel.below();
    double largest_l = 1;  // with partial pivoting
    if constexpr (pivots) {
      factor_with_pivoting(a, mine);
      judge_diagonal();
    } else {
      factor_diagonal(a, mine);
      solve_l21(a, mine);
      largest_l = largest_of_l();
    }
    MixedPanelHeader& header = panel.header();
    header.l = StorageScaling<Factor>::of_l(largest_l);
    header.l_operand = scaling_.of_l(largest_l);
    store_diagonal(a, mine, log);
    if (invert_) {
      const Single inverse = square(inverse_.data());
      header.inverted =
          invert_triangle(exec_, Uplo::lower, Diag::unit, panel.triangle(), inverse);
      if (header.inverted) kernel::copy(exec_, inverse, panel.triangle());
      exec_.fence();
    }
    const auto lost = kernel::lowp::pack_a(exec_.space(), setup_, below_, width_, l21_data(),
                                           row_stride(), col_stride(), panel.packed(),
                                           static_cast<float>(std::ldexp(1.0, header.l_operand)));
    log.count_multiplied(lost);
  }

  /// Stores L21 in the matrix. After operator(), when the panel is on its way.
  void store_l21(const Panel& panel, const Matrix& a, const LocalStep& mine, NarrowingLog& log) {
    const auto global_col = [&](Index j) { return panel.step().cols.begin + j; };
    for_each_strip([&](Range rows) {
      const Matrix to = rows_of_matrix(a, mine.below, rows, mine.panel);
      if constexpr (!must_flip) {
        log.store(exec_, l21(rows), to, panel.header().l, global_col);
      } else {
        const Single strip = strip_of(rows.size());
        kernel::transpose(exec_, flipped(rows, width_), strip);
        exec_.fence();
        log.store(exec_, strip, to, panel.header().l, global_col);
      }
    });
  }

 private:
  static constexpr Index strip_rows = 256;
  static constexpr bool by_rows = kernel::is_row_major<Layout>;
  /// The recursive panel factorization wants columns, whatever the matrix has.
  static constexpr bool must_flip = pivots && by_rows;

  // L21: rows (without pivoting, of a row-major matrix) or columns of floats.
  Index lead() const { return pivots ? width_ + below_ : below_; }
  float* l21_data() const { return work_.data() + (pivots ? width_ : 0); }
  Index row_stride() const { return !pivots && by_rows ? width_ : 1; }
  Index col_stride() const { return !pivots && by_rows ? 1 : std::max<Index>(lead(), 1); }
  Single l21(Range rows) const {
    return kernel::part(
        kernel::wrap<Layout, Kokkos::HostSpace>(l21_data(), below_, width_,
                                                by_rows ? width_ : std::max<Index>(lead(), 1)),
        rows, {0, width_});
  }
  /// Columns of the column-major panel as rows of a row-major View: its rows [rows] below `from`.
  Single flipped(Range rows, Index from) const {
    return kernel::part(
        kernel::wrap<Layout, Kokkos::HostSpace>(work_.data(), width_, lead(), lead()),
        {0, width_}, {from + rows.begin, from + rows.end});
  }
  Single strip_of(Index rows) const {
    return kernel::contiguous<Layout, Kokkos::HostSpace>(strip_.data(), rows, width_);
  }
  Single square(float* data) const {
    return kernel::contiguous<Layout, Kokkos::HostSpace>(data, width_, width_);
  }
  static Matrix rows_of_matrix(const Matrix& a, Range all, Range some, Range cols) {
    return kernel::part(a, {all.begin + some.begin, all.begin + some.end}, cols);
  }
  template <class F>
  void for_each_strip(const F& f) const {
    for (Index begin = 0; begin < below_; begin += strip_rows)
      f(Range{begin, std::min(begin + strip_rows, below_)});
  }

  void factor_with_pivoting(const Matrix& a, const LocalStep& mine) {
    const auto load = [&](Range from, Range rows, Index to) {
      const Matrix part = rows_of_matrix(a, from, rows, mine.panel);
      if constexpr (must_flip) {
        const Single strip = strip_of(rows.size());
        kernel::convert(exec_, part, strip);
        kernel::transpose(exec_, strip, flipped(rows, to));
        exec_.fence();
      } else {
        const auto whole = kernel::wrap<Layout, Kokkos::HostSpace>(work_.data(), width_ + below_,
                                                                   width_, width_ + below_);
        kernel::convert(exec_, part,
                        kernel::part(whole, {to + rows.begin, to + rows.end}, {0, width_}));
      }
    };
    if (mine.has_diagonal_rows)
      for (Index begin = 0; begin < width_; begin += strip_rows)
        load(mine.top, {begin, std::min(begin + strip_rows, width_)}, 0);
    for_each_strip([&](Range rows) { load(mine.below, rows, width_); });
    ColumnPanel columns(work_.data(), panel_->step(), below_, panel_->pivots());
    const int me = grid_.coord().row;
    const Index first_below = rows_.first_local(panel_->step().cols.end, me);
    recursive_(columns, mine.has_diagonal_rows,
               [&](Index below) { return rows_.global(first_below + below, me); });
    panel_->header().outcome = columns.outcome();
    if constexpr (must_flip) {
      kernel::transpose(exec_, flipped({0, width_}, 0), panel_->triangle());
    } else {
      kernel::copy(exec_,
                   kernel::wrap<Layout, Kokkos::HostSpace>(work_.data(), width_, width_, lead()),
                   panel_->triangle());
    }
    exec_.fence();
  }

  /// The diagonal block, factored by its owner, on every process of the column.
  void factor_diagonal(const Matrix& a, const LocalStep& mine) {
    zeros_.clear();
    const Single block = panel_->triangle();
    const Index first = panel_->step().cols.begin;
    if (mine.has_diagonal_rows) {
      for (Index t = 0; t < width_; ++t) panel_->pivots()[t] = first + t;
      kernel::convert(exec_, kernel::part(a, mine.top, mine.panel), block);
      factor_unpivoted(exec_, block, {0, width_}, first, panel_->header().outcome, zeros_);
      judge_diagonal();
    }
    if (grid_.shape().rows == 1) return;
    comm::for_each_chunk(
        panel_->head_bytes(), grid_.options().max_message, [&](Index offset, int count) {
          comm::check(MPI_Bcast(panel_->head() + offset, count, MPI_BYTE,
                                panel_->step().owner_row, grid_.column_pivots().handle()),
                      "MPI_Bcast");
        });
  }

  /// How U's block row is stored, and whether a pivot becomes zero by that.
  void judge_diagonal() {
    const Single block = panel_->triangle();
    MixedPanelHeader& header = panel_->header();
    header.u = StorageScaling<Factor>::of_u(largest_in(Uplo::upper));
    const auto scale = static_cast<float>(std::ldexp(1.0, header.u));
    for (Index t = 0; t < width_; ++t) {
      const Index column = panel_->step().cols.begin + t;
      Index& first = header.outcome.first_zero_pivot;
      if (Factor(block(t, t) * scale) == Factor(0.0f) && (first < 0 || column < first))
        first = column;
    }
  }

  /// L21 := A21 U11^-1.
  void solve_l21(const Matrix& a, const LocalStep& mine) {
    if (below_ == 0) return;
    const Single u11 = panel_->triangle();
    const Single inverse = square(inverse_.data());
    const bool inverted =
        invert_ && invert_triangle(exec_, Uplo::upper, Diag::non_unit, u11, inverse);
    if (inverted) {
      for_each_strip([&](Range rows) {
        const Single strip = strip_of(rows.size());
        kernel::convert(exec_, rows_of_matrix(a, mine.below, rows, mine.panel), strip);
        multiply_by_upper(exec_, strip, inverse, l21(rows));
      });
    } else {
      kernel::convert(exec_, kernel::part(a, mine.below, mine.panel), l21({0, below_}));
      exec_.fence();
      const kernel::Threads threads = deal_.threads(below_);
      deal_({0, below_}, [&](Range rows) {
        kernel::trsm(exec_, Side::right, Uplo::upper, Diag::non_unit, 1.0f,
                     kernel::Operand<Single>{u11}, l21(rows), threads);
      });
    }
    exec_.fence();
  }

  /// The largest magnitude of L in the panel, over the process column.
  double largest_of_l() const {
    std::vector<double> most{largest_in(Uplo::lower)};
    most[0] = kernel::larger(most[0], kernel::largest_magnitude(exec_, l21({0, below_})));
    if (grid_.shape().rows > 1 && (scaling_.active || StorageScaling<Factor>::active))
      comm::max_of_all(grid_.column_pivots(), most);
    return most[0];
  }
  /// The largest magnitude in the strictly lower, or the upper triangle of the diagonal block.
  double largest_in(Uplo uplo) const {
    const Single block = panel_->triangle();
    double most = 0;
    for_each_piece(uplo, [&](Index i, Index j, Index count) {
      most = kernel::larger(most, kernel::largest_magnitude(&block(i, j), count));
    });
    return most;
  }
  /// f(i, j, count) for the runs of adjacent elements of a triangle of the block.
  template <class F>
  void for_each_piece(Uplo uplo, const F& f) const {
    const bool lower = uplo == Uplo::lower;
    for (Index t = 0; t < width_; ++t) {
      const bool before = by_rows == lower;  // the part of line t before the diagonal
      const Index begin = before ? 0 : lower ? t + 1 : t;
      const Index end = !before ? width_ : lower ? t : t + 1;
      if (end > begin) f(by_rows ? t : begin, by_rows ? begin : t, end - begin);
    }
  }

  /// L11 and U11, each with its exponent, into the matrix.
  void store_diagonal(const Matrix& a, const LocalStep& mine, NarrowingLog& log) {
    if (!mine.has_diagonal_rows) return;
    const Single block = panel_->triangle();
    for (const Index t : zeros_) block(t, t) = 0;
    log.see_u(largest_in(Uplo::upper));
    const Matrix to = kernel::part(a, mine.top, mine.panel);
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      const int exponent = uplo == Uplo::lower ? panel_->header().l : panel_->header().u;
      for_each_piece(uplo, [&](Index i, Index j, Index count) {
        const auto run = [&](const auto& view) {
          return kernel::part(view, {i, by_rows ? i + 1 : i + count},
                              {j, by_rows ? j + count : j + 1});
        };
        log.store(exec_, run(block), run(to), exponent,
                  [&](Index q) { return panel_->step().cols.begin + j + q; });
      });
    }
  }

  Exec exec_;
  kernel::Deal<typename Exec::execution_space> deal_;
  ProcessGrid grid_;
  BlockCyclic rows_;
  kernel::lowp::GemmSetup<Operand> setup_;
  OperandScaling scaling_;
  bool invert_;
  PanelFactorization<float, Pivoting, Exec, Sink> recursive_;
  kernel::Buffer<float> work_, strip_, inverse_;
  std::vector<Index> zeros_;

  Panel* panel_ = nullptr;
  Index width_ = 0;
  Index below_ = 0;
};

}  // namespace plinth::lu
