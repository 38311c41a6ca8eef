// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "linpack/config.hpp"
#include "linpack/result.hpp"

namespace hpl {

/// Generates netlib's system on a P x Q grid, solves it by LU with partial pivoting, b travelling
/// along as a column of the matrix, and checks x against A and b generated anew. Collective over
/// `comm`, ranks beyond P x Q included; returns the same on every rank.
///
/// Timed: factorization and back substitution, from a barrier on, the longest of all ranks. All
/// memory is allocated before. Skipped, with the reason: a system for which some rank has no
/// memory, a singular one. Precondition: effective(c) == c.
linpack::Result run_case(MPI_Comm comm, const linpack::Case& c);

}  // namespace hpl
