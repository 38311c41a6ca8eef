// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linpack/config.hpp"
#include "linpack/input_error.hpp"

namespace linpack {

/// What an HPL.dat says, and where it says it.
struct HplDat {
  std::string file;  ///< its name, for messages
  Config config;
  Position output_file_at;
  std::vector<Position> grid_at;      ///< of each P
  std::vector<std::string> warnings;  ///< what was ignored, each once
};

/// Reads the 31 lines of netlib HPL's input file.
///
/// Each line holds one value or a list; what follows is a comment. Values are separated by any
/// number of blanks and tabs. Unlike netlib's reader, this one takes nothing for something else:
/// a value that is missing, is no number, or lies outside its range or the codes that exist,
/// throws InputError with its place. Values beyond the stated count and lines beyond the 31st
/// are ignored, with a warning.
HplDat parse_hpl_dat(std::string_view text, const std::string& file);

/// Throws InputError, with the place of P, at the first grid that needs more than `ranks`.
void require_grids_fit(const HplDat& dat, int ranks);

/// The 31 lines that parse_hpl_dat reads back as `config`.
std::string format_hpl_dat(const Config& config);

}  // namespace linpack
