// SPDX-License-Identifier: BSD-3-Clause
#include "system.hpp"

#include <algorithm>

#include "options.hpp"
#include "plinth/matrix/generate.hpp"

namespace hpl {

using plinth::Index;

namespace {

/// NB, or all columns if they are fewer: workspace is for a whole block.
Index block_size(const linpack::Case& c) { return std::min<Index>(c.nb, c.n + 1); }

plinth::MatrixLayoutOptions square_blocks(const linpack::Case& c) {
  return {.mb = block_size(c), .nb = block_size(c)};
}

}  // namespace

double System::bytes_needed(const linpack::Case& c) {
  const Index block = block_size(c);
  const auto most = [block](Index size, int processes) {
    return static_cast<double>(plinth::BlockCyclic(size, block, processes, 0).local_size(0));
  };
  const double rows = most(c.n, c.grid.rows);
  const double cols = most(c.n + 1, c.grid.cols);
  const auto panels =
      static_cast<double>(std::min<Index>(c.depth, plinth::ceil_div(c.n, block)) + 2);
  const auto nb = static_cast<double>(block);
  return 8 * (rows * (cols + 8) + nb * (panels * rows + 2 * cols + nb));
}

System::System(const Exec& exec, const plinth::ProcessGrid& grid, const linpack::Case& c)
    : exec_(exec),
      generator_{{.n = c.n}},
      ab_(grid, c.n, c.n + 1, square_blocks(c)),
      x_(grid, c.n, 1, square_blocks(c)),
      pivots_(ab_.distribution().rows, grid.coord().row),
      factorization_(exec, grid, ab_.distribution(), factor_options(c), off_),
      back_substitution_(exec, ab_) {}

void System::generate() { plinth::generate(exec_, ab_, generator_); }

plinth::SystemNorms System::norms() const {
  return plinth::hpl_residual(exec_, generator_, ab_.distribution(), x_);
}

}  // namespace hpl
