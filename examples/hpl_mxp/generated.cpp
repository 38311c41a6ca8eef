// SPDX-License-Identifier: BSD-3-Clause
#include "generated.hpp"

#include <cmath>

#include "options.hpp"
#include "plinth/kernel/entries/dominant.hpp"
#include "plinth/kernel/entries/fasi_higham.hpp"
#include "plinth/kernel/entries/scaled_diagonal.hpp"
#include "plinth/matrix/generate.hpp"
#include "plinth/refine/regenerated_operator.hpp"

namespace hpl_mxp {

namespace {

/// Column n of a source, as kernels of any device make it.
template <plinth::kernel::EntrySource Source>
struct RightHandSide {
  Source source;
  KOKKOS_FUNCTION double operator()(plinth::Index i, plinth::Index) const noexcept {
    return source(i, source.order());
  }
};

template <plinth::kernel::EntrySource Source>
class GeneratedSystem : public Generated {
 public:
  GeneratedSystem(const plinth::ProcessGrid& grid, const linpack::Case& c, const Source& source)
      : source_(source),
        distribution_{plinth::BlockCyclic(c.n, block_size(c), grid.shape().rows, 0),
                      plinth::BlockCyclic(c.n, block_size(c), grid.shape().cols, 0)},
        operator_(exec_, grid, distribution_, source) {}

  plinth::kernel::NarrowingCounts fill(Matrix<plinth::half>& a, int exponent) const override {
    return fill_any(a, exponent);
  }
  plinth::kernel::NarrowingCounts fill(Matrix<plinth::bfloat16>& a, int exponent) const override {
    return fill_any(a, exponent);
  }
  plinth::kernel::NarrowingCounts fill(Matrix<float>& a, int exponent) const override {
    return fill_any(a, exponent);
  }
  void right_hand_side(Vector& b) const override {
    plinth::generate(exec_, b, RightHandSide<Source>{source_});
  }
  void multiply(const Vector& x, Vector& y) override { operator_(x, y); }
  double norm_inf() override { return operator_.norm_inf(); }
  plinth::SystemNorms norms(const Vector& x) const override {
    return plinth::hpl_residual(exec_, source_, distribution_, x);
  }
  double bound() const override { return source_.bound(); }
  double condition() const override {
    if constexpr (requires { source_.cond_inf(); })
      return source_.cond_inf();
    else
      return 0;
  }

 private:
  template <class T>
  plinth::kernel::NarrowingCounts fill_any(Matrix<T>& a, int exponent) const {
    return plinth::generate_scaled(exec_, a, source_, std::ldexp(1.0, exponent));
  }

  Exec exec_;
  Source source_;
  plinth::Distribution distribution_;
  plinth::RegeneratedOperator<Exec, Source> operator_;
};

template <class Source>
std::unique_ptr<Generated> make(const plinth::ProcessGrid& grid, const linpack::Case& c,
                                const Source& source) {
  return std::make_unique<GeneratedSystem<Source>>(grid, c, source);
}

}  // namespace

std::unique_ptr<Generated> make_generated(const plinth::ProcessGrid& grid,
                                          const linpack::Case& c) {
  const linpack::Mixed& mixed = c.extensions.mixed.value();
  switch (mixed.matrix) {
    case linpack::SystemKind::fasi_higham:
      return make(grid, c, plinth::FasiHigham::with_condition(c.n, mixed.kappa, mixed.rho));
    case linpack::SystemKind::dominant_reference:
      return make(grid, c, plinth::DominantReference(c.n));
    case linpack::SystemKind::dominant_openmxp:
      return make(grid, c, plinth::DominantOpenmxp(c.n));
    default:
      return make(grid, c, plinth::ScaledDiagonal(c.n, mixed.sigma));
  }
}

}  // namespace hpl_mxp
