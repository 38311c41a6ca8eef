// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>

namespace plinth {

/// The factorization's answer is the answer.
struct NoRefinement {
  /// What valid() wants, in words.
  static constexpr const char* requirement = "nothing";
  /// Whether `requirement` is met.
  constexpr bool valid() const { return true; }
};

/// r = b - A x; solve M d = r with the factors M; x += d; until the stopping criterion holds or a
/// step gains too little (Wilkinson 1963; Moler 1967). Converges where cond(A) times the unit
/// roundoff of the factorization is well below one.
struct ClassicalRefinement {
  int max_steps = 50;  ///< the most steps
  /// A step that leaves more than this share of the backward error is the last one.
  double stagnation_ratio = 0.5;

  /// What valid() wants, in words.
  static constexpr const char* requirement =
      "max_steps >= 0 and 0 < stagnation_ratio <= 1 wanted";
  /// Whether `requirement` is met.
  constexpr bool valid() const {
    return max_steps >= 0 && stagnation_ratio > 0 && stagnation_ratio <= 1;
  }
};

/// GMRES(restart) on M^-1 A d = M^-1 r with the factors M as left preconditioner, restarted from
/// the true residual (Saad and Schultz 1986; Carson and Higham 2017). Converges for far worse
/// conditions than the classical one.
struct GmresRefinement {
  int restart = 50;  ///< iterations of a cycle: the basis holds restart + 1 vectors
  int max_cycles = 10;  ///< the most cycles
  /// A cycle ends early when the preconditioned residual has shrunk by this factor, or by what
  /// the stopping criterion still wants.
  double cycle_tolerance = 1e-10;
  /// A cycle that leaves more than this share of the backward error is the last one.
  double stagnation_ratio = 0.9;

  /// What valid() wants, in words.
  static constexpr const char* requirement =
      "restart >= 1, max_cycles >= 0, 0 < cycle_tolerance < 1 and 0 < stagnation_ratio <= 1 "
      "wanted";
  /// Whether `requirement` is met.
  constexpr bool valid() const {
    return restart >= 1 && max_cycles >= 0 && cycle_tolerance > 0 && cycle_tolerance < 1 &&
           stagnation_ratio > 0 && stagnation_ratio <= 1;
  }
};

/// How an answer gets its last digits.
template <class P>
concept RefinementPolicy = std::same_as<P, NoRefinement> ||
    std::same_as<P, ClassicalRefinement> || std::same_as<P, GmresRefinement>;

}  // namespace plinth
