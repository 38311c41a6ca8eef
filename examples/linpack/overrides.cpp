// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/overrides.hpp"

#include <algorithm>

#include "linpack/device.hpp"
#include "linpack/input_error.hpp"
#include "linpack/limits.hpp"
#include "linpack/names.hpp"
#include "linpack/text.hpp"

namespace linpack {

namespace {

[[noreturn]] void refuse(const Override& given, const std::string& expected,
                         const std::string& found) {
  throw InputError(given.option + ": expected " + expected + ", found " + found);
}

/// Every value converted; convert(text) returns an optional.
template <class T, class Convert>
std::vector<T> list(const Override& given, const std::string& expected, Convert convert) {
  if (given.values.size() > most_values)
    refuse(given, print("at most %d values", most_values), std::to_string(given.values.size()));
  std::vector<T> out;
  for (const std::string& text : given.values) {
    const auto value = convert(text);
    if (!value) refuse(given, expected, in_quotes(text));
    out.push_back(static_cast<T>(*value));
  }
  return out;
}

template <class T>
T single(const Override& given, const std::vector<T>& values) {
  if (values.size() != 1) refuse(given, "one value", std::to_string(values.size()));
  return values.front();
}

template <class T = int>
std::vector<T> integers(const Override& given, IntegerRange range) {
  return list<T>(given, describe(range),
                 [range](const std::string& text) { return parse_integer(text, range); });
}

int integer(const Override& given, IntegerRange range) {
  return single(given, integers(given, range));
}

/// Words or codes.
template <class E>
std::vector<E> choices(const Override& given) {
  return list<E>(given, describe_choices<E>(), [](const std::string& text) {
    const IntegerRange codes{0, static_cast<std::int64_t>(Words<E>::all.size()) - 1};
    std::optional<E> value = from_word<E>(text);
    if (const auto code = parse_integer(text, codes)) value = static_cast<E>(*code);
    return value;
  });
}

template <class E>
E choice(const Override& given) {
  return single(given, choices<E>(given));
}

double real(const Override& given) {
  return single(given, list<double>(given, "a finite number",
                                    [](const std::string& text) { return parse_real(text); }));
}

std::optional<Grid> parse_grid(std::string_view text) {
  const std::size_t x = std::min(text.find_first_of("xX"), text.size());
  const auto rows = parse_integer(text.substr(0, x), grid_range);
  const auto cols = parse_integer(text.substr(std::min(x + 1, text.size())), grid_range);
  if (!rows || !cols) return std::nullopt;
  return Grid{static_cast<int>(*rows), static_cast<int>(*cols)};
}

double real_in(const Override& given, double least, double most, const char* expected) {
  const double value = real(given);
  if (!(value >= least && value <= most)) refuse(given, expected, in_quotes(given.values[0]));
  return value;
}

double fraction(const Override& given) {
  const double value = real(given);
  if (!(value >= 0 && value < 1))
    refuse(given, "a fraction in [0, 1)", in_quotes(given.values[0]));
  return value;
}

plinth::Transport transport(const Override& given) {
  const auto wanted = choice<plinth::Transport>(given);
  if (wanted == plinth::Transport::direct && !has_device)
    refuse(given, "staged or automatic in a program that was built without a device",
           in_quotes(given.values[0]));
  return wanted;
}

void apply_grid(const Override& given, Config& config) {
  config.grids = list<Grid>(given, "P x Q, as in 2x3", parse_grid);
}

void apply_panels(const Override& given, Config& config) {
  const auto panels = choice<Panels>(given);
  if (panels == Panels::on_device && !has_device)
    refuse(given, "host in a program that was built without a device",
           in_quotes(given.values[0]));
  config.extensions.panels = panels;
}

/// A file's name may hold commas: it is one value.
void apply_output(const Override& given, Config& config) {
  std::string name;
  for (const std::string& part : given.values) name += (name.empty() ? "" : ",") + part;
  if (name.empty()) refuse(given, "stdout, stderr or the name of a file", in_quotes(name));
  config.device = name == "stdout"   ? Device::standard_output
                  : name == "stderr" ? Device::standard_error
                                     : Device::file;
  if (config.device == Device::file) config.output_file = name;
}

// In the order of HPL.dat.
constexpr OverrideOption table[] = {
    {"--output", "FILE", "where the report goes: stdout, stderr or a file", apply_output},
    {"--n", "N,...", "orders of the matrix",
     [](const Override& v, Config& c) { c.n = integers<std::int64_t>(v, n_range); }},
    {"--nb", "NB,...", "orders of the blocks",
     [](const Override& v, Config& c) { c.nb = integers(v, nb_range); }},
    {"--pmap", "ORDER", "ranks over the grid: row or column",
     [](const Override& v, Config& c) { c.mapping = choice<Mapping>(v); }},
    {"--grid", "PxQ,...", "process grids, as in 2x3", apply_grid},
    {"--threshold", "REAL", "residuals below it pass; 0 or less: no check",
     [](const Override& v, Config& c) { c.threshold = real(v); }},
    {"--pfact", "NAME,...", "panel factorizations: left, crout, right",
     [](const Override& v, Config& c) { c.pfact = choices<PanelVariant>(v); }},
    {"--nbmin", "INT,...", "columns at which the recursion in a panel stops",
     [](const Override& v, Config& c) { c.nbmin = integers(v, nbmin_range); }},
    {"--ndiv", "INT,...", "parts into which the recursion divides, 2 or more",
     [](const Override& v, Config& c) { c.ndiv = integers(v, ndiv_range); }},
    {"--rfact", "NAME,...", "recursive panel factorizations: left, crout, right",
     [](const Override& v, Config& c) { c.rfact = choices<PanelVariant>(v); }},
    {"--bcast", "NAME,...",
     "panel broadcasts: 1ring, 1ringM, 2ring, 2ringM, long, longM, bcast, ibcast",
     [](const Override& v, Config& c) { c.bcast = choices<Broadcast>(v); }},
    {"--depth", "INT,...", "look-ahead depths",
     [](const Override& v, Config& c) { c.depth = integers(v, depth_range); }},
    {"--swap", "NAME", "row interchange: binary, long, mix, auto, mpi",
     [](const Override& v, Config& c) { c.swap = choice<SwapAlgorithm>(v); }},
    {"--swap-threshold", "INT", "columns from which mix interchanges the long way",
     [](const Override& v, Config& c) { c.swap_threshold = integer(v, swap_threshold_range); }},
    {"--l1", "FORM", "form of L1: transposed or no-transposed",
     [](const Override& v, Config& c) { c.l1 = choice<Form>(v); }},
    {"--u", "FORM", "form of U: transposed or no-transposed",
     [](const Override& v, Config& c) { c.u = choice<Form>(v); }},
    {"--equil", "YES/NO", "balance the long interchange",
     [](const Override& v, Config& c) { c.equilibration = choice<Equilibration>(v); }},
    {"--align", "INT", "memory alignment in 8-byte words",
     [](const Override& v, Config& c) { c.alignment = integer(v, alignment_range); }},
    // Beyond HPL.dat.
    {"--pivot", "NAME", "pivot reduction: p2p, collective, hybrid",
     [](const Override& v, Config& c) {
       c.extensions.pivot_reduction = choice<PivotReduction>(v);
     },
     OptionOf::pivoting},
    {"--split", "FRACTION", "split update: share of the columns in the right section; 0: off",
     [](const Override& v, Config& c) { c.extensions.split = fraction(v); }, OptionOf::pivoting},
    {"--reproducible", "YES/NO", "the same bits at every look-ahead depth and split",
     [](const Override& v, Config& c) { c.extensions.reproducible = choice<Switch>(v); },
     OptionOf::pivoting},
    {"--storage", "ORDER", "local storage by row or by column",
     [](const Override& v, Config& c) { c.extensions.storage = choice<Storage>(v); },
     OptionOf::pivoting},
    {"--panels", "NAME", "who factors panels of a matrix on a device: host, device", apply_panels,
     OptionOf::pivoting},
    {"--phases", "NAME", "report the seconds of each phase: no, yes, steps (of each step, too)",
     [](const Override& v, Config& c) { c.extensions.phases = choice<PhaseReport>(v); }},
    {"--threads", "INT", "threads per rank, of Kokkos and of the BLAS",
     [](const Override& v, Config& c) { c.extensions.threads = integer(v, threads_range); }},
    {"--transport", "NAME",
     "which memory MPI is given: staged (the host's), direct (the device's), automatic",
     [](const Override& v, Config& c) { c.extensions.transport = transport(v); }},
    // Of mixed precision.
    {"--matrix", "NAME",
     "the system: scaled-diagonal, fasi-higham, dominant-reference, dominant-openmxp",
     [](const Override& v, Config& c) { c.extensions.mixed->matrix = choice<SystemKind>(v); },
     OptionOf::mixed},
    {"--sigma", "REAL",
     "scaled-diagonal: sigma sqrt(N) is added to the diagonal, |sigma| <= 1000",
     [](const Override& v, Config& c) {
       c.extensions.mixed->sigma =
           real_in(v, -largest_sigma, largest_sigma, "a number from -1000 to 1000");
     },
     OptionOf::mixed},
    {"--kappa", "REAL", "fasi-higham: condition number in the infinity norm, from 2 to 1e18",
     [](const Override& v, Config& c) {
       c.extensions.mixed->kappa =
           real_in(v, least_kappa, largest_kappa, "a number from 2 to 1e18");
     },
     OptionOf::mixed},
    {"--rho", "REAL", "fasi-higham: ratio of its parameters alpha and beta",
     [](const Override& v, Config& c) {
       c.extensions.mixed->rho = real_in(v, 1e-6, 1, "a number from 1e-6 to 1");
     },
     OptionOf::mixed},
    {"--precision", "NAME", "of the LU: fp16, fp16-fast, bf16, fp32, fp32-fp16, auto",
     [](const Override& v, Config& c) { c.extensions.mixed->precision = choice<Precision>(v); },
     OptionOf::mixed},
    {"--refine", "NAME", "refinement: gmres, classical, none (no run passes)",
     [](const Override& v, Config& c) { c.extensions.mixed->refinement = choice<Refinement>(v); },
     OptionOf::mixed},
    {"--scaling", "YES/NO", "scale the matrix by a power of two where 16 bits want it",
     [](const Override& v, Config& c) { c.extensions.mixed->scaling = choice<Switch>(v); },
     OptionOf::mixed},
};

}  // namespace

std::span<const OverrideOption> override_options() { return table; }

bool has_option(const Program& program, const OverrideOption& option) {
  return option.of == OptionOf::every_program ||
         (option.of == OptionOf::mixed) == program.mixed.has_value();
}

void check_mixed(const CommandLine& command_line, const Mixed& mixed) {
  const auto belongs = [&](const char* option, SystemKind kind) {
    if (command_line.overrides_option(option) && mixed.matrix != kind)
      throw InputError(std::string(option) + ": expected --matrix " + std::string(word(kind)) +
                       " with it, found " + std::string(word(mixed.matrix)));
  };
  belongs("--sigma", SystemKind::scaled_diagonal);
  belongs("--kappa", SystemKind::fasi_higham);
  belongs("--rho", SystemKind::fasi_higham);
  if (mixed.precision == Precision::fp16_fast && mixed.matrix == SystemKind::fasi_higham)
    throw InputError(
        "--precision: expected one of fp16, bf16, fp32, fp32-fp16, auto with --matrix "
        "fasi-higham, whose updates sums in FP16 do not keep, found 'fp16-fast'");
}

void apply_overrides(const CommandLine& command_line, Config& config) {
  for (const Override& given : command_line.overrides) {
    const auto* option = std::ranges::find_if(
        table, [&given](const OverrideOption& o) { return o.name == given.option; });
    option->apply(given, config);
  }
}

}  // namespace linpack
