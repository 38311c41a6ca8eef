// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <optional>
#include <string>

#include "plinth/comm/agree.hpp"
#include "plinth/comm/communicator.hpp"
#include "plinth/comm/mpi.hpp"
#include "plinth/core/error.hpp"

namespace plinth {

/// A rank among those that share its machine.
struct NodeRank {
  int rank = 0;  ///< from 0
  int size = 1;  ///< how many there are
};

/// Which of the devices of its machine a rank takes.
struct DevicePlacement {
  /// This one, on this rank; nullopt: by the rank's place among those of its machine.
  std::optional<int> device = std::nullopt;
  /// More ranks to a device are refused: they take turns, and share its memory. More than one
  /// also where a launcher shows each rank a device of its own, as if it were the only one.
  int most_ranks_per_device = 1;
};

/// The device that a rank takes by its place: rank r the r-th, where there is one for each; with
/// more ranks than devices neighbours share one, so that no two devices differ by more than one
/// rank.
/// Preconditions, each an Error: devices >= 1; a device that is named exists; no device gets more
/// ranks than allowed, unless it is named.
inline int device_of(NodeRank here, int devices, const DevicePlacement& placement = {}) {
  const auto count = [](int n, const char* what) {
    return std::to_string(n) + ' ' + what + (n == 1 ? "" : "s");
  };
  require(devices >= 1, "this rank sees no device: run on the host, or where there is one");
  if (placement.device) {
    require(*placement.device >= 0 && *placement.device < devices,
            "there is no device " + std::to_string(*placement.device) + ": this rank sees " +
                count(devices, "device") + ", counted from 0");
    return *placement.device;
  }
  const int most = (here.size + devices - 1) / devices;
  require(most <= placement.most_ranks_per_device,
          count(here.size, "rank") + " of one machine for " + count(devices, "device") +
              ": start fewer, or allow " + count(most, "rank") + " per device");
  if (here.size <= devices) return here.rank;
  return static_cast<int>(static_cast<long long>(here.rank) * devices / here.size);
}

/// The rank's place among those of `comm` that share its machine. Collective.
inline NodeRank node_rank(MPI_Comm comm) {
  MPI_Comm machine = MPI_COMM_NULL;
  comm::check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine),
              "MPI_Comm_split_type");
  NodeRank here;
  MPI_Comm_rank(machine, &here.rank);
  MPI_Comm_size(machine, &here.size);
  MPI_Comm_free(&machine);
  return here;
}

/// device_of() for every rank of `comm`: an Error on every rank where there is one on any. To be
/// asked before Kokkos is at work, which has one device per process and takes the number as
/// --kokkos-device-id. `devices`: how many this rank sees. Collective.
inline int choose_device(MPI_Comm comm, int devices, const DevicePlacement& placement = {}) {
  const comm::Communicator all =
      comm::Communicator::duplicate(comm, MPI_INFO_NULL, "plinth placement");
  const NodeRank here = node_rank(comm);
  int device = 0;
  comm::agree_on(all, "choose_device", 0, [&] { device = device_of(here, devices, placement); });
  return device;
}

}  // namespace plinth
