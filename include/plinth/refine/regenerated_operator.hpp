// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "plinth/comm/agree.hpp"
#include "plinth/comm/grid.hpp"
#include "plinth/comm/reduce.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/entries/product.hpp"
#include "plinth/kernel/entries/walk_kernels.hpp"
#include "plinth/kernel/lcg_residual.hpp"
#include "plinth/matrix/diagonal_blocks.hpp"
#include "plinth/matrix/index_runs.hpp"
#include "plinth/matrix/norm.hpp"

namespace plinth {

/// Products with a generated square matrix of which nothing is stored but this process's part of
/// the diagonal: y := alpha A x for n x c FP64 matrices x and y that are dealt alike, their rows
/// like those of `matrix`, the distribution of A. Keeps its workspace, (n/P + n/Q) `at_once`
/// elements three times over; the columns are taken `at_once` at a time.
///
/// Of a matrix that is HPL's but for its diagonal an entry is made once for each vector, and goes
/// straight into the product; of others it is made once for all vectors at hand.
/// Where kernels alone may touch vectors, they also make the entries, each once for each vector, by
/// walks along rows (kernel/entries/walks.hpp), with up to 32 n/P elements more; of a source
/// without walks the host makes them, from copies of the vectors.
/// Messages as in StoredOperator. The bits depend on the grid and the instruction set.
template <ExecutionPolicy Exec, kernel::EntrySource Source>
class RegeneratedOperator {
 public:
  /// Not collective. Preconditions: the grid is active here; at_once >= 1; an Error: `matrix` is
  /// square, of the source's order, in square blocks.
  RegeneratedOperator(const Exec& exec, const ProcessGrid& grid, const Distribution& matrix,
                      const Source& source, Index at_once = 1)
      : exec_(exec),
        grid_(grid),
        source_(source),
        width_(at_once),
        mine_(matrix.local_extents(grid.coord())),
        rows_(index_runs(matrix.rows, grid.coord().row, {0, matrix.rows.size()})),
        cols_(index_runs(matrix.cols, grid.coord().col, {0, matrix.cols.size()})),
        blocks_(exec, grid, matrix, at_once) {
    require(matrix.rows.size() == source.order() && matrix.cols.size() == source.order(),
            "the distribution is not that of a matrix of the source's order");
    xs_.reserve(mine_.cols * at_once);
    ys_.reserve(mine_.rows * at_once);
    if constexpr (walks) {
      walked_rows_ = dealt_lines(matrix.rows, grid.coord().row);
      walked_cols_ = dealt_lines(matrix.cols, grid.coord().col);
      walked_diagonal_.reserve(mine_.rows);
      room_.reserve(kernel::fold_room(walked_rows_, walked_cols_));
      kernel::diagonal_by_entries(
          exec, source, walked_rows_, OwnedBy{matrix.cols, grid.coord().col},
          walked_diagonal_.data());
    } else {
      diagonal_ = kernel::local_diagonal(source, rows_, cols_);
    }
  }

  /// Collective.
  template <class Vectors>
  void operator()(const Vectors& x, Vectors& y, double alpha = 1) {
    static_assert(std::is_same_v<typename Vectors::value_type, double>,
                  "plinth: a regenerated operator multiplies FP64 vectors");
    const Index cols = x.cols();
    for (Index begin = 0; begin < cols; begin += width_) {
      const Range which{begin, std::min(begin + width_, cols)};
      blocks_.import_columns(x.local(), x.distribution().cols, which);
      blocks_.spread_to_columns(
          kernel::contiguous<Kokkos::LayoutLeft, Space>(xs_.device(), mine_.cols, which.size()));
      if constexpr (walks) {
        for (Index c = 0; c < which.size(); ++c)
          kernel::multiply_by_walks(exec_, source_, walked_rows_, walked_cols_,
                                    walked_diagonal_.data(), room_.data(), alpha,
                                    xs_.device() + c * mine_.cols, ys_.device() + c * mine_.rows);
      } else {
        multiply_on_host(which.size(), alpha);
      }
      blocks_.sum_from_rows(
          kernel::contiguous<Kokkos::LayoutLeft, Space>(ys_.device(), mine_.rows, which.size()));
      blocks_.export_columns(y.local(), y.distribution().cols, which);
    }
  }

  /// ||A|| in the infinity norm, the same on every rank of the grid. Collective. One pass over the
  /// entries. Errors, on every rank: enough memory for n/P + n/Q sums.
  double norm_inf() {
    std::vector<double> row_sums;
    if constexpr (walks) {
      kernel::row_sums_by_walks(exec_, source_, walked_rows_, walked_cols_,
                                walked_diagonal_.data(), room_.data(), ys_.device());
      ys_.to_host(exec_, 0, mine_.rows);
      comm::agree_on(grid_.all(), "norm", 0,
                     [&] { row_sums.assign(ys_.host(), ys_.host() + mine_.rows); });
    } else {
      row_sums_on_host(row_sums);
    }
    comm::sum_of_all(grid_.row_vectors(), row_sums);
    std::vector<double> most{largest(row_sums)};
    comm::max_of_all(grid_.all(), most);
    return most.front();
  }

 private:
  using Space = typename Exec::memory::space;
  static constexpr bool walks = !is_host_accessible<Exec> && kernel::WalkedSource<Source>;

  /// y := alpha A x, this process's part, by way of copies on the host.
  void multiply_on_host(Index vectors, double alpha) {
    xs_.to_host(exec_, 0, mine_.cols * vectors);
    const Index count = mine_.rows * vectors;
    double* const r = ys_.host();
    std::fill_n(r, count, 0.0);
    subtract_product({vectors, xs_.host(), mine_.cols, r, mine_.rows});
    for (Index i = 0; i < count; ++i) r[i] *= -alpha;
    ys_.to_device(exec_, 0, count);
  }
  /// Collective.
  void row_sums_on_host(std::vector<double>& row_sums) {
    double* const x = xs_.host();
    double* const r = ys_.host();
    std::fill_n(x, mine_.cols, 0.0);
    std::fill_n(r, mine_.rows, 0.0);
    // Threads have sums of their own too.
    comm::agree_on(grid_.all(), "norm", 0, [&] {
      row_sums.assign(static_cast<std::size_t>(mine_.rows), 0.0);
      std::vector<double> col_sums(static_cast<std::size_t>(mine_.cols), 0.0);
      subtract_product({1, x, mine_.cols, r, mine_.rows, row_sums.data(), col_sums.data()});
    });
  }

  /// r -= A x, this process's part.
  void subtract_product(const kernel::EntryVectors& v) const {
    const auto& space = exec_.host().space();
    if constexpr (requires { source_.unshifted(); }) {
      const HplGenerator& hpl = source_.unshifted();
      for (Index c = 0; c < v.count; ++c)
        kernel::residual_lcg(space, rows_, cols_,
                             {v.x + c * v.x_ld, v.r + c * v.r_ld, v.row_sums, v.col_sums}, hpl.n,
                             hpl.seed);
      correct_diagonal(v, hpl);
    } else {
      kernel::subtract_product(space, source_, rows_, cols_, diagonal_.data(), v);
    }
  }

  /// What is on A's diagonal in the place of HPL's.
  void correct_diagonal(const kernel::EntryVectors& v, const HplGenerator& hpl) const {
    kernel::for_each_diagonal(
        rows_, cols_, [&](const kernel::IndexRun& row, const kernel::IndexRun& col) {
          const Affine step = Lcg64::jump(1 + static_cast<std::uint64_t>(hpl.n));
          std::uint64_t state = hpl.state(row.global, row.global);
          for (Index k = 0; k < row.length; ++k, state = step(state)) {
            const double other = lcg_value(state);
            const double entry = diagonal_[static_cast<std::size_t>(row.local + k)];
            for (Index c = 0; c < v.count; ++c) {
              const double x = v.x[c * v.x_ld + col.local + k];
              double& r = v.r[c * v.r_ld + row.local + k];
              r = (r + other * x) - entry * x;
            }
            if (v.row_sums != nullptr)
              v.row_sums[row.local + k] += std::abs(entry) - std::abs(other);
          }
        });
  }

  Exec exec_;
  ProcessGrid grid_;
  Source source_;
  Index width_;
  Extents mine_;
  std::vector<kernel::IndexRun> rows_, cols_;
  std::vector<double> diagonal_;  ///< by local row; of rows whose diagonal entry is not here, 0
  DiagonalBlocks<double, Exec, Kokkos::LayoutLeft> blocks_;
  kernel::Staged<double, Exec> xs_, ys_;

  kernel::DealtLines<LocalToGlobal> walked_rows_, walked_cols_;
  kernel::Buffer<double, typename Exec::memory> walked_diagonal_, room_;
};

}  // namespace plinth
