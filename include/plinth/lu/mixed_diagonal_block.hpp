// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "plinth/comm/grid.hpp"
#include "plinth/comm/mpi.hpp"
#include "plinth/comm/reduce.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/convert_view.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/lowp/gemm.hpp"
#include "plinth/kernel/magnitude.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/lu/diagonal_block.hpp"
#include "plinth/lu/mixed_options.hpp"
#include "plinth/lu/mixed_panel.hpp"
#include "plinth/lu/narrowing_log.hpp"
#include "plinth/lu/operand_scaling.hpp"
#include "plinth/lu/panel.hpp"
#include "plinth/lu/triangle_runs.hpp"
#include "plinth/matrix/distribution.hpp"

namespace plinth::lu {

/// What the work on panels in mixed precision wants to know.
template <class Exec, Scalar16 Operand>
struct MixedPanelSetting {
  Exec exec;    ///< kernels that update the matrix
  Exec beside;  ///< the panels' queue
  ProcessGrid grid;
  BlockCyclic rows;
  kernel::lowp::GemmSetup<Operand> setup;
  OperandScaling scaling;
  MixedOptions options;
  Index max_width;

  /// Local rows.
  Index max_rows() const { return rows.local_size(grid.coord().row); }
};

/// The diagonal block of a panel (MixedPanel) of a matrix of type Factor: L11 and U11 in the
/// panel's triangle, in float on the host, and what the panel's header says of them.
///
/// Workspace: max_width^2 floats where diagonal blocks are inverted.
template <class Factor, class Panel, class Exec>
class MixedDiagonalBlock {
 public:
  using Layout = typename Panel::layout;
  using Matrix = kernel::MatrixView<Factor, Layout, Kokkos::HostSpace>;
  using Single = kernel::MatrixView<float, Layout, Kokkos::HostSpace>;

  /// `exec`: the host's; `setting`: of the matrix's.
  template <class Setting>
  MixedDiagonalBlock(const Exec& exec, const Setting& setting)
      : exec_(exec),
        grid_(setting.grid),
        scaling_(setting.scaling),
        inverts_(setting.options.invert_diagonal),
        inverse_(inverts_ ? setting.max_width * setting.max_width : 0) {
    zeros_.reserve(static_cast<std::size_t>(setting.max_width));
  }

  Index workspace_bytes() const { return inverse_.size() * Index(sizeof(float)); }

  /// Without pivoting: factors the block `a`, where it `is_here`, and sends it down the process
  /// column, whose processes all have it then. Collective over the column.
  void factor(Panel& panel, bool is_here, const Matrix& a) {
    zeros_.clear();
    const Single block = panel.triangle();
    const Index first = panel.step().cols.begin, width = panel.width();
    if (is_here) {
      for (Index t = 0; t < width; ++t) panel.pivots()[t] = first + t;
      kernel::convert(exec_, a, block);
      factor_unpivoted(exec_, block, {0, width}, first, panel.header().outcome, zeros_);
      judge(panel);
    }
    if (grid_.shape().rows == 1) return;
    comm::for_each_chunk(
        panel.head_bytes(), grid_.options().max_message, [&](Index offset, int count) {
          comm::check(MPI_Bcast(panel.head() + offset, count, MPI_BYTE, panel.step().owner_row,
                                grid_.column_pivots().handle()),
                      "MPI_Bcast");
        });
  }

  /// How U's block row is stored, and whether a pivot becomes zero by that.
  void judge(Panel& panel) const {
    const Single block = panel.triangle();
    MixedPanelHeader& header = panel.header();
    header.u =
        StorageScaling<Factor>::of_u(largest_in_triangle(Uplo::upper, Diag::non_unit, block));
    const auto scale = static_cast<float>(std::ldexp(1.0, header.u));
    for (Index t = 0; t < panel.width(); ++t) {
      if (Factor(block(t, t) * scale) == Factor(0.0f))
        keep_first(header.outcome.first_zero_pivot, panel.step().cols.begin + t);
    }
  }

  /// to := U11^-1, if diagonal blocks are inverted; whether that is good to be multiplied by.
  bool invert_upper(const Panel& panel, const Single& to) const {
    return inverts_ &&
           invert_triangle(exec_, Uplo::upper, Diag::non_unit, panel.triangle(), to);
  }
  /// The largest magnitude of L in a panel, over the process column, from that of L21 here.
  double largest_of_l(const Panel& panel, double of_l21) const {
    std::vector<double> most{kernel::larger(
        largest_in_triangle(Uplo::lower, Diag::unit, panel.triangle()), of_l21)};
    if (grid_.shape().rows > 1 && (scaling_.active || StorageScaling<Factor>::active))
      comm::max_of_all(grid_.column_pivots(), most);
    return most[0];
  }

  /// Says in the header how L is scaled whose largest magnitude is `largest_l`, stores L11 and U11,
  /// each with its exponent, in `to` where that `is_here`, and inverts L11 if it is to be inverted.
  void finish(Panel& panel, double largest_l, bool is_here, const Matrix& to, NarrowingLog& log) {
    MixedPanelHeader& header = panel.header();
    header.l = StorageScaling<Factor>::of_l(largest_l);
    header.l_operand = scaling_.of_l(largest_l);
    if (is_here) store(panel, to, log);
    if (!inverts_) return;
    const Single inverse = kernel::contiguous<Layout, Kokkos::HostSpace>(
        inverse_.data(), panel.width(), panel.width());
    header.inverted =
        invert_triangle(exec_, Uplo::lower, Diag::unit, panel.triangle(), inverse);
    if (header.inverted) kernel::copy(exec_, inverse, panel.triangle());
    exec_.fence();
  }

 private:
  static constexpr bool by_rows = kernel::is_row_major<Layout>;

  void store(const Panel& panel, const Matrix& to, NarrowingLog& log) const {
    const Single block = panel.triangle();
    for (const Index t : zeros_) block(t, t) = 0;
    log.see_u(largest_in_triangle(Uplo::upper, Diag::non_unit, block));
    const auto triangle = [&](Uplo uplo, Diag diag, int exponent) {
      for_each_run(uplo, diag, block, [&](Index i, Index j, Index count) {
        const auto run = [&](const auto& view) {
          return kernel::part(view, {i, by_rows ? i + 1 : i + count},
                              {j, by_rows ? j + count : j + 1});
        };
        log.store(exec_, run(block), run(to), exponent,
                  [&](Index q) { return panel.step().cols.begin + j + q; });
      });
    };
    triangle(Uplo::lower, Diag::unit, panel.header().l);
    triangle(Uplo::upper, Diag::non_unit, panel.header().u);
  }

  Exec exec_;
  ProcessGrid grid_;
  OperandScaling scaling_;
  bool inverts_;
  kernel::Buffer<float> inverse_;
  std::vector<Index> zeros_;  ///< pivots of the last block that were zero, and are 1 in it
};

}  // namespace plinth::lu
