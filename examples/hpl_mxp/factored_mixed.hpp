// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <utility>

#include "factored.hpp"
#include "options.hpp"
#include "plinth/lu/lu_solve.hpp"
#include "plinth/lu/mixed_factors.hpp"

namespace hpl_mxp {

/// A Factored whose update multiplies 16-bit operands.
template <class Policy>
class MixedFactored : public Factored {
 public:
  using T = typename plinth::PrecisionRoles<Policy>::Factor;

  MixedFactored(const plinth::ProcessGrid& grid, const linpack::Case& c, int exponent,
                plinth::trace::PhaseClock& clock)
      : exponent_(exponent),
        clock_(clock),
        a_(std::in_place, grid, c.n, c.n, square_blocks(c, sizeof(T))),
        factorization_(exec_, grid, a_->distribution(), mixed_options(c, exponent), clock) {
    touch(exec_, *a_);
  }

  plinth::kernel::NarrowingCounts fill(const Generated& system) override {
    return system.fill(*a_, exponent_);
  }
  plinth::lu::MixedReport factor() override {
    factors_.emplace(plinth::mixed_lu_factor(factorization_, std::move(*a_)));
    a_.reset();
    return *factors_->report();
  }
  void solve(Vector& r) override {
    if (!solver_) solver_.emplace(exec_, *factors_, r);
    (*solver_)(r, plinth::Op::none, clock_);
  }
  int exponent() const override { return exponent_; }
  std::string arithmetic() const override {
    const auto& kernel = factorization_.setup().kernel;
    return std::string(linpack::has_device ? "" : "micro-kernel ") + kernel.name + ", sums in " +
           plinth::kernel::lowp::to_string(kernel.accumulate);
  }

 private:
  Exec exec_;
  int exponent_;
  plinth::trace::PhaseClock& clock_;
  std::optional<Matrix<T>> a_;
  plinth::lu::MixedFactorization<Matrix<T>, Exec, Policy, plinth::NoPivoting,
                                 plinth::trace::PhaseClock>
      factorization_;
  std::optional<plinth::LuFactors<Matrix<T>>> factors_;
  std::optional<plinth::LuSolver<Exec, Matrix<T>, Vector>> solver_;
};

}  // namespace hpl_mxp
