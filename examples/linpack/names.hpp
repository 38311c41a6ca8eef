// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "linpack/config.hpp"
#include "linpack/verdict.hpp"

namespace linpack {

/// The words of an option, indexed by its code: as messages, the command line and JSON spell it.
/// `in_file`, if there is one, is how many of them HPL.dat knows.
template <class E>
struct Words;

template <>
struct Words<Mapping> {
  static constexpr std::array<std::string_view, 2> all{"row", "column"};
};
template <>
struct Words<Verdict> {
  static constexpr std::array<std::string_view, 4> all{"passed", "failed", "unchecked",
                                                       "skipped"};
};
template <>
struct Words<PanelVariant> {
  static constexpr std::array<std::string_view, 3> all{"left", "crout", "right"};
};
template <>
struct Words<Broadcast> {
  static constexpr std::array<std::string_view, 8> all{"1ring", "1ringM", "2ring", "2ringM",
                                                       "long",  "longM",  "bcast", "ibcast"};
  static constexpr std::size_t in_file = 6;
};
template <>
struct Words<SwapAlgorithm> {
  static constexpr std::array<std::string_view, 5> all{"binary", "long", "mix", "auto", "mpi"};
  static constexpr std::size_t in_file = 3;
};
template <>
struct Words<Form> {
  static constexpr std::array<std::string_view, 2> all{"transposed", "no-transposed"};
};
template <>
struct Words<Equilibration> {
  static constexpr std::array<std::string_view, 2> all{"no", "yes"};
};

template <>
struct Words<PivotReduction> {
  static constexpr std::array<std::string_view, 3> all{"p2p", "collective", "hybrid"};
};
template <>
struct Words<Storage> {
  static constexpr std::array<std::string_view, 2> all{"row", "column"};
};
template <>
struct Words<Panels> {
  static constexpr std::array<std::string_view, 2> all{"host", "device"};
};
template <>
struct Words<plinth::Transport> {
  static constexpr std::array<std::string_view, 3> all{"staged", "direct", "automatic"};
};
template <>
struct Words<SystemKind> {
  static constexpr std::array<std::string_view, 4> all{"scaled-diagonal", "fasi-higham",
                                                       "dominant-reference", "dominant-openmxp"};
};
template <>
struct Words<Precision> {
  static constexpr std::array<std::string_view, 6> all{"fp16", "fp16-fast", "bf16",
                                                       "fp32", "fp32-fp16", "auto"};
};
template <>
struct Words<Refinement> {
  static constexpr std::array<std::string_view, 3> all{"gmres", "classical", "none"};
};
template <>
struct Words<PhaseReport> {
  static constexpr std::array<std::string_view, 3> all{"no", "yes", "steps"};
};
template <>
struct Words<Switch> {
  static constexpr std::array<std::string_view, 2> all{"no", "yes"};
};

/// How many of an option's words HPL.dat knows.
template <class E>
constexpr std::size_t words_in_file() {
  if constexpr (requires { Words<E>::in_file; }) {
    return Words<E>::in_file;
  } else {
    return Words<E>::all.size();
  }
}

template <class E>
constexpr int code(E value) {
  return static_cast<int>(value);
}

template <class E>
constexpr std::string_view word(E value) {
  return Words<E>::all[static_cast<std::size_t>(value)];
}

/// The index of `text` among `words`, letters of either case being equal.
std::optional<std::size_t> find_word(const std::string_view* words, std::size_t count,
                                     std::string_view text);

/// The option that `text` spells as a word.
template <class E>
std::optional<E> from_word(std::string_view text) {
  const auto found = find_word(Words<E>::all.data(), Words<E>::all.size(), text);
  if (!found) return std::nullopt;
  return static_cast<E>(*found);
}

/// "one of 0 (left), 1 (crout), 2 (right)": the first `count` choices.
template <class E>
std::string describe_choices(std::size_t count = Words<E>::all.size()) {
  std::string out = "one of";
  for (std::size_t i = 0; i < count; ++i)
    out += (i == 0 ? " " : ", ") + std::to_string(i) + " (" + std::string(Words<E>::all[i]) + ")";
  return out;
}

}  // namespace linpack
