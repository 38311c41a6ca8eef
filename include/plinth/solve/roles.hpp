// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "plinth/core/scalar.hpp"
#include "plinth/policy/precision.hpp"

namespace plinth {

/// Whether matrices of type A and right-hand sides of type B hold what the policy works on. Does
/// not compile for roles that a solve would ignore.
template <PrecisionPolicy Precision, class A, class B>
constexpr bool are_roles_of_a_solve() {
  using Roles = PrecisionRoles<Precision>;
  using Working = typename Roles::Working;
  using Factor = typename Roles::Factor;
  static_assert(
      Scalar16<typename Roles::Operand> ||
          (std::is_same_v<typename Roles::Operand, Factor> &&
           std::is_same_v<typename Roles::Accumulate, Factor> &&
           std::is_same_v<typename Roles::Panel, Factor> && Roles::flush_k == 0),
      "plinth: solve: Operand, Accumulate and Panel may differ from Factor where operands "
      "have 16 bits only, and flush_k has a meaning there only");
  static_assert(!Scalar16<typename Roles::Operand> || !std::is_same_v<Working, Factor>,
                "plinth: solve: factors in A's own type are made without 16-bit operands");
  static_assert(std::is_same_v<Working, typename Roles::Residual>,
                "plinth: solve: the residual is formed in the Working type");
  static_assert(std::is_same_v<A, Working> && std::is_same_v<B, Working>,
                "plinth: solve: A, B and X must hold the precision policy's Working type");
  return true;
}

}  // namespace plinth
