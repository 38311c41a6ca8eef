// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plinth/core/error.hpp"
#include "plinth/core/index.hpp"
#include "plinth/core/options.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/core/version.hpp"
#include "plinth/comm/grid.hpp"
#include "plinth/lu/factors.hpp"
#include "plinth/matrix/copy.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/matrix/generate.hpp"
#include "plinth/matrix/norm.hpp"
#include "plinth/policy/execution.hpp"
#include "plinth/policy/layout.hpp"
#include "plinth/policy/precision.hpp"
#include "plinth/refine/residual.hpp"
#include "plinth/solve/solve.hpp"
