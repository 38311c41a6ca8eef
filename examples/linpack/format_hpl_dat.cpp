// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>

#include "linpack/hpl_dat.hpp"
#include "linpack/names.hpp"
#include "linpack/text.hpp"

namespace linpack {

namespace {

/// "30 34  comment", the values padded to a column.
std::string line(const std::string& values, const std::string& comment) {
  return print("%-12s %s\n", values.c_str(), comment.c_str());
}

template <class List, class Number>
std::string list(const List& values, Number number) {
  std::string out;
  for (const auto& value : values)
    out += (out.empty() ? "" : " ") + std::to_string(number(value));
  return out;
}

/// Two lines: how many values there are, and the values.
template <class List, class Number>
std::string counted(const List& values, Number number, const char* name,
                    const std::string& comment) {
  return line(std::to_string(values.size()), std::string("number of ") + name) +
         line(list(values, number), comment);
}

template <class E>
std::string choices(const char* name) {
  std::string out = std::string(name) + ":";
  for (std::size_t i = 0; i < words_in_file<E>(); ++i)
    out += " " + std::to_string(i) + "=" + std::string(Words<E>::all[i]);
  return out;
}

/// Whether HPL.dat has a code for a choice.
template <class E>
bool in_file(E value) {
  return static_cast<std::size_t>(value) < words_in_file<E>();
}

/// The code of a choice; of one that has none in HPL.dat, that of what is built in, since an
/// option follows.
template <class E>
int code_in_file(E value, E built_in) {
  return code(in_file(value) ? value : built_in);
}

/// What follows line 31, which netlib's program ignores: extensions that are not as by default,
/// as options of the command line.
std::string extensions(const Config& c) {
  const Extensions& e = c.extensions;
  const Extensions usual;
  std::string out;
  const auto add = [&out](const std::string& option) {
    out += (out.empty() ? "" : " ") + option;
  };
  const auto word_if = [&add](const char* option, auto value, auto otherwise) {
    if (value != otherwise) add(std::string(option) + " " + std::string(word(value)));
  };
  if (!std::ranges::all_of(c.bcast, in_file<Broadcast>)) {
    std::string broadcasts;
    for (const Broadcast b : c.bcast)
      broadcasts += (broadcasts.empty() ? "" : ",") + std::string(word(b));
    add("--bcast " + broadcasts);
  }
  if (!in_file(c.swap)) add("--swap " + std::string(word(c.swap)));
  word_if("--pivot", e.pivot_reduction, usual.pivot_reduction);
  if (e.split != usual.split) add("--split " + shortest(e.split));
  word_if("--reproducible", e.reproducible, usual.reproducible);
  word_if("--storage", e.storage, usual.storage);
  word_if("--panels", e.panels, usual.panels);
  word_if("--phases", e.phases, usual.phases);
  word_if("--transport", e.transport, usual.transport);
  if (e.threads != usual.threads) add("--threads " + std::to_string(e.threads));
  if (e.mixed) add(as_options(*e.mixed));
  return out.empty() ? "" : std::string(options_follow) + " " + out + "\n";
}

}  // namespace

std::string format_hpl_dat(const Config& c) {
  const auto plain = [](auto value) { return value; };
  const auto coded = [](auto value) { return code(value); };
  const int device = c.device == Device::standard_output  ? 6
                     : c.device == Device::standard_error ? 7
                                                          : 8;
  std::string out = c.heading[0] + "\n" + c.heading[1] + "\n";
  // A blank line 3 would take the comment for the name.
  out += line(c.output_file.empty() ? Config{}.output_file : c.output_file, "output file");
  out += line(std::to_string(device), "device: 6=stdout 7=stderr other=output file");
  out += counted(c.n, plain, "N", "N");
  out += counted(c.nb, plain, "NB", "NB");
  out += line(std::to_string(code(c.mapping)), choices<Mapping>("PMAP"));
  out += line(std::to_string(c.grids.size()), "number of grids P x Q");
  out += line(list(c.grids, [](const Grid& g) { return g.rows; }), "P");
  out += line(list(c.grids, [](const Grid& g) { return g.cols; }), "Q");
  out += line(shortest(c.threshold), "threshold of the residual; 0 or less: no check");
  out += counted(c.pfact, coded, "PFACT", choices<PanelVariant>("PFACT"));
  out += counted(c.nbmin, plain, "NBMIN", "NBMIN: columns at which recursion stops");
  out += counted(c.ndiv, plain, "NDIV", "NDIV: parts per recursion, 2 or more");
  out += counted(c.rfact, coded, "RFACT", choices<PanelVariant>("RFACT"));
  const Config built_in;
  const auto broadcast = [&](Broadcast b) { return code_in_file(b, built_in.bcast.front()); };
  out += counted(c.bcast, broadcast, "BCAST", choices<Broadcast>("BCAST"));
  out += counted(c.depth, plain, "DEPTH", "DEPTH: look-ahead");
  out +=
      line(std::to_string(code_in_file(c.swap, built_in.swap)), choices<SwapAlgorithm>("SWAP"));
  out += line(std::to_string(c.swap_threshold), "columns from which mix swaps the long way");
  out += line(std::to_string(code(c.l1)), choices<Form>("L1"));
  out += line(std::to_string(code(c.u)), choices<Form>("U"));
  out += line(std::to_string(code(c.equilibration)), choices<Equilibration>("equilibration"));
  out += line(std::to_string(c.alignment), "alignment in 8-byte words");
  return out + extensions(c);
}

}  // namespace linpack
