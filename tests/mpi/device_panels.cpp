// SPDX-License-Identifier: BSD-3-Clause
//
// LU whose panels a device factors: the host's pivots, factors and outcomes, and next to nothing
// comes to the host.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "plinth/lu/factor.hpp"
#include "plinth/lu/factors.hpp"
#include "plinth/lu/pivots.hpp"
#include "plinth/lu/plan.hpp"
#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/locked_device.hpp"
#include "support/panels_on_device.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using Kokkos::LayoutRight;
using plinth::PanelVariant;
using plinth::ProcessGrid;
using plinth::lu::FactorOptions;

namespace {

/// The stand-in device. What the host waits for and is brought is counted, over all queues.
class CountingDevice : public LockedDevice {
 public:
  struct Count {
    Index fences = 0;
    Index bytes_to_host = 0;
  };

  CountingDevice() = default;
  void fence() const {
    if (!copies().in_kernel()) ++count().fences;
    LockedDevice::fence();
  }
  void to_host(void* to, const void* from, std::size_t bytes) const {
    count().bytes_to_host += static_cast<Index>(bytes);
    LockedDevice::to_host(to, from, bytes);
  }
  CountingDevice beside() const { return CountingDevice(LockedDevice::beside()); }

  static Count& count() {
    static Count all;
    return all;
  }

 private:
  explicit CountingDevice(const LockedDevice& device) : LockedDevice(device) {}
};
using PanelDevice = PanelsOnDevice<CountingDevice>;
static_assert(plinth::has_panels_on_device<PanelDevice>);
static_assert(!plinth::has_panels_on_device<LockedDevice>);

template <class T>
using DeviceMatrix = plinth::DistributedMatrix<T, LockedMemory, LayoutRight>;

template <class T>
Dense<T> gather_device(const DeviceMatrix<T>& a) {
  const auto scope = LockedDevice().enter();
  return gather(a);
}

plinth::MatrixLayoutOptions square(Index nb) { return {.mb = nb, .nb = nb}; }

template <class Pivoting = plinth::PartialPivoting, class T>
auto factor_on_device(const ProcessGrid& grid, const Dense<T>& whole, Index nb,
                      const FactorOptions& options) {
  DeviceMatrix<T> a(grid, whole.rows, whole.cols, square(nb));
  plinth::generate(LockedDevice(), a, [&](Index i, Index j) noexcept { return whole(i, j); });
  return plinth::lu_factor(PanelDevice(), std::move(a), Pivoting{}, options);
}
template <class T>
auto factor_on_host(const ProcessGrid& grid, const Dense<T>& whole, Index nb,
                    const FactorOptions& options) {
  return plinth::lu_factor(Host(), distribute<LayoutRight>(grid, whole, square(nb)),
                           plinth::PartialPivoting{}, options);
}

/// Grids of one process row, of one column, and of several of both; of six ranks the last alone,
/// which share the cores with their kernels.
template <class F>
void on_each_kind_of_grid(const F& f) {
  const auto on = [&](int p, int q) {
    const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{p, q});
    INFO("grid " << p << "x" << q);
    f(grid);
  };
  const int ranks = world_size();
  if (ranks < 6) on(1, ranks);
  if (ranks == 1) return;
  if (ranks < 6) on(ranks, 1);
  if (ranks >= 4) on(2, ranks / 2);
  if (ranks == 6) on(3, 2);
}

struct Case {
  Index n, nb;
  FactorOptions options;
};
/// Every variant of the recursion and of its base, every depth of look-ahead, ragged sizes.
std::vector<Case> cases() {
  using enum PanelVariant;
  return {
      {1, 4, {.panel = {right, left, 2, 8}}},                 // one element
      {5, 8, {.lookahead = 1, .panel = {left, left, 2, 2}}},  // one block, ranks without rows
      {26, 1, {.lookahead = 3}},                              // a panel for each column
      {29, 8, {.lookahead = 0, .panel = {left, crout, 3, 2}}},
      {29, 8, {.lookahead = 1, .panel = {left, right, 2, 3}, .split = 0.5}},
      {39, 13, {.lookahead = 2, .panel = {crout, left, 2, 4}}},
      {39, 13, {.lookahead = 1, .panel = {crout, crout, 4, 3}, .reproducible = true}},
      {39, 13, {.lookahead = 0, .panel = {crout, right, 2, 5}}},
      {45, 9, {.lookahead = 1, .panel = {right, left, 2, 2}, .split = 0.4}},
      {45, 9, {.lookahead = 2, .panel = {right, crout, 3, 16}, .split = 0.6}},  // base alone
      {45, 9, {.lookahead = 1, .panel = {right, right, 2, 4}}},
  };
}

/// The same as on the host, bit by bit, from a matrix whose factors need no rounding.
template <class T>
void check_exact(const ProcessGrid& grid, const ExactSystem<T>& exact, const Case& c) {
  const auto factors = factor_on_device(grid, exact.a, c.nb, c.options);
  CHECK(gather_pivots(factors) == exact.pivots);
  CHECK(gather_device(factors.matrix()).data == exact.lu.data);
  CHECK(same_bits(gather_device(factors.matrix()),
                  gather(factor_on_host(grid, exact.a, c.nb, c.options).matrix())));
  CHECK_FALSE(factors.first_zero_pivot());
}

}  // namespace

TEST_CASE("LU with panels on a device: exact factors are the host's, bit by bit",
          "[device][panels]") {
  on_each_kind_of_grid([](const ProcessGrid& grid) {
    for (const Case& c : cases()) {
      INFO("n " << c.n << ", nb " << c.nb << ", look-ahead " << c.options.lookahead);
      check_exact(grid, powers_of_two<double>(c.n, 2), c);
      if (c.nb == 9) check_exact(grid, permutation_matrix<double>(shuffled(c.n, 5)), c);
    }
  });
  CHECK(is_idle(LockedDevice()));
}

TEST_CASE("LU with panels on a device: the host's pivots, and small residuals",
          "[device][panels]") {
  on_each_kind_of_grid([](const ProcessGrid& grid) {
    for (const Case& c : cases()) {
      INFO("n " << c.n << ", nb " << c.nb << ", look-ahead " << c.options.lookahead);
      const auto a = random_matrix<double>(c.n, c.n, 12);
      const auto factors = factor_on_device(grid, a, c.nb, c.options);
      const auto pivots = gather_pivots(factors);
      CHECK(pivots == gather_pivots(factor_on_host(grid, a, c.nb, c.options)));
      CHECK(factor_ratio(a, gather_device(factors.matrix()), pivots) < 30);
    }
  });
  CHECK(is_idle(LockedDevice()));
}

TEST_CASE("HPL's way with panels on a device: b travels along, L is dropped",
          "[device][panels]") {
  on_each_kind_of_grid([](const ProcessGrid& grid) {
    const auto exact = powers_of_two<double>(39, 6);
    const Index n = exact.a.rows, nb = 7;
    const auto system = make_dense<double>(n, n + 1, [&](Index i, Index j) {
      if (j < n) return exact.a(i, j);
      double sum = 0;
      for (Index k = 0; k < n; ++k) sum += exact.a(i, k);
      return sum;
    });
    const auto entry = [&](Index i, Index j) noexcept { return system(i, j); };
    const FactorOptions options{.lookahead = 1, .split = 0.5, .keep_l = plinth::lu::KeepL::no};
    DeviceMatrix<double> a(grid, n, n + 1, square(nb));
    plinth::generate(LockedDevice(), a, entry);
    plinth::trace::Off off;
    plinth::lu::Factorization<DeviceMatrix<double>, PanelDevice> factorization(
        PanelDevice(), grid, a.distribution(), options, off);
    plinth::lu::Pivots pivots(a.distribution().rows, grid.coord().row);
    CHECK(factorization(a, pivots).first_zero_pivot == -1);
    HostMatrix<double, LayoutRight> host(grid, n, n + 1, square(nb));
    plinth::generate(Host(), host, entry);
    factor_travelling(Host(), host, options);
    CHECK(same_bits(gather_device(a), gather(host)));
  });
  CHECK(is_idle(LockedDevice()));
}

TEST_CASE("LU with panels on a device: complex", "[device][panels]") {
  using T = Kokkos::complex<double>;
  on_each_kind_of_grid([](const ProcessGrid& grid) {
    const Case c{
        26, 6, {.lookahead = 1, .panel = {PanelVariant::left, PanelVariant::left, 2, 3}}};
    check_exact(grid, powers_of_two<T>(c.n, 4), c);
    const auto a = random_matrix<T>(c.n, c.n, 13);
    const auto factors = factor_on_device(grid, a, c.nb, c.options);
    const auto pivots = gather_pivots(factors);
    CHECK(pivots == gather_pivots(factor_on_host(grid, a, c.nb, c.options)));
    CHECK(factor_ratio(a, gather_device(factors.matrix()), pivots) < 30);
  });
  CHECK(is_idle(LockedDevice()));
}

TEST_CASE("LU without pivoting with panels on a device", "[device][panels]") {
  on_each_kind_of_grid([](const ProcessGrid& grid) {
    const Index n = 29;
    // A = L U of small whole numbers and powers of two.
    const auto lu = make_dense<double>(n, n, [](Index i, Index j) {
      return i == j ? (i % 2 == 0 ? 2.0 : -4.0) : std::round(4 * noise(i, j, 15)) + 0.0;
    });
    const auto a = make_dense<double>(n, n, [&](Index i, Index j) {
      double sum = 0;
      for (Index k = 0; k <= std::min(i, j); ++k) sum += (i == k ? 1 : lu(i, k)) * lu(k, j);
      return sum;
    });
    for (const Case& c : cases()) {
      if (c.n != n) continue;
      const auto factors = factor_on_device<plinth::NoPivoting>(grid, a, c.nb, c.options);
      CHECK(gather_device(factors.matrix()).data == lu.data);
      const auto pivots = gather_pivots(factors);
      for (Index k = 0; k < n; ++k) CHECK(pivots[static_cast<std::size_t>(k)] == k);
      CHECK_FALSE(factors.first_zero_pivot());
    }
  });
  CHECK(is_idle(LockedDevice()));
}

TEST_CASE("LU with panels on a device: singular and non-finite matrices have the host's outcome",
          "[device][panels]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Index n = 26, nb = 5;
  const auto random = [](Index i, Index j) { return noise(i, j, 21); };
  const auto with = [&](Index i, Index j, double value) {
    auto a = make_dense<double>(n, n, random);
    a(i, j) = value;
    return a;
  };
  const auto zero_column = [&](Index column) {
    return make_dense<double>(n, n,
                              [&](Index i, Index j) { return j == column ? 0.0 : random(i, j); });
  };
  struct Bad {
    const char* name;
    Dense<double> a;
    Index zero, nonfinite;  // columns, or -1
  };
  const Bad bad[] = {
      {"zeros", Dense<double>(n, n), 0, -1},
      {"ones", make_dense<double>(n, n, [](Index, Index) { return 1.0; }), 1, -1},
      {"zero column first", zero_column(0), 0, -1},
      {"zero column in a block", zero_column(13), 13, -1},
      {"zero column last", zero_column(n - 1), n - 1, -1},
      {"NaN first", with(0, 0, nan), -1, 0},
      {"NaN last", with(n - 1, n - 1, nan), -1, n - 1},
      {"NaN below", with(20, 3, nan), -1, 3},
      {"infinite", with(14, 14, -inf), -1, 14},
  };
  on_each_kind_of_grid([&](const ProcessGrid& grid) {
    constexpr PanelVariant variants[] = {PanelVariant::left, PanelVariant::crout,
                                         PanelVariant::right};
    std::size_t next = static_cast<std::size_t>(grid.shape().rows);
    for (const auto& c : bad) {
      const PanelVariant base = variants[next++ % std::size(variants)];
      INFO(c.name << ", base " << plinth::to_string(base));
      const FactorOptions options{.lookahead = 1, .panel = {.base = base, .nbmin = 3}};
      const auto factors = factor_on_device(grid, c.a, nb, options);
      CHECK(factors.first_zero_pivot().value_or(-1) == c.zero);
      CHECK(factors.first_nonfinite_pivot().value_or(-1) == c.nonfinite);
      if (c.nonfinite < 0)
        CHECK(factor_ratio(c.a, gather_device(factors.matrix()), gather_pivots(factors)) < 30);
    }
  });
  CHECK(is_idle(LockedDevice()));
}

TEST_CASE("With one process row the host sees pivots alone, and waits once per step",
          "[device][panels]") {
  const int ranks = world_size();
  const bool direct = GENERATE(false, true);  // MPI is given the device's memory
  const ProcessGrid staging(MPI_COMM_WORLD, plinth::RowMajorGrid{1, ranks});
  const ProcessGrid grid = direct ? direct_grid(staging) : staging;
  const Index n = 43, nb = 4, lookahead = GENERATE(0, 1, 2);
  DeviceMatrix<double> a(grid, n, n, square(nb));
  plinth::generate(LockedDevice(), a, [](Index i, Index j) noexcept { return noise(i, j, 7); });
  PanelDevice::count() = {};
  const plinth::lu::Plan plan(a.distribution(), lookahead);
  const auto factors = plinth::lu_factor(PanelDevice(), std::move(a), plinth::PartialPivoting{},
                                         {.lookahead = lookahead});
  CHECK_FALSE(factors.first_zero_pivot());
  Index bytes = 0;
  for (Index k = 0; k < plan.steps(); ++k) {
    const auto step = plan.step(k);
    if (!plan.local(step, grid.coord()).has_panel) continue;
    bytes += step.width() * 16;  // a pivot's row, and its value
    // To be sent to other process columns, and that alone.
    if (ranks > 1 && !direct) bytes += plan.panel_elements(step, grid.coord()) * 8;
  }
  CHECK(PanelDevice::count().bytes_to_host == bytes);
  CHECK(PanelDevice::count().fences == plan.steps() + 2);  // and both queues at the end
  CHECK(has_waited(LockedDevice()));
}

TEST_CASE("Panels that a device factors go from device to device", "[device][panels][transport]") {
  on_each_kind_of_grid([&](const ProcessGrid& grid) {
    for (const Case& c : cases()) {
      if (c.n == 26 || c.n == 39) continue;  // others have what these have
      INFO("n " << c.n << ", nb " << c.nb << ", look-ahead " << c.options.lookahead);
      const auto a = random_matrix<double>(c.n, c.n, 15);
      const auto staged = factor_on_device(grid, a, c.nb, c.options);
      const Index max_message = c.nb == 8 ? 100 : 1 << 20;
      const auto direct = factor_on_device(direct_grid(grid, max_message), a, c.nb, c.options);
      CHECK(same_bits(gather_device(direct.matrix()), gather_device(staged.matrix())));
      CHECK(direct.pivots().local() == staged.pivots().local());
      CHECK(has_waited(LockedDevice()));
    }
  });
  CHECK(is_idle(LockedDevice()));
}

TEST_CASE("With one process column the host sees rows that travel, and no columns",
          "[device][panels]") {
  const int ranks = world_size();
  if (ranks == 1) return;
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{ranks, 1});
  const Index n = 4 * ranks, nb = n;  // one block, on one process: nothing is interchanged
  const auto a = random_matrix<double>(n, n, 14);
  PanelDevice::count() = {};
  const auto factors = factor_on_device(grid, a, nb, {.lookahead = 0});
  const Index candidate = 24;  // bytes
  CHECK(PanelDevice::count().bytes_to_host == n * (candidate + 2 * n * 8));
  CHECK(factor_ratio(a, gather_device(factors.matrix()), gather_pivots(factors)) < 30);
  CHECK(has_waited(LockedDevice()));
}
