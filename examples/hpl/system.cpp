// SPDX-License-Identifier: BSD-3-Clause
#include "system.hpp"

#include <algorithm>

#include "linpack/device.hpp"
#include "options.hpp"
#include "plinth/lu/back_substitute.hpp"
#include "plinth/lu/factor.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/matrix/generate.hpp"
#include "plinth/matrix/hpl_matrix.hpp"
#include "plinth/policy/execution.hpp"

namespace hpl {

using plinth::Index;

namespace {

/// NB, or all columns if they are fewer: workspace is for a whole block.
Index block_size(const linpack::Case& c) { return std::min<Index>(c.nb, c.n + 1); }

plinth::MatrixLayoutOptions square_blocks(const linpack::Case& c) {
  return {.mb = block_size(c), .nb = block_size(c), .align = c.alignment};
}

template <class Exec, class Layout>
class StoredSystem : public System {
 public:
  StoredSystem(const plinth::ProcessGrid& grid, const linpack::Case& c)
      : generator_{{.n = c.n}},
        ab_(grid, c.n, c.n + 1, square_blocks(c)),
        plan_(ab_.distribution(), c.depth),
        x_(grid, c.n, 1, {.mb = block_size(c), .nb = block_size(c), .align = 1}),
        pivots_(ab_.distribution().rows, grid.coord().row),
        factorization_(exec_, grid, ab_.distribution(), factor_options(c), clock_),
        back_substitution_(exec_, ab_) {}

  void generate() override { plinth::generate(exec_, ab_, generator_); }
  plinth::lu::PanelOutcome factor(bool steps) override {
    clock_.reset(steps ? plan_.steps() : 0);
    return factorization_(ab_, pivots_);
  }
  void back_substitute() override { back_substitution_(ab_, x_, clock_); }
  plinth::SystemNorms norms() const override {
    return plinth::hpl_residual(exec_, generator_, ab_.distribution(), x_);
  }
  const plinth::trace::PhaseClock& clock() const override { return clock_; }
  const plinth::lu::Plan& plan() const override { return plan_; }

 private:
  using Matrix = plinth::DistributedMatrix<double, typename Exec::memory, Layout>;

  Exec exec_;
  plinth::HplMatrix generator_;
  Matrix ab_;
  plinth::lu::Plan plan_;
  Matrix x_;
  plinth::lu::Pivots pivots_;
  plinth::trace::PhaseClock clock_;
  plinth::lu::Factorization<Matrix, Exec, plinth::PartialPivoting, plinth::trace::PhaseClock>
      factorization_;
  plinth::lu::BackSubstitution<Exec, Matrix> back_substitution_;
};

template <class Exec>
std::unique_ptr<System> make_system_on(const plinth::ProcessGrid& grid, const linpack::Case& c) {
  if (c.extensions.storage == linpack::Storage::by_rows)
    return std::make_unique<StoredSystem<Exec, Kokkos::LayoutRight>>(grid, c);
  return std::make_unique<StoredSystem<Exec, Kokkos::LayoutLeft>>(grid, c);
}

}  // namespace

double bytes_needed(const linpack::Case& c) {
  const Index block = block_size(c);
  const auto most = [block](Index size, int processes) {
    return plinth::BlockCyclic(size, block, processes, 0).local_size(0);
  };
  const auto aligned = [&c](Index size) {
    return plinth::ceil_div(size, c.alignment) * c.alignment + 8;
  };
  const Index rows = most(c.n, c.grid.rows), cols = most(c.n + 1, c.grid.cols);
  const bool by_rows = c.extensions.storage == linpack::Storage::by_rows;
  const double matrix = by_rows ? static_cast<double>(rows) * static_cast<double>(aligned(cols))
                                : static_cast<double>(cols) * static_cast<double>(aligned(rows));
  const auto panels =
      static_cast<double>(std::min<Index>(c.depth, plinth::ceil_div(c.n, block)) + 2);
  const auto nb = static_cast<double>(block);
  return 8 * (matrix +
              nb * (panels * static_cast<double>(rows) + 2 * static_cast<double>(cols) + nb));
}

std::unique_ptr<System> make_system(const plinth::ProcessGrid& grid, const linpack::Case& c) {
  if (c.extensions.panels == linpack::Panels::on_device)
    return make_system_on<linpack::PanelExecution>(grid, c);
  return make_system_on<linpack::Execution>(grid, c);
}

}  // namespace hpl
