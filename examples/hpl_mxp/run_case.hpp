// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "linpack/config.hpp"
#include "linpack/result.hpp"

namespace hpl_mxp {

/// Solves the system of a case on a P x Q grid: fills a matrix in the precision of the LU, factors
/// it without pivoting, and refines the solution in FP64 with A regenerated; then checks x against
/// A and b generated anew. Collective over `comm`, ranks beyond P x Q included. Returns
/// on every rank the same verdict, reason, seconds and norms; steps and mixed, but for FP64's part,
/// are right on the ranks of the grid only, to which rank 0, which reports, belongs.
///
/// Timed: everything from filling to the solution, from a barrier on, the longest of all ranks.
/// All memory that grows with N^2 or NB is allocated before. Skipped, with the reason: a system
/// for which some rank has no memory, one that the precision cannot hold, one with a zero pivot,
/// one whose condition number no matrix of its order has. A run without refinement fails, checked
/// or not.
/// Precondition: effective(c) == c.
linpack::Result run_case(MPI_Comm comm, const linpack::Case& c);

}  // namespace hpl_mxp
