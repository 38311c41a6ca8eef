// SPDX-License-Identifier: BSD-3-Clause
#include "factored_mixed.hpp"

namespace hpl_mxp {

std::unique_ptr<Factored> make_half_fast(const plinth::ProcessGrid& grid, const linpack::Case& c,
                                         const Exponents& exponents,
                                         plinth::trace::PhaseClock& clock) {
  return std::make_unique<MixedFactored<plinth::DoubleHalfFast>>(grid, c, exponents, clock);
}

}  // namespace hpl_mxp
