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

/// The options of the line beyond HPL.dat's, as the command line of this program has them.
CommandLine options_in(const HplDat& dat, const Program& program, int ranks) {
  try {
    CommandLine options = parse_command_line(program, dat.options);
    if (options.text || options.file || options.json || options.print_config)
      throw InputError("expected options of the runs, found others");
    Config checked;
    checked.extensions.mixed = program.mixed;
    apply_overrides(options, checked);
    if (options.overrides_option("--grid")) require_grids_fit(checked.grids, ranks);
    return options;
  } catch (const InputError& error) {
    throw InputError(
        print("%s:%d:%d: ", dat.file.c_str(), dat.options_at.line, dat.options_at.column) +
        error.what());
  }
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
  const bool grid_given = command_line.overrides_option("--grid");
  if (grid_given) require_grids_fit(from_options.grids, ranks);

  CommandLine in_file;
  if (command_line.file || default_file_exists()) {
    const std::string file = command_line.file.value_or(default_file);
    HplDat dat = parse_hpl_dat(read_text_file(file), file);
    if (!grid_given) require_grids_fit(dat, ranks);
    if (!dat.options.empty()) in_file = options_in(dat, program, ranks);
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
  const auto apply = [&out](const CommandLine& options) {
    if (options.compare_fp64) out.config.extensions.mixed->compare_fp64 = Switch::on;
    apply_overrides(options, out.config);
  };
  apply(in_file);
  apply(command_line);
  if (program.mixed) {
    check_mixed(command_line, *out.config.extensions.mixed);
    constexpr double by_the_rules = 16;
    if (out.config.threshold > by_the_rules)
      out.notes.push_back(print("residuals below %g pass, where the rules of HPL-MxP ask for %g",
                                out.config.threshold, by_the_rules));
  }
  if (command_line.overrides_option("--output")) out.output_origin = "--output";
  if (command_line.print_config) out.text = printed(program, out.config, ranks);
  return out;
}

}  // namespace linpack
