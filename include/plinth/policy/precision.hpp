// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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
  template <class Q, class Default>
  struct FactorOf { using type = Default; };
  template <class Q, class Default>
  requires requires { typename Q::Factor; }
  struct FactorOf<Q, Default> { using type = typename Q::Factor; };

  template <class Q, class Default>
  struct OperandOf { using type = Default; };
  template <class Q, class Default>
  requires requires { typename Q::Operand; }
  struct OperandOf<Q, Default> { using type = typename Q::Operand; };

  template <class Q, class Default>
  struct AccumulateOf { using type = Default; };
  template <class Q, class Default>
  requires requires { typename Q::Accumulate; }
  struct AccumulateOf<Q, Default> { using type = typename Q::Accumulate; };

  template <class Q, class Default>
  struct PanelOf { using type = Default; };
  template <class Q, class Default>
  requires requires { typename Q::Panel; }
  struct PanelOf<Q, Default> { using type = typename Q::Panel; };

  template <class Q, class Default>
  struct ResidualOf { using type = Default; };
  template <class Q, class Default>
  requires requires { typename Q::Residual; }
  struct ResidualOf<Q, Default> { using type = typename Q::Residual; };

 public:
  using Working = typename P::Working;
  using Factor = typename FactorOf<P, Working>::type;
  using Operand = typename OperandOf<P, Factor>::type;
  using Accumulate = typename AccumulateOf<P, Operand>::type;
  using Panel = typename PanelOf<P, Accumulate>::type;
  using Residual = typename ResidualOf<P, Working>::type;
};

}  // namespace plinth
