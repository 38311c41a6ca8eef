// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/cases.hpp"

namespace linpack {

Grid squarest_grid(int ranks) {
  Grid best{1, ranks};
  for (int p = 1; p <= ranks / p; ++p)
    if (ranks % p == 0) best = {p, ranks / p};
  return best;
}

Cases::Cases(const Config& config) : config_(config), size_(1) {
  for (const std::size_t count : {config.grids.size(), config.n.size(), config.nb.size(),
                                  config.depth.size(), config.bcast.size(), config.rfact.size(),
                                  config.pfact.size(), config.nbmin.size(), config.ndiv.size()})
    size_ *= count;
}

Case Cases::operator[](std::uint64_t index) const {
  // The innermost list varies fastest: it is the lowest digit of the index.
  const auto next = [&index](const auto& list) {
    const auto digit = static_cast<std::size_t>(index % list.size());
    index /= list.size();
    return list[digit];
  };
  Case c;
  c.ndiv = next(config_.ndiv);
  c.nbmin = next(config_.nbmin);
  c.pfact = next(config_.pfact);
  c.rfact = next(config_.rfact);
  c.bcast = next(config_.bcast);
  c.depth = next(config_.depth);
  c.nb = next(config_.nb);
  c.n = next(config_.n);
  c.grid = next(config_.grids);
  c.mapping = config_.mapping;
  c.swap = config_.swap;
  c.swap_threshold = config_.swap_threshold;
  c.l1 = config_.l1;
  c.u = config_.u;
  c.equilibration = config_.equilibration;
  c.alignment = config_.alignment;
  c.threshold = config_.threshold;
  c.extensions = config_.extensions;
  return c;
}

}  // namespace linpack
