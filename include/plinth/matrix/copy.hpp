// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plinth/comm/agree.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/matrix/distributed_matrix.hpp"

namespace plinth {

/// The layout options that give another matrix the distribution of `a`.
template <class Matrix>
MatrixLayoutOptions layout_of(const Matrix& a) {
  const Distribution& d = a.distribution();
  return {d.rows.block(), d.cols.block(), d.rows.source(), d.cols.source()};
}

/// to := from, each element converted to To's scalar type. Collective; no messages after the entry
/// check. Preconditions, each an Error on every rank: both on one grid; the same distribution.
template <ExecutionPolicy Exec, class From, class To>
void copy(const Exec& exec, const From& from, To& to) {
  comm::Fingerprint arguments;
  arguments << from.distribution();
  comm::agree_on(from.grid().all(), "copy", arguments.value(), [&] {
    require(from.grid() == to.grid(), "the matrices are on different grids");
    require(from.distribution() == to.distribution(),
            "the matrices have different distributions");
  });
  static_assert(std::is_same_v<typename From::layout, typename To::layout>,
                "plinth: copy wants both matrices in one layout");
  if (!from.grid().active()) return;
  kernel::copy(exec, from.local(), to.local());
  exec.fence();
}

}  // namespace plinth
