// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <optional>
#include <string>

namespace linpack {

/// Bytes that this machine can still give to this process: what Linux takes to be available,
/// within the limit of its control group. Nothing where neither is known.
std::optional<double> available_memory();

/// The most bytes that this process has ever had in memory; 0 where that is not known.
double peak_memory();

/// Collective: why the ranks of some machine cannot have `bytes` each (their sum exceeds what is
/// available there), the same text on every rank; empty if nothing is known to stand against it.
/// Linux hands out memory that it does not have, and ends a process that comes to use it.
std::string memory_shortage(MPI_Comm comm, double bytes);

/// Collective: the text of the lowest rank that has one, with its rank before it; empty if none.
std::string first_complaint(MPI_Comm comm, const std::string& mine);

}  // namespace linpack
