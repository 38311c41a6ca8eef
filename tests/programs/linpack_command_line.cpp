// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/command_line.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "linpack/device.hpp"
#include "linpack/hpl_dat.hpp"
#include "linpack/input_error.hpp"
#include "linpack/invocation.hpp"
#include "linpack/json.hpp"
#include "linpack/output.hpp"
#include "support/catch.hpp"

using linpack::Config;
using linpack::Grid;
using linpack::Invocation;
using linpack::PanelVariant;
using plinth_test::contains;

namespace {

using Arguments = std::vector<std::string>;

const linpack::Program hpl{"hpl", "solves", "1.2.3"};

/// A new folder that is the current one while this object lives.
class Folder {
 public:
  Folder() : before_(std::filesystem::current_path()) {
    std::string name = (std::filesystem::temp_directory_path() / "linpack.XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
    std::filesystem::current_path(path_);
  }
  ~Folder() {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }

 private:
  std::filesystem::path before_, path_;
};

Invocation run(const Arguments& arguments, int ranks = 4) {
  return linpack::interpret(hpl, arguments, ranks);
}

std::string error_of(const Arguments& arguments, int ranks = 4) {
  try {
    run(arguments, ranks);
  } catch (const linpack::InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string some_file() {
  Config c;
  c.n = {77};
  c.grids = {{2, 2}};
  c.depth = {0, 1};
  return format_hpl_dat(c);
}

}  // namespace

TEST_CASE("command line: options alone suffice") {
  const Folder folder;
  const Invocation i = run({"--n", "100,200", "--nb", "32", "--grid", "2x2,1X4", "--n=300"});
  CHECK_FALSE(i.text);
  CHECK(i.config.n == std::vector<std::int64_t>{100, 200, 300});
  CHECK(i.config.nb == std::vector<int>{32});
  CHECK(i.config.grids == std::vector<Grid>{{2, 2}, {1, 4}});
  CHECK(i.config.threshold == 16.0);
  REQUIRE(i.notes.size() == 1);
  CHECK_THAT(i.notes[0], contains("no HPL.dat"));
}

TEST_CASE("command line: neither file nor options") {
  const Folder folder;
  const Invocation i = run({}, 6);
  CHECK(i.config.grids == std::vector<Grid>{{2, 3}});
  CHECK_THAT(i.notes[0], contains("built-in problem"));
  CHECK(run({}, 1).config == Config{});
}

TEST_CASE("command line: every line of HPL.dat has its option") {
  const Folder folder;
  const Config c = run({"--output",
                        "out,1.txt",
                        "--pmap",
                        "column",
                        "--threshold",
                        "-1",
                        "--pfact",
                        "left,CROUT",
                        "--nbmin",
                        "1,2",
                        "--ndiv",
                        "3",
                        "--rfact",
                        "2",
                        "--bcast",
                        "1ring,longM,3",
                        "--depth",
                        "0,1",
                        "--swap",
                        "long",
                        "--l1",
                        "no-transposed",
                        "--u",
                        "1",
                        "--equil",
                        "no",
                        "--align",
                        "16",
                        "--swap-threshold",
                        "0"})
                       .config;
  using linpack::Broadcast;
  CHECK(c.device == linpack::Device::file);
  CHECK(c.output_file == "out,1.txt");
  CHECK(c.mapping == linpack::Mapping::column_major);
  CHECK(c.threshold == -1);
  CHECK(c.pfact == std::vector{PanelVariant::left, PanelVariant::crout});
  CHECK(c.nbmin == std::vector<int>{1, 2});
  CHECK(c.ndiv == std::vector<int>{3});
  CHECK(c.rfact == std::vector{PanelVariant::right});
  CHECK(c.bcast ==
        std::vector{Broadcast::ring1, Broadcast::long_modified, Broadcast::ring2_modified});
  CHECK(c.depth == std::vector<int>{0, 1});
  CHECK(c.swap == linpack::SwapAlgorithm::spread_roll);
  CHECK(c.swap_threshold == 0);
  CHECK(c.l1 == linpack::Form::not_transposed);
  CHECK(c.u == linpack::Form::not_transposed);
  CHECK(c.equilibration == linpack::Equilibration::off);
  CHECK(c.alignment == 16);
  CHECK(run({"--output", "stderr"}).config.device == linpack::Device::standard_error);
  CHECK(run({"--output", "stdout"}).config.device == linpack::Device::standard_output);
}

TEST_CASE("command line: wrong values are refused by name") {
  const Folder folder;
  const std::string from_0 = "expected an integer from 0 to 2147483647, found ";
  const std::string from_1 = "expected an integer from 1 to 2147483647, found ";
  for (const std::string bad : {"-1", "x", "1e3", "2147483648", "", "1.0"})
    CHECK(error_of({"--n", "5," + bad}) == "--n: " + from_0 + "'" + bad + "'");
  CHECK(error_of({"--n", "-5"}) == "--n: " + from_0 + "'-5'");
  CHECK(error_of({"--nb", "0"}) == "--nb: " + from_1 + "'0'");
  CHECK(error_of({"--nbmin", "0"}) == "--nbmin: " + from_1 + "'0'");
  CHECK(error_of({"--align", "0"}) == "--align: " + from_1 + "'0'");
  CHECK(error_of({"--depth", "-1"}) == "--depth: " + from_0 + "'-1'");
  CHECK(error_of({"--swap-threshold", "-1"}) == "--swap-threshold: " + from_0 + "'-1'");
  CHECK(error_of({"--ndiv", "1"}) ==
        "--ndiv: expected an integer from 2 to 2147483647, found '1'");
  CHECK(error_of({"--bcast", "1ring,ring"}) ==
        "--bcast: expected one of 0 (1ring), 1 (1ringM), 2 (2ring), 3 (2ringM), 4 (long), "
        "5 (longM), 6 (bcast), 7 (ibcast), found 'ring'");
  CHECK(error_of({"--pfact", "3"}) ==
        "--pfact: expected one of 0 (left), 1 (crout), 2 (right), found '3'");
  CHECK(error_of({"--rfact", ""}) ==
        "--rfact: expected one of 0 (left), 1 (crout), 2 (right), found ''");
  CHECK(error_of({"--swap", "any"}) ==
        "--swap: expected one of 0 (binary), 1 (long), 2 (mix), 3 (auto), 4 (mpi), found 'any'");
  CHECK(error_of({"--pivot", "tree"}) ==
        "--pivot: expected one of 0 (p2p), 1 (collective), 2 (hybrid), found 'tree'");
  CHECK(error_of({"--split", "1"}) == "--split: expected a fraction in [0, 1), found '1'");
  CHECK(error_of({"--split", "-0.1"}) == "--split: expected a fraction in [0, 1), found '-0.1'");
  CHECK(error_of({"--storage", "diagonal"}) ==
        "--storage: expected one of 0 (row), 1 (column), found 'diagonal'");
  CHECK(error_of({"--transport", "gpu"}) ==
        "--transport: expected one of 0 (staged), 1 (direct), 2 (automatic), found 'gpu'");
  if (!linpack::has_device)
    CHECK(error_of({"--transport", "direct"}) ==
          "--transport: expected staged or automatic in a program that was built without a "
          "device, found 'direct'");
  CHECK(error_of({"--panels", "gpu"}) ==
        "--panels: expected one of 0 (host), 1 (device), found 'gpu'");
  if (!linpack::has_device)
    CHECK(error_of({"--panels", "device"}) ==
          "--panels: expected host in a program that was built without a device, found 'device'");
  CHECK(error_of({"--reproducible", "maybe"}) ==
        "--reproducible: expected one of 0 (no), 1 (yes), found 'maybe'");
  CHECK(error_of({"--phases", "all"}) ==
        "--phases: expected one of 0 (no), 1 (yes), 2 (steps), found 'all'");
  CHECK(error_of({"--pmap", "2"}) == "--pmap: expected one of 0 (row), 1 (column), found '2'");
  CHECK(error_of({"--l1", "yes"}) ==
        "--l1: expected one of 0 (transposed), 1 (no-transposed), found 'yes'");
  CHECK(error_of({"--u", "2"}) ==
        "--u: expected one of 0 (transposed), 1 (no-transposed), found '2'");
  CHECK(error_of({"--equil", "maybe"}) ==
        "--equil: expected one of 0 (no), 1 (yes), found 'maybe'");
  CHECK(error_of({"--threshold", "nan"}) == "--threshold: expected a finite number, found 'nan'");
  CHECK(error_of({"--output", ""}) ==
        "--output: expected stdout, stderr or the name of a file, found ''");
  for (const std::string bad : {"2", "x", "2x", "x2", "0x2", "2x-1", "2x2x1", "2*2", ""})
    CHECK(error_of({"--grid", bad}) == "--grid: expected P x Q, as in 2x3, found '" + bad + "'");
}

TEST_CASE("command line: too many values, too many ranks, unknown arguments") {
  const Folder folder;
  CHECK(error_of({"--swap", "mix,long"}) == "--swap: expected one value, found 2");
  CHECK(error_of({"--n", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21"}) ==
        "--n: expected at most 20 values, found 21");
  CHECK(error_of({"--grid", "1x2,2x3"}) ==
        "--grid: expected P x Q of at most 4, the number of ranks, found 2 x 3 = 6");
  CHECK(error_of({"--nx", "5"}) == "unknown argument '--nx'; hpl --help lists what there is");
  CHECK(error_of({"--n", "5", "6"}) == "unknown argument '6'; hpl --help lists what there is");
  CHECK_THAT(error_of({"--n"}), contains("--n"));
  CHECK_THAT(error_of({"--file"}), contains("--file"));
  CHECK(error_of({"--kokkos-threads=2", "--n", "5"}) == "no error");
}

TEST_CASE("command line: a file and options that overrule it") {
  const Folder folder;
  folder.write("HPL.dat", some_file());
  folder.write("other.dat", some_file());
  CHECK(run({}).config.n == std::vector<std::int64_t>{77});
  CHECK_THAT(run({}).notes[0], contains("HPL.dat"));
  CHECK(run({"-f", "other.dat"}).notes ==
        std::vector<std::string>{"the parameters come from other.dat"});
  const Invocation i = run({"--file", "other.dat", "--n", "5"});
  CHECK(i.config.n == std::vector<std::int64_t>{5});
  CHECK(i.config.depth == std::vector<int>{0, 1});
  CHECK(i.notes ==
        std::vector<std::string>{"the parameters come from other.dat and the command line"});
}

TEST_CASE("command line: a grid of the file that is overruled need not fit") {
  const Folder folder;
  folder.write("HPL.dat", some_file());
  CHECK(error_of({}, 3) ==
        "HPL.dat:11:1: expected P x Q of at most 3, the number of ranks, found 2 x 2 = 4");
  CHECK(run({"--grid", "1x3"}, 3).config.grids == std::vector<Grid>{{1, 3}});
}

TEST_CASE("command line: files that cannot be read") {
  const Folder folder;
  CHECK(error_of({"-f", "none.dat"}) == "none.dat:1:1: expected a text file, found no such file");
  CHECK(error_of({"-f", "."}) == ".:1:1: expected a text file, found a directory");
  std::filesystem::create_directory("HPL.dat");
  CHECK(error_of({}) == "HPL.dat:1:1: expected a text file, found a directory");
  std::filesystem::remove("HPL.dat");
  std::filesystem::create_symlink("nowhere", "HPL.dat");
  CHECK(error_of({}) == "HPL.dat:1:1: expected a text file, found no such file");
  CHECK(error_of({"-f", "/dev/zero"}) ==
        "/dev/zero:1:1: expected a text file, found more than 1 MiB");
}

TEST_CASE("command line: help, version, and what would run") {
  const Folder folder;
  const std::string help = *run({"--help"}).text;
  for (const char* option :
       {"--file", "--json", "--n ", "--grid", "--bcast", "--swap-threshold", "--print-config"})
    CHECK_THAT(help, contains(option));
  CHECK(run({"--version"}).text == "hpl (Plinth) 1.2.3\n");

  const std::string printed = *run({"--n", "10,20", "--depth", "1", "--print-config"}).text;
  const linpack::HplDat dat = linpack::parse_hpl_dat(printed, "printed");
  CHECK(dat.warnings.empty());
  CHECK(dat.config.n == std::vector<std::int64_t>{10, 20});
  CHECK(dat.config.depth == std::vector<int>{1});
  CHECK_THAT(dat.config.heading[1], contains("2 runs on 4 ranks"));
}

TEST_CASE("command line: what is printed is read back, options beyond HPL.dat too") {
  const Folder folder;
  const linpack::Program mixed{"mixed", "solves", "1.2.3", linpack::Mixed{}};
  struct Given {
    const linpack::Program& program;
    Arguments arguments;
  };
  const Given all[] = {
      {hpl, {"--bcast", "1ring,bcast,ibcast", "--n", "10,20"}},
      {hpl, {"--swap", "mpi", "--pivot", "hybrid", "--split", "0.3", "--reproducible", "yes"}},
      {hpl, {"--panels", linpack::has_device ? "device" : "host"}},
      {hpl, {"--storage", "column", "--phases", "steps", "--threads", "3", "--swap", "auto"}},
      {hpl, {"--transport", "automatic"}},
      {mixed, {"--matrix", "fasi-higham", "--kappa", "1e5", "--refine", "none"}},
      {mixed, {"--sigma", "-0.1", "--precision", "bf16", "--scaling", "no", "--compare-fp64"}},
      {mixed, {}},
  };
  for (const auto& [program, arguments] : all) {
    std::filesystem::remove("HPL.dat");
    Arguments printing = arguments;
    printing.push_back("--print-config");
    const Invocation first = linpack::interpret(program, printing, 4);
    folder.write("HPL.dat", *first.text);
    const Invocation again = linpack::interpret(program, {"--print-config"}, 4);
    CHECK(again.text == first.text);
    CHECK(again.warnings.empty());
    Config expected = first.config;
    expected.heading = again.config.heading;
    CHECK(again.config == expected);
  }
  // The command line has the last word, and what the file asks for is judged as its own.
  folder.write("HPL.dat", some_file() + std::string(linpack::options_follow) +
                              " --precision fp16 --matrix fasi-higham --kappa 7\n");
  const auto by_file = linpack::interpret(mixed, {"--precision", "bf16", "--kappa", "9"}, 4);
  CHECK(by_file.config.extensions.mixed ==
        linpack::Mixed{.matrix = linpack::SystemKind::fasi_higham,
                       .kappa = 9,
                       .precision = linpack::Precision::bf16});
  const auto refused = [](const linpack::Program& program, const Arguments& arguments) {
    try {
      (void)linpack::interpret(program, arguments, 4);
    } catch (const linpack::InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK_THAT(refused(mixed, {"--sigma", "2"}), contains("--sigma: expected --matrix scaled"));
  CHECK_THAT(refused(hpl, {}), contains("HPL.dat:32:38: unknown argument '--precision'"));
  for (const char* wrong : {"--n x", "--help", "--json f", "--grid 2x3", "--kappa 1 --rho 1"}) {
    folder.write("HPL.dat", some_file() + std::string(linpack::options_follow) + " " + wrong);
    CHECK_THAT(refused(mixed, {}), contains("HPL.dat:32:38: "));
  }
}

TEST_CASE("command line: a configuration survives the way to another rank") {
  const Folder folder;
  Config c = run({"--n",         "0,2147483647",
                  "--threshold", "0.1",
                  "--bcast",     "0,1,2,3,4,5",
                  "--rfact",     "0,1,2",
                  "--grid",      "1x2,4x1",
                  "--swap",      "0",
                  "--u",         "1",
                  "--equil",     "0",
                  "--pmap",      "1",
                  "--phases",    "steps",
                  "--output",    "f"})
                 .config;
  c.heading = {"not UTF-8: \xE9", ""};
  CHECK(linpack::decode(linpack::encode(c)) == c);
}

TEST_CASE("output: files that cannot be written are bad input") {
  const Folder folder;
  const auto open = [](const Arguments& arguments) -> std::string {
    try {
      linpack::Output(run(arguments));
    } catch (const linpack::InputError& error) {
      return error.what();
    }
    return "no error";
  };
  CHECK(
      open({"--output", "no/out"}) ==
      "--output: expected a file that can be written, found 'no/out': No such file or directory");
  CHECK(open({"--json", "."}) ==
        "--json: expected a file that can be written, found '.': Is a directory");
  CHECK(open({"--json", "same", "--output", "same"}) ==
        "--json: expected another file than the report's, found 'same'");
  CHECK(open({"--json", "./same", "--output", "same"}) ==
        "--json: expected another file than the report's, found './same'");
  Config c;
  c.output_file = "no/out";
  c.device = linpack::Device::file;
  folder.write("HPL.dat", format_hpl_dat(c));
  CHECK(open({}) ==
        "HPL.dat:3:1: expected a file that can be written, found 'no/out': No such file or "
        "directory");
  CHECK(open({"--output", "out", "--json", "out.json"}) == "no error");
}
