// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "plinth/comm/grid.hpp"
#include "plinth/lu/factors.hpp"
#include "plinth/lu/lu_solve.hpp"
#include "plinth/matrix/distributed_matrix.hpp"

/// Storage and calls of ScaLAPACK's programs, without ScaLAPACK or the BLACS: the caller gives the
/// communicator and the grid. Indices in calls are ScaLAPACK's, counted from 1.
namespace plinth::scalapack {

/// An array descriptor; its entries in order.
using Descriptor = std::array<int, 9>;
/// Index of an entry of a descriptor, named as in ScaLAPACK's documents.
enum Entry { dtype, context, m, n, mb, nb, rsrc, csrc, lld };

/// A matrix in column-major storage, as ScaLAPACK keeps it.
template <class T>
using Matrix = DistributedMatrix<T, HostMemory, Kokkos::LayoutLeft>;

/// The scalar type that std::complex stands for; others stand for themselves.
template <class U>
struct ScalarOf {
  using type = U;  ///< U itself
};
/// Its storage is that of Kokkos::complex.
template <class R>
struct ScalarOf<std::complex<R>> {
  using type = Kokkos::complex<R>;  ///< the type that the library computes with
};

/// The descriptor of a matrix in column-major storage, whose local part a.local().data() begins.
/// `blacs_context` is copied: the BLACS context of the same grid, which the caller has. Local.
/// Precondition, an Error: sizes that fit a 32-bit int.
template <class T, MemoryPolicy Memory>
Descriptor descriptor(const DistributedMatrix<T, Memory, Kokkos::LayoutLeft>& a,
                      int blacs_context) {
  const BlockCyclic &rows = a.distribution().rows, &cols = a.distribution().cols;
  return {1,
          blacs_context,
          to_int(rows.size(), "rows"),
          to_int(cols.size(), "columns"),
          to_int(rows.block(), "block rows"),
          to_int(cols.block(), "block columns"),
          rows.source(),
          cols.source(),
          to_int(std::max<Index>(1, kernel::leading_dimension(a.local())), "leading dimension")};
}

/// A part of a distributed array: m x n from row ia and column ja on.
struct Part {
  Index rows = 0, cols = 0, ia = 1, ja = 1;
};

/// What is wrong with a part and its descriptor, as PxxCHK says it: 0 for nothing, 100 d + e for
/// entry e of a descriptor that is argument d, else the argument itself. `args`: the numbers of
/// rows, cols, pointer, ia, ja and the descriptor in the argument list.
struct PartArguments {
  int rows, cols, pointer, ia, ja, descriptor;
};
/// The first fault, in the order of PxxCHK's checks.
inline int fault_of(const ProcessGrid& grid, const Part& part, const void* local, const int* desc,
                    const PartArguments& args) {
  const auto entry = [&](Entry e) { return 100 * args.descriptor + e + 1; };
  const GridShape shape = grid.shape();
  if (desc == nullptr) return args.descriptor;
  if (desc[dtype] != 1) return entry(dtype);
  if (part.rows < 0) return args.rows;
  if (part.cols < 0) return args.cols;
  if (part.ia < 1) return args.ia;
  if (part.ja < 1) return args.ja;
  for (const Entry e : {m, n})
    if (desc[e] < 0) return entry(e);
  for (const Entry e : {mb, nb})
    if (desc[e] < 1) return entry(e);
  if (desc[rsrc] < 0 || desc[rsrc] >= shape.rows) return entry(rsrc);
  if (desc[csrc] < 0 || desc[csrc] >= shape.cols) return entry(csrc);
  if (part.rows > 0 && part.ia - 1 + part.rows > desc[m]) return entry(m);
  if (part.cols > 0 && part.ja - 1 + part.cols > desc[n]) return entry(n);
  if ((part.ia - 1) % desc[mb] != 0) return args.ia;
  if ((part.ja - 1) % desc[nb] != 0) return args.ja;
  if (!grid.active()) return 0;
  const BlockCyclic rows(desc[m], desc[mb], shape.rows, desc[rsrc]);
  const BlockCyclic cols(desc[n], desc[nb], shape.cols, desc[csrc]);
  const Index local_rows = rows.local_size(grid.coord().row);
  if (desc[lld] < std::max<Index>(1, local_rows)) return entry(lld);
  const bool owns = local_rows > 0 && cols.local_size(grid.coord().col) > 0;
  return local == nullptr && owns ? args.pointer : 0;
}

/// The first local row and column of a part on this process.
inline Extents first_local(const ProcessGrid& grid, const Part& part, const int* desc) {
  const auto first = [](Index at, Index size, int block, int processes, int source, int me) {
    return BlockCyclic(size, block, processes, source).first_local(std::min(at, size), me);
  };
  const GridShape shape = grid.shape();
  return {first(part.ia - 1, desc[m], desc[mb], shape.rows, desc[rsrc], grid.coord().row),
          first(part.ja - 1, desc[n], desc[nb], shape.cols, desc[csrc], grid.coord().col)};
}

/// A part without faults, in place. Collective.
template <class T>
Matrix<T> wrap_checked(const ProcessGrid& grid, const Part& part, T* local, const int* desc) {
  const GridShape shape = grid.shape();
  const MatrixLayoutOptions options{
      .mb = desc[mb],
      .nb = desc[nb],
      .source_row = static_cast<int>((desc[rsrc] + (part.ia - 1) / desc[mb]) % shape.rows),
      .source_col = static_cast<int>((desc[csrc] + (part.ja - 1) / desc[nb]) % shape.cols)};
  if (grid.active() && local != nullptr) {
    const Extents first = first_local(grid, part, desc);
    local += first.rows + first.cols * desc[lld];
  }
  return Matrix<T>(grid, part.rows, part.cols, options, local, desc[lld]);
}

/// What an argument that is at fault is called.
inline std::string name_of(int fault, const std::vector<const char*>& names) {
  static constexpr const char* entries[] = {"DTYPE", "CTXT", "M",    "N",  "MB",
                                            "NB",    "RSRC", "CSRC", "LLD"};
  const int argument = fault >= 100 ? fault / 100 : fault;
  std::string text = names.at(static_cast<std::size_t>(argument - 1));
  if (fault >= 100) text += std::string(", entry ") + entries[(fault % 100 - 1) % 9] + ",";
  return text;
}

/// The matrix in storage of ScaLAPACK's: rows x cols of the array that `desc` describes, from row
/// ia and column ja on (counted from 1), used in place; `local` is this process's part of the whole
/// array. Padding and the rest of the array are not touched. T: any scalar type, or std::complex.
/// Collective over the grid, which has shape and order of the BLACS grid (a row-major one is
/// RowMajorGrid).
/// Preconditions, each an Error on every rank: a descriptor with DTYPE 1, sizes >= 0, blocks >= 1,
/// its source on the grid, LLD >= local rows; the part lies in the array, and begins with a block;
/// local is not null unless this process owns nothing; the same call on every rank.
template <class U>
auto wrap(const ProcessGrid& grid, Index rows, Index cols, U* local, Index ia, Index ja,
          const int* desc) {
  using T = typename ScalarOf<U>::type;
  T* const data = reinterpret_cast<T*>(local);
  const Part part{rows, cols, ia, ja};
  comm::Fingerprint arguments;
  arguments << rows << cols << ia << ja;
  if (desc != nullptr)
    for (int e = m; e < lld; ++e) arguments << desc[e];
  comm::agree_on(grid.all(), "scalapack::wrap", arguments.value(), [&] {
    const int fault = fault_of(grid, part, data, desc, {2, 3, 4, 5, 6, 7});
    if (fault != 0)
      throw Error(name_of(fault, {"grid", "rows", "cols", "local", "ia", "ja", "desc"}) +
                  " has an illegal value");
  });
  return wrap_checked(grid, part, data, desc);
}

/// Solves A X = B as ScaLAPACK's pxGESV does, in the caller's storage, arguments in its order:
/// A(ia:ia+n-1, ja:ja+n-1) becomes L and U, B(ib:ib+n-1, jb:jb+nrhs-1) becomes X, and ipiv holds
/// for each local row of the array A that belongs to the part the row (of the array, from 1) that
/// it was interchanged with; room for the local rows of the array A. T: float, double, their
/// complex types, std::complex. Collective over the grid, which stands for the BLACS context;
/// ranks beyond it return at once.
/// info = 0: solved; k > 0: U(k, k) is exactly zero, A is factored and B kept.
/// Preconditions, each an Error on every rank, after info was set as pxGESV would, to -i for the
/// i-th of its arguments and -(100 i + j) for the j-th entry of a descriptor: those of wrap() for A
/// and B; square blocks of A (-606); n >= 0, nrhs >= 0; B's rows begin in A's process row (-9) and
/// are dealt in A's blocks (-1106); one context (-1102); ipiv not null (-7); what is global is the
/// same on every rank. Memory: an Error, as in lu_factor and lu_solve.
/// (2/3) n^3 + 2 n^2 nrhs flops.
template <class U>
requires(BlasScalar<typename ScalarOf<U>::type>) void pgesv(const ProcessGrid& grid, int n_,
                                                            int nrhs, U* a, int ia, int ja,
                                                            const int* desca, int* ipiv, U* b,
                                                            int ib, int jb, const int* descb,
                                                            int& info) {
  using T = typename ScalarOf<U>::type;
  info = 0;
  if (!grid.active()) return;
  const Part part_a{n_, n_, ia, ja}, part_b{n_, nrhs, ib, jb};
  const auto fault = [&] {
    if (const int f = fault_of(grid, part_a, a, desca, {1, 1, 3, 4, 5, 6})) return f;
    if (const int f = fault_of(grid, part_b, b, descb, {1, 2, 8, 9, 10, 11})) return f;
    if (desca[mb] != desca[nb]) return 600 + nb + 1;
    const auto row = [&](int i, const int* d) {
      return (d[rsrc] + (i - 1) / d[mb]) % grid.shape().rows;
    };
    if (descb[mb] != desca[nb]) return 1100 + nb + 1;
    if (row(ia, desca) != row(ib, descb)) return 9;
    if (desca[context] != descb[context]) return 1100 + context + 1;
    return ipiv == nullptr ? 7 : 0;
  };
  // The fault (as a negative number), and each argument that must be the same everywhere.
  std::vector<std::pair<int, Index>> global{{1, n_}, {2, nrhs}, {4, ia},
                                            {5, ja}, {9, ib},   {10, jb}};
  for (const auto& [number, desc] : {std::pair(6, desca), std::pair(11, descb)})
    for (int e = m; e < lld; ++e) global.emplace_back(100 * number + e + 1, desc ? desc[e] : 0);
  std::vector<Index> low{-fault()};
  for (const auto& [code, value] : global) low.insert(low.end(), {value, -value});
  comm::check(MPI_Allreduce(MPI_IN_PLACE, low.data(), static_cast<int>(low.size()), MPI_INT64_T,
                            MPI_MIN, grid.all().handle()),
              "MPI_Allreduce");
  info = static_cast<int>(low[0]);
  for (std::size_t k = 0; k < global.size() && info == 0; ++k)
    if (low[2 * k + 1] != -low[2 * k + 2]) info = -global[k].first;
  if (info < 0)
    throw Error("pgesv: " +
                name_of(-info, {"n", "nrhs", "a", "ia", "ja", "desca", "ipiv", "b", "ib", "jb",
                                "descb"}) +
                " has an illegal value (info = " + std::to_string(info) + ")");

  const HostExecution<> exec;
  const auto factors =
      lu_factor(exec, wrap_checked(grid, part_a, reinterpret_cast<T*>(a), desca));
  const std::vector<Index>& pivots = factors.pivots().local();
  int* const first = ipiv + first_local(grid, part_a, desca).rows;
  std::transform(pivots.begin(), pivots.end(), first,
                 [&](Index row) { return static_cast<int>(row) + ia; });
  if (const auto zero = factors.first_zero_pivot()) {
    info = static_cast<int>(*zero) + 1;
    return;
  }
  Matrix<T> x = wrap_checked(grid, part_b, reinterpret_cast<T*>(b), descb);
  lu_solve(exec, factors, x);
}

/// The same with a grid made for this call: the first P Q ranks of `communicator`, in the order of
/// the layout. Collective over the communicator.
template <GridLayout Layout, class U>
requires(BlasScalar<typename ScalarOf<U>::type>) void pgesv(
    MPI_Comm communicator, const Layout& layout, int n_, int nrhs, U* a, int ia, int ja,
    const int* desca, int* ipiv, U* b, int ib, int jb, const int* descb, int& info) {
  pgesv(ProcessGrid(communicator, layout), n_, nrhs, a, ia, ja, desca, ipiv, b, ib, jb, descb,
        info);
}

}  // namespace plinth::scalapack
