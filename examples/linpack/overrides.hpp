// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "linpack/command_line.hpp"

namespace linpack {

/// An option of the command line that stands for a line of HPL.dat.
struct OverrideOption {
  const char* name;    ///< "--nb"
  const char* values;  ///< what it takes, for the help
  const char* help;
  void (*apply)(const Override& given, Config& config);
};

std::span<const OverrideOption> override_options();

}  // namespace linpack
