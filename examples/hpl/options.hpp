// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "linpack/config.hpp"
#include "plinth/comm/grid.hpp"
#include "plinth/lu/options.hpp"

namespace hpl {

/// What runs when `asked` is asked for: options that are not implemented, or mean nothing for
/// this storage, replaced by what takes their place.
linpack::Case effective(const linpack::Case& asked);

/// A case in Plinth's terms. Precondition: effective(c) == c.
plinth::lu::FactorOptions factor_options(const linpack::Case& c);

/// Collective over `comm`.
plinth::ProcessGrid make_grid(MPI_Comm comm, const linpack::Case& c);

}  // namespace hpl
