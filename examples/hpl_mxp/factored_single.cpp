// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <optional>
#include <utility>

#include "factored.hpp"
#include "hpl/options.hpp"
#include "options.hpp"
#include "plinth/lu/factors.hpp"
#include "plinth/lu/lu_solve.hpp"

namespace hpl_mxp {

namespace {

/// LU in FP32 throughout, by the BLAS.
class SingleFactored : public Factored {
 public:
  SingleFactored(const plinth::ProcessGrid& grid, const linpack::Case& c,
                 plinth::trace::PhaseClock& clock)
      : clock_(clock),
        a_(std::in_place, grid, c.n, c.n, square_blocks(c, sizeof(float))),
        factorization_(exec_, grid, a_->distribution(), options(c), clock) {
    touch(exec_, *a_);
  }

  plinth::kernel::NarrowingCounts fill(const Generated& system) override {
    return system.fill(*a_, 0);
  }
  plinth::lu::MixedReport factor() override {
    factors_.emplace(plinth::lu_factor(factorization_, std::move(*a_)));
    a_.reset();
    plinth::lu::MixedReport report;
    report.pivots.first_zero_pivot = factors_->first_zero_pivot().value_or(-1);
    report.pivots.first_nonfinite = factors_->first_nonfinite_pivot().value_or(-1);
    return report;
  }
  void solve(Vector& r) override {
    if (!solver_) solver_.emplace(exec_, *factors_, r);
    (*solver_)(r, plinth::Op::none, clock_);
  }
  int exponent() const override { return 0; }
  std::string arithmetic() const override { return "BLAS, sums in FP32"; }

 private:
  static plinth::lu::FactorOptions options(const linpack::Case& c) {
    plinth::lu::FactorOptions options = hpl::factor_options(hpl::effective(c));
    options.keep_l = plinth::lu::KeepL::permuted;
    return options;
  }

  Exec exec_;
  plinth::trace::PhaseClock& clock_;
  std::optional<Matrix<float>> a_;
  plinth::lu::Factorization<Matrix<float>, Exec, plinth::NoPivoting, plinth::trace::PhaseClock>
      factorization_;
  std::optional<plinth::LuFactors<Matrix<float>>> factors_;
  std::optional<plinth::LuSolver<Exec, Matrix<float>, Vector>> solver_;
};

}  // namespace

std::unique_ptr<Factored> make_single(const plinth::ProcessGrid& grid, const linpack::Case& c,
                                      plinth::trace::PhaseClock& clock) {
  return std::make_unique<SingleFactored>(grid, c, clock);
}

}  // namespace hpl_mxp
