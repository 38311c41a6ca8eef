// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "factored.hpp"
#include "linpack/device.hpp"
#include "options.hpp"
#include "plinth/lu/lu_solve.hpp"
#include "plinth/lu/mixed_factors.hpp"

namespace hpl_mxp {

/// A Factored whose update multiplies 16-bit operands. On a device it has its panels made there,
/// but for their diagonal blocks: what the host would do for each of their entries takes longer
/// than a fast device's update.
template <class Policy>
class MixedFactored : public Factored {
 public:
  using T = typename plinth::PrecisionRoles<Policy>::Factor;

  MixedFactored(const plinth::ProcessGrid& grid, const linpack::Case& c,
                const Exponents& exponents, plinth::trace::PhaseClock& clock)
      : exponents_(exponents),
        clock_(clock),
        a_(std::in_place, grid, c.n, c.n, square_blocks(c, sizeof(T))),
        factorization_(linpack::PanelExecution(), grid, a_->distribution(),
                       mixed_options(c, exponent()), clock) {
    touch(exec_, *a_);
  }

  plinth::kernel::NarrowingCounts fill(const Generated& system) override {
    if (factors_) {
      a_ = std::move(*factors_).release();
      factors_.reset();
    }
    return system.fill(*a_, exponent());
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
  bool scale_lower() override {
    if (attempt_ + 1 == exponents_.size()) return false;
    ++attempt_;
    factorization_.set_matrix_exponent(exponent());
    return true;
  }
  int exponent() const override { return exponents_[attempt_]; }
  std::string arithmetic() const override {
    const auto& kernel = factorization_.setup().kernel;
    return std::string(linpack::has_device ? "" : "micro-kernel ") + kernel.name + ", sums in " +
           plinth::kernel::lowp::to_string(kernel.accumulate);
  }

 private:
  Exec exec_;
  Exponents exponents_;
  std::size_t attempt_ = 0;
  plinth::trace::PhaseClock& clock_;
  std::optional<Matrix<T>> a_;
  plinth::lu::MixedFactorization<Matrix<T>, linpack::PanelExecution, Policy, plinth::NoPivoting,
                                 plinth::trace::PhaseClock>
      factorization_;
  std::optional<plinth::LuFactors<Matrix<T>>> factors_;
  std::optional<plinth::LuSolver<Exec, Matrix<T>, Vector>> solver_;
};

}  // namespace hpl_mxp
