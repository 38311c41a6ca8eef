// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "plinth/comm/agree.hpp"
#include "plinth/comm/communicator.hpp"
#include "plinth/comm/mpi.hpp"
#include "plinth/comm/transport.hpp"
#include "plinth/core/error.hpp"
#include "plinth/core/index.hpp"
#include "plinth/policy/layout.hpp"
#include "plinth/policy/memory.hpp"
#include "plinth/policy/transport.hpp"

namespace plinth {

/// How a grid communicates.
struct GridOptions {
  /// Hints for the communicators that carry panels along process rows.
  MPI_Info row_info = MPI_INFO_NULL;
  /// Hints for the communicators that carry rows and pivots along process columns.
  MPI_Info column_info = MPI_INFO_NULL;
  /// Longest message of panels, rows and pivots in bytes; longer ones are sent in pieces (but for
  /// MPI's own reductions). At most 2^30, at least 1.
  Index max_message = Index(1) << 30;
  /// Of matrices that the host does not reach: whether MPI is given their memory.
  Transport transport = Transport::staged;
};

/// P x Q processes and the communicators that a distributed matrix needs: one per phase, so that
/// messages of different phases never meet. A handle: copies share the communicators, which are
/// freed with the last copy.
///
/// Ranks of the parent beyond P Q are idle: active() is false, they own nothing, and public calls
/// return at once on them. Moved from, a grid throws Error when it is asked for anything, on
/// this rank alone, because it has no others any more.
class ProcessGrid {
 public:
  /// Collective over `parent`, which is duplicated.
  /// Preconditions, each an Error on all ranks of `parent`: MPI is initialized; a valid
  /// communicator; a valid layout that fits its size; the same layout and options on every rank.
  template <GridLayout Layout>
  ProcessGrid(MPI_Comm parent, const Layout& layout, const GridOptions& options = {}) {
    require(mpi_is_usable(), "ProcessGrid: MPI is not initialized; call MPI_Init first");
    require(parent != MPI_COMM_NULL, "ProcessGrid: the communicator is MPI_COMM_NULL");
    auto impl = std::make_shared<Impl>();
    impl->options = options;
    impl->parent = comm::Communicator::duplicate(parent, MPI_INFO_NULL, "plinth parent");
    require_same_everywhere(impl->parent, layout, options);
    require(layout.valid(), "ProcessGrid: the layout is not a valid P x Q grid");
    const GridShape shape = layout.shape();
    const Index wanted = Index(shape.rows) * shape.cols;
    require(wanted <= impl->parent.size(),
            "ProcessGrid: a " + std::to_string(shape.rows) + " x " + std::to_string(shape.cols) +
                " grid needs " + std::to_string(wanted) + " ranks, the communicator has " +
                std::to_string(impl->parent.size()) +
                (impl->parent.size() > 1 ? "" : " (was it started by the mpirun of its own MPI?)"));
    require(options.max_message >= 1 && options.max_message <= (Index(1) << 30),
            "ProcessGrid: max_message must lie in [1, 2^30] bytes");
    impl->shape = shape;
    const int rank = impl->parent.rank();
    impl->active = rank < shape.size();
    impl->coord = impl->active ? GridCoord(layout.coord(rank)) : GridCoord{-1, -1};
    impl->place = [layout](int r) { return GridCoord(layout.coord(r)); };
    impl->connect();
    if (options.transport != Transport::staged) impl->ask_mpi();
    impl_ = std::move(impl);
  }

  GridShape shape() const { return impl().shape; }  ///< P x Q
  /// This process's place; (-1, -1) on an idle rank.
  GridCoord coord() const { return impl().coord; }
  /// Whether this process has a place on the grid.
  bool active() const { return impl().active; }
  /// Place of a rank of parent(); (-1, -1) for an idle one.
  GridCoord coord_of(int rank) const {
    return rank < impl().shape.size() ? impl().place(rank) : GridCoord{-1, -1};
  }
  /// As they were given.
  const GridOptions& options() const { return impl().options; }
  /// Whether MPI is given `Memory` itself, which the host does not reach; else what is staged for
  /// it. The same on every rank: no communication.
  /// Error: not with Transport::direct if MPI does not read it.
  template <MemoryPolicy Memory>
  bool is_direct() const {
    const Transport wanted = options().transport;
    if (Memory::host_accessible || wanted == Transport::staged) return false;
    bool can = comm::is_device_memory<Memory> && impl().mpi_reads_device;
    if constexpr (requires { Memory::mpi_reads(); }) can = Memory::mpi_reads();
    if (!can && wanted == Transport::direct)
      throw Error("Transport::direct: " + comm::mpi_name() +
                  " does not say that it reads the memory of this device: use "
                  "Transport::staged, or an MPI that was built for such devices and is told to "
                  "use them");
    return can;
  }

  /// All processes of the communicator that the grid was made on, idle ones included. Carries what
  /// moves between grids.
  const comm::Communicator& parent() const { return impl().parent; }
  /// All P Q processes, in the parent's order: the first P Q ranks of parent().
  const comm::Communicator& all() const { return impl().all; }
  /// This process row; rank = process column. Carries panels.
  const comm::Communicator& row() const { return impl().row; }
  /// This process row; carries vectors of substitutions and residuals.
  const comm::Communicator& row_vectors() const { return impl().row_vectors; }
  /// This process column; rank = process row. Carries pivot reductions.
  const comm::Communicator& column_pivots() const { return impl().column_pivots; }
  /// This process column; carries rows that are interchanged.
  const comm::Communicator& column_rows() const { return impl().column_rows; }
  /// This process column; carries vectors of substitutions and residuals.
  const comm::Communicator& column_vectors() const { return impl().column_vectors; }

  /// Whether both are handles of one grid.
  bool operator==(const ProcessGrid& other) const { return &impl() == &other.impl(); }

 private:
  struct Impl {
    GridShape shape;
    GridCoord coord;
    GridOptions options;
    bool active = false;
    bool mpi_reads_device = false;  ///< that of Kokkos, on every rank; asked unless staged
    std::function<GridCoord(int)> place;
    comm::Communicator parent, all, row, row_vectors, column_pivots, column_rows, column_vectors;

    void connect() {
      using comm::Communicator;
      all = Communicator::split(parent.handle(), active ? 0 : MPI_UNDEFINED, parent.rank(),
                                "plinth grid");
      if (!active) return;
      row = hinted(coord.row, coord.col, options.row_info, "plinth row panels");
      column_rows = hinted(coord.col, coord.row, options.column_info, "plinth column rows");
      row_vectors = Communicator::duplicate(row.handle(), MPI_INFO_NULL, "plinth row vectors");
      column_pivots = Communicator::duplicate(column_rows.handle(), options.column_info,
                                              "plinth column pivots");
      column_vectors =
          Communicator::duplicate(column_rows.handle(), MPI_INFO_NULL, "plinth column vectors");
    }
    void ask_mpi() {
      int reads = comm::mpi_reads(comm::kokkos_device) ? 1 : 0;
      comm::check(MPI_Allreduce(MPI_IN_PLACE, &reads, 1, MPI_INT, MPI_MIN, parent.handle()),
                  "MPI_Allreduce");
      mpi_reads_device = reads != 0;
    }
    comm::Communicator hinted(int color, int key, MPI_Info info, const char* name) const {
      auto plain = comm::Communicator::split(all.handle(), color, key, name);
      if (info == MPI_INFO_NULL) return plain;
      return comm::Communicator::duplicate(plain.handle(), info, name);
    }
  };

  static bool mpi_is_usable() {
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    return initialized != 0 && finalized == 0;
  }

  template <class Layout>
  static void require_same_everywhere(const comm::Communicator& parent, const Layout& layout,
                                      const GridOptions& options) {
    const GridShape shape = layout.shape();
    auto arguments = comm::Fingerprint() << shape.rows << shape.cols << (layout.valid() ? 1 : 0)
                                         << options.max_message
                                         << static_cast<Index>(options.transport);
    if (layout.valid() && Index(shape.rows) * shape.cols <= parent.size())
      for (int rank = 0; rank < shape.size(); ++rank)
        arguments << layout.coord(rank).row << layout.coord(rank).col;
    comm::agree(parent, "ProcessGrid", {}, arguments.value());
  }

  const Impl& impl() const {
    if (impl_ == nullptr)
      throw Error("a ProcessGrid, or a matrix on one, is used that was moved from: such a one may "
                  "only be assigned to or destroyed (lu_factor takes its matrix away)");
    return *impl_;
  }

  std::shared_ptr<const Impl> impl_;
};

}  // namespace plinth
