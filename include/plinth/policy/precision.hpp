// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "plinth/core/scalar.hpp"

namespace plinth {

/// One type for everything.
template <Scalar T>
struct Uniform {
  using Working = T;
};

/// FP64 data and answer, FP32 factorization.
struct DoubleSingle {
  using Working = double;
  using Factor = float;
};

/// What a precision policy has to say: at least `Working`, each of the other roles if it differs
/// from its default. A user's own policy is a struct with these names.
template <class P>
concept PrecisionPolicy = Scalar<typename P::Working>;

/// The six scalar roles of a precision policy, with the defaults filled in.
///
/// | role       | what has this type                                | default    |
/// |------------|---------------------------------------------------|------------|
/// | Working    | A, b and x as the caller holds them               | (required) |
/// | Factor     | L and U as they are stored                        | Working    |
/// | Operand    | what the trailing update multiplies               | Factor     |
/// | Accumulate | what the trailing update sums in                  | Operand    |
/// | Panel      | panel factorization and triangular solves         | Accumulate |
/// | Residual   | b - A x                                           | Working    |
template <PrecisionPolicy P>
struct PrecisionRoles {
 private:
  // Each role: the policy's own type of that name, else the default.
  static auto factor() {
    if constexpr (requires { typename P::Factor; }) {
      return std::type_identity<typename P::Factor>();
    } else {
      return std::type_identity<typename P::Working>();
    }
  }
  static auto operand() {
    if constexpr (requires { typename P::Operand; }) {
      return std::type_identity<typename P::Operand>();
    } else {
      return factor();
    }
  }
  static auto accumulate() {
    if constexpr (requires { typename P::Accumulate; }) {
      return std::type_identity<typename P::Accumulate>();
    } else {
      return operand();
    }
  }
  static auto panel() {
    if constexpr (requires { typename P::Panel; }) {
      return std::type_identity<typename P::Panel>();
    } else {
      return accumulate();
    }
  }
  static auto residual() {
    if constexpr (requires { typename P::Residual; }) {
      return std::type_identity<typename P::Residual>();
    } else {
      return std::type_identity<typename P::Working>();
    }
  }

 public:
  using Working = typename P::Working;
  using Factor = typename decltype(factor())::type;
  using Operand = typename decltype(operand())::type;
  using Accumulate = typename decltype(accumulate())::type;
  using Panel = typename decltype(panel())::type;
  using Residual = typename decltype(residual())::type;
};

}  // namespace plinth
