// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "plinth/comm/agree.hpp"
#include "plinth/comm/reduce.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/line_moduli.hpp"
#include "plinth/kernel/magnitude.hpp"
#include "plinth/lu/factors.hpp"

namespace plinth {

namespace lu {

/// The first local column on or right of the diagonal, by local row.
struct FirstInUpper {
  BlockCyclic rows;  ///< of the matrix
  BlockCyclic cols;  ///< likewise
  GridCoord at;      ///< whose local rows and columns are meant
  /// That of local row i.
  KOKKOS_FUNCTION Index operator()(Index i) const {
    return cols.first_local(rows.global(i, at.row), at.col);
  }
};

/// out[i] := the largest modulus in local row i of the upper triangle of `a`, NaN above all.
template <ExecutionPolicy Exec, class Matrix, class Real>
void largest_in_upper_rows(const Exec& exec, const Matrix& a, Real* out) {
  const Distribution& d = a.distribution();
  kernel::fold_moduli<true, kernel::Fold::largest>(
      exec, a.local(),
      kernel::FoldedLines<Real, FirstInUpper>{.out = out,
                                              .first = {d.rows, d.cols, a.grid().coord()}});
}

}  // namespace lu

/// How much LU has grown the matrix: the largest modulus in U over `a_max`, the largest modulus in
/// A (norm(exec, a, Norm::max), taken before A is given away), as LAPACK's gesvx takes it, which
/// reports the reciprocal. With partial pivoting a small multiple of 1 but for contrived matrices;
/// where it is large, that many digits are lost. (Wilkinson's factor also counts intermediate
/// entries, which are not kept.) U as it is stored, the scaling of mixed_lu_factor undone.
/// Collective over the factors' grid: one reduction after the entry check. 0 on idle ranks.
/// Preconditions, each an Error on every rank: a_max is not negative; the same on every rank;
/// enough memory (n/P elements).
/// Outcomes: NaN if U or a_max has one; 0 where a_max is 0. O(n^2 / (P Q)).
template <ExecutionPolicy Exec, class Matrix>
double growth_factor(const Exec& exec, const LuFactors<Matrix>& factors, double a_max) {
  using Real = RealOf<typename Matrix::value_type>;
  const Matrix& a = factors.matrix();
  const ProcessGrid& grid = a.grid();
  kernel::Staged<Real, Exec> rows;
  comm::Fingerprint arguments;
  arguments << a.distribution() << is_nan(a_max)
            << (is_nan(a_max) ? 0 : static_cast<Index>(std::bit_cast<std::uint64_t>(a_max)));
  comm::agree_on(grid.all(), "growth_factor", arguments.value(), [&] {
    require(!(a_max < 0), "the largest modulus in A is not negative");
    rows.reserve(a.local_extents().rows);
  });
  if (!grid.active()) return 0;
  lu::largest_in_upper_rows(exec, a, rows.device());
  const Index count = a.local_extents().rows;
  rows.to_host(exec, 0, count);
  std::vector<double> most{0.0};
  for (Index i = 0; i < count; ++i) {
    const Index step = a.distribution().rows.block_of(a.global_row(i));
    most[0] = kernel::larger(most[0], std::ldexp(static_cast<double>(rows.host()[i]),
                                                 -factors.exponents().of_u(step)));
  }
  comm::max_of_all(grid.all(), most);
  return a_max == 0 && !is_nan(most[0]) ? 0 : most[0] / a_max;
}

}  // namespace plinth
