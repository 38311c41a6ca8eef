// SPDX-License-Identifier: BSD-3-Clause
#include "factored_mixed.hpp"

namespace hpl_mxp {

std::unique_ptr<Factored> make_single_half(const plinth::ProcessGrid& grid,
                                           const linpack::Case& c,
                                           plinth::trace::PhaseClock& clock) {
  return std::make_unique<MixedFactored<plinth::DoubleSingleHalf>>(grid, c, Exponents{0}, clock);
}

}  // namespace hpl_mxp
