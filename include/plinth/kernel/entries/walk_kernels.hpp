// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <type_traits>

#include "plinth/kernel/convert_elements.hpp"
#include "plinth/kernel/entries/walks.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/policy/execution.hpp"

/// Matrices and products from a source's walks, by kernels of any space: what devices do. Hosts
/// have faster ones (fill.hpp, product.hpp).
namespace plinth::kernel {

/// The rows, or the columns, of a distributed matrix that a process has: local ones
/// [k block, (k + 1) block) follow one another globally too; global(l) is callable on any device.
template <class Global>
struct DealtLines {
  Global global;
  Index count, block;
};

/// fill_by_walks, each entry asked for by its indices.
template <ExecutionPolicy Exec, EntrySource Source, class Rows, class Cols, class View>
NarrowingCounts fill_by_entries(const Exec& exec, const Source& source, const Rows& rows,
                                const Cols& cols, const View& a, double scale) {
  return convert_elements<double>(
      exec, a, KOKKOS_LAMBDA(const Index i, const Index j) {
        return static_cast<double>(source(rows.global(i), cols.global(j)));
      },
      scale);
}

/// a_ij := s(i, j) scale, rounded once, for all of `a`, the columns of which may include the right
/// hand side, column n; says what that lost. `scale` a power of two. Done on return.
template <ExecutionPolicy Exec, WalkedSource Source, class Rows, class Cols, class View>
NarrowingCounts fill_by_walks(const Exec& exec, const Source& source, const Rows& rows,
                              const Cols& cols, const View& a, double scale) {
  using T = typename View::non_const_value_type;
  using Convert = Conversion<double, T>;
  // Across lines, so that neighbouring work items write neighbouring numbers.
  constexpr bool down = is_row_major<typename View::array_layout>;
  constexpr Index longest = 64;
  const Index order = source.order();
  const auto walks = source.walks();
  const Index lines = down ? rows.count : cols.count, side = down ? cols.count : rows.count;
  NarrowingCounts lost;
  if (lines == 0 || side == 0) return lost;
  const Index block = std::min<Index>(down ? rows.block : cols.block, lines);
  const Index pieces = ceil_div(block, longest);
  [[maybe_unused]] auto scope = exec.enter();
  Kokkos::parallel_reduce(
      "plinth::fill_by_walks",
      Kokkos::RangePolicy<typename Exec::execution_space, Kokkos::IndexType<Index>>(
          exec.space(), 0, ceil_div(lines, block) * pieces * side),
      KOKKOS_LAMBDA(const Index item, Index& overflowed, Index& flushed, Index& subnormal) {
        const Index q = item % side, piece = item / side;
        const Index first = piece / pieces * block, begin = first + piece % pieces * longest;
        const Index stop = first + block < lines ? first + block : lines;
        const Index end = begin + longest < stop ? begin + longest : stop;
        if (begin >= end) return;
        Index row = rows.global(down ? begin : q), col = cols.global(down ? q : begin);
        auto walk = down ? walks.down(row, col) : walks.right(row, col);
        for (Index l = begin; l < end; ++l, ++(down ? row : col)) {
          double before = walk();
          if (row == col || col >= order) before = source(row, col);
          const T after = Convert::of(before, scale);
          a(down ? l : q, down ? q : l) = after;
          overflowed += Convert::overflows(before, after) ? 1 : 0;
          flushed += Convert::is_flushed(before, after) ? 1 : 0;
          subnormal += Convert::is_subnormal(after) ? 1 : 0;
        }
      },
      lost.overflowed, lost.flushed, lost.subnormal);
  return lost;
}

/// The same where a source may have no walks: each entry is asked for.
template <ExecutionPolicy Exec, EntrySource Source, class Rows, class Cols, class View>
NarrowingCounts fill_lines(const Exec& exec, const Source& source, const Rows& rows,
                           const Cols& cols, const View& a, double scale) {
  if constexpr (WalkedSource<Source>) {
    return fill_by_walks(exec, source, rows, cols, a, scale);
  } else {
    return fill_by_entries(exec, source, rows, cols, a, scale);
  }
}

/// out_i := the diagonal entry of local row i, where owns(its global index) says that it is among
/// the local columns; 0 elsewhere.
template <ExecutionPolicy Exec, EntrySource Source, class Rows, class Owns>
void diagonal_by_entries(const Exec& exec, const Source& source, const Rows& rows,
                         const Owns& owns, double* out) {
  [[maybe_unused]] auto scope = exec.enter();
  Kokkos::parallel_for(
      "plinth::diagonal_by_entries",
      Kokkos::RangePolicy<typename Exec::execution_space, Kokkos::IndexType<Index>>(
          exec.space(), 0, rows.count),
      KOKKOS_LAMBDA(const Index i) {
        const Index row = rows.global(i);
        out[i] = owns(row) ? source(row, row) : 0.0;
      });
}

/// How many columns fold_rows adds up at a time: whole blocks, and not many pieces of them.
template <class Cols>
Index fold_piece(const Cols& cols) {
  constexpr Index most = 32;
  return ceil_div(ceil_div(cols.count, cols.block), most) * cols.block;
}
/// What fold_rows needs room for.
template <class Rows, class Cols>
Index fold_room(const Rows& rows, const Cols& cols) {
  return cols.count == 0 ? 0 : ceil_div(cols.count, fold_piece(cols)) * rows.count;
}

/// out_i := factor sum over j of f(a_ij, j), j a local column, for all local rows i, by pieces of
/// columns whose sums are added up in their order: `room` is for fold_room() of them. `diagonal`
/// holds the diagonal entries of A that are among the rows and columns, by local row.
template <ExecutionPolicy Exec, WalkedSource Source, class Rows, class Cols, class F>
void fold_rows(const Exec& exec, const Source& source, const Rows& rows, const Cols& cols,
               const double* diagonal, double* room, double* out, double factor, const F& f) {
  using Policy = Kokkos::RangePolicy<typename Exec::execution_space, Kokkos::IndexType<Index>>;
  const auto walks = source.walks();
  const Index height = rows.count, width = cols.count;
  const Index length = width == 0 ? 1 : fold_piece(cols), pieces = ceil_div(width, length);
  if (height == 0) return;
  [[maybe_unused]] auto scope = exec.enter();
  if (width > 0)
    Kokkos::parallel_for(
        "plinth::fold_rows", Policy(exec.space(), 0, pieces * height),
        KOKKOS_LAMBDA(const Index item) {
          const Index i = item % height, piece = item / height;
          const Index row = rows.global(i);
          const Index end = (piece + 1) * length < width ? (piece + 1) * length : width;
          double sum = 0;
          for (Index j = piece * length; j < end;) {
            const Index stop = j + cols.block < end ? j + cols.block : end;
            Index col = cols.global(j);
            auto walk = walks.right(row, col);
            for (; j < stop; ++j, ++col) {
              const double entry = walk();
              sum += f(col == row ? diagonal[i] : entry, j);
            }
          }
          room[item] = sum;
        });
  Kokkos::parallel_for(
      "plinth::fold_pieces", Policy(exec.space(), 0, height), KOKKOS_LAMBDA(const Index i) {
        double sum = 0;
        for (Index piece = 0; piece < pieces; ++piece) sum += room[piece * height + i];
        out[i] = factor * sum;
      });
}

/// y := alpha A x, this process's part of it, for a vector by local column; see fold_rows.
template <ExecutionPolicy Exec, WalkedSource Source, class Rows, class Cols>
void multiply_by_walks(const Exec& exec, const Source& source, const Rows& rows, const Cols& cols,
                       const double* diagonal, double* room, double alpha, const double* x,
                       double* y) {
  fold_rows(
      exec, source, rows, cols, diagonal, room, y, alpha,
      KOKKOS_LAMBDA(const double entry, const Index j) { return entry * x[j]; });
}
/// sums_i := the sum of the magnitudes in row i; see fold_rows.
template <ExecutionPolicy Exec, WalkedSource Source, class Rows, class Cols>
void row_sums_by_walks(const Exec& exec, const Source& source, const Rows& rows, const Cols& cols,
                       const double* diagonal, double* room, double* sums) {
  fold_rows(
      exec, source, rows, cols, diagonal, room, sums, 1,
      KOKKOS_LAMBDA(const double entry, const Index) { return entry < 0 ? -entry : entry; });
}

}  // namespace plinth::kernel
