// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <concepts>
#include <cstring>

#include "plinth/core/cpu.hpp"
#include "plinth/core/index.hpp"
#include "plinth/core/options.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/kernel/panel_columns.hpp"
#include "plinth/kernel/run_parts.hpp"
#include "plinth/kernel/simd.hpp"
#include "plinth/kernel/transpose.hpp"

/// Triangular solves at the size where products no longer help. On the host.
namespace plinth::kernel {

/// Elements by row and column, each with its stride; one of the strides is 1.
template <class T>
struct Strided {
  T* data;
  Index row, col;
  KOKKOS_FUNCTION T& operator()(Index i, Index j) const { return data[i * row + j * col]; }
  Strided transposed() const { return {data, col, row}; }
};

/// A lower triangle of up to 32 rows as the solve wants it: rows of one length, the last ones
/// zeros, and what the diagonal is multiplied with (or divided by, where a reciprocal would
/// overflow).
template <std::floating_point T>
struct TriangleBase {
  static constexpr Index size = 32;
  static constexpr Index group = 4;  ///< rows that are solved in registers at a time

  alignas(64) std::array<std::array<T, size>, size> rows = {};
  std::array<T, size> diagonal = {};
  bool divides = false;
  Index n = 0;
  bool reversed = false;  ///< an upper triangle, last row and last column first

  /// Takes the n x n triangle a, whose other half is not read.
  TriangleBase(Uplo uplo, Diag diag, const Strided<const T>& a, Index order)
      : n(order), reversed(uplo == Uplo::upper) {
    const Index last = n - 1;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < i; ++j) at(i, j) = reversed ? a(last - i, last - j) : a(i, j);
      const T pivot = diag == Diag::unit ? T(1) : reversed ? a(last - i, last - i) : a(i, i);
      diagonal[static_cast<std::size_t>(i)] = pivot;
      if (!has_reciprocal(pivot)) divides = true;
    }
    if (divides) return;
    for (Index i = 0; i < n; ++i) {
      T& d = diagonal[static_cast<std::size_t>(i)];
      d = T(1) / d;
    }
  }
  /// Which row of the caller's is row i here.
  Index row(Index i) const { return reversed ? n - 1 - i : i; }

 private:
  T& at(Index i, Index j) {
    return rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  }
};

/// X := L^-1 X for a chunk of `width` columns, `height` rows (a multiple of the group), by vectors
/// of so many bytes, `across` of them at a time: groups of rows stay in registers.
template <class T, int vector_bytes, int across>
struct SolveChunk {
  using Base = TriangleBase<T>;
  static constexpr Index width = 256 / sizeof(T);
  using Rows = std::array<std::array<T, width>, Base::size>;

  const Base* triangle;
  Index height;
  Rows* x;

  PLINTH_SIMD_BODY void operator()() const {
    constexpr int lanes = vector_bytes / sizeof(T);
    static_assert(width % (lanes * across) == 0);
    for (Index c = 0; c < width; c += lanes * across)
      for (Index i = 0; i < height; i += Base::group) solve_group(i, c);
  }

 private:
  /// Of the compiler's own, which it maps to what the CPU has.
  typedef T Vector __attribute__((vector_size(vector_bytes)));

  PLINTH_SIMD_BODY void solve_group(Index first, Index column) const {
    constexpr int group = Base::group, lanes = vector_bytes / sizeof(T);
    const T* const l = triangle->rows[0].data() + first * Base::size;
    T* const all = (*x)[0].data() + column;
    Vector sum[group][across], b[across];
#pragma GCC unroll 8
    for (int r = 0; r < group; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < across; ++v)
        std::memcpy(&sum[r][v], all + (first + r) * width + v * lanes, vector_bytes);
    for (Index k = 0; k < first; ++k) {
#pragma GCC unroll 8
      for (int v = 0; v < across; ++v)
        std::memcpy(&b[v], all + k * width + v * lanes, vector_bytes);
#pragma GCC unroll 8
      for (int r = 0; r < group; ++r)
#pragma GCC unroll 8
        for (int v = 0; v < across; ++v) sum[r][v] -= l[r * Base::size + k] * b[v];
    }
#pragma GCC unroll 8
    for (int r = 0; r < group; ++r) {
#pragma GCC unroll 8
      for (int s = 0; s < r; ++s)
#pragma GCC unroll 8
        for (int v = 0; v < across; ++v) sum[r][v] -= l[r * Base::size + first + s] * sum[s][v];
      const T d = triangle->diagonal[static_cast<std::size_t>(first + r)];
#pragma GCC unroll 8
      for (int v = 0; v < across; ++v) {
        if (triangle->divides)
          sum[r][v] /= d;
        else
          sum[r][v] *= d;
        std::memcpy(all + (first + r) * width + v * lanes, &sum[r][v], vector_bytes);
      }
    }
  }
};

/// SolveChunk by the vectors that `isa` has registers for.
template <class T>
void solve_chunk(Isa isa, const TriangleBase<T>& triangle, Index height,
                 typename SolveChunk<T, 16, 2>::Rows& x) {
  if (isa == Isa::avx512) return run_simd(isa, SolveChunk<T, 64, 4>{&triangle, height, &x});
  if (isa == Isa::avx2) return run_simd(isa, SolveChunk<T, 32, 2>{&triangle, height, &x});
  run_simd(isa, SolveChunk<T, 16, 2>{&triangle, height, &x});
}

/// B := A^-1 B for a triangle A of n <= 32 rows and `vectors` columns of B, dealt to the threads of
/// `space`, or all on the calling one. Columns do not depend on one another, to the bit.
template <class Space, std::floating_point T>
void solve_base(const Space& space, Uplo uplo, Diag diag, const Strided<const T>& a, Index n,
                const Strided<T>& b, Index vectors, Threads threads = Threads::all,
                Isa isa = best_isa()) {
  using Base = TriangleBase<T>;
  using Chunk = SolveChunk<T, 16, 2>;
  constexpr Index width = Chunk::width;
  const Base triangle(uplo, diag, a, n);
  const Index height = ceil_div(n, Base::group) * Base::group;
  const Index chunks = ceil_div(vectors, width);
  // A row of X to the next in the order of B's rows: backwards for an upper triangle.
  const Index step = triangle.reversed ? -width : width;
  run_parts(space, chunks, threads == Threads::all && n * vectors > 16384,
            [&](Index part, Index parts) {
              alignas(64) typename Chunk::Rows x = {};
              T* const top = x[static_cast<std::size_t>(triangle.row(0))].data();
              for (Index c = chunks * part / parts; c < chunks * (part + 1) / parts; ++c) {
                const Index first = c * width, count = std::min(width, vectors - first);
                T* const rhs = &b(0, first);
                if (b.col == 1) {
                  for (Index i = 0; i < n; ++i)
                    std::copy_n(rhs + i * b.row, count, top + i * step);
                } else {
                  transpose_tile_host(isa, rhs, b.col, top, step, count, n);
                }
                solve_chunk(isa, triangle, height, x);
                if (b.col == 1) {
                  for (Index i = 0; i < n; ++i)
                    std::copy_n(top + i * step, count, rhs + i * b.row);
                } else {
                  transpose_tile_host(isa, top, step, rhs, b.col, n, count);
                }
              }
            });
}

}  // namespace plinth::kernel
