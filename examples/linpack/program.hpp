// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <functional>

#include "linpack/report.hpp"
#include "linpack/result.hpp"

namespace linpack {

/// What a program does with a run.
struct Solver {
  /// What runs when this is asked for. Pure, and the same on every rank.
  std::function<Case(const Case& asked)> effective;
  /// Generates, solves and checks one system. Collective over the communicator, ranks beyond
  /// P x Q included; returns the same on every rank. May throw where it leaves MPI in order: a
  /// plinth::Error that every rank throws ends the program cleanly, any other is survived by
  /// nobody (see run_program).
  std::function<Result(MPI_Comm comm, const Case& runs)> run;
};

/// The main function of hpl and hpl_mxp: sees to the BLAS's kernel, starts MPI and Kokkos, reads
/// the command line and HPL.dat on rank 0, does every run, reports on rank 0. Returns the exit
/// status (see ExitStatus), the same on every rank.
///
/// An exception on some rank ends the program with status 4 on all: if all ranks come to the end
/// within ten seconds, in good order; else through MPI_Abort, so that nobody waits for ever.
int run_program(int argc, char** argv, const Program& program, const Solver& solver);

}  // namespace linpack
