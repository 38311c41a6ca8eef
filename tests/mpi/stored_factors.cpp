// SPDX-License-Identifier: BSD-3-Clause
//
// Solving in double with factors that are stored in fewer bits: the answer is as good as the
// factors' product, to double precision, and the scaling of 16-bit factors is undone.
#include <cmath>

#include "plinth/lu/lu_solve.hpp"
#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/locked_device.hpp"
#include "support/mixed_instances.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::Op;
using plinth::ProcessGrid;

namespace {

double rhs_entry(Index i, Index j) { return noise(i, j, 82); }

/// P^T L U of stored factors in double, their scaling undone.
template <class Factors>
Dense<double> product_of(const Factors& factors, const Dense<double>& stored) {
  const Index n = stored.rows, nb = factors.matrix().distribution().rows.block();
  const auto& e = factors.exponents();
  Dense<double> a(n, n);
  const auto l = [&](Index i, Index k) {
    return i == k ? 1.0 : std::ldexp(stored(i, k), -e.of_l(k / nb));
  };
  for (Index j = 0; j < n; ++j)
    for (Index k = 0; k <= j; ++k) {
      const double u = std::ldexp(stored(k, j), -e.of_u(k / nb));
      for (Index i = k; i < n; ++i) a(i, j) += l(i, k) * u;
    }
  const auto pivots = gather_pivots(factors);
  for (Index k = n - 1; k >= 0; --k)
    for (Index j = 0; j < n; ++j) std::swap(a(k, j), a(pivots[static_cast<std::size_t>(k)], j));
  return a;
}

template <class T>
Dense<double> widened(const Dense<T>& a) {
  return make_dense<double>(a.rows, a.cols,
                            [&](Index i, Index j) { return static_cast<double>(a(i, j)); });
}

/// Solves with the factors for several right-hand sides and judges by their product.
template <class Layout, class Factors>
void check_solves(const ProcessGrid& grid, const Factors& factors, Index nb) {
  const Index n = factors.order();
  const auto a = product_of(factors, widened(gather(factors.matrix())));
  struct Rhs {
    Index cols, at_once;
  };
  for (const Rhs rhs : {Rhs{1, 128}, Rhs{3, 128}, Rhs{7, 5}})
    for (const Op op : {Op::none, Op::transpose, Op::conj_transpose}) {
      INFO(rhs.cols << " right-hand sides, " << rhs.at_once << " at once, op "
                    << plinth::to_char(op));
      const auto b = make_dense<double>(n, rhs.cols, rhs_entry);
      auto x =
          distribute<Layout>(grid, b, {.mb = nb, .nb = 2, .source_row = grid.shape().rows - 1});
      plinth::lu_solve(Host(), factors, x, op, rhs.at_once);
      CHECK(solve_ratio(a, gather(x), b, op) < 30);
    }
}

struct Size {
  Index n, nb;
};
constexpr Size sizes[] = {{1, 4}, {9, 16}, {45, 6}};

/// Random; the rows of very different size, so that 16-bit factors need different exponents.
double entry(Index i, Index j) {
  return noise(i, j, 81) * std::ldexp(1.0, static_cast<int>(i % 5));
}

template <class Precision, class Layout>
void check_mixed(const plinth::lu::MixedOptions& options) {
  using Factor = typename plinth::PrecisionRoles<Precision>::Factor;
  on_every_active_grid([&](const ProcessGrid& grid) {
    for (const Size s : sizes) {
      INFO("n " << s.n << ", nb " << s.nb << ", matrix exponent " << options.matrix_exponent);
      HostMatrix<Factor, Layout> a(grid, s.n, s.n,
                                   {.mb = s.nb, .nb = s.nb, .source_row = grid.shape().rows - 1});
      plinth::generate(Host(), a, [&](Index i, Index j) noexcept {
        return std::ldexp(entry(i, j), options.matrix_exponent);
      });
      const auto factors = plinth::mixed_lu_factor<Precision>(Host(), std::move(a),
                                                              plinth::PartialPivoting{}, options);
      check_solves<Layout>(grid, factors, s.nb);
    }
  });
}

}  // namespace

TEST_CASE("lu_solve in double with single-precision factors", "[stored][lu]") {
  on_every_active_grid([](const ProcessGrid& grid) {
    for (const Size s : sizes) {
      INFO("n " << s.n << ", nb " << s.nb);
      HostMatrix<float, LayoutRight> a(
          grid, s.n, s.n, {.mb = s.nb, .nb = s.nb, .source_row = grid.shape().rows - 1});
      plinth::generate(Host(), a, [](Index i, Index j) noexcept { return entry(i, j); });
      check_solves<LayoutRight>(grid, plinth::lu_factor(Host(), std::move(a)), s.nb);
    }
  });
}

TEST_CASE("lu_solve in double with 16-bit factors and their exponents", "[stored][lu]") {
  check_mixed<plinth::DoubleHalf, LayoutRight>({});
  check_mixed<plinth::DoubleHalf, LayoutRight>({.matrix_exponent = 5});
  check_mixed<plinth::DoubleHalf, LayoutLeft>({.matrix_exponent = -3});
  check_mixed<plinth::DoubleBfloat16, LayoutRight>({});
}

TEST_CASE("single-precision factors on the stand-in device", "[stored][device]") {
  using Single = plinth::DistributedMatrix<float, LockedMemory, LayoutRight>;
  using Double = plinth::DistributedMatrix<double, LockedMemory, LayoutRight>;
  const LockedDevice device;
  const int ranks = world_size(), p = ranks % 2 == 0 ? 2 : 1;
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{p, ranks / p});
  const Index n = 23;
  Single a(grid, n, n, {.mb = 4, .nb = 4});
  HostMatrix<float, LayoutRight> ha(grid, n, n, {.mb = 4, .nb = 4});
  plinth::generate(device, a, [](Index i, Index j) noexcept { return entry(i, j); });
  plinth::generate(Host(), ha, [](Index i, Index j) noexcept { return entry(i, j); });
  const auto factors = plinth::lu_factor(device, std::move(a));
  const auto host_factors = plinth::lu_factor(Host(), std::move(ha));
  for (const Index cols : {2, 5}) {
    Double b(grid, n, cols, {.mb = 4, .nb = 2});
    HostMatrix<double, LayoutRight> hb(grid, n, cols, {.mb = 4, .nb = 2});
    plinth::generate(device, b, [](Index i, Index j) noexcept { return rhs_entry(i, j); });
    plinth::generate(Host(), hb, [](Index i, Index j) noexcept { return rhs_entry(i, j); });
    plinth::lu_solve(device, factors, b);
    CHECK(has_waited(device));
    plinth::lu_solve(Host(), host_factors, hb);
    HostMatrix<double, LayoutRight> copied(grid, n, cols, {.mb = 4, .nb = 2});
    for (Index i = 0; i < b.local_extents().rows; ++i)
      device.to_host(copied.local().data() + i * copied.local().stride(0),
                     b.local().data() + i * b.local().stride(0),
                     static_cast<std::size_t>(b.local_extents().cols) * sizeof(double));
    device.fence();
    CHECK(same_bits(gather(copied), gather(hb)));
  }
}
