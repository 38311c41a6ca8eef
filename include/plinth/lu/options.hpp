// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plinth/comm/broadcast.hpp"
#include "plinth/core/index.hpp"
#include "plinth/policy/panel.hpp"

namespace plinth::lu {

/// What is to become of L.
enum class KeepL {
  permuted,  ///< stored with every later interchange applied: P A = L U, as LAPACK leaves it
  no,        ///< not stored: right-hand sides travel along as extra columns (HPL)
};

/// How to factor; every combination gives the same L, U and pivots up to rounding.
struct FactorOptions {
  /// How many panels are factored and under way ahead of the trailing update; 0: none.
  Index lookahead = 1;
  RecursivePanel panel = {};
  comm::BroadcastAlgorithm broadcast = comm::BroadcastAlgorithm::ring1_modified;
  KeepL keep_l = KeepL::permuted;

  constexpr bool valid() const { return lookahead >= 0 && panel.valid(); }
};

}  // namespace plinth::lu
