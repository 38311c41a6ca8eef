// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "linpack/command_line.hpp"

namespace linpack {

/// Which programs have an option: those with pivoting, those of mixed precision.
enum class OptionOf { every_program, pivoting, mixed };

/// An option of the command line that stands for a line of HPL.dat, or is beyond it.
struct OverrideOption {
  const char* name;    ///< "--nb"
  const char* values;  ///< what it takes, for the help
  const char* help;
  void (*apply)(const Override& given, Config& config);
  OptionOf of = OptionOf::every_program;
};

std::span<const OverrideOption> override_options();

bool has_option(const Program& program, const OverrideOption& option);

/// Throws InputError where options of mixed precision contradict each other or have no meaning.
void check_mixed(const CommandLine& command_line, const Mixed& mixed);

}  // namespace linpack
