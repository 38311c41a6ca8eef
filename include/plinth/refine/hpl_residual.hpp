// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "plinth/comm/agree.hpp"
#include "plinth/comm/reduce.hpp"
#include "plinth/kernel/entries/product.hpp"
#include "plinth/kernel/lcg_residual.hpp"
#include "plinth/matrix/diagonal_blocks.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/matrix/hpl_matrix.hpp"
#include "plinth/matrix/norm.hpp"

namespace plinth {

/// The norms that HPL judges a solution by, the same on every rank of the grid.
struct SystemNorms {
  double residual_inf = 0;  ///< ||b - A x||
  double a_inf = 0;  ///< ||A||, infinity norm
  double a_one = 0;  ///< ||A||, one norm
  double x_inf = 0;  ///< ||x||, infinity norm
  double x_one = 0;  ///< ||x||, one norm
  double b_inf = 0;  ///< ||b||, infinity norm

  /// ||b - A x|| / (eps (||A|| ||x|| + ||b||) n) in the infinity norm, eps = 2^-53; 0 if n = 0. Not
  /// a number, never small, if anything that goes in is not finite.
  double scaled_residual(Index n) const {
    if (n == 0) return 0;
    const double scale = a_inf * x_inf + b_inf;
    if (!is_finite(scale)) return std::numeric_limits<double>::quiet_NaN();
    return residual_inf / (0x1p-53 * scale * static_cast<double>(n));
  }
};

/// Judges a solution x (n x 1) of a generated system [A | b] with A and b regenerated, never
/// stored, in FP64, and nothing taken from whoever made x. `system` is the distribution of an
/// n x (n + 1) or n x n matrix, x's rows are dealt like its rows. Collective.
/// Preconditions, each an Error on every rank: the shapes above; the same call on every rank;
/// enough memory.
/// 2 n^2 flops and the generator's work. Workspace: 6 (n/P + n/Q) elements per process.
template <ExecutionPolicy Exec, kernel::EntrySource Source, class Matrix>
SystemNorms hpl_residual(const Exec& exec, const Source& source, const Distribution& system,
                         const Matrix& x) {
  static_assert(std::is_same_v<typename Matrix::value_type, double>,
                "plinth: hpl_residual judges an FP64 solution");
  const ProcessGrid& grid = x.grid();
  const Index n = source.order();
  comm::Fingerprint arguments;
  arguments << source << system << x.distribution();
  const Extents mine = grid.active() ? system.local_extents(grid.coord()) : Extents{};
  kernel::Staged<double, Exec> spread;
  std::vector<double> xs, col_sums, r, row_sums, b;
  std::vector<kernel::IndexRun> rows, cols;
  std::optional<DiagonalBlocks<double, Exec, typename Matrix::layout>> blocks;
  comm::agree_on(grid.all(), "hpl_residual", arguments.value(), [&] {
    require(system.rows.size() == n && (system.cols.size() == n + 1 || system.cols.size() == n),
            "the system must be n x (n + 1) or n x n");
    require(x.rows() == n && x.cols() == 1 && x.distribution().rows == system.rows,
            "x must be n x 1, its rows dealt like the system's");
    if (!grid.active()) return;
    blocks.emplace(exec, grid, system, 1);
    spread.reserve(mine.cols);
    for (auto* v : {&xs, &col_sums}) v->assign(static_cast<std::size_t>(mine.cols), 0.0);
    for (auto* v : {&r, &row_sums, &b}) v->assign(static_cast<std::size_t>(mine.rows), 0.0);
    rows = index_runs(system.rows, grid.coord().row, {0, n});
    cols = index_runs(system.cols, grid.coord().col, {0, n});
  });
  if (!grid.active()) return {};
  const GridCoord at = grid.coord();
  const auto& space = exec.host().space();

  // x for this process's columns.
  blocks->import_columns(x.local(), x.distribution().cols, {0, 1});
  blocks->spread_to_columns(
      kernel::contiguous<typename Matrix::layout, typename Exec::memory::space>(spread.device(),
                                                                                mine.cols, 1));
  spread.to_host(exec, 0, mine.cols);
  std::copy_n(spread.host(), mine.cols, xs.begin());
  // The source is the caller's, and threads have sums of their own.
  comm::agree_on(grid.all(), "hpl_residual", 0, [&] {
    if constexpr (requires { source.residual(space, rows, cols, kernel::LcgResidual{}); }) {
      source.residual(space, rows, cols, {xs.data(), r.data(), row_sums.data(), col_sums.data()});
    } else {
      kernel::subtract_product(
          space, source, rows, cols, local_diagonal(source, rows, cols).data(),
          {1, xs.data(), mine.cols, r.data(), mine.rows, row_sums.data(), col_sums.data()});
    }
    // One process of each row adds b.
    if (at.col == 0)
      for (const kernel::IndexRun& run : rows) {
        source.right_hand_side({run.global, run.global + run.length}, b.data() + run.local);
        for (Index i = run.local; i < run.local + run.length; ++i)
          r[static_cast<std::size_t>(i)] += b[static_cast<std::size_t>(i)];
      }
  });

  comm::sum_of_all(grid.row_vectors(), r);
  comm::sum_of_all(grid.row_vectors(), row_sums);
  comm::sum_of_all(grid.column_vectors(), col_sums);
  if (system.cols.size() > n && system.cols.owner(n) == at.col)
    xs[static_cast<std::size_t>(system.cols.local(n))] = 0;
  for (auto* v : {&xs, &r, &b})
    for (double& e : *v) e = std::abs(e);
  std::vector<double> x_sum(1, 0.0);
  for (const double e : xs) x_sum[0] += e;
  comm::sum_of_all(grid.row_vectors(), x_sum);
  std::vector<double> most{largest(r),  largest(row_sums), largest(col_sums),
                           largest(xs), x_sum[0],          largest(b)};
  comm::max_of_all(grid.all(), most);
  return {most[0], most[1], most[2], most[3], most[4], most[5]};
}

}  // namespace plinth
