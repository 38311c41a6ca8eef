// SPDX-License-Identifier: BSD-3-Clause
//
// Everything that the library does also works where host code and MPI cannot touch a matrix: on a
// stand-in device whose memory faults outside of kernels and copies. Results are those of the
// host.
#include "support/locked_device.hpp"

#include <setjmp.h>
#include <signal.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plinth/plinth.hpp"
#include "support/catch.hpp"
#include "support/device_messages.hpp"
#include "support/instances.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using Layout = Kokkos::LayoutRight;
using plinth::MatrixLayoutOptions;
using plinth::ProcessGrid;

namespace {

using DeviceMatrix = plinth::DistributedMatrix<double, LockedMemory, Layout>;
using HostDouble = HostMatrix<double, Layout>;

sigjmp_buf fault_jump;
void on_fault(int) { siglongjmp(fault_jump, 1); }

/// Whether f() makes a memory fault.
template <class F>
bool faults(F&& f) {
  struct sigaction action = {}, old_segv = {}, old_bus = {};
  action.sa_handler = on_fault;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &old_segv);
  sigaction(SIGBUS, &action, &old_bus);
  volatile bool fault = true;
  if (sigsetjmp(fault_jump, 1) == 0) {
    f();
    fault = false;
  }
  sigaction(SIGSEGV, &old_segv, nullptr);
  sigaction(SIGBUS, &old_bus, nullptr);
  return fault;
}

/// The whole of a matrix on the device, by the policy's copies.
Dense<double> gather_device(const DeviceMatrix& a) {
  const plinth::Extents mine = a.local_extents();
  HostDouble host(a.grid(), a.rows(), a.cols(), plinth::layout_of(a));
  for (Index i = 0; i < mine.rows; ++i)
    LockedDevice().to_host(&host.local()(i, 0), a.local().data() + i * a.local().stride(0),
                           static_cast<std::size_t>(mine.cols) * sizeof(double));
  LockedDevice().fence();
  return gather(host);
}

constexpr auto matrix_entry = [](Index i, Index j) noexcept { return noise(i, j, 5); };
constexpr auto rhs_entry = [](Index i, Index j) noexcept { return noise(i, j, 6); };

}  // namespace

TEST_CASE("The stand-in device faults outside of its kernels and copies", "[device]") {
  const LockedDevice device;
  const auto memory = LockedMemory::allocate(24 * sizeof(double));
  auto* const data = static_cast<volatile double*>(memory.get());
  CHECK(faults([&] { data[0] = 1; }));
  CHECK(faults([&] { (void)data[23]; }));
  {
    const auto scope = device.enter();
    CHECK_FALSE(faults([&] { data[0] = 2; }));
    {
      const auto nested = device.enter();
      CHECK_FALSE(faults([&] { data[23] = 3; }));
    }
    CHECK_FALSE(faults([&] { (void)data[0]; }));  // still inside the outer one
  }
  CHECK(faults([&] { (void)data[0]; }));

  double first = 0;
  device.to_host(&first, memory.get(), sizeof first);
  device.fence();
  CHECK(first == 2);
  CHECK_THROWS_AS(device.to_host(&first, &first, sizeof first), plinth::Error);
  CHECK_THROWS_AS(device.to_device(memory.get(), memory.get(), sizeof first), plinth::Error);

  // MPI reads what it is given on the host.
  char packed[64];
  int position = 0;
  CHECK(faults([&] {
    MPI_Pack(memory.get(), 1, MPI_DOUBLE, packed, sizeof packed, &position, MPI_COMM_SELF);
  }));
}

TEST_CASE("The stand-in device's copies are late", "[device]") {
  const LockedDevice device;
  const auto memory = LockedMemory::allocate(sizeof(double));
  auto* const there = static_cast<double*>(memory.get());
  const auto square = [&] {
    const auto scope = device.enter();
    *there *= *there;
  };
  double in = 2, out = 0;
  device.to_device(there, &in, sizeof in);
  square();
  device.to_host(&out, there, sizeof out);
  square();
  CHECK(std::isnan(out));
  CHECK(LockedDevice::copies().empty() == false);
  device.fence();
  CHECK(out == 4);  // what stood there in the copy's turn
  CHECK(LockedDevice::copies().empty());
  CHECK(LockedDevice::copies().take_changed() == 0);

  device.to_device(there, &in, sizeof in);
  in = 3;
  square();
  device.to_host(&out, there, sizeof out);
  device.fence();
  CHECK(out == 9);
  CHECK(LockedDevice::copies().take_changed() == 1);
}

TEST_CASE("A matrix that the stand-in device has no room for", "[device][memory]") {
  on_few_grids([&](const ProcessGrid& grid) {
    const auto error =
        error_of([&] { DeviceMatrix(grid, 40000, 40000); }, plinth::ErrorKind::memory);
    CHECK_THAT(error, contains("the stand-in device has no"));
  });
  CHECK(is_idle(LockedDevice()));
}

TEST_CASE("Without waiting, nothing is right on the stand-in device", "[device]") {
  struct Impatient : LockedDevice {
    void fence() const {}
    Impatient beside() const { return {}; }
  };
  on_few_grids([&](const ProcessGrid& grid) {
    DeviceMatrix a(grid, 24, 24, {.mb = 4, .nb = 4});
    plinth::generate(LockedDevice(), a, matrix_entry);
    const auto factors = plinth::lu_factor(Impatient(), std::move(a));
    CHECK(factors.first_nonfinite_pivot());
    LockedDevice::copies().forget();  // their buffers are gone
  });
}

TEST_CASE("Factor, solve, residual and norms on the stand-in device", "[device]") {
  const LockedDevice device;
  const Host host;
  on_few_grids([&](const ProcessGrid& grid) {
    struct Size {
      Index n, nb, lookahead;
      double split;
    };
    for (const Size s : {Size{5, 8, 1, 0},        // one block, ranks that own nothing
                         Size{23, 4, 0, 0},       // ragged, without look-ahead
                         Size{32, 4, 2, 0},       // with
                         Size{30, 3, 1, 0.5}}) {  // rows of two sections on their way
      INFO("n " << s.n << ", nb " << s.nb << ", look-ahead " << s.lookahead << ", split "
                << s.split);
      const MatrixLayoutOptions square{.mb = s.nb, .nb = s.nb};
      const MatrixLayoutOptions tall{.mb = s.nb, .nb = 2};
      const Index nrhs = 3;
      DeviceMatrix da(grid, s.n, s.n, square), db(grid, s.n, nrhs, tall),
          dx(grid, s.n, nrhs, tall), dr(grid, s.n, nrhs, tall);
      HostDouble ha(grid, s.n, s.n, square), hb(grid, s.n, nrhs, tall), hx(grid, s.n, nrhs, tall),
          hr(grid, s.n, nrhs, tall);
      plinth::generate(device, da, matrix_entry);
      plinth::generate(device, db, rhs_entry);
      plinth::generate(host, ha, matrix_entry);
      plinth::generate(host, hb, rhs_entry);
      CHECK(same_bits(gather_device(da), gather(ha)));
      CHECK(plinth::norm(device, da, plinth::Norm::one) ==
            plinth::norm(host, ha, plinth::Norm::one));
      CHECK(plinth::norm(device, da, plinth::Norm::inf) ==
            plinth::norm(host, ha, plinth::Norm::inf));

      const plinth::lu::FactorOptions options{.lookahead = s.lookahead, .split = s.split};
      const auto on_device = plinth::solve(device, da, db, dx, options);
      const auto on_host = plinth::solve(host, ha, hb, hx, options);
      CHECK(on_device.outcome == plinth::Outcome::solved);
      CHECK(on_device.backward_error == on_host.backward_error);
      CHECK(same_bits(gather_device(dx), gather(hx)));

      plinth::residual(device, da, dx, db, dr);
      plinth::residual(host, ha, hx, hb, hr);
      CHECK(same_bits(gather_device(dr), gather(hr)));

      const auto df =
          plinth::lu_factor(device, std::move(da), plinth::PartialPivoting{}, options);
      const auto hf = plinth::lu_factor(host, std::move(ha), plinth::PartialPivoting{}, options);
      CHECK(same_bits(gather_device(df.matrix()), gather(hf.matrix())));
      CHECK(df.pivots().local() == hf.pivots().local());
      CHECK_FALSE(df.first_zero_pivot());
      for (const auto op : {plinth::Op::none, plinth::Op::transpose}) {
        INFO("op " << plinth::to_char(op));
        plinth::copy(device, db, dx);
        plinth::copy(host, hb, hx);
        plinth::lu_solve(device, df, dx, op, 2);
        plinth::lu_solve(host, hf, hx, op, 2);
        CHECK(same_bits(gather_device(dx), gather(hx)));
        CHECK(solve_ratio(make_dense<double>(s.n, s.n, matrix_entry), gather(hx),
                          make_dense<double>(s.n, nrhs, rhs_entry), op) < 30);
      }
    }
  });
  CHECK(is_idle(LockedDevice()));
}

TEST_CASE("The HPL program's way on the stand-in device", "[device][hpl]") {
  const LockedDevice device;
  const Host host;
  on_few_grids([&](const ProcessGrid& grid) {
    const Index n = 45, nb = 8;
    const MatrixLayoutOptions square{.mb = nb, .nb = nb};
    const plinth::HplMatrix matrix{{.n = n, .seed = 42}};
    const plinth::lu::FactorOptions options{.lookahead = 1, .keep_l = plinth::lu::KeepL::no};
    DeviceMatrix da(grid, n, n + 1, square), dx(grid, n, 1, square);
    HostDouble ha(grid, n, n + 1, square), hx(grid, n, 1, square);
    plinth::generate(device, da, matrix);
    plinth::generate(host, ha, matrix);
    CHECK(same_bits(gather_device(da), gather(ha)));

    plinth::trace::Off off;
    plinth::lu::Factorization<DeviceMatrix, LockedDevice> factorization(
        device, grid, da.distribution(), options, off);
    plinth::lu::Pivots pivots(da.distribution().rows, grid.coord().row);
    const auto outcome = factorization(da, pivots);
    CHECK(outcome.first_zero_pivot == -1);
    plinth::lu::back_substitute(device, da, dx);
    factor_travelling(host, ha, options);
    plinth::lu::back_substitute(host, ha, hx);
    CHECK(same_bits(gather_device(dx), gather(hx)));

    const auto on_device = plinth::hpl_residual(device, matrix, da.distribution(), dx);
    const auto on_host = plinth::hpl_residual(host, matrix, ha.distribution(), hx);
    CHECK(on_device.residual_inf == on_host.residual_inf);
    CHECK(on_device.scaled_residual(n) < 16);
  });
  CHECK(is_idle(LockedDevice()));
}

// --- MPI is given the device's memory -----------------------------------------------------------

namespace {

/// Restores what MPI says of the stand-in's memory.
class MpiCanRead {
 public:
  explicit MpiCanRead(bool can) { LockedMemory::mpi_can_read() = can; }
  ~MpiCanRead() { LockedMemory::mpi_can_read() = true; }
  MpiCanRead(const MpiCanRead&) = delete;
  MpiCanRead& operator=(const MpiCanRead&) = delete;
};

/// Memory that host code does not reach, of which nobody says whether MPI does.
struct OtherMemory {
  using space = Kokkos::HostSpace;
  static constexpr bool host_accessible = false;
  static std::shared_ptr<void> allocate(std::size_t bytes) {
    return LockedMemory::allocate(bytes);
  }
};

}  // namespace

TEST_CASE("Rows of an interchange go from device to device", "[device][transport]") {
  using plinth::lu::SwapAlgorithm;
  const LockedDevice device;
  const auto algorithm =
      GENERATE(SwapAlgorithm::direct, SwapAlgorithm::binary_exchange, SwapAlgorithm::spread_roll,
               SwapAlgorithm::mix, SwapAlgorithm::automatic, SwapAlgorithm::collective);
  const Index max_message = GENERATE(Index(1) << 30, Index(40));
  on_few_grids([&](const ProcessGrid& grid) {
    INFO("algorithm " << static_cast<int>(algorithm) << ", messages of " << max_message);
    const auto apply = [&](const ProcessGrid& where, Index& to_host, Index& to_device) {
      const Index n = 22, nb = 4;
      DeviceMatrix a(where, n, n, {.mb = nb, .nb = nb});
      plinth::generate(device, a, matrix_entry);
      const Index cols = a.local_extents().cols;
      const auto room = LockedMemory::allocate(static_cast<std::size_t>(nb * cols) * 8);
      const auto top = plinth::kernel::contiguous<Layout, Kokkos::HostSpace>(
          static_cast<double*>(room.get()), nb, cols);
      const LockedDevice beside = device.beside();
      plinth::lu::Interchange<double, LockedDevice, Layout> interchange(
          device, beside, where, a.distribution().rows, nb, cols, {.algorithm = algorithm}, 0);
      const std::vector<Index> first{21, 9, 6, 21}, second{4, 20, 13, 8};
      device.fence();
      (void)device.copies().take_copied();
      interchange.apply({0, first.data(), 4}, a.local(), top);
      interchange.apply({4, second.data(), 4}, a.local(), top);
      const auto copied = device.copies().take_copied();
      to_host = static_cast<Index>(copied.to_host);
      to_device = static_cast<Index>(copied.to_device);
      CHECK(has_waited(device));
      return gather_device(a);
    };
    Index staged_to_host = 0, staged_to_device = 0, to_host = 0, to_device = 0;
    const auto staged = apply(grid, staged_to_host, staged_to_device);
    const auto direct = apply(direct_grid(grid, max_message), to_host, to_device);
    Index somewhere = staged_to_host;  // not every process has rows that go
    MPI_Allreduce(MPI_IN_PLACE, &somewhere, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    CHECK((somewhere > 0) == (grid.shape().rows > 1));
    CHECK(same_bits(direct, staged));
    CHECK(to_host == 0);
    if (grid.shape().rows == 1) return;
    CHECK(to_device < staged_to_device);  // lists of rows
    CHECK(to_device % Index(4 * 4 * sizeof(Index)) == 0);
  });
  CHECK(is_idle(device));
}

TEST_CASE("LU whose messages go from device to device is that which stages them",
          "[device][transport]") {
  const LockedDevice device;
  on_few_grids([&](const ProcessGrid& grid) {
    struct Choice {
      Index n, nb, lookahead;
      double split;
      plinth::comm::BroadcastAlgorithm broadcast;
      plinth::lu::SwapAlgorithm swap;
    };
    using enum plinth::comm::BroadcastAlgorithm;
    using plinth::lu::SwapAlgorithm;
    for (const Choice c :
         {Choice{5, 8, 1, 0, ring1, SwapAlgorithm::direct},         // one block
          Choice{23, 4, 0, 0, ring1_modified, SwapAlgorithm::mix},  // ragged, no look-ahead
          Choice{32, 4, 2, 0, long_, SwapAlgorithm::spread_roll},   // with
          Choice{33, 4, 2, 0.5, ibcast, SwapAlgorithm::collective},
          Choice{30, 3, 1, 0.5, bcast, SwapAlgorithm::binary_exchange}}) {
      INFO("n " << c.n << ", nb " << c.nb << ", look-ahead " << c.lookahead << ", split "
                << c.split);
      const plinth::lu::FactorOptions options{.lookahead = c.lookahead,
                                              .broadcast = c.broadcast,
                                              .swap = {.algorithm = c.swap},
                                              .split = c.split};
      const auto factor = [&](const ProcessGrid& where) {
        DeviceMatrix a(where, c.n, c.n, {.mb = c.nb, .nb = c.nb});
        plinth::generate(device, a, matrix_entry);
        return plinth::lu_factor(device, std::move(a), plinth::PartialPivoting{}, options);
      };
      (void)device.copies().take_copied();
      const auto staged = factor(grid);
      Index copied[2] = {static_cast<Index>(device.copies().take_copied().to_device), 0};
      (void)DeviceMessages::instance().take_count();
      const auto direct = factor(direct_grid(grid, c.n == 33 ? 100 : Index(1) << 30));
      copied[1] = static_cast<Index>(device.copies().take_copied().to_device);
      CHECK(has_waited(device));
      CHECK(same_bits(gather_device(direct.matrix()), gather_device(staged.matrix())));
      CHECK(direct.pivots().local() == staged.pivots().local());
      // What travels is not copied where it arrives.
      MPI_Allreduce(MPI_IN_PLACE, copied, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
      if (grid.shape().size() > 1 && c.n > 5) CHECK(copied[1] < copied[0]);
      // With one process row panels alone travel; who has one block may own nothing of it.
      if (grid.shape().rows > 1 && c.n > 5) CHECK(DeviceMessages::instance().take_count() > 0);
    }
  });
  CHECK(is_idle(device));
}

TEST_CASE("MPI is not given memory that it does not read", "[device][transport][misuse]") {
  const LockedDevice device;
  const MpiCanRead restores(false);
  on_few_grids([&](const ProcessGrid& staged) {
    const auto factor = [&](const ProcessGrid& grid) {
      DeviceMatrix a(grid, 9, 9, {.mb = 2, .nb = 2});
      plinth::generate(device, a, matrix_entry);
      return gather_device(plinth::lu_factor(device, std::move(a)).matrix());
    };
    const ProcessGrid direct = direct_grid(staged);
    const std::string error = error_of([&] { (void)factor(direct); });
    CHECK_THAT(error, contains("lu_factor: Transport::direct: " + plinth::comm::mpi_name() +
                               " does not say that it reads the memory of this device: use "
                               "Transport::staged"));
    const plinth::GridShape shape = staged.shape();
    const ProcessGrid automatic(MPI_COMM_WORLD, plinth::RowMajorGrid{shape.rows, shape.cols},
                                {.transport = plinth::Transport::automatic});
    (void)DeviceMessages::instance().take_count();
    CHECK(same_bits(factor(automatic), factor(staged)));
    CHECK(DeviceMessages::instance().take_count() == 0);

    CHECK_FALSE(direct.is_direct<plinth::HostMemory>());
    CHECK_THROWS_AS(direct.is_direct<OtherMemory>(), plinth::Error);
    CHECK_FALSE(automatic.is_direct<OtherMemory>());
    LockedMemory::mpi_can_read() = true;
    CHECK(direct.is_direct<LockedMemory>());
    CHECK(automatic.is_direct<LockedMemory>());
    CHECK_FALSE(staged.is_direct<LockedMemory>());
    LockedMemory::mpi_can_read() = false;
  });
  CHECK_FALSE(plinth::comm::mpi_reads(plinth::comm::DeviceKind::none));
  CHECK(is_idle(device));
}

TEST_CASE("Ranks that disagree on what MPI is given", "[device][transport][misuse]") {
  const int ranks = world_size();
  const bool odd = world_rank() == ranks - 1;
  const auto error = error_of([&] {
    (void)ProcessGrid(
        MPI_COMM_WORLD, plinth::RowMajorGrid{1, ranks},
        {.transport = odd ? plinth::Transport::direct : plinth::Transport::staged});
  });
  CHECK_THAT(error, contains(ranks == 1 ? "no error" : "different arguments"));
}
