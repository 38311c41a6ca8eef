// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <type_traits>
#include <typeinfo>

#include "plinth/comm/agree.hpp"
#include "plinth/comm/broadcast.hpp"
#include "plinth/core/index.hpp"
#include "plinth/lu/pivot_reduction.hpp"
#include "plinth/lu/row_swap.hpp"
#include "plinth/policy/panel.hpp"
#include "plinth/policy/pivoting.hpp"

namespace plinth::lu {

/// What is to become of L.
enum class KeepL {
  permuted,  ///< stored with every later interchange applied: P A = L U, as LAPACK leaves it
  no,        ///< not stored: right-hand sides travel along as extra columns (HPL)
};

/// In words, for people.
constexpr const char* to_string(KeepL keep) {
  switch (keep) {
    case KeepL::permuted:
      return "permuted";
    case KeepL::no:
      return "no";
  }
  return "?";
}

/// How to factor. Every combination gives the same L, U and pivots up to rounding; broadcast,
/// swap and pivot_reduction do not even change the rounding.
struct FactorOptions {
  /// How many panels are factored and under way ahead of the trailing update; 0: none.
  Index lookahead = 1;
  RecursivePanel panel = {};  ///< how a panel is factored
  /// How a panel travels along a process row.
  comm::BroadcastAlgorithm broadcast = comm::BroadcastAlgorithm::ring1_modified;
  /// How rows travel within a process column.
  RowSwap swap = {};
  /// How the processes of a column agree on a pivot (in a tournament they do not).
  PivotReduction pivot_reduction = PivotReduction::point_to_point;
  /// Cuts every update into slices that do not depend on the other options, one block column
  /// each: then look-ahead and split do not change the rounding either. Costs speed where blocks
  /// are narrow. Not kept where a device's library multiplies in two queues at once: panels that
  /// are factored there (PanelOn::device), with look-ahead.
  bool reproducible = false;
  /// Split update: this fraction of the columns, on the right, is a section of its own, and the
  /// rows of one section travel while the other one is multiplied. 0: off. Without effect on
  /// grids of one process row, where no rows travel. Source: rocHPL (Chalmers et al. 2023).
  double split = 0;
  KeepL keep_l = KeepL::permuted;  ///< what becomes of L

  /// What valid() wants, in words.
  static constexpr const char* requirement =
      "look-ahead >= 0, ndiv >= 2, nbmin >= 1, swap threshold >= 0 and 0 <= split < 1 wanted";
  /// Whether `requirement` is met.
  constexpr bool valid() const {
    return lookahead >= 0 && panel.valid() && swap.valid() && split >= 0 && split < 1;
  }
};

/// All options in one number, for an agreement between processes. Naming the members one by one
/// makes the compiler refuse an option that is forgotten here.
inline Index fingerprint(const FactorOptions& options) {
  const auto& [lookahead, panel, broadcast, swap, pivot_reduction, reproducible, split, keep_l] =
      options;
  const auto& [variant, base, ndiv, nbmin] = panel;
  const auto& [algorithm, threshold, equilibrate] = swap;
  return (comm::Fingerprint() << lookahead << static_cast<Index>(variant)
                              << static_cast<Index>(base) << ndiv << nbmin
                              << static_cast<Index>(broadcast) << static_cast<Index>(algorithm)
                              << threshold << equilibrate << static_cast<Index>(pivot_reduction)
                              << reproducible << std::bit_cast<Index>(split)
                              << static_cast<Index>(keep_l))
      .value();
}

/// A pivoting policy in one number, likewise: which it is, and its members.
template <PivotingPolicy Pivoting>
Index fingerprint(const Pivoting& pivoting) {
  comm::Fingerprint print;
  for (const char* c = typeid(Pivoting).name(); *c != '\0'; ++c) print << *c;
  if constexpr (!std::is_empty_v<Pivoting>) print << static_cast<Index>(pivoting.fingerprint());
  return print.value();
}

}  // namespace plinth::lu
