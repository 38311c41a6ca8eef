// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include "plinth/comm/agree.hpp"
#include "plinth/core/index.hpp"
#include "plinth/policy/refinement.hpp"

/// What a refinement asks any of the policies.
namespace plinth::refine {

/// How many corrections there may be.
inline int step_limit(const NoRefinement&) { return 0; }
inline int step_limit(const ClassicalRefinement& policy) { return policy.max_steps; }
inline int step_limit(const GmresRefinement& policy) { return policy.max_cycles; }

/// The part of a backward error that a correction may leave, if there is to be another.
inline double stagnation_ratio(const NoRefinement&) { return 1; }
inline double stagnation_ratio(const auto& policy) { return policy.stagnation_ratio; }

/// Iterations of a cycle for a system of order n: no more than it has unknowns.
inline std::size_t cycle_length(const GmresRefinement& policy, Index n) {
  return static_cast<std::size_t>(std::min<Index>(policy.restart, std::max<Index>(n, 1)));
}

/// A policy in one number, for an agreement between processes.
inline Index fingerprint(const NoRefinement&) { return 1; }
inline Index fingerprint(const ClassicalRefinement& p) {
  return (comm::Fingerprint() << 2 << p.max_steps << std::bit_cast<Index>(p.stagnation_ratio))
      .value();
}
inline Index fingerprint(const GmresRefinement& p) {
  return (comm::Fingerprint() << 3 << p.restart << p.max_cycles
                              << std::bit_cast<Index>(p.cycle_tolerance)
                              << std::bit_cast<Index>(p.stagnation_ratio))
      .value();
}

}  // namespace plinth::refine
