// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "plinth/core/float16.hpp"
#include "plinth/core/index.hpp"
#include "plinth/core/scalar.hpp"

namespace plinth {

/// One type for everything.
template <Scalar T>
struct Uniform {
  using Working = T;  ///< and so everything else
};

/// FP64 data and answer, FP32 factorization.
struct DoubleSingle {
  using Working = double;  ///< A, b and x
  using Factor = float;  ///< L and U
};

/// FP64 data and answer; L and U in FP16, multiplied as they are, summed in FP32.
struct DoubleHalf {
  using Working = double;  ///< A, b and x
  using Factor = half;  ///< L and U
  using Accumulate = float;  ///< sums
};

/// DoubleHalf with sums in FP16, added to an FP32 sum every `flush_k` products: for matrices whose
/// updates are small against their entries. Where the CPU has no FP16 arithmetic, sums are FP32.
struct DoubleHalfFast {
  using Working = double;  ///< A, b and x
  using Factor = half;  ///< L and U
  using Accumulate = half;  ///< sums
  using Panel = float;  ///< panels and triangular solves
  static constexpr Index flush_k = 256;  ///< products summed in FP16
};

/// FP64 data and answer; L and U in bfloat16, multiplied as they are, summed in FP32.
struct DoubleBfloat16 {
  using Working = double;  ///< A, b and x
  using Factor = bfloat16;  ///< L and U
  using Accumulate = float;  ///< sums
};

/// FP64 data and answer; L and U in FP32, rounded to FP16 to be multiplied, summed in FP32.
struct DoubleSingleHalf {
  using Working = double;  ///< A, b and x
  using Factor = float;  ///< L and U
  using Operand = half;  ///< what is multiplied
  using Accumulate = float;  ///< sums
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
  using Working = typename P::Working;  ///< see the table
  using Factor = typename decltype(factor())::type;  ///< see the table
  using Operand = typename decltype(operand())::type;  ///< see the table
  using Accumulate = typename decltype(accumulate())::type;  ///< see the table
  using Panel = typename decltype(panel())::type;  ///< see the table
  using Residual = typename decltype(residual())::type;  ///< see the table

  /// Sums that are not kept in Panel's type are added to one that is every so many products; 0: as
  /// seldom as possible. The policy's own flush_k, else 0.
  static constexpr Index flush_k = [] {
    if constexpr (requires { P::flush_k; }) {
      return Index(P::flush_k);
    } else {
      return Index(0);
    }
  }();
};

}  // namespace plinth
