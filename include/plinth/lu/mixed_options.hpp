// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "plinth/comm/agree.hpp"
#include "plinth/kernel/lowp/micro_kernel.hpp"
#include "plinth/lu/options.hpp"

namespace plinth::lu {

/// How to factor in mixed precision.
struct MixedOptions {
  /// How many panels are factored and under way ahead of the trailing update; 0: none.
  Index lookahead = 1;
  /// Invert the diagonal blocks of L and U, so that triangular solves become products: twice the
  /// operations, which pays where triangular solves are slow, as on GPUs; on the host they are
  /// products for the most part anyway (kernel/trsm.hpp). A block whose inverse is large
  /// beside it is solved with all the same (lu/diagonal_block.hpp).
  bool invert_diagonal = false;
  /// The matrix to be factored is A 2^matrix_exponent: what keeps A's entries high in the range of
  /// 16 bits, and inside. The exponents of U account for it, so that the factors are A's.
  int matrix_exponent = 0;
  /// How many products are summed in 16 bits at a time, where the micro-kernel sums so; nullopt: as
  /// the precision policy says. On a host; devices sum in float.
  std::optional<Index> flush_k = std::nullopt;
  /// The micro-kernel of the update; nullopt: the fastest that this CPU has for the precision
  /// policy. The same on every process.
  std::optional<kernel::lowp::MicroKernel> micro_kernel = std::nullopt;
  /// How a panel travels along a process row, and U12 down a process column.
  comm::BroadcastAlgorithm broadcast = comm::BroadcastAlgorithm::ring1_modified;
  /// With pivoting: how panels are factored, rows travel, and processes agree on a pivot.
  RecursivePanel panel = {};
  RowSwap swap = {};  ///< how rows travel
  PivotReduction pivot_reduction = PivotReduction::point_to_point;  ///< how a column agrees

  /// What valid() wants, in words.
  static constexpr const char* requirement =
      "look-ahead >= 0, matrix exponent in [-100, 100], flush_k >= 0, ndiv >= 2, nbmin >= 1 and "
      "swap threshold >= 0 wanted";
  /// Whether `requirement` is met.
  constexpr bool valid() const {
    return lookahead >= 0 && matrix_exponent >= -100 && matrix_exponent <= 100 &&
           flush_k.value_or(0) >= 0 && panel.valid() && swap.valid();
  }
  /// What lu_factor's options say, as far as they have a meaning here.
  static MixedOptions of(const FactorOptions& o) {
    return {.lookahead = o.lookahead,
            .broadcast = o.broadcast,
            .panel = o.panel,
            .swap = o.swap,
            .pivot_reduction = o.pivot_reduction};
  }
};

/// All options in one number, for an agreement between processes.
inline Index fingerprint(const MixedOptions& options) {
  const auto& [lookahead, invert, exponent, flush_k, micro_kernel, broadcast, panel, swap,
               reduction] = options;
  comm::Fingerprint print;
  print << lookahead << invert << exponent << flush_k.value_or(-1)
        << fingerprint(FactorOptions{.panel = panel,
                                     .broadcast = broadcast,
                                     .swap = swap,
                                     .pivot_reduction = reduction});
  if (micro_kernel)
    for (const char* c = micro_kernel->name; *c != '\0'; ++c) print << *c;
  return print.value();
}

}  // namespace plinth::lu
