// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "linpack/config.hpp"
#include "linpack/report.hpp"

namespace linpack {

/// What the user wants, from the command line, HPL.dat, and what is built in.
struct Invocation {
  std::optional<std::string> text;  ///< to be printed instead of a run
  Config config;
  std::string output_origin;        ///< who named the output file, for messages
  std::optional<std::string> json;  ///< file for the JSON report
  std::vector<std::string> warnings;
  std::vector<std::string> notes;  ///< for the report: where the parameters come from
};

/// Reads HPL.dat: the one of --file, else that of the current folder if there is one. Values on
/// the command line take precedence. Throws InputError.
Invocation interpret(const Program& program, const std::vector<std::string>& arguments,
                     int ranks);

}  // namespace linpack
