// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>

#include "plinth/comm/agree.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/refine/stored_operator.hpp"

namespace plinth {

/// r := b - A x for m x n A, n x c x and m x c b and r. Collective.
/// Preconditions, each an Error on every rank: A is square with square blocks; one grid; x, b and r
/// have A's rows, dealt like A's rows; x, b and r have the same distribution; enough memory.
/// 2 n^2 c flops; the columns are taken `at_once` at a time. Per piece: one all-to-all along rows
/// each for x in and r out, an allgather along columns, a reduce-scatter along rows.
template <ExecutionPolicy Exec, class Matrix, class Rhs>
void residual(const Exec& exec, const Matrix& a, const Rhs& x, const Rhs& b, Rhs& r,
              Index at_once = 128) {
  using T = typename Matrix::value_type;
  static_assert(std::is_same_v<typename Rhs::value_type, T>, "plinth: residual: one scalar type");

  std::optional<StoredOperator<Exec, Matrix>> product;
  comm::Fingerprint arguments;
  arguments << a.distribution() << b.distribution() << at_once;
  comm::agree_on(a.grid().all(), "residual", arguments.value(), [&] {
    require(
        a.rows() == a.cols() && a.distribution().rows.block() == a.distribution().cols.block(),
        "a square matrix in square blocks wanted");
    require(x.grid() == a.grid() && b.grid() == a.grid() && r.grid() == a.grid(),
            "the operands are on different grids");
    require(x.distribution() == b.distribution() && r.distribution() == b.distribution() &&
                b.distribution().rows == a.distribution().rows,
            "x, b and r must be dealt alike, their rows like A's");
    require(at_once >= 1, "at least one column at once");
    if (!a.grid().active()) return;
    product.emplace(exec, a, std::min(at_once, std::max<Index>(b.cols(), 1)));
  });
  if (!a.grid().active()) return;
  (*product)(x, r, T(-1));
  const auto r_view = r.local();
  const auto b_view = b.local();
  kernel::for_each<typename Rhs::layout>(
      exec, kernel::rows_of(r_view), kernel::cols_of(r_view),
      KOKKOS_LAMBDA(const Index i, const Index j) { r_view(i, j) += b_view(i, j); });
  exec.fence();
}

}  // namespace plinth
