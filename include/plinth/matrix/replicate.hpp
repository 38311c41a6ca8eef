// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <optional>

#include "plinth/comm/agree.hpp"
#include "plinth/matrix/whole_array.hpp"

namespace plinth {

// Whole matrices in plain arrays in host memory, and distributed ones:
//
// | call                                  | does                                              |
// |---------------------------------------|---------------------------------------------------|
// | gather_to(exec, a, root, array)       | array on rank `root` := A                         |
// | scatter_from(exec, root, array, a)    | A := array on rank `root`                         |
// | to_replicated(exec, a, array)         | array := A on every rank of the grid              |
// | from_replicated(exec, array, a)       | A := array, which every rank has; no messages     |

/// array on rank `root` := A. The array is a pointer with a leading dimension (column-major) or a
/// Kokkos View that the host can read, of T or, for a complex T, std::complex; padding is not
/// touched. `root` is a rank of the grid, that is of its communicator; on other ranks the array is
/// ignored. Collective over A's grid.
/// Preconditions, each an Error on every rank: root on the grid; the View has A's shape (one of
/// another shape on one rank alone counts, too); leading dimension >= rows; no null pointer to
/// something; the same call on every rank; enough memory.
/// Memory: 2 NB x local columns elements and an index for each row and column of either side.
/// Messages: those of redistribute(), one side having one process.
template <ExecutionPolicy Exec, class Matrix, ScalarAlias<typename Matrix::value_type> U>
void gather_to(const Exec& exec, const Matrix& a, int root, U* data, Index leading_dimension) {
  move_whole<false>(
      "gather_to", exec, a, root,
      whole_array<typename Matrix::value_type>(data, a.rows(), a.cols(), leading_dimension));
}
/// The same into a View.
template <ExecutionPolicy Exec, class Matrix, class View>
requires(Kokkos::is_view<View>::value) void gather_to(const Exec& exec, const Matrix& a, int root,
                                                      const View& array) {
  move_whole<false>("gather_to", exec, a, root, whole_array<typename Matrix::value_type>(array));
}

/// A := array on rank `root`, see gather_to. Collective.
template <ExecutionPolicy Exec, class Matrix, ScalarAlias<typename Matrix::value_type> U>
void scatter_from(const Exec& exec, int root, const U* data, Index leading_dimension, Matrix& a) {
  move_whole<true>(
      "scatter_from", exec, a, root,
      whole_array<typename Matrix::value_type>(data, a.rows(), a.cols(), leading_dimension));
}
/// The same from a View.
template <ExecutionPolicy Exec, class Matrix, class View>
requires(Kokkos::is_view<View>::value) void scatter_from(const Exec& exec, int root,
                                                         const View& array, Matrix& a) {
  move_whole<true>("scatter_from", exec, a, root,
                   whole_array<typename Matrix::value_type>(array));
}

/// Broadcasts the whole array of rank 0, line by line where there is padding. Collective.
template <class T, class Layout>
void broadcast_whole(const comm::Communicator& all, const WholeArray<T, Layout>& array) {
  const Index length = array.length();
  if (length == 0 || array.lines() == 0) return;
  const bool padded = array.lead != length;
  const Index limit = Index(1) << 27;
  // The ranks may pad differently: all send the same elements.
  const Index at_once = std::max<Index>(1, limit / length);
  for (Index line = 0; line < array.lines(); line += at_once) {
    const int count = static_cast<int>(std::min(at_once, array.lines() - line));
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int lead = padded ? to_int(array.lead, "leading dimension") : static_cast<int>(length);
    comm::check(
        MPI_Type_vector(count, static_cast<int>(length), lead, comm::datatype<T>(), &type),
        "MPI_Type_vector");
    comm::check(MPI_Type_commit(&type), "MPI_Type_commit");
    const int rc = MPI_Bcast(array.data + line * array.lead, 1, type, 0, all.handle());
    MPI_Type_free(&type);
    comm::check(rc, "MPI_Bcast");
  }
}

/// array := A on every rank; a gather, then a broadcast.
template <ExecutionPolicy Exec, class Matrix, class Array>
void replicate(const Exec& exec, const Matrix& a, const Array& array) {
  const ProcessGrid& grid = a.grid();
  comm::agree_on(grid.all(), "to_replicated", 0, [&] {
    if (!grid.active()) return;
    require(array.rows == a.rows() && array.cols == a.cols(),
            "the array and the matrix have different shapes");
    array.check_storage();
    to_int(array.lead, "leading dimension");
  });
  if (!grid.active()) return;
  move_whole<false>("to_replicated", exec, a, 0, array);
  broadcast_whole(grid.all(), array);
}
/// array := A on every rank of the grid, see gather_to. Collective; a gather, then a broadcast.
template <ExecutionPolicy Exec, class Matrix, ScalarAlias<typename Matrix::value_type> U>
void to_replicated(const Exec& exec, const Matrix& a, U* data, Index leading_dimension) {
  replicate(
      exec, a,
      whole_array<typename Matrix::value_type>(data, a.rows(), a.cols(), leading_dimension));
}
/// The same into a View.
template <ExecutionPolicy Exec, class Matrix, class View>
requires(Kokkos::is_view<View>::value) void to_replicated(const Exec& exec, const Matrix& a,
                                                          const View& array) {
  replicate(exec, a, whole_array<typename Matrix::value_type>(array));
}

/// A := array, each process its own part.
template <ExecutionPolicy Exec, class Matrix, class Array>
void take_own_part(const Exec& exec, const Array& array, const Matrix& a) {
  const ProcessGrid& grid = a.grid();
  comm::Communicator self;
  std::optional<WholeArrayMove<true, Exec, Matrix, Array>> move;
  comm::Fingerprint arguments;
  arguments << a.distribution();
  comm::agree_on(grid.all(), "from_replicated", arguments.value(), [&] {
    if (!grid.active()) return;
    require(array.rows == a.rows() && array.cols == a.cols(),
            "the array and the matrix have different shapes");
    array.check_storage();
    // As if this process were alone in the world.
    self = comm::Communicator::duplicate(MPI_COMM_SELF, MPI_INFO_NULL, "plinth self");
    const auto here = [at = grid.coord()](int) { return at; };
    move.emplace(exec, self, a, here, array, 0);
  });
  if (move) (*move)();
}
/// A := array, which every rank has; each takes its own part. Array, preconditions and memory as in
/// gather_to. Collective; no messages after the entry check.
template <ExecutionPolicy Exec, class Matrix, ScalarAlias<typename Matrix::value_type> U>
void from_replicated(const Exec& exec, const U* data, Index leading_dimension, Matrix& a) {
  take_own_part(
      exec, whole_array<typename Matrix::value_type>(data, a.rows(), a.cols(), leading_dimension),
      a);
}
/// The same from a View.
template <ExecutionPolicy Exec, class Matrix, class View>
requires(Kokkos::is_view<View>::value) void from_replicated(const Exec& exec, const View& array,
                                                            Matrix& a) {
  take_own_part(exec, whole_array<typename Matrix::value_type>(array), a);
}

}  // namespace plinth
