// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plinth/core/error.hpp"
#include "plinth/core/index.hpp"
#include "plinth/core/options.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/core/version.hpp"
