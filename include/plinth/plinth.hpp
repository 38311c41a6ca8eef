// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plinth/comm/grid.hpp"
#include "plinth/comm/placement.hpp"
#include "plinth/core/error.hpp"
#include "plinth/core/index.hpp"
#include "plinth/core/options.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/core/version.hpp"
#include "plinth/interop/scalapack.hpp"
#include "plinth/kernel/entries/dominant.hpp"
#include "plinth/kernel/entries/fasi_higham.hpp"
#include "plinth/kernel/entries/scaled_diagonal.hpp"
#include "plinth/lu/back_substitute.hpp"
#include "plinth/lu/determinant.hpp"
#include "plinth/lu/factors.hpp"
#include "plinth/lu/growth.hpp"
#include "plinth/lu/inverse.hpp"
#include "plinth/lu/lu_solve.hpp"
#include "plinth/lu/mixed_factors.hpp"
#include "plinth/matrix/copy.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/matrix/generate.hpp"
#include "plinth/matrix/hpl_matrix.hpp"
#include "plinth/matrix/io.hpp"
#include "plinth/matrix/local_on_host.hpp"
#include "plinth/matrix/matrix_market.hpp"
#include "plinth/matrix/norm.hpp"
#include "plinth/matrix/redistribute.hpp"
#include "plinth/matrix/replicate.hpp"
#include "plinth/policy/device.hpp"
#include "plinth/policy/execution.hpp"
#include "plinth/policy/layout.hpp"
#include "plinth/policy/pivoting.hpp"
#include "plinth/policy/precision.hpp"
#include "plinth/policy/refinement.hpp"
#include "plinth/refine/hpl_residual.hpp"
#include "plinth/refine/refinement.hpp"
#include "plinth/refine/regenerated_operator.hpp"
#include "plinth/refine/residual.hpp"
#include "plinth/refine/stored_operator.hpp"
#include "plinth/solve/condition.hpp"
#include "plinth/solve/equilibration.hpp"
#include "plinth/solve/error_bounds.hpp"
#include "plinth/solve/linear_solver.hpp"
#include "plinth/solve/questions.hpp"
#include "plinth/solve/solve.hpp"

/// Dense linear systems that are distributed over MPI ranks. Begin with solve(), lu_factor() and
/// lu_solve(), DistributedMatrix and ProcessGrid.
namespace plinth {
/// Communicators and broadcasts: what ProcessGrid is made of.
namespace comm {}
/// Sources of entries, and arithmetic on one process.
namespace kernel {}
/// LU factorization: its options, its schedule, and what it leaves.
namespace lu {}
/// Who wants to know where the time goes.
namespace trace {}
}  // namespace plinth
