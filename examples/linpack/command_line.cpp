// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "linpack/input_error.hpp"
#include "linpack/overrides.hpp"
#include "linpack/text.hpp"
#include "linpack/threads.hpp"

namespace linpack {

namespace {

std::vector<std::string> split_at_commas(const std::vector<std::string>& given) {
  std::vector<std::string> out;
  for (const std::string& text : given) {
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find(',', begin)) != text.npos; begin = end + 1)
      out.push_back(text.substr(begin, end - begin));
    out.push_back(text.substr(begin));
  }
  return out;
}

/// CLI11's layout without the dots that it puts behind what may be repeated.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return type.empty() ? "" : " " + type;
  }
};

std::string help_text(const CLI::App& app, const Program& program) {
  return app.help() +
         "\nWithout --file, HPL.dat in the current folder is read if there is one. Options take\n"
         "precedence over it; lists are separated by commas, and codes of HPL.dat may stand in\n"
         "the place of names. Without either, a small built-in problem runs.\n"
         "\nExit status: 0 all runs passed, 1 a residual failed, 2 bad input, 3 a run was\n"
         "skipped, 4 communication or internal error; the lowest that applies and is not 0.\n"
         "\nmpirun -n 4 " +
         program.name + " --n 10000 --nb 192 --grid 2x2\n";
}

}  // namespace

bool CommandLine::overrides_option(const std::string& option) const {
  return std::any_of(overrides.begin(), overrides.end(),
                     [&option](const Override& o) { return o.option == option; });
}

CommandLine parse_command_line(const Program& program,
                               const std::vector<std::string>& arguments) {
  CommandLine out;
  CLI::App app(program.description, program.name);
  app.set_help_flag("-h,--help", "print this and exit");
  app.set_version_flag("--version", program.name + " (Plinth) " + program.version,
                       "print the version and exit");
  app.allow_extras();
  app.formatter(std::make_shared<HelpFormatter>());
  app.add_option("-f,--file", out.file, "input file in the format of netlib's HPL.dat")
      ->type_name("FILE");
  app.add_option("--json", out.json, "write the results to FILE as JSON, too")->type_name("FILE");
  app.add_flag("--print-config", out.print_config, "print what would run as HPL.dat and exit");

  app.add_flag("--no-blas-fix", out.no_blas_fix,
               "do not start again with a better kernel of the BLAS");

  if (program.mixed)
    app.add_flag("--compare-fp64", out.compare_fp64,
                 "solve HPL's system in FP64 as well, and compare");

  const auto options = override_options();
  std::vector<std::vector<std::string>> values(options.size());
  for (std::size_t i = 0; i < options.size(); ++i)
    if (has_option(program, options[i]))
      app.add_option(options[i].name, values[i], options[i].help)
          ->type_name(options[i].values)
          ->allow_extra_args(false)
          ->group("In the place of HPL.dat's values, and beyond");

  std::vector<std::string> own;
  std::copy_if(arguments.rbegin(), arguments.rend(), std::back_inserter(own),
               [](const std::string& text) { return !is_for_kokkos(text); });
  try {
    app.parse(own);  // takes them from the back
  } catch (const CLI::CallForHelp&) {
    out.text = help_text(app, program);
    return out;
  } catch (const CLI::CallForVersion&) {
    out.text = app.version() + "\n";
    return out;
  } catch (const CLI::ParseError& error) {
    throw InputError(error.what());
  }
  if (const auto unknown = app.remaining(); !unknown.empty())
    throw InputError("unknown argument " + in_quotes(unknown.front()) + "; " + program.name +
                     " --help lists what there is");
  for (std::size_t i = 0; i < options.size(); ++i)
    if (!values[i].empty())
      out.overrides.push_back({options[i].name, split_at_commas(values[i])});
  check_kokkos_arguments(arguments, out.overrides_option("--threads"));
  return out;
}

void require_grids_fit(const std::vector<Grid>& grids, int ranks) {
  for (const Grid& grid : grids)
    if (grid.size() > ranks)
      throw InputError(
          print("--grid: expected P x Q of at most %d, the number of ranks, found "
                "%d x %d = %lld",
                ranks, grid.rows, grid.cols, static_cast<long long>(grid.size())));
}

}  // namespace linpack
