// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "plinth/comm/communicator.hpp"
#include "plinth/comm/grid.hpp"
#include "plinth/comm/mpi.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/matrix/distribution.hpp"

namespace plinth {

/// Where column first_local + j of a process stands, counted from a global one.
struct ColumnPlace {
  BlockCyclic columns;
  int process;
  Index first_local, first_global;
  KOKKOS_FUNCTION Index operator()(Index j) const {
    return columns.global(first_local + j, process) - first_global;
  }
};

/// Some n-vectors (the columns of an n x c matrix), dealt so that the process that owns diagonal
/// block k of a square matrix has their block k. The place where a triangular solve needs the right
/// hand side and leaves the solution, for the matrix and its transpose alike; a matrix in any other
/// column distribution comes in and goes out by one all-to-all along process rows.
///
/// | call              | from                      | to                         | messages        |
/// |-------------------|---------------------------|----------------------------|-----------------|
/// | import_columns    | columns of a matrix       | here                       | alltoallv (row) |
/// | export_columns    | here                      | columns of a matrix        | alltoallv (row) |
/// | spread_to_columns | here                      | all blocks of this process | allgatherv      |
/// |                   |                           | column                     | (column)        |
/// | sum_from_rows     | a vector per process, for | here, summed               | reduce_scatter  |
/// |                   | its local rows            |                            | (row)           |
/// | spread_to_rows,   | likewise, rows and columns having changed places       | (row),          |
/// | sum_from_columns  |                                                        | (column)        |
///
/// Memory per process: (n / lcm(P, Q) + NB) c elements and the same for messages, times P or Q for
/// all but the first two. Collective over the rows or columns named.
template <class T, ExecutionPolicy Exec, class Layout>
class DiagonalBlocks {
 public:
  using Space = typename Exec::memory::space;
  using View = kernel::MatrixView<T, Layout, Space>;

  /// `matrix`: the distribution of the square matrix; columns beyond its rows, or rows beyond its
  /// columns, have no part here. Precondition, an Error: square blocks.
  DiagonalBlocks(const Exec& exec, const ProcessGrid& grid, const Distribution& matrix,
                 Index max_cols)
      : exec_(exec), grid_(grid), rows_(matrix.rows), cols_(matrix.cols) {
    require(rows_.block() == cols_.block(), "the blocks are not square");
    cycle_ = std::lcm<Index>(rows_.processes(), cols_.processes());
    const Index own = ceil_div(blocks(), cycle_) * std::min(block(), order());
    data_.reserve(own * max_cols);
    // For the largest message of any call, so that none of them allocates.
    const Index most =
        std::max({own, rows_.local_size(grid.coord().row), cols_.local_size(grid.coord().col)});
    send_.reserve(most * max_cols);
    receive_.reserve(most * max_cols);
  }

  Index block() const { return rows_.block(); }
  /// Blocks of all processes together: those of the matrix's smaller dimension.
  Index blocks() const { return ceil_div(order(), block()); }
  Index order() const { return std::min(rows_.size(), cols_.size()); }
  Range range(Index k) const { return {k * block(), std::min((k + 1) * block(), order())}; }
  int row_of(Index k) const { return rows_.owner_of_block(k); }
  int col_of(Index k) const { return cols_.owner_of_block(k); }
  bool owns(Index k) const {
    return row_of(k) == grid_.coord().row && col_of(k) == grid_.coord().col;
  }

  /// How many columns the vectors have from now on; contents unspecified.
  void set_cols(Index cols) { vectors_ = cols; }
  Index cols() const { return vectors_; }

  /// Block k, range(k).size() x cols(). Precondition: owns(k).
  View operator[](Index k) const {
    return kernel::contiguous<Layout, Space>(data_.data() + k / cycle_ * block() * vectors_,
                                             range(k).size(), vectors_);
  }

  void fill(T value) {
    for_each_own([&](Index k) { kernel::fill(exec_, (*this)[k], value); });
    exec_.fence();
  }

  /// Columns `which` (global) of a matrix whose rows are dealt like the square matrix's: `local` is
  /// its local part, `columns` its column distribution. Sets cols().
  template <class Source>
  void import_columns(const Source& local, const BlockCyclic& columns, Range which) {
    set_cols(which.size());
    Exchange x = plan_exchange(columns, which);
    pack_rows(x, local, true);
    alltoall(x, true);
    unpack_blocks(x, columns, which, true);
  }
  /// The opposite.
  template <class Target>
  void export_columns(const Target& local, const BlockCyclic& columns, Range which) {
    Exchange x = plan_exchange(columns, which);
    unpack_blocks(x, columns, which, false);
    alltoall(x, false);
    pack_rows(x, local, false);
  }

  /// All blocks k of this process column, local column order: `to` is
  /// cols.local_size(process column) x cols().
  template <class Target>
  void spread_to_columns(const Target& to) {
    spread(line_of_columns(), to);
  }
  /// All blocks k of this process row, local row order: `to` is rows.local_size(process row) x
  /// cols().
  template <class Target>
  void spread_to_rows(const Target& to) {
    spread(line_of_rows(), to);
  }
  /// Sets the vectors to the sum over the process row of `from`, which is
  /// rows.local_size(process row) x cols() on each process.
  template <class Source>
  void sum_from_rows(const Source& from) {
    sum(line_of_rows(), from);
  }
  /// The same over the process column of what is cols.local_size(process column) x cols().
  template <class Source>
  void sum_from_columns(const Source& from) {
    sum(line_of_columns(), from);
  }

  /// Calls f(k) for the blocks of this process, in ascending order.
  template <class F>
  void for_each_own(F&& f) const {
    for (Index k = 0; k < blocks(); ++k)
      if (owns(k)) f(k);
  }

 private:
  /// This process's row or column of the grid, and whose blocks are whose in it.
  struct Line {
    const BlockCyclic& local;  ///< deals what all processes of the line have
    int place;                 ///< the line's among the others
    const BlockCyclic& along;  ///< deals the blocks among the processes of the line
    int me;
    const comm::Communicator& communicator;

    bool has(Index k) const { return local.owner_of_block(k) == place; }
    int owner(Index k) const { return along.owner_of_block(k); }
  };
  Line line_of_rows() const {
    return {rows_, grid_.coord().row, cols_, grid_.coord().col, grid_.row_vectors()};
  }
  Line line_of_columns() const {
    return {cols_, grid_.coord().col, rows_, grid_.coord().row, grid_.column_vectors()};
  }

  /// `to` := all blocks of the line, in local order.
  template <class Target>
  void spread(const Line& line, const Target& to) {
    std::vector<Index> counts(static_cast<std::size_t>(line.along.processes()), 0);
    for (Index k = 0; k < blocks(); ++k)
      if (line.has(k))
        counts[static_cast<std::size_t>(line.owner(k))] += range(k).size() * vectors_;
    const Index all = total(counts), mine = counts[static_cast<std::size_t>(line.me)];
    send_.reserve(mine);
    receive_.reserve(all);
    Index at = 0;
    for_each_own([&](Index k) {
      kernel::copy(exec_, (*this)[k], message(send_, at, range(k).size()));
      at += range(k).size() * vectors_;
    });
    send_.to_host(exec_, 0, at);
    const auto n = int_counts(counts), offset = offsets(n);
    comm::check(MPI_Allgatherv(send_.host(), n[static_cast<std::size_t>(line.me)],
                               comm::datatype<T>(), receive_.host(), n.data(), offset.data(),
                               comm::datatype<T>(), line.communicator.handle()),
                "MPI_Allgatherv");
    receive_.to_device(exec_, 0, all);
    at = 0;
    for (int process = 0; process < line.along.processes(); ++process)
      for (Index k = 0; k < blocks(); ++k)
        if (line.has(k) && line.owner(k) == process) {
          kernel::copy(exec_, message(receive_, at, range(k).size()), rows_of_block(line, to, k));
          at += range(k).size() * vectors_;
        }
    exec_.fence();
  }
  /// The vectors := the sum over the line of what `from` has of each block.
  template <class Source>
  void sum(const Line& line, const Source& from) {
    set_cols(kernel::cols_of(from));
    std::vector<Index> counts(static_cast<std::size_t>(line.along.processes()), 0);
    Index at = 0;
    send_.reserve(kernel::rows_of(from) * vectors_);
    for (int process = 0; process < line.along.processes(); ++process)
      for (Index k = 0; k < blocks(); ++k)
        if (line.has(k) && line.owner(k) == process) {
          kernel::copy(exec_, rows_of_block(line, from, k), message(send_, at, range(k).size()));
          at += range(k).size() * vectors_;
          counts[static_cast<std::size_t>(process)] += range(k).size() * vectors_;
        }
    const Index mine = counts[static_cast<std::size_t>(line.me)];
    receive_.reserve(mine);
    send_.to_host(exec_, 0, at);
    const auto n = int_counts(counts);
    comm::check(MPI_Reduce_scatter(send_.host(), receive_.host(), n.data(), comm::datatype<T>(),
                                   MPI_SUM, line.communicator.handle()),
                "MPI_Reduce_scatter");
    receive_.to_device(exec_, 0, mine);
    at = 0;
    for_each_own([&](Index k) {
      kernel::copy(exec_, message(receive_, at, range(k).size()), (*this)[k]);
      at += range(k).size() * vectors_;
    });
    exec_.fence();
  }
  /// Where block k stands in what a process of the line has.
  template <class Local>
  Local rows_of_block(const Line& line, const Local& local, Index k) const {
    const Index begin = line.local.local(range(k).begin);
    return kernel::part(local, {begin, begin + range(k).size()}, {0, vectors_});
  }

  /// One all-to-all along a process row: what leaves the matrix's side arrives at the diagonal's.
  struct Exchange {
    Range local_cols;               ///< the matrix's local columns that take part
    std::vector<Index> row_counts;  ///< elements for (from) each process, the matrix's side
    std::vector<Index>
        diagonal_counts;            ///< elements from (for) each process, the diagonal's side
    std::vector<Range> columns_of;  ///< local columns that take part, per process
  };

  Exchange plan_exchange(const BlockCyclic& columns, Range which) {
    Exchange x;
    const int processes = grid_.shape().cols;
    x.row_counts.assign(static_cast<std::size_t>(processes), 0);
    x.diagonal_counts.assign(static_cast<std::size_t>(processes), 0);
    Index own_rows = 0;
    for_each_own([&](Index k) { own_rows += range(k).size(); });
    for (int process = 0; process < processes; ++process) {
      x.columns_of.push_back(
          {columns.first_local(which.begin, process), columns.first_local(which.end, process)});
      x.diagonal_counts[static_cast<std::size_t>(process)] =
          own_rows * x.columns_of.back().size();
    }
    x.local_cols = x.columns_of[static_cast<std::size_t>(grid_.coord().col)];
    for (Index k = 0; k < blocks(); ++k)
      if (row_of(k) == grid_.coord().row)
        x.row_counts[static_cast<std::size_t>(col_of(k))] +=
            range(k).size() * x.local_cols.size();
    send_.reserve(total(x.row_counts));
    receive_.reserve(total(x.diagonal_counts));
    return x;
  }

  /// Between the matrix's local part and send_, ordered by the owner of the diagonal block.
  template <class Matrix>
  void pack_rows(const Exchange& x, const Matrix& local, bool pack) {
    const Index count = total(x.row_counts);
    if (!pack) send_.to_device(exec_, 0, count);
    Index at = 0;
    for (int process = 0; process < grid_.shape().cols; ++process)
      for (Index k = 0; k < blocks(); ++k) {
        if (row_of(k) != grid_.coord().row || col_of(k) != process) continue;
        const Index begin = rows_.local(range(k).begin);
        const auto rows = kernel::part(local, {begin, begin + range(k).size()}, x.local_cols);
        const auto moved = kernel::contiguous<Kokkos::LayoutRight, Space>(
            send_.device() + at, range(k).size(), x.local_cols.size());
        if (pack) {
          kernel::copy(exec_, rows, moved);
        } else {
          kernel::copy(exec_, moved, rows);
        }
        at += range(k).size() * x.local_cols.size();
      }
    if (pack) send_.to_host(exec_, 0, count);
    exec_.fence();
  }

  /// Between receive_ and the blocks: ordered by the process whose columns they are.
  void unpack_blocks(const Exchange& x, const BlockCyclic& columns, Range which, bool unpack) {
    const Index count = total(x.diagonal_counts);
    if (unpack) receive_.to_device(exec_, 0, count);
    Index at = 0;
    for (int process = 0; process < grid_.shape().cols; ++process) {
      const Range local = x.columns_of[static_cast<std::size_t>(process)];
      for_each_own([&](Index k) {
        const View block = (*this)[k];
        const auto moved = kernel::contiguous<Kokkos::LayoutRight, Space>(
            receive_.device() + at, range(k).size(), local.size());
        const ColumnPlace place{columns, process, local.begin, which.begin};
        if (unpack) {
          kernel::scatter_columns(exec_, moved, block, place);
        } else {
          kernel::gather_columns(exec_, block, place, moved);
        }
        at += range(k).size() * local.size();
      });
    }
    if (!unpack) receive_.to_host(exec_, 0, count);
    exec_.fence();
  }

  void alltoall(const Exchange& x, bool to_diagonal) {
    const auto rows = int_counts(x.row_counts), row_offsets = offsets(rows);
    const auto blocks = int_counts(x.diagonal_counts), block_offsets = offsets(blocks);
    const MPI_Datatype type = comm::datatype<T>();
    const MPI_Comm handle = grid_.row_vectors().handle();
    comm::check(
        to_diagonal
            ? MPI_Alltoallv(send_.host(), rows.data(), row_offsets.data(), type, receive_.host(),
                            blocks.data(), block_offsets.data(), type, handle)
            : MPI_Alltoallv(receive_.host(), blocks.data(), block_offsets.data(), type,
                            send_.host(), rows.data(), row_offsets.data(), type, handle),
        "MPI_Alltoallv");
  }

  auto message(const kernel::Staged<T, Exec>& buffer, Index at, Index rows) const {
    return kernel::contiguous<Layout, Space>(buffer.device() + at, rows, vectors_);
  }
  static Index total(const std::vector<Index>& counts) {
    return std::accumulate(counts.begin(), counts.end(), Index(0));
  }
  static std::vector<int> int_counts(const std::vector<Index>& counts) {
    std::vector<int> n;
    for (const Index count : counts) n.push_back(to_int(count, "vector message"));
    return n;
  }
  static std::vector<int> offsets(const std::vector<int>& counts) {
    std::vector<int> at(counts.size(), 0);
    for (std::size_t i = 1; i < counts.size(); ++i)
      at[i] = to_int(Index(at[i - 1]) + counts[i - 1], "vector message");
    return at;
  }

  Exec exec_;
  ProcessGrid grid_;
  BlockCyclic rows_;
  BlockCyclic cols_;
  Index cycle_ = 1;
  Index vectors_ = 0;
  kernel::Buffer<T, typename Exec::memory> data_;
  kernel::Staged<T, Exec> send_, receive_;
};

}  // namespace plinth
