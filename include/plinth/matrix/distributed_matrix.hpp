// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "plinth/comm/agree.hpp"
#include "plinth/comm/grid.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/matrix/distribution.hpp"
#include "plinth/policy/memory.hpp"

namespace plinth {

/// The edge of a block for a matrix with so many rows, where the caller names none: narrow blocks
/// factor small systems faster (less of the work is in panels), wide ones large systems (less of
/// it in messages and interchanges). It depends on nothing else, so that vectors are dealt like the
/// rows of their matrix.
constexpr Index default_block(Index rows) {
  if (rows <= 384) return 32;
  return rows <= 6000 ? 64 : 128;
}

/// How a matrix is cut and where it begins.
struct MatrixLayoutOptions {
  std::optional<Index> mb = std::nullopt;  ///< rows of a block; nullopt: default_block(rows)
  std::optional<Index> nb = std::nullopt;  ///< columns of a block; nullopt: as many
  int source_row = 0;  ///< process row that owns the first block row
  int source_col = 0;  ///< process column that owns the first block column
  /// The leading dimension of a matrix that owns its storage is a multiple of so many elements, as
  /// small as fits, but no multiple of a page of 4096 bytes where that can be: neighbouring lines
  /// would fall into the same cache sets. At least 1; nullopt: whole cache lines of 64 bytes.
  std::optional<Index> align = std::nullopt;
};

/// An m x n matrix, dealt block-cyclically to a process grid. This process's part is one View.
///
/// | parameter | meaning                                                                       |
/// |-----------|-------------------------------------------------------------------------------|
/// | T         | scalar type                                                                   |
/// | Memory    | where the local part lives (policy/memory.hpp)                                |
/// | Layout    | LayoutRight: rows contiguous, the fastest for LU (row interchanges are plain  |
/// |           | copies). LayoutLeft: columns contiguous, as ScaLAPACK stores them             |
///
/// A matrix either owns its storage or wraps the caller's. Move-only: a copy of a distributed
/// matrix is never made by accident (see copy(), matrix/copy.hpp).
template <Scalar T, MemoryPolicy Memory = HostMemory,
          kernel::MatrixLayout Layout = Kokkos::LayoutRight>
class DistributedMatrix {
 public:
  using value_type = T;  ///< of the elements
  using memory = Memory;  ///< where they live
  using layout = Layout;  ///< which index is contiguous
  /// Of the local part.
  using View = kernel::MatrixView<T, Layout, typename Memory::space>;

  /// Owning, uninitialised. Collective. Preconditions, each an Error on every rank of the grid:
  /// Kokkos is initialized; rows, cols >= 0; positive block sizes; source on the grid; positive
  /// alignment; the same arguments on every rank; enough memory on every rank (kind memory).
  DistributedMatrix(const ProcessGrid& grid, Index rows, Index cols,
                    const MatrixLayoutOptions& options = {})
      : grid_(grid) {
    construct(rows, cols, options, [&] {
      const Extents mine = local_extents();
      const Index lead = padded(is_row_major ? mine.cols : mine.rows, options.align);
      const Index lines = is_row_major ? mine.rows : mine.cols;
      constexpr Index most = std::numeric_limits<Index>::max() / static_cast<Index>(sizeof(T));
      if (lines > most / lead)
        throw Error("the local part does not fit an address space", ErrorKind::memory);
      owner_ = Memory::allocate(static_cast<std::size_t>(lead * lines) * sizeof(T));
      set_view(static_cast<T*>(owner_.get()), lead);
    });
  }

  /// Wraps storage of the caller's, which must outlive the matrix: `local` points to this process's
  /// first element, `leading_dimension` is the distance between columns (LayoutLeft) or rows
  /// (LayoutRight). Padding is never read or written. Collective. Preconditions, each an Error on
  /// every rank: those of the owning constructor; the block size is named; leading_dimension >=
  /// local rows (LayoutLeft) or local columns (LayoutRight); local is not null unless this process
  /// owns nothing, and aligned for T.
  DistributedMatrix(const ProcessGrid& grid, Index rows, Index cols,
                    const MatrixLayoutOptions& options, T* local, Index leading_dimension)
      : grid_(grid) {
    construct(rows, cols, options, [&] {
      const Extents mine = local_extents();
      require(options.mb.has_value(), "how the storage is cut must be named (mb, nb)");
      const Index least = is_row_major ? mine.cols : mine.rows;
      require(leading_dimension >= least, "leading dimension " +
                                              std::to_string(leading_dimension) +
                                              " is less than " + std::to_string(least));
      require(local != nullptr || mine.rows == 0 || mine.cols == 0,
              "the local pointer is null, but this process owns elements");
      require(reinterpret_cast<std::uintptr_t>(local) % alignof(T) == 0,
              "the local pointer is not aligned");
      set_view(local, std::max<Index>(leading_dimension, 1));
    });
  }
  /// The same for storage that the caller holds as std::complex.
  template <class U>
  requires(ScalarTraits<T>::is_complex&& std::is_same_v<U, std::complex<RealOf<T>>>)
      DistributedMatrix(const ProcessGrid& grid, Index rows, Index cols,
                        const MatrixLayoutOptions& options, U* local, Index leading_dimension)
      : DistributedMatrix(grid, rows, cols, options, reinterpret_cast<T*>(local),
                          leading_dimension) {}

  /// Moved from, a matrix may only be assigned to or destroyed: collective calls with it throw
  /// Error, on the ranks that moved it.
  DistributedMatrix(DistributedMatrix&&) noexcept = default;
  /// Likewise.
  DistributedMatrix& operator=(DistributedMatrix&&) noexcept = default;

  /// The processes it is dealt to.
  const ProcessGrid& grid() const { return grid_; }
  /// How it is dealt.
  const Distribution& distribution() const { return distribution_; }
  /// Global number of rows.
  Index rows() const { return distribution_.rows.size(); }
  /// Global number of columns.
  Index cols() const { return distribution_.cols.size(); }
  /// Rows and columns that this process owns; 0 x 0 on an idle rank.
  Extents local_extents() const {
    return grid_.active() ? distribution_.local_extents(grid_.coord()) : Extents{};
  }
  /// This process's part, local_extents() in size. Elements are for kernels: host code may touch
  /// them only if Memory::host_accessible.
  const View& local() const { return view_; }
  /// Global row of a local one.
  Index global_row(Index local_row) const {
    return distribution_.rows.global(local_row, grid_.coord().row);
  }
  /// Global column of a local one.
  Index global_col(Index local_col) const {
    return distribution_.cols.global(local_col, grid_.coord().col);
  }

 private:
  static constexpr bool is_row_major = kernel::is_row_major<Layout>;

  /// Checks the arguments and makes the local part, agreeing on the outcome.
  template <class MakeLocal>
  void construct(Index rows, Index cols, const MatrixLayoutOptions& o, MakeLocal&& make_local) {
    const GridShape shape = grid_.shape();
    const Index mb = o.mb.value_or(default_block(rows));
    const Index nb = o.nb.value_or(mb);
    const auto distribute = [&] {
      require(Kokkos::is_initialized(),
              "Kokkos is not initialized; call Kokkos::initialize(argc, argv) first");
      distribution_ = {BlockCyclic(rows, mb, shape.rows, o.source_row),
                       BlockCyclic(cols, nb, shape.cols, o.source_col)};
      require(!o.align || *o.align >= 1, "the alignment must be at least 1");
      if (o.align) to_int(*o.align, "alignment");
    };
    if (!grid_.active()) return distribute();
    const auto arguments = comm::Fingerprint() << rows << cols << mb << nb << o.source_row
                                               << o.source_col << o.align.value_or(0);
    comm::agree_on(grid_.all(), "DistributedMatrix", arguments.value(), [&] {
      distribute();
      make_local();
    });
  }
  /// The leading dimension for lines of so many elements.
  static Index padded(Index length, std::optional<Index> align) {
    constexpr Index line = 64 / static_cast<Index>(sizeof(T) < 64 ? sizeof(T) : 64);
    const Index unit = align.value_or(line);
    const auto fills_pages = [](Index elements) {
      return elements * static_cast<Index>(sizeof(T)) % 4096 == 0;
    };
    const Index lead = std::max<Index>(1, ceil_div(length, unit)) * unit;
    return fills_pages(lead) && !fills_pages(unit) ? lead + unit : lead;
  }
  void set_view(T* data, Index lead) {
    const Extents mine = local_extents();
    view_ = kernel::wrap<Layout, typename Memory::space>(data, mine.rows, mine.cols, lead);
  }

  ProcessGrid grid_;
  Distribution distribution_;
  std::shared_ptr<void> owner_;
  View view_;
};

/// A distribution's part in the fingerprint of a call.
inline comm::Fingerprint& operator<<(comm::Fingerprint& print, const Distribution& d) {
  for (const BlockCyclic& map : {d.rows, d.cols})
    print << map.size() << map.block() << map.processes() << map.source();
  return print;
}

}  // namespace plinth
