// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <type_traits>

#include "plinth/comm/agree.hpp"
#include "plinth/comm/reduce.hpp"
#include "plinth/kernel/convert_view.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/matrix/distributed_matrix.hpp"

namespace plinth {

/// The layout options that give another matrix the distribution of `a`.
template <class Matrix>
MatrixLayoutOptions layout_of(const Matrix& a) {
  const Distribution& d = a.distribution();
  return {d.rows.block(), d.cols.block(), d.rows.source(), d.cols.source()};
}

/// What copy() and convert() ask of their matrices; collective.
template <class From, class To>
void agree_on_copy(const char* call, const From& from, const To& to, int exponent = 0) {
  static_assert(std::is_same_v<typename From::layout, typename To::layout>,
                "plinth: copy wants both matrices in one layout");
  comm::Fingerprint arguments;
  arguments << from.distribution() << exponent;
  comm::agree_on(from.grid().all(), call, arguments.value(), [&] {
    require(from.grid() == to.grid(), "the matrices are on different grids");
    require(from.distribution() == to.distribution(),
            "the matrices have different distributions");
    require(exponent >= -120 && exponent <= 120, "the exponent must lie in [-120, 120]");
  });
}

/// to := from, each element converted to To's scalar type. Collective; no messages after the entry
/// check. Preconditions, each an Error on every rank: both on one grid; the same distribution.
template <ExecutionPolicy Exec, class From, class To>
void copy(const Exec& exec, const From& from, To& to) {
  agree_on_copy("copy", from, to);
  if (!from.grid().active()) return;
  kernel::copy(exec, from.local(), to.local());
  exec.fence();
}

/// to := from 2^exponent, rounded once to To's real scalar type; returns what that lost, on every
/// process over all of them (nothing on idle ranks). Collective; one allreduce. Preconditions, each
/// an Error on every rank: those of copy(); exponent in [-120, 120]. Kernels must run on the host.
template <ExecutionPolicy Exec, class From, class To>
kernel::NarrowingCounts convert(const Exec& exec, const From& from, To& to, int exponent = 0) {
  agree_on_copy("convert", from, to, exponent);
  if (!from.grid().active()) return {};
  auto counts = kernel::convert(exec, from.local(), to.local(), std::ldexp(1.0, exponent));
  comm::sum_of_all(from.grid().all(), counts);
  return counts;
}

}  // namespace plinth
