// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/invocation.hpp"

#include <filesystem>

#include "linpack/cases.hpp"
#include "linpack/command_line.hpp"
#include "linpack/hpl_dat.hpp"
#include "linpack/lines.hpp"
#include "linpack/overrides.hpp"
#include "linpack/text.hpp"

namespace linpack {

namespace {

constexpr const char* default_file = "HPL.dat";

/// Whether the current folder has an HPL.dat, be it readable or not.
bool default_file_exists() {
  std::error_code error;
  return std::filesystem::symlink_status(default_file, error).type() !=
         std::filesystem::file_type::not_found;
}

/// What would run, as a file that this program and netlib's read.
std::string printed(const Program& program, Config config, int ranks) {
  const auto runs = static_cast<unsigned long long>(Cases(config).size());
  config.heading = {
      print("Input of %s (Plinth %s)", program.name.c_str(), program.version.c_str()),
      print("%llu %s on %d %s", runs, runs == 1 ? "run" : "runs", ranks,
            ranks == 1 ? "rank" : "ranks")};
  return format_hpl_dat(config);
}

}  // namespace

Invocation interpret(const Program& program, const std::vector<std::string>& arguments,
                     int ranks) {
  const CommandLine command_line = parse_command_line(program, arguments);
  Invocation out;
  out.text = command_line.text;
  out.json = command_line.json;
  if (out.text) return out;

  // Wrong options are refused before a file is opened.
  Config from_options;
  from_options.extensions.mixed = program.mixed;
  apply_overrides(command_line, from_options);
  if (program.mixed) check_mixed(command_line, *from_options.extensions.mixed);
  const bool grid_given = command_line.overrides_option("--grid");
  if (grid_given) require_grids_fit(from_options.grids, ranks);

  if (command_line.file || default_file_exists()) {
    const std::string file = command_line.file.value_or(default_file);
    HplDat dat = parse_hpl_dat(read_text_file(file), file);
    if (!grid_given) require_grids_fit(dat, ranks);
    out.config = dat.config;
    out.output_origin =
        print("%s:%d:%d", file.c_str(), dat.output_file_at.line, dat.output_file_at.column);
    out.warnings = dat.warnings;
    out.notes.push_back("the parameters come from " + file +
                        (command_line.overrides.empty() ? "" : " and the command line"));
  } else {
    out.config.grids = {squarest_grid(ranks)};
    out.notes.push_back(command_line.overrides.empty()
                            ? "neither HPL.dat nor options are given: the built-in problem runs"
                            : "no HPL.dat is given: what the options leave open is built in");
  }
  out.config.extensions.mixed = program.mixed;
  if (command_line.compare_fp64) out.config.extensions.mixed->compare_fp64 = Switch::on;
  apply_overrides(command_line, out.config);
  if (command_line.overrides_option("--output")) out.output_origin = "--output";
  if (command_line.print_config) out.text = printed(program, out.config, ranks);
  return out;
}

}  // namespace linpack
