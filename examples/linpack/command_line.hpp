// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "linpack/config.hpp"
#include "linpack/report.hpp"

namespace linpack {

/// An option that stands for a line of HPL.dat, and what the user gave it. "--n 100,200 --n 300"
/// gives three values.
struct Override {
  std::string option;
  std::vector<std::string> values;
};

/// The command line, taken apart but for the values of the overrides.
struct CommandLine {
  std::optional<std::string> text;  ///< to be printed instead of a run: help or version
  std::optional<std::string> file;  ///< --file
  std::optional<std::string> json;  ///< --json
  bool print_config = false;        ///< --print-config
  bool compare_fp64 = false;        ///< --compare-fp64, of a program of mixed precision
  bool no_blas_fix = false;         ///< --no-blas-fix, which main has looked for before this
  std::vector<Override> overrides;

  bool overrides_option(const std::string& option) const;
};

/// `arguments`: those behind the program's name. Options of Kokkos (--kokkos-...) are left to it.
/// Throws InputError.
CommandLine parse_command_line(const Program& program, const std::vector<std::string>& arguments);

/// Puts the values of the command line in the place of those of HPL.dat. Throws InputError, with
/// the option and the values that it takes.
void apply_overrides(const CommandLine& command_line, Config& config);

/// Throws InputError at the first grid of --grid that needs more than `ranks`.
void require_grids_fit(const std::vector<Grid>& grids, int ranks);

}  // namespace linpack
