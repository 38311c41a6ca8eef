// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plinth/core/index.hpp"

namespace plinth {

/// Order in which a panel's columns are brought up to date: left-looking (all updates of a column
/// just before it is factored), Crout (a column of L and a row of U at a time), right-looking
/// (the rest of the panel after each column).
enum class PanelVariant { left, crout, right };

/// In words, for people.
constexpr const char* to_string(PanelVariant variant) {
  switch (variant) {
    case PanelVariant::left:
      return "left";
    case PanelVariant::crout:
      return "Crout";
    case PanelVariant::right:
      return "right";
  }
  return "?";
}

/// Recursive panel factorization (Toledo 1997; Gustavson 1997): a panel is cut into `ndiv` parts
/// by `variant` until a part is at most `nbmin` columns wide, which `base` factors column by
/// column.
struct RecursivePanel {
  PanelVariant variant = PanelVariant::right;  ///< of the recursion
  PanelVariant base = PanelVariant::left;  ///< of a part that is not cut
  Index ndiv = 2;  ///< parts that a panel is cut into
  Index nbmin = 8;  ///< widest part that is not cut

  /// Ndiv >= 2 and nbmin >= 1.
  constexpr bool valid() const { return ndiv >= 2 && nbmin >= 1; }
};

}  // namespace plinth
