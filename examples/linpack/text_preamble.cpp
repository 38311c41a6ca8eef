// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/names.hpp"
#include "linpack/text.hpp"
#include "linpack/text_report.hpp"

namespace linpack {

namespace {

/// Netlib's rows of values: eight to a line, nine characters each.
template <class List, class Cell>
std::string row(const char* label, const List& values, Cell cell) {
  std::string out = print("%-7s:", label);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0 && i % 8 == 0) out += "\n        ";
    out += print("%8s ", cell(values[i]).c_str());
  }
  return out + "\n";
}

std::string line(const char* label, const std::string& value) {
  return print("%-7s: ", label) + value + "\n";
}

std::string number(std::int64_t value) { return std::to_string(value); }

std::string variant_name(PanelVariant v) {
  return v == PanelVariant::left ? "Left" : v == PanelVariant::crout ? "Crout" : "Right";
}

std::string broadcast_name(Broadcast v) {
  switch (v) {
    case Broadcast::long_:
      return "Blong";
    case Broadcast::long_modified:
      return "BlongM";
    default:
      return std::string(word(v));
  }
}

std::string swap_name(const Config& c) {
  switch (c.swap) {
    case SwapAlgorithm::binary_exchange:
      return "Binary-exchange";
    case SwapAlgorithm::spread_roll:
      return "Spread-roll (long)";
    case SwapAlgorithm::automatic:
      return "Automatic";
    case SwapAlgorithm::mpi:
      return "Collective calls of MPI";
    default:
      return print("Mix (threshold = %d)", c.swap_threshold);
  }
}

std::string parameters(const Config& c) {
  const auto form = [](Form f) { return std::string(word(f)) + " form"; };
  std::string out;
  out += row("N", c.n, number);
  out += row("NB", c.nb, number);
  out += line("PMAP", c.mapping == Mapping::row_major ? "Row-major process mapping"
                                                      : "Column-major process mapping");
  out += row("P", c.grids, [](const Grid& g) { return number(g.rows); });
  out += row("Q", c.grids, [](const Grid& g) { return number(g.cols); });
  out += row("PFACT", c.pfact, variant_name);
  out += row("NBMIN", c.nbmin, number);
  out += row("NDIV", c.ndiv, number);
  out += row("RFACT", c.rfact, variant_name);
  out += row("BCAST", c.bcast, broadcast_name);
  out += row("DEPTH", c.depth, number);
  out += line("SWAP", swap_name(c));
  out += line("L1", form(c.l1));
  out += line("U", form(c.u));
  out += line("EQUIL", std::string(word(c.equilibration)));
  out += line("ALIGN", print("%d double precision words", c.alignment));
  return out;
}

/// What HPL.dat knows nothing of, by the names of the options.
std::string extensions(const Extensions& e) {
  if (e.mixed) return "Beyond HPL.dat: " + describe(*e.mixed) + "\n";
  return "Beyond HPL.dat: pivot " + std::string(word(e.pivot_reduction)) + ", split " +
         print("%g", e.split) + ", reproducible " + std::string(word(e.reproducible)) +
         ", storage by " + std::string(word(e.storage)) +
         (e.panels == Panels::on_device ? ", panels on the device" : "") + "\n";
}

std::string check_description(const Config& c) {
  return rule('-') +
         print(
             "\nEach run has a random matrix, made anew. It passes if\n"
             "      ||Ax-b||_oo / ( eps * ( || x ||_oo * || A ||_oo + || b ||_oo ) * N )\n"
             "is less than %.6g, where eps = %.6e (2^-53).\n\n",
             c.threshold, 0x1p-53);
}

}  // namespace

void TextReport::begin(const Preamble& preamble) {
  const Config& c = preamble.config;
  checks_ = c.checks();
  out_ << rule('=') << preamble.program.name << " of Plinth " << preamble.program.version << ": "
       << preamble.program.description << "\n"
       << rule('=') << "\n";
  for (const auto& [name, value] : preamble.environment) out_ << name << ": " << value << "\n";
  out_ << print("Runs: %llu on %d %s\n", static_cast<unsigned long long>(preamble.runs),
                preamble.ranks, preamble.ranks == 1 ? "rank" : "ranks");
  if (c.extensions.phases != PhaseReport::none)
    out_ << print("Input: %.3f seconds\n", preamble.input_seconds);
  out_ << extensions(c.extensions);
  for (const std::string& note : preamble.notes) out_ << "Note: " << note << ".\n";
  for (const std::string& warning : preamble.warnings) out_ << "Warning: " << warning << ".\n";
  out_ << "\nThe columns of a result:\n"
          "T/V    : W for wall time, then what ran: PMAP, DEPTH, BCAST, RFACT, NDIV, PFACT, "
          "NBMIN\n"
          "N      : order of the matrix\n"
          "NB     : order of its blocks\n"
          "P      : rows of the process grid\n"
          "Q      : columns of the process grid\n"
          "Time   : seconds for "
       << preamble.program.timed
       << "\n"
          "Gflops : 10^9 floating-point operations per second, for 2/3 N^3 + 3/2 N^2 in all\n"
          "\nThe parameters, every combination of which runs:\n\n"
       << parameters(c) << "\n";
  if (checks_) out_ << check_description(c);
  out_.flush();
}

}  // namespace linpack
