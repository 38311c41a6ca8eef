// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace linpack {

/// How a run ended.
enum class Verdict {
  passed,     ///< the scaled residual is below the threshold
  failed,     ///< it is not, or it is not a number
  unchecked,  ///< solved, and the threshold asks for no check
  skipped,    ///< not solved: a reason says why
};

}  // namespace linpack
