// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>

#include "plinth/comm/agree.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/matrix/redistribution.hpp"

namespace plinth {

/// How redistribute() communicates.
struct RedistributeOptions {
  /// To how many processes at a time each sends; 0: chosen by the size of the messages.
  int at_once = 0;
};

/// Whether two grids were made on communicators of the same processes in the same order.
inline bool same_processes(const ProcessGrid& a, const ProcessGrid& b) {
  int result = MPI_UNEQUAL;
  comm::check(MPI_Comm_compare(a.parent().handle(), b.parent().handle(), &result),
              "MPI_Comm_compare");
  return result == MPI_IDENT || result == MPI_CONGRUENT;
}

/// A distributed matrix as a side of a redistribution.
template <ExecutionPolicy Exec, class Matrix>
auto redistribution_side(const Exec& exec, const Matrix& a) {
  using View = typename Matrix::View;
  return RedistributionSide<Exec, View>{
      exec, a.distribution(), [grid = a.grid()](int rank) { return grid.coord_of(rank); },
      a.local()};
}

/// B := A, whatever the block sizes, source processes, layouts, and shapes and sizes of the grids.
/// Collective over the communicator that the grids were made on, ranks that are idle on one or both
/// of them included.
/// Preconditions, each an Error on every rank: both grids made on communicators of the same
/// processes in the same order; A and B of one shape; their storage is not the same; at_once >= 0;
/// the same call on every rank; enough memory.
/// Memory: 2 NB x local columns elements, NB the larger of both row block sizes, and an index for
/// each local row and column. Messages: at most one per pair of processes that have something for
/// one another and NB/k rows of it (k: at_once); algorithm: matrix/redistribution.hpp.
template <ExecutionPolicy Exec, class From, class To>
void redistribute(const Exec& exec, const From& a, To& b,
                  const RedistributeOptions& options = {}) {
  static_assert(std::is_same_v<typename From::value_type, typename To::value_type>,
                "plinth: redistribute wants both matrices of one scalar type");
  static_assert(std::is_same_v<typename From::memory, typename Exec::memory> &&
                    std::is_same_v<typename To::memory, typename Exec::memory>,
                "plinth: A and B must live in the memory of the execution policy");
  using T = typename To::value_type;
  const comm::Communicator& all = a.grid().parent();
  const Distribution &from = a.distribution(), &to = b.distribution();
  const auto make = [&] {
    const Index lines = std::max(from.rows.block(), to.rows.block());
    const Index max_message =
        std::min(a.grid().options().max_message, b.grid().options().max_message);
    return Redistribution(all, redistribution_side(exec, a), redistribution_side(exec, b),
                          redistribution_room(from, to, lines, sizeof(T), all.size(),
                                              options.at_once, max_message));
  };
  std::optional<decltype(make())> move;
  comm::Fingerprint arguments;
  arguments << from << to << options.at_once;
  comm::agree_on(all, "redistribute", arguments.value(), [&] {
    require(same_processes(a.grid(), b.grid()),
            "the grids are not on the same processes in the same order");
    require(a.rows() == b.rows() && a.cols() == b.cols(),
            "A is " + std::to_string(a.rows()) + " x " + std::to_string(a.cols()) + ", B is " +
                std::to_string(b.rows()) + " x " + std::to_string(b.cols()));
    require(a.local().size() == 0 || a.local().data() != b.local().data(),
            "A and B have the same storage");
    require(options.at_once >= 0, "at_once must not be negative");
    move.emplace(make());
  });
  (*move)({0, a.cols()});
}

}  // namespace plinth
