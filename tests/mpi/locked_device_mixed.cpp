// SPDX-License-Identifier: BSD-3-Clause
//
// LU in mixed precision and refinement with its factors where host code and MPI cannot touch a
// matrix: on the stand-in device. Results are those of the host.
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "plinth/plinth.hpp"
#include "support/catch.hpp"
#include "support/locked_device.hpp"
#include "support/mixed_instances.hpp"
#include "support/panels_on_device.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using plinth::MatrixLayoutOptions;
using plinth::NoPivoting;
using plinth::PartialPivoting;
using plinth::ProcessGrid;
using plinth::lu::MixedOptions;

namespace {

using LockedPanels = PanelsOnDevice<LockedDevice>;
template <class T, class Layout>
using DeviceMatrix = plinth::DistributedMatrix<T, LockedMemory, Layout>;

/// The whole of a matrix on the device, by the policy's copies.
template <class T, class Layout>
Dense<T> gather_device(const DeviceMatrix<T, Layout>& a) {
  HostMatrix<T, Layout> host(a.grid(), a.rows(), a.cols(), plinth::layout_of(a));
  const auto from = a.local();
  const auto to = host.local();
  constexpr bool by_rows = plinth::kernel::is_row_major<Layout>;
  const auto lines = by_rows ? from.extent(0) : from.extent(1);
  const auto length = by_rows ? from.extent(1) : from.extent(0);
  for (std::size_t l = 0; l < lines; ++l)
    LockedDevice().to_host(&to(by_rows ? l : 0, by_rows ? 0 : l),
                           from.data() + l * from.stride(by_rows ? 0 : 1), length * sizeof(T));
  LockedDevice().fence();
  return gather(host);
}

Index sum_of_all(Index mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return mine;
}

/// Noise with sqrt(n) on the diagonal, or without.
struct Entries {
  Index n;
  bool safe;
  double operator()(Index i, Index j) const noexcept {
    return noise(i, j, 7) + (safe && i == j ? std::sqrt(static_cast<double>(n)) : 0.0);
  }
};

/// Factors, and all that is said of them, are those of the host.
template <class Device, class Host>
void check_same(const Device& device, const Host& host) {
  CHECK(same_bits(gather_device(device.matrix()), gather(host.matrix())));
  CHECK(device.pivots().local() == host.pivots().local());
  CHECK(device.exponents() == host.exponents());
  CHECK(device.first_zero_pivot() == host.first_zero_pivot());
  CHECK(device.first_nonfinite_pivot() == host.first_nonfinite_pivot());
  CHECK(device.report()->lost == host.report()->lost);
  CHECK(device.report()->lost_multiplied == host.report()->lost_multiplied);
  CHECK(device.report()->first_overflow == host.report()->first_overflow);
  const double largest = host.report()->largest_u;
  CHECK(std::isnan(device.report()->largest_u) == std::isnan(largest));
  CHECK((device.report()->largest_u == largest || std::isnan(largest)));
}

template <class Device, class Precision, class Layout, class Pivoting>
void check_factors() {
  using Factor = typename plinth::PrecisionRoles<Precision>::Factor;
  struct Shape {
    Index n, nb, lookahead;
    bool invert;
  };
  on_few_grids([&](const ProcessGrid& grid) {
    for (const Shape s : {Shape{5, 8, 1, true},        // one block, ranks that own nothing
                          Shape{23, 4, 0, true},       // ragged, without look-ahead
                          Shape{32, 4, 2, false},      // with
                          Shape{1500, 500, 1, true}}) {  // several pieces of a block row
      if (s.n > 1000 && (Pivoting::exchanges_rows || !std::is_same_v<Factor, plinth::half>))
        continue;
      INFO("n " << s.n << ", nb " << s.nb << ", look-ahead " << s.lookahead << ", inverted "
                << s.invert);
      const MatrixLayoutOptions square{.mb = s.nb, .nb = s.nb};
      HostMatrix<Factor, Layout> on_host(grid, s.n, s.n, square);
      const Entries entries{s.n, !Pivoting::exchanges_rows};
      plinth::generate(Host(), on_host, entries);
      const MixedOptions options{.lookahead = s.lookahead, .invert_diagonal = s.invert};
      const auto host =
          plinth::mixed_lu_factor<Precision>(Host(), std::move(on_host), Pivoting{}, options);
      const auto check_on = [&](const ProcessGrid& where) {
        DeviceMatrix<Factor, Layout> on_device(where, s.n, s.n, square);
        plinth::generate(LockedDevice(), on_device, entries);
        (void)LockedDevice::copies().take_copied();
        const auto device = plinth::mixed_lu_factor<Precision>(Device(), std::move(on_device),
                                                               Pivoting{}, options);
        const auto copied = LockedDevice::copies().take_copied();
        check_same(device, host);
        CHECK_FALSE(device.first_nonfinite_pivot());
        CHECK(has_waited(LockedDevice()));
        return sum_of_all(static_cast<Index>(copied.to_host + copied.to_device));
      };
      const Index staged = check_on(grid);
      const Index direct = check_on(direct_grid(grid, s.n == 23 ? 100 : Index(1) << 30));
      CHECK((direct < staged || world_size() == 1 || s.n == 5));
    }
  });
  CHECK(is_idle(LockedDevice()));
}

}  // namespace

TEST_CASE("Mixed LU without pivoting on the stand-in device", "[device][mixed]") {
  check_factors<LockedDevice, plinth::DoubleHalf, Kokkos::LayoutRight, NoPivoting>();
}

TEST_CASE("Mixed LU without pivoting, its panels the stand-in device's", "[device][mixed]") {
  check_factors<LockedPanels, plinth::DoubleHalf, Kokkos::LayoutRight, NoPivoting>();
  check_factors<LockedPanels, plinth::DoubleBfloat16, Kokkos::LayoutRight, NoPivoting>();
  check_factors<LockedPanels, plinth::DoubleSingleHalf, Kokkos::LayoutRight, NoPivoting>();
  check_factors<LockedPanels, plinth::DoubleHalfFast, Kokkos::LayoutRight, NoPivoting>();
  check_factors<LockedPanels, plinth::DoubleHalf, Kokkos::LayoutLeft, NoPivoting>();
}

TEST_CASE("Mixed LU with pivoting on the stand-in device", "[device][mixed]") {
  check_factors<LockedDevice, plinth::DoubleHalf, Kokkos::LayoutRight, PartialPivoting>();
  check_factors<LockedDevice, plinth::DoubleBfloat16, Kokkos::LayoutRight, PartialPivoting>();
  check_factors<LockedDevice, plinth::DoubleSingleHalf, Kokkos::LayoutRight, PartialPivoting>();
}

TEST_CASE("Mixed LU on the stand-in device: nothing, too large, singular", "[device][mixed]") {
  on_few_grids([&](const ProcessGrid& grid) {
    const auto factor = [&](Index n, const auto& entry) {
      DeviceMatrix<plinth::half, Kokkos::LayoutRight> a(grid, n, n, {.mb = 3, .nb = 3});
      plinth::generate(LockedDevice(), a, entry);
      return plinth::mixed_lu_factor<plinth::DoubleHalf>(LockedPanels(), std::move(a));
    };
    CHECK(factor(0, Entries{1, true}).order() == 0);

    // U(2, 9) = 40000 + 30000 is beyond FP16.
    const auto large = factor(11, [](Index i, Index j) noexcept {
      if (i == j) return 1.0;
      if (i == 2 && j == 0) return -1.0;
      return i == 0 && j == 9 ? 30000.0 : i == 2 && j == 9 ? 40000.0 : 0.0;
    });
    CHECK(large.report()->first_overflow == 9);
    CHECK(large.report()->lost.overflowed == 1);

    const auto singular = factor(
        11, [](Index i, Index j) noexcept { return i == j && i != 7 ? 1.0 : 0.0; });
    CHECK(singular.first_zero_pivot() == 7);
  });
  CHECK(is_idle(LockedDevice()));
}

TEST_CASE("Mixed LU, its panels the stand-in device's: it meets what the host meets",
          "[device][mixed][outcome]") {
  struct Met {
    const char* what;
    double diagonal, noise;
    struct Entry {
      Index i, j;
      double value;
    };
    std::vector<Entry> entries;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const Met all[] = {
      {"a zero pivot", 1, 0, {{7, 7, 0}}},
      {"what is divided by one", 1, 0, {{2, 2, 0}, {13, 2, 0.5}, {7, 2, 6e4}, {2, 7, 6e4}}},
      {"a NaN in the diagonal block", 5, 1, {{9, 9, nan}}},
      {"a NaN in L", 5, 1, {{14, 2, nan}}},
      {"an infinity in L", 5, 1, {{23, 0, infinity}}},
      {"an infinity in U", 5, 1, {{3, 10, infinity}}},
      {"a U that overflows", 1, 0, {{1, 0, -1}, {0, 9, 6e4}, {1, 9, 6e4}}},
      {"an L of many magnitudes", 1, 0, {{0, 0, 32768}, {4, 0, 0x1p-20}, {21, 0, 0x1p-24}}},
      {"a pivot that is lost", 1, 0, {{0, 0, 32768}, {0, 1, 32768}, {1, 0, -32768},
                                      {1, 1, 32768}, {2, 2, 0x1p-24}}}};
  on_few_grids([&](const ProcessGrid& grid) {
    for (const Met& met : all)
      for (const bool invert : {false, true}) {
        INFO(met.what << ", inverted " << invert);
        constexpr MatrixLayoutOptions square{.mb = 4, .nb = 4};
        DeviceMatrix<plinth::half, Kokkos::LayoutRight> on_device(grid, 24, 24, square);
        HostMatrix<plinth::half, Kokkos::LayoutRight> on_host(grid, 24, 24, square);
        const auto entry = [&](Index i, Index j) {
          for (const auto& e : met.entries)
            if (e.i == i && e.j == j) return e.value;
          return met.noise * noise(i, j) + (i == j ? met.diagonal : 0);
        };
        plinth::generate(LockedDevice(), on_device, entry);
        plinth::generate(Host(), on_host, entry);
        const MixedOptions options{.invert_diagonal = invert};
        check_same(plinth::mixed_lu_factor<plinth::DoubleHalf>(
                       LockedPanels(), std::move(on_device), NoPivoting{}, options),
                   plinth::mixed_lu_factor<plinth::DoubleHalf>(Host(), std::move(on_host),
                                                               NoPivoting{}, options));
      }
  });
  CHECK(is_idle(LockedDevice()));
}

TEST_CASE("Mixed LU that does not wait is wrong on the stand-in device", "[device][mixed]") {
  struct Impatient : LockedDevice {
    void fence() const {}
    Impatient beside() const { return {}; }
  };
  on_few_grids([&](const ProcessGrid& grid) {
    const auto check = [&](const auto& impatient) {
      DeviceMatrix<plinth::half, Kokkos::LayoutRight> a(grid, 24, 24, {.mb = 4, .nb = 4});
      plinth::generate(LockedDevice(), a, Entries{24, true});
      const auto factors = plinth::mixed_lu_factor<plinth::DoubleHalf>(impatient, std::move(a));
      CHECK(factors.first_nonfinite_pivot());
      LockedDevice::copies().forget();  // their buffers are gone
    };
    check(Impatient());
    check(PanelsOnDevice<Impatient>());
  });
}

namespace {

/// The HPL-MxP program's way: filled in 16 bits, factored, refined with A regenerated or stored.
template <class Exec, template <class, class> class Matrix, class Precision>
struct RefinedSystem {
  using Factor = typename plinth::PrecisionRoles<Precision>::Factor;
  using Vectors = Matrix<double, Kokkos::LayoutRight>;

  RefinedSystem(const ProcessGrid& grid, Index n, Index nb, Index nrhs)
      : b(grid, n, nrhs, {.mb = nb, .nb = 2}), x(grid, n, nrhs, {.mb = nb, .nb = 2}) {
    const Exec exec;
    const plinth::ScaledDiagonal source(n);
    const MatrixLayoutOptions square{.mb = nb, .nb = nb};
    Matrix<Factor, Kokkos::LayoutRight> a(grid, n, n, square);
    lost = plinth::generate_scaled(exec, a, source, std::is_same_v<Factor, plinth::half> ? 8 : 1);
    plinth::generate(exec, b, Entries{n, false});
    const int exponent = std::is_same_v<Factor, plinth::half> ? 3 : 0;
    const auto factors = plinth::mixed_lu_factor<Precision>(exec, std::move(a), NoPivoting{},
                                                            {.matrix_exponent = exponent});
    plinth::LuSolver solver(exec, factors, b);
    const auto solve = [&](Vectors& r) { solver(r); };
    plinth::RegeneratedOperator regenerate(exec, grid, a_distribution(grid, n, nb), source, 2);
    const auto times = [&](const Vectors& from, Vectors& to) { regenerate(from, to); };
    const double a_norm = regenerate.norm_inf();
    const plinth::HplResidualBelow done{1};
    plinth::Refinement<Exec, Vectors> refinement(exec, b);
    regenerated = refinement(times, solve, a_norm, b, x, plinth::GmresRefinement{}, done);

    Vectors stored_a(grid, n, n, square);
    plinth::generate(exec, stored_a, source);
    plinth::StoredOperator multiply(exec, stored_a, 2);
    const auto stored_times = [&](const Vectors& from, Vectors& to) { multiply(from, to); };
    const double stored_norm = plinth::norm(exec, stored_a, plinth::Norm::inf);
    CHECK(std::abs(a_norm - stored_norm) <= 61 * 0x1p-53 * stored_norm);
    stored = refinement(stored_times, solve, stored_norm, b, x, plinth::ClassicalRefinement{},
                        done);
  }
  static plinth::Distribution a_distribution(const ProcessGrid& grid, Index n, Index nb) {
    return {plinth::BlockCyclic(n, nb, grid.shape().rows, 0),
            plinth::BlockCyclic(n, nb, grid.shape().cols, 0)};
  }

  Vectors b, x;
  plinth::kernel::NarrowingCounts lost;
  plinth::RefinementReport regenerated, stored;
};

template <class Precision>
void check_refined() {
  on_few_grids([&](const ProcessGrid& grid) {
    for (const Index nrhs : {1, 5}) {  // by lines, and by the BLAS
      INFO(nrhs << " right-hand sides");
      const RefinedSystem<LockedPanels, DeviceMatrix, Precision> device(grid, 61, 8, nrhs);
      const RefinedSystem<Host, HostMatrix, Precision> host(grid, 61, 8, nrhs);
      CHECK(device.lost == host.lost);
      REQUIRE(host.regenerated.columns.size() == static_cast<std::size_t>(nrhs));
      for (std::size_t j = 0; j < static_cast<std::size_t>(nrhs); ++j) {
        CHECK(device.regenerated.columns[j].outcome == plinth::RefinementOutcome::converged);
        // (The device makes its entries in another order.)
        CHECK(device.regenerated.columns[j].backward_error < 61 * 0x1p-53);
        CHECK(device.regenerated.columns[j].backward_errors.size() ==
              host.regenerated.columns[j].backward_errors.size());
        CHECK(device.stored.columns[j].outcome == plinth::RefinementOutcome::converged);
        CHECK(device.stored.columns[j].backward_errors ==
              host.stored.columns[j].backward_errors);
      }
      CHECK(same_bits(gather_device(device.x), gather(host.x)));
    }
  });
  CHECK(is_idle(LockedDevice()));
}

}  // namespace

TEST_CASE("Mixed LU and refinement on the stand-in device", "[device][mixed]") {
  check_refined<plinth::DoubleHalf>();
  check_refined<plinth::DoubleBfloat16>();
  check_refined<plinth::DoubleSingleHalf>();
}
