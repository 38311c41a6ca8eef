// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plinth/core/index.hpp"
#include "plinth/core/options.hpp"
#include "plinth/kernel/magnitude.hpp"
#include "plinth/kernel/view.hpp"

namespace plinth::lu {

/// f(i, j, count) for the runs of adjacent elements, from (i, j) on along its rows or columns as
/// they are stored, of a triangle of a square View: of Diag::unit without the diagonal.
template <class View, class F>
void for_each_run(Uplo uplo, Diag diag, const View& a, const F& f) {
  constexpr bool by_rows = kernel::is_row_major<typename View::array_layout>;
  const bool comes_first = by_rows == (uplo == Uplo::lower);  // in each line
  const Index n = kernel::rows_of(a), own = diag == Diag::unit ? 0 : 1;
  for (Index t = 0; t < n; ++t) {
    const Index begin = comes_first ? 0 : t + 1 - own;
    const Index end = comes_first ? t + own : n;
    if (end > begin) f(by_rows ? t : begin, by_rows ? begin : t, end - begin);
  }
}

/// The largest magnitude stored in such a triangle, which the host can read; NaN if it has one; 0
/// if it is empty.
template <class View>
double largest_in_triangle(Uplo uplo, Diag diag, const View& a) {
  double most = 0;
  for_each_run(uplo, diag, a, [&](Index i, Index j, Index count) {
    most = kernel::larger(most, kernel::largest_magnitude(&a(i, j), count));
  });
  return most;
}

}  // namespace plinth::lu
