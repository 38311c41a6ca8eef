// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <string>

namespace linpack {

/// Bytes that this machine can still give to this process: what Linux takes to be available,
/// within the limit of its control group. Nothing where neither is known.
std::optional<double> available_memory();

/// The most bytes that this process has ever had in memory; 0 where that is not known.
double peak_memory();

/// What to say of a rank whose "machine" or "device" has `available` bytes where more are wanted;
/// empty where they are not.
std::string shortage(const char* whose, double available, double wanted);

/// Collective: why the ranks of some machine cannot have `bytes` each (their sum exceeds what is
/// available there), the same text on every rank; empty if nothing is known to stand against it.
/// Linux hands out memory that it does not have, and ends a process that comes to use it.
std::string memory_shortage(MPI_Comm comm, double bytes);

/// Collective: the same for devices, of which this process's has `available` bytes left, if that is
/// known. Processes that share one are not seen: the one that comes too late gets no memory.
std::string device_memory_shortage(MPI_Comm comm, double bytes,
                                   std::optional<std::size_t> available);

/// Collective: the text of the lowest rank that has one, with its rank before it; empty if none.
std::string first_complaint(MPI_Comm comm, const std::string& mine);

}  // namespace linpack
