// SPDX-License-Identifier: BSD-3-Clause
#include "factored.hpp"

#include <algorithm>
#include <cmath>

namespace hpl_mxp {

namespace {

/// The power of two that brings the largest entry to just below 2^14: as high in FP16's range as
/// leaves room for growth. At most 100 in magnitude.
int exponent_for(double bound) {
  if (!(bound > 0) || !std::isfinite(bound)) return 0;
  return std::clamp(13 - std::ilogb(bound), -100, 100);
}

}  // namespace

std::unique_ptr<Factored> make_factored(const plinth::ProcessGrid& grid, const linpack::Case& c,
                                        const Generated& system,
                                        plinth::trace::PhaseClock& clock) {
  const linpack::Mixed& mixed = c.extensions.mixed.value();
  const int exponent = mixed.scaling == linpack::Switch::on ? exponent_for(system.bound()) : 0;
  switch (mixed.precision) {
    case linpack::Precision::fp16:
      return make_half(grid, c, exponent, clock);
    case linpack::Precision::fp16_fast:
      return make_half_fast(grid, c, exponent, clock);
    case linpack::Precision::bf16:
      return make_bfloat16(grid, c, 0, clock);
    case linpack::Precision::fp32_fp16:
      return make_single_half(grid, c, 0, clock);
    default:
      return make_single(grid, c, clock);
  }
}

}  // namespace hpl_mxp
