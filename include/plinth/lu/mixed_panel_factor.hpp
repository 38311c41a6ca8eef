// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "plinth/comm/mpi.hpp"
#include "plinth/comm/reduce.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/convert_view.hpp"
#include "plinth/kernel/deal.hpp"
#include "plinth/kernel/lowp/gemm.hpp"
#include "plinth/kernel/magnitude.hpp"
#include "plinth/kernel/trsm.hpp"
#include "plinth/lu/diagonal_block.hpp"
#include "plinth/lu/float_panel.hpp"
#include "plinth/lu/mixed_options.hpp"
#include "plinth/lu/mixed_panel.hpp"
#include "plinth/lu/narrowing_log.hpp"
#include "plinth/lu/operand_scaling.hpp"
#include "plinth/lu/panel_factor.hpp"
#include "plinth/lu/triangle_runs.hpp"

namespace plinth::lu {

/// The owner column's work on a panel (MixedPanel) of a matrix of type Factor: converted to float,
/// factored, scaled, rounded and packed. On the host, with the other processes of the column.
///
/// With pivoting the panel is factored as always (lu/panel_factor.hpp). Without, the diagonal
/// block's owner factors it and sends it down the column, and L21 = A21 U11^-1 everywhere at once:
/// one message, not one per column; then one number for the largest entry of L.
///
/// Workspace: a FloatPanel, whose strip is there where rows are flipped or multiplied by an
/// inverse; max_width^2 floats where diagonal blocks are inverted.
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
        work_(max_width, max_rows, !pivots && options.invert_diagonal),
        inverse_(invert_ ? max_width * max_width : 0) {
    zeros_.reserve(static_cast<std::size_t>(max_width));
  }

  Index workspace_bytes() const { return work_.bytes() + inverse_.size() * Index(sizeof(float)); }

  /// Factors `panel`, which has the shape of the step; on return it is ready to be sent, and the
  /// diagonal block is stored in the matrix. `mine`: where in `a` the panel stands (lu/plan.hpp; in
  /// a copy elsewhere than in the local matrix). Collective over the process column.
  void operator()(Panel& panel, const Matrix& a, const LocalStep& mine, NarrowingLog& log) {
    panel_ = &panel;
    width_ = panel.width();
    below_ = panel.below();
    work_.reshape(width_, below_);
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
    const auto lost =
        kernel::lowp::pack_a(exec_.space(), setup_, below_, width_, work_.l21_data(),
                             work_.row_stride(), work_.col_stride(), panel.packed(),
                             static_cast<float>(std::ldexp(1.0, header.l_operand)));
    log.count_multiplied(lost);
  }

  /// Stores L21 in the matrix. After operator(), when the panel is on its way.
  void store_l21(const Panel& panel, const Matrix& a, const LocalStep& mine, NarrowingLog& log) {
    const auto global_col = [&](Index j) { return panel.step().cols.begin + j; };
    work_.for_each_strip([&](Range rows) {
      log.store(exec_, work_.rows_of_l21(exec_, rows),
                rows_of_matrix(a, mine.below, rows, mine.panel), panel.header().l, global_col);
    });
  }

 private:
  static constexpr bool by_rows = kernel::is_row_major<Layout>;

  Single square(float* data) const {
    return kernel::contiguous<Layout, Kokkos::HostSpace>(data, width_, width_);
  }
  static Matrix rows_of_matrix(const Matrix& a, Range all, Range some, Range cols) {
    return kernel::part(a, {all.begin + some.begin, all.begin + some.end}, cols);
  }

  void factor_with_pivoting(const Matrix& a, const LocalStep& mine) {
    const auto top = [&](Range rows) { return rows_of_matrix(a, mine.top, rows, mine.panel); };
    const auto below = [&](Range rows) {
      return rows_of_matrix(a, mine.below, rows, mine.panel);
    };
    work_.load(exec_, mine.has_diagonal_rows, top, below);
    ColumnPanel columns(work_.data(), panel_->step(), below_, panel_->pivots());
    const int me = grid_.coord().row;
    const Index first_below = rows_.first_local(panel_->step().cols.end, me);
    recursive_(columns, mine.has_diagonal_rows,
               [&](Index row) { return rows_.global(first_below + row, me); });
    panel_->header().outcome = columns.outcome();
    work_.copy_top(exec_, panel_->triangle());
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
    header.u =
        StorageScaling<Factor>::of_u(largest_in_triangle(Uplo::upper, Diag::non_unit, block));
    const auto scale = static_cast<float>(std::ldexp(1.0, header.u));
    for (Index t = 0; t < width_; ++t) {
      if (Factor(block(t, t) * scale) == Factor(0.0f))
        keep_first(header.outcome.first_zero_pivot, panel_->step().cols.begin + t);
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
      work_.for_each_strip([&](Range rows) {
        const Single strip = work_.strip(rows.size());
        kernel::convert(exec_, rows_of_matrix(a, mine.below, rows, mine.panel), strip);
        multiply_by_upper(exec_, strip, inverse, work_.l21(rows));
      });
    } else {
      kernel::convert(exec_, kernel::part(a, mine.below, mine.panel), work_.l21({0, below_}));
      exec_.fence();
      const kernel::Threads threads = deal_.threads(below_);
      deal_({0, below_}, [&](Range rows) {
        kernel::trsm(exec_, Side::right, Uplo::upper, Diag::non_unit, 1.0f,
                     kernel::Operand<Single>{u11}, work_.l21(rows), threads);
      });
    }
    exec_.fence();
  }

  /// The largest magnitude of L in the panel, over the process column.
  double largest_of_l() const {
    std::vector<double> most{largest_in_triangle(Uplo::lower, Diag::unit, panel_->triangle())};
    most[0] = kernel::larger(most[0], kernel::largest_magnitude(exec_, work_.l21({0, below_})));
    if (grid_.shape().rows > 1 && (scaling_.active || StorageScaling<Factor>::active))
      comm::max_of_all(grid_.column_pivots(), most);
    return most[0];
  }

  /// L11 and U11, each with its exponent, into the matrix.
  void store_diagonal(const Matrix& a, const LocalStep& mine, NarrowingLog& log) {
    if (!mine.has_diagonal_rows) return;
    const Single block = panel_->triangle();
    for (const Index t : zeros_) block(t, t) = 0;
    log.see_u(largest_in_triangle(Uplo::upper, Diag::non_unit, block));
    const Matrix to = kernel::part(a, mine.top, mine.panel);
    const auto store = [&](Uplo uplo, Diag diag, int exponent) {
      for_each_run(uplo, diag, block, [&](Index i, Index j, Index count) {
        const auto run = [&](const auto& view) {
          return kernel::part(view, {i, by_rows ? i + 1 : i + count},
                              {j, by_rows ? j + count : j + 1});
        };
        log.store(exec_, run(block), run(to), exponent,
                  [&](Index q) { return panel_->step().cols.begin + j + q; });
      });
    };
    store(Uplo::lower, Diag::unit, panel_->header().l);
    store(Uplo::upper, Diag::non_unit, panel_->header().u);
  }

  Exec exec_;
  kernel::Deal<typename Exec::execution_space> deal_;
  ProcessGrid grid_;
  BlockCyclic rows_;
  kernel::lowp::GemmSetup<Operand> setup_;
  OperandScaling scaling_;
  bool invert_;
  PanelFactorization<float, Pivoting, Exec, Sink> recursive_;
  FloatPanel<Layout, pivots> work_;
  kernel::Buffer<float> inverse_;
  std::vector<Index> zeros_;

  Panel* panel_ = nullptr;
  Index width_ = 0;
  Index below_ = 0;
};

}  // namespace plinth::lu
