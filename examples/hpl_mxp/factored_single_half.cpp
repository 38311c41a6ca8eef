// SPDX-License-Identifier: BSD-3-Clause
#include "factored_mixed.hpp"

namespace hpl_mxp {

std::unique_ptr<Factored> make_single_half(const plinth::ProcessGrid& grid,
                                           const linpack::Case& c, int exponent,
                                           plinth::trace::PhaseClock& clock) {
  return std::make_unique<MixedFactored<plinth::DoubleSingleHalf>>(grid, c, exponent, clock);
}

}  // namespace hpl_mxp
