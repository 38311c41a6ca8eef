// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/convert_view.hpp"
#include "plinth/kernel/deal.hpp"
#include "plinth/kernel/lowp/gemm.hpp"
#include "plinth/kernel/magnitude.hpp"
#include "plinth/kernel/trsm.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/lu/diagonal_block.hpp"
#include "plinth/lu/narrowing_log.hpp"

namespace plinth::lu {

/// L21 := A21 U11^-1, the rows of one process:
///
///     A21 to float
///     solved with U11, or multiplied by its inverse    solve
///     the largest entry, which says how L is scaled    largest
///     rounded and packed, as the update reads them     pack
///     rounded as they are stored                       store
///
/// By kernels of `Exec`, whose queue is waited for by each of these but the first. Workspace: L21
/// in floats, and a strip of rows where there are inverses.
template <class Factor, Scalar16 Operand, class Layout, ExecutionPolicy Exec>
class MixedBlockColumnSolve {
 public:
  using Setup = kernel::lowp::GemmSetup<Operand>;
  using Memory = typename Exec::memory;
  using View = kernel::MatrixView<Factor, Layout, typename Memory::space>;
  using Single = kernel::MatrixView<float, Layout, typename Memory::space>;

  /// For up to so many rows and columns.
  MixedBlockColumnSolve(const Exec& exec, const Setup& setup, Index max_width, Index max_rows,
                        bool has_inverses)
      : exec_(exec), deal_(exec.space()), setup_(setup), solved_(max_width * max_rows) {
    if (has_inverses) strip_.reserve(max_width * std::min(strip_rows, max_rows));
  }

  Index workspace_bytes() const {
    return (solved_.size() + strip_.size()) * Index(sizeof(float));
  }

  /// From U11, or its inverse if that is what is given.
  void solve(const Single& u11, bool is_inverse, const View& a21) {
    const Index rows = kernel::rows_of(a21), width = kernel::cols_of(a21);
    l21_ = kernel::contiguous<Layout, typename Memory::space>(solved_.data(), rows, width);
    if (is_inverse) {
      const Range all{0, width};
      for (Index begin = 0; begin < rows; begin += strip_rows) {
        const Range some{begin, std::min(begin + strip_rows, rows)};
        const Single strip = kernel::contiguous<Layout, typename Memory::space>(
            strip_.data(), some.size(), width);
        kernel::convert(exec_, kernel::part(a21, some, all), strip);
        multiply_by_upper(exec_, strip, u11, kernel::part(l21_, some, all));
      }
    } else if (rows > 0) {
      kernel::convert(exec_, a21, l21_);
      const auto solve_rows = [&](Range some, kernel::Threads threads) {
        kernel::trsm(exec_, Side::right, Uplo::upper, Diag::non_unit, 1.0f,
                     kernel::Operand<Single>{u11}, kernel::part(l21_, some, {0, width}), threads);
      };
      if constexpr (is_host_accessible<Exec>) {
        exec_.fence();
        const kernel::Threads threads = deal_.threads(rows);
        deal_({0, rows}, [&](Range some) { solve_rows(some, threads); });
      } else {
        solve_rows({0, rows}, kernel::Threads::all);
      }
    }
    if constexpr (is_host_accessible<Exec>) exec_.fence();
  }

  /// The largest magnitude; NaN if there is one, 0 of no rows.
  double largest() const { return kernel::largest_magnitude(exec_, l21_); }

  /// out := L21 2^exponent, packed; says what that lost.
  kernel::NarrowingCounts pack(int exponent, Operand* out) const {
    [[maybe_unused]] const auto scope = exec_.enter();
    return kernel::lowp::pack_a(exec_.space(), setup_, kernel::rows_of(l21_),
                                kernel::cols_of(l21_), l21_.data(),
                                static_cast<Index>(l21_.stride(0)),
                                static_cast<Index>(l21_.stride(1)), out,
                                static_cast<float>(std::ldexp(1.0, exponent)));
  }

  /// to := L21 2^exponent, entered in the log. global_col(j) is the global column of column j.
  template <class GlobalCol>
  void store(const View& to, int exponent, const GlobalCol& global_col,
             NarrowingLog& log) const {
    log.store(exec_, l21_, to, exponent, global_col);
  }

 private:
  /// Rows that are multiplied at a time: what a cache holds, or what keeps a device busy.
  static constexpr Index strip_rows =
      kernel::runs_on_host<typename Exec::execution_space> ? 256 : 16384;

  Exec exec_;
  kernel::Deal<typename Exec::execution_space> deal_;
  Setup setup_;
  kernel::Buffer<float, Memory> solved_, strip_;

  Single l21_;  ///< what was solved last
};

}  // namespace plinth::lu
