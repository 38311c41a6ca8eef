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
  /// Options of the command line in the line beyond the 31 that format_hpl_dat may add.
  std::vector<std::string> options;
  Position options_at;
};

/// Reads the 31 lines of netlib HPL's input file.
///
/// Each line holds one value or a list; what follows is a comment. Values are separated by any
/// number of blanks and tabs. Unlike netlib's reader, this one takes nothing for something else:
/// a value that is missing, is no number, or lies outside its range or the codes that exist,
/// throws InputError with its place. Values beyond the stated count and lines beyond the 31st
/// are ignored, with a warning, but for the line that begins with options_follow.
HplDat parse_hpl_dat(std::string_view text, const std::string& file);

/// Throws InputError, with the place of P, at the first grid that needs more than `ranks`.
void require_grids_fit(const HplDat& dat, int ranks);

/// What stands before options of the command line in an HPL.dat.
inline constexpr std::string_view options_follow = "Beyond HPL.dat, on the command line:";

/// The 31 lines that parse_hpl_dat reads back as `config`, and where it has more than they hold a
/// line of options beyond them, which netlib's program ignores.
std::string format_hpl_dat(const Config& config);

}  // namespace linpack
