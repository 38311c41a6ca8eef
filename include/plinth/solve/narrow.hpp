// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "plinth/comm/grid.hpp"
#include "plinth/comm/mpi.hpp"
#include "plinth/comm/reduce.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/convert_view.hpp"
#include "plinth/matrix/copy.hpp"
#include "plinth/matrix/diagonal_blocks.hpp"
#include "plinth/matrix/distributed_matrix.hpp"

namespace plinth {

/// to := from, rounded, on any execution space and for complex numbers too; returns what that lost,
/// over all processes: where kernels do not run on the host, or numbers are complex, overflows
/// alone are counted. Collective; one allreduce. Preconditions as for copy().
template <ExecutionPolicy Exec, class From, class To>
kernel::NarrowingCounts narrow_matrix(const Exec& exec, const From& from, To& to) {
  using S = typename From::value_type;
  using T = typename To::value_type;
  using Space = typename Exec::execution_space;
  constexpr bool on_host = Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible;
  if constexpr (on_host && kernel::RealScalar<S> && kernel::RealScalar<T>) {
    return convert(exec, from, to);
  } else {
    copy(exec, from, to);
    if (!from.grid().active()) return {};
    const auto before = from.local();
    const auto after = to.local();
    const Index cols = kernel::cols_of(before);
    kernel::NarrowingCounts lost;
    {
      [[maybe_unused]] auto scope = exec.enter();
      Kokkos::parallel_reduce(
          "plinth::count_overflow",
          Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec.space(), 0,
                                                               kernel::rows_of(before)),
          KOKKOS_LAMBDA(const Index i, Index& count) {
            for (Index j = 0; j < cols; ++j)
              if (!is_finite(after(i, j)) && is_finite(before(i, j))) ++count;
          },
          lost.overflowed);
    }
    comm::sum_of_all(from.grid().all(), lost);
    return lost;
  }
}

/// Two-sided scaling by powers of two, A' = R A S, after which the largest entry of each row is
/// below 2 and that of each column in [1/2, 2): what lets a general matrix be held in 16 bits
/// (Higham, Pranesh, Zounon 2019). Exact. A x = b becomes A' y = R b, x = S y. Rows and columns of
/// zeros, or with an infinity or NaN, stay as they are. Kernels must run on the host.
/// Memory per process: 2 (n/P + n/Q) elements and the larger of the two once more, and three
/// vectors of DiagonalBlocks.
template <ExecutionPolicy Exec, class Vectors>
class Equilibration {
 public:
  using T = typename Vectors::value_type;

  /// Not collective: allocates for `a` and for right-hand sides like `like`.
  template <class Matrix>
  Equilibration(const Exec& exec, const Matrix& a, const Vectors& like)
      : exec_(exec),
        grid_(a.grid()),
        distribution_(a.distribution()),
        row_(static_cast<std::size_t>(a.local_extents().rows), T(1)),
        col_(static_cast<std::size_t>(a.local_extents().cols), T(1)),
        most_(std::max(row_.size(), col_.size())),
        solution_(like.local_extents().rows),
        exported_(like.local_extents().rows),
        counts_(static_cast<std::size_t>(std::max<Index>(exec.space().concurrency(), 1))),
        diagonal_(exec, a.grid(), a.distribution(), 1) {}

  /// Finds R and S: two passes over A, an allreduce of n/P numbers along process rows and one of
  /// n/Q along process columns, and an all-to-all and a broadcast of n/P numbers along process
  /// rows. Collective; allocates nothing.
  template <class Matrix>
  void find(const Matrix& a) {
    find_maxima<true>(a.local(), row_, grid_.row_vectors());
    find_maxima<false>(a.local(), col_, grid_.column_vectors());
    spread_column_scales();
  }

  /// to := R from S 2^exponent, rounded; says what that lost. Collective; one allreduce.
  template <class From, class To>
  kernel::NarrowingCounts narrow(const From& from, To& to, int exponent) {
    constexpr bool by_rows = kernel::is_row_major<typename From::layout>;
    const auto source = from.local();
    const auto target = to.local();
    const auto& of_line = by_rows ? row_ : col_;
    const T* const along = (by_rows ? col_ : row_).data();
    const Index lines = static_cast<Index>(of_line.size());
    const Index length = static_cast<Index>((by_rows ? col_ : row_).size());
    const Index source_lead = kernel::leading_dimension(source);
    const Index target_lead = kernel::leading_dimension(target);
    std::fill(counts_.begin(), counts_.end(), kernel::NarrowingCounts{});
    {
      [[maybe_unused]] auto scope = exec_.enter();
      auto* const each = counts_.data();
      const T* const line_scale = of_line.data();
      const auto* const in = source.data();
      auto* const out = target.data();
      const double factor = std::ldexp(1.0, exponent);
      kernel::run_parts(exec_.space(), lines, true, [=](Index part, Index parts) {
        constexpr Index piece = 256;
        T scaled[piece];
        for (Index l = lines * part / parts; l < lines * (part + 1) / parts; ++l)
          for (Index q = 0; q < length; q += piece) {
            const Index some = std::min(piece, length - q);
            for (Index p = 0; p < some; ++p)
              scaled[p] = in[l * source_lead + q + p] * line_scale[l] * along[q + p];
            kernel::convert_run(scaled, out + l * target_lead + q, some, factor, each[part]);
          }
      });
    }
    kernel::NarrowingCounts lost;
    for (const auto& c : counts_) lost += c;
    comm::sum_of_all(grid_.all(), lost);
    return lost;
  }

  /// r := R r.
  void scale_rhs(const Vectors& r) const { scale_rows(r, row_.data()); }
  /// y := S y.
  void scale_solution(const Vectors& y) const { scale_rows(y, solution_.data()); }

 private:
  using Layout = typename Vectors::layout;

  void scale_rows(const Vectors& v, const T* factors) const {
    const auto view = v.local();
    kernel::for_each<Layout>(exec_, kernel::rows_of(view), kernel::cols_of(view),
                             [=](const Index i, const Index j) { view(i, j) *= factors[i]; });
    exec_.fence();
  }

  /// scale[l] := the power of two that brings the largest of line l of R A S, with the R or S that
  /// is known, to 1; 1 if something in it is not finite.
  template <bool by_row, class View>
  void find_maxima(const View& a, std::vector<T>& scale, const comm::Communicator& across) {
    const auto& other = by_row ? col_ : row_;
    const Index lines = static_cast<Index>(scale.size());
    const Index along = static_cast<Index>(other.size());
    most_.assign(scale.size(), T(0));
    {
      [[maybe_unused]] auto scope = exec_.enter();
      T* const out = most_.data();
      const T* const factor = other.data();
      kernel::run_parts(exec_.space(), lines, true, [=](Index part, Index parts) {
        const Index begin = lines * part / parts, end = lines * (part + 1) / parts;
        constexpr bool contiguous = kernel::is_row_major<typename View::array_layout> == by_row;
        const auto see = [=](Index l, Index q) {
          const T here = modulus(by_row ? a(l, q) : a(q, l)) * factor[q];
          out[l] = is_nan(here) || here > out[l] ? here : out[l];  // a NaN stays
        };
        if (contiguous) {
          for (Index l = begin; l < end; ++l)
            for (Index q = 0; q < along; ++q) see(l, q);
        } else {
          for (Index q = 0; q < along; ++q)
            for (Index l = begin; l < end; ++l) see(l, q);
        }
      });
    }
    comm::max_of_all(across, most_);
    constexpr int range = sizeof(T) == 4 ? 120 : 1000;
    for (std::size_t l = 0; l < scale.size(); ++l) {
      const double largest = static_cast<double>(most_[l]);
      scale[l] = T(1);
      if (largest > 0 && is_finite(largest))
        scale[l] =
            static_cast<T>(std::ldexp(1.0, std::clamp(-std::ilogb(largest), -range, range)));
    }
  }

  /// S is known where columns are; the rows of a solution are dealt like rows. The owner of a
  /// diagonal block knows it for both: from there it goes to the first process column, and on to
  /// all.
  void spread_column_scales() {
    diagonal_.set_cols(1);
    {
      [[maybe_unused]] auto scope = exec_.enter();
      diagonal_.for_each_own([&](Index k) {
        const auto block = diagonal_[k];
        const Index begin = distribution_.cols.local(diagonal_.range(k).begin);
        for (Index i = 0; i < diagonal_.range(k).size(); ++i)
          block(i, 0) = col_[static_cast<std::size_t>(begin + i)];
      });
    }
    const Index rows = static_cast<Index>(row_.size());
    const bool is_first = grid_.coord().col == 0;
    diagonal_.export_columns(
        kernel::contiguous<Kokkos::LayoutRight, typename Exec::memory::space>(
            exported_.data(), rows, is_first ? 1 : 0),
        BlockCyclic(1, 1, grid_.shape().cols, 0), {0, 1});
    if (is_first) {
      exec_.to_host(solution_.data(), exported_.data(),
                    static_cast<std::size_t>(rows) * sizeof(T));
      exec_.fence();
    }
    comm::for_each_chunk(rows, Index(1) << 27, [&](Index offset, int count) {
      comm::check(MPI_Bcast(solution_.data() + offset, count, comm::datatype<T>(), 0,
                            grid_.row_vectors().handle()),
                  "MPI_Bcast");
    });
  }

  Exec exec_;
  ProcessGrid grid_;
  Distribution distribution_;
  std::vector<T> row_, col_;    ///< R for local rows, S for local columns
  std::vector<T> most_;         ///< the largest of each line
  kernel::Buffer<T> solution_;  ///< S for local rows
  kernel::Buffer<T, typename Exec::memory> exported_;
  std::vector<kernel::NarrowingCounts> counts_;  ///< of each thread
  DiagonalBlocks<T, Exec, Kokkos::LayoutRight> diagonal_;
};

}  // namespace plinth
