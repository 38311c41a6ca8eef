// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <type_traits>

#include "plinth/kernel/blas.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/convert_view.hpp"
#include "plinth/kernel/line_products.hpp"
#include "plinth/kernel/run_parts.hpp"
#include "plinth/kernel/trsm.hpp"

/// Products and triangular solves in T with a matrix that is stored in another type S, narrower as
/// a rule. A few vectors on a host: the matrix is read once per vector, in the type that it has.
/// Else it is converted a piece at a time and given to the BLAS.
namespace plinth::kernel {

/// Up to so many vectors are taken one by one.
inline constexpr Index vectors_one_by_one = 3;

/// Whether the lines of S are multiplied with vectors of T without the BLAS.
template <class Exec, class S, class T>
inline constexpr bool reads_lines = RealScalar<S>&& std::is_floating_point_v<T>&&
    Kokkos::SpaceAccessibility<typename Exec::execution_space, Kokkos::HostSpace>::accessible;

/// to := from factor, on whatever space.
template <ExecutionPolicy Exec, class From, class To>
void convert_scaled(const Exec& exec, const From& from, const To& to,
                    RealOf<typename To::non_const_value_type> factor) {
  using S = typename From::non_const_value_type;
  using T = typename To::non_const_value_type;
  if constexpr (reads_lines<Exec, S, T>) {
    convert(exec, from, to, static_cast<double>(factor));
  } else {
    for_each<typename To::array_layout>(
        exec, rows_of(to), cols_of(to), KOKKOS_LAMBDA(const Index i, const Index j) {
          to(i, j) = static_cast<T>(from(i, j)) * factor;
        });
  }
}

/// Column j of a few vectors, adjacent for the lifetime of the object: they are in place, or are
/// copied to `room` and back.
template <class View>
class AdjacentColumn {
 public:
  using T = typename View::non_const_value_type;
  AdjacentColumn(const View& v, Index j, T* room, bool write_back)
      : first_(v.data() + j * static_cast<Index>(v.stride(1))),
        stride_(static_cast<Index>(v.stride(0))),
        count_(rows_of(v)),
        room_(stride_ == 1 ? nullptr : room),
        write_back_(write_back) {
    if (room_ != nullptr)
      for (Index i = 0; i < count_; ++i) room_[i] = first_[i * stride_];
  }
  ~AdjacentColumn() {
    if (room_ != nullptr && write_back_)
      for (Index i = 0; i < count_; ++i) first_[i * stride_] = room_[i];
  }
  AdjacentColumn(const AdjacentColumn&) = delete;
  AdjacentColumn& operator=(const AdjacentColumn&) = delete;
  T* data() const { return room_ != nullptr ? room_ : first_; }

 private:
  T* first_;
  Index stride_;
  Index count_;
  T* room_;
  bool write_back_;
};

/// Work in T with matrices stored in S; keeps its workspace, which need not be reserved.
template <class S, class T, ExecutionPolicy Exec, class Layout>
class StoredFactors {
 public:
  using Space = typename Exec::memory::space;
  using Stored = MatrixView<S, Layout, Space>;
  using View = MatrixView<T, Layout, Space>;

  explicit StoredFactors(const Exec& exec) : exec_(exec) {}

  /// Room for m x k products with `vectors` of them and triangles of order k.
  void reserve(Index m, Index k, Index vectors) {
    const bool one_by_one = reads_lines<Exec, S, T> && vectors <= vectors_one_by_one;
    room_.reserve(one_by_one ? m + k : std::max(tile_elements(k), k * k));
  }

  /// w += op(A) x. 2 m k flops per vector; a few vectors on a host are bound by reading A.
  void multiply_add(const Operand<Stored>& a, const View& x, const View& w) {
    const Index c = cols_of(w), m = rows_of(w), k = rows_of(x);
    if (c == 0 || m == 0 || k == 0) return;
    reserve(m, k, c);
    if constexpr (reads_lines<Exec, S, T>)
      if (c <= vectors_one_by_one) {
        [[maybe_unused]] auto scope = exec_.enter();
        for (Index j = 0; j < c; ++j) {
          const AdjacentColumn from(x, j, room_.data(), false), to(w, j, room_.data() + k, true);
          multiply_add_one(a, from.data(), to.data(), m, k);
        }
        return;
      }
    const Index rows = std::max<Index>(tile_elements(k) / k, 1);
    for (Index begin = 0; begin < m; begin += rows) {
      const Range here{begin, std::min(begin + rows, m)};
      const Stored stored =
          a.op == Op::none ? part(a.view, here, {0, k}) : part(a.view, {0, k}, here);
      const View tile = contiguous<Layout, Space>(room_.data(), rows_of(stored), cols_of(stored));
      convert_scaled(exec_, stored, tile, RealOf<T>(1));
      gemm(exec_, T(1), Operand<View>{tile, a.op}, x, T(1), part(w, here, {0, c}));
      exec_.fence();
    }
  }

  /// Solves op(A) X = B in place for a triangle op(A), `uplo` of it, whose entries off the diagonal
  /// are to be multiplied by `scale` where its diagonal is a unit one; by 1 else. n^2 flops per
  /// vector.
  void solve(Uplo uplo, Diag diag, const Operand<Stored>& a, const View& x, RealOf<T> scale) {
    const Index n = rows_of(x), c = cols_of(x);
    if (c == 0 || n == 0) return;
    reserve(n, n, c);
    if constexpr (reads_lines<Exec, S, T>)
      if (c <= vectors_one_by_one) {
        exec_.fence();
        [[maybe_unused]] auto scope = exec_.enter();
        for (Index j = 0; j < c; ++j) {
          const AdjacentColumn column(x, j, room_.data(), true);
          solve_one(uplo, diag, a, column.data(), n, scale);
        }
        return;
      }
    const View tile = contiguous<Layout, Space>(room_.data(), n, n);
    convert_scaled(exec_, a.view, tile, scale);
    trsm(exec_, Side::left, uplo, diag, T(1), Operand<View>{tile, a.op}, x);
    exec_.fence();
  }

 private:
  /// Converted pieces stay in the second-level cache; wider where many threads share one.
  Index tile_elements(Index k) const {
    constexpr Index per_thread = Index(1) << 15;
    return std::max(per_thread * std::max<Index>(exec_.space().concurrency(), 1), k);
  }
  /// Whether the lines of the storage are the rows of op(A): sums over a line, else multiples of
  /// lines.
  static bool lines_are_rows(Op op) { return is_row_major<Layout> == (op == Op::none); }

  void multiply_add_one(const Operand<Stored>& a, const T* x, T* w, Index m, Index k) const {
    const S* const data = a.view.data();
    const Index ld = leading_dimension(a.view);
    const bool worth = m * k > 16384;
    constexpr Index at_once = lines_at_once;
    if (lines_are_rows(a.op)) {
      const Index groups = ceil_div(m, at_once);
      run_parts(exec_.space(), groups, worth, [=](Index part, Index parts) {
        for (Index g = groups * part / parts; g < groups * (part + 1) / parts; ++g) {
          const Index line = g * at_once;
          const int lines = static_cast<int>(std::min(at_once, m - line));
          T sums[at_once];
          dot_lines(data + line * ld, ld, lines, x, k, 2 * at_once * ld, sums);
          for (int r = 0; r < lines; ++r) w[line + r] += sums[r];
        }
      });
    } else {
      constexpr Index piece = 2048;
      const Index pieces = ceil_div(m, piece);
      run_parts(exec_.space(), pieces, worth, [=](Index part, Index parts) {
        const Index begin = pieces * part / parts * piece;
        const Index end = std::min(pieces * (part + 1) / parts * piece, m);
        for (Index q = begin; q < end; q += piece)
          for (Index line = 0; line < k; line += at_once)
            axpy_lines(data + line * ld + q, ld, static_cast<int>(std::min(at_once, k - line)),
                       x + line, w + q, std::min(piece, end - q), at_once * ld);
      });
    }
  }

  /// By groups of lines: the triangle on the diagonal in scalar code, the rest by line products,
  /// before it (lines are rows) or after it.
  void solve_one(Uplo uplo, Diag diag, const Operand<Stored>& a, T* x, Index n, T scale) const {
    constexpr Index at_once = lines_at_once;
    const S* const data = a.view.data();
    const Index ld = leading_dimension(a.view);
    const bool by_rows = lines_are_rows(a.op), lower = uplo == Uplo::lower;
    const Index groups = ceil_div(n, at_once);
    NarrowingCounts ignored;
    for (Index step = 0; step < groups; ++step) {
      const Index begin = (lower ? step : groups - 1 - step) * at_once;
      const Index size = std::min(at_once, n - begin), end = begin + size;
      const Range others = lower == by_rows ? Range{0, begin} : Range{end, n};
      const S* const lines = data + begin * ld;
      T sums[at_once];
      if (by_rows) {
        dot_lines(lines + others.begin, ld, static_cast<int>(size), x + others.begin,
                  others.size(), 0, sums);
        for (Index r = 0; r < size; ++r) x[begin + r] -= scale * sums[r];
      }
      T triangle[at_once][at_once];
      for (Index r = 0; r < size; ++r)
        convert_run(lines + r * ld + begin, triangle[r], size, 1.0, ignored);
      for (Index m = 0; m < size; ++m) {
        const Index i = lower ? m : size - 1 - m;
        T value = x[begin + i];
        for (Index p = 0; p < m; ++p) {
          const Index j = lower ? p : size - 1 - p;
          value -= scale * (by_rows ? triangle[i][j] : triangle[j][i]) * x[begin + j];
        }
        x[begin + i] = diag == Diag::unit ? value : value / triangle[i][i];
      }
      if (!by_rows) {
        for (Index r = 0; r < size; ++r) sums[r] = -scale * x[begin + r];
        axpy_lines(lines + others.begin, ld, static_cast<int>(size), sums, x + others.begin,
                   others.size(), 0);
      }
    }
  }

  Exec exec_;
  Buffer<T, typename Exec::memory> room_;
};

}  // namespace plinth::kernel
