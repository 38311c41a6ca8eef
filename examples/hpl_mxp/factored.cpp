// SPDX-License-Identifier: BSD-3-Clause
#include "factored.hpp"

#include <algorithm>
#include <cmath>

#include "options.hpp"

namespace hpl_mxp {

namespace {

/// The first brings the largest entry to just below 2^14: as high in FP16's range as leaves room
/// for a growth of 4, so that entries far smaller than the diagonal keep their bits. The other
/// brings it to just below 2^-2, with room for 2^18; what is lost of entries 2^12 times smaller
/// than the largest is little by what an LU in FP16 loses that has grown. At most 100 in magnitude.
Exponents exponents_for(const linpack::Mixed& mixed, double bound) {
  if (!(bound > 0) || !std::isfinite(bound)) return {0};
  const auto below = [bound](int top) {
    return std::clamp(top - 1 - std::ilogb(bound), -100, 100);
  };
  if (may_grow(mixed)) return {below(-2)};
  return {below(14), below(-2)};
}

}  // namespace

std::unique_ptr<Factored> make_factored(const plinth::ProcessGrid& grid, const linpack::Case& c,
                                        const Generated& system,
                                        plinth::trace::PhaseClock& clock) {
  const linpack::Mixed& mixed = c.extensions.mixed.value();
  const Exponents exponents =
      mixed.scaling == linpack::Switch::on ? exponents_for(mixed, system.bound()) : Exponents{0};
  switch (mixed.precision) {
    case linpack::Precision::fp16:
      return make_half(grid, c, exponents, clock);
    case linpack::Precision::fp16_fast:
      return make_half_fast(grid, c, exponents, clock);
    case linpack::Precision::bf16:
      return make_bfloat16(grid, c, clock);
    case linpack::Precision::fp32_fp16:
      return make_single_half(grid, c, clock);
    default:
      return make_single(grid, c, clock);
  }
}

}  // namespace hpl_mxp
