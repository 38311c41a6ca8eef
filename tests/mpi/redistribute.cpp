// SPDX-License-Identifier: BSD-3-Clause
//
// Matrices moved between any two grids, block sizes, source processes and layouts.
#include <limits>

#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/locked_device.hpp"
#include "support/message_counter.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::ColumnMajorGrid;
using plinth::MatrixLayoutOptions;
using plinth::ProcessGrid;
using plinth::RowMajorGrid;

namespace {

using Complex = Kokkos::complex<double>;

std::vector<plinth::GridShape> shapes() {
  std::vector<plinth::GridShape> fit;
  for (const plinth::GridShape s :
       {plinth::GridShape{1, 1}, plinth::GridShape{1, 2}, plinth::GridShape{2, 2},
        plinth::GridShape{2, 3}, plinth::GridShape{3, 2}, plinth::GridShape{4, 1}})
    if (s.size() <= world_size()) fit.push_back(s);
  return fit;
}

/// Every pair of grids, whatever the block sizes: `f(from, to)`.
template <class F>
void for_each_pair(F&& f) {
  for (const auto s : shapes())
    for (const auto t : shapes()) {
      INFO(s.rows << "x" << s.cols << " to " << t.rows << "x" << t.cols);
      f(ProcessGrid(MPI_COMM_WORLD, RowMajorGrid{s.rows, s.cols}, {.max_message = 200}),
        ProcessGrid(MPI_COMM_WORLD, ColumnMajorGrid{t.rows, t.cols}));
    }
}

/// The last process of a grid, as the source.
MatrixLayoutOptions blocks(const ProcessGrid& grid, Index mb, Index nb) {
  return {mb, nb, grid.shape().rows - 1, grid.shape().cols - 1};
}

template <class T, class FromLayout, class ToLayout>
void check_sizes() {
  for_each_pair([](const ProcessGrid& from, const ProcessGrid& to) {
    for (const auto& [m, n] : {std::pair<Index, Index>{0, 7}, {7, 0}, {1, 1}, {3, 2}, {41, 19}})
      for (const int at_once : {0, 1, 3}) {
        INFO(m << " x " << n << ", at once " << at_once);
        HostMatrix<T, FromLayout> a(from, m, n, blocks(from, 4, 3));
        HostMatrix<T, ToLayout> b(to, m, n, {.mb = 5, .nb = 2});
        plinth::generate(Host(), a,
                         [](Index i, Index j) noexcept { return known_entry<T>(i, j); });
        plinth::generate(Host(), b, [](Index, Index) noexcept { return T(77); });
        plinth::redistribute(Host(), a, b, {.at_once = at_once});
        CHECK(wrong_entries(b) == 0);
        CHECK(wrong_entries(a) == 0);
      }
  });
}

/// Counts what is allocated.
struct CountedMemory {
  using space = Kokkos::HostSpace;
  static constexpr bool host_accessible = true;
  static std::size_t& bytes() {
    static std::size_t count = 0;
    return count;
  }
  static std::shared_ptr<void> allocate(std::size_t size) {
    bytes() += size;
    return plinth::HostMemory::allocate(size);
  }
};
struct CountedExecution : plinth::HostExecution<> {
  using memory = CountedMemory;
  CountedExecution beside() const { return *this; }
};
using CountedMatrix = plinth::DistributedMatrix<double, CountedMemory, LayoutRight>;

}  // namespace

TEST_CASE("redistribution between any two grids", "[redistribute]") {
  check_sizes<double, LayoutLeft, LayoutRight>();
  check_sizes<Complex, LayoutRight, LayoutRight>();
}

TEST_CASE("redistribution on a device that keeps its memory to itself", "[redistribute]") {
  using Matrix = plinth::DistributedMatrix<double, LockedMemory, LayoutLeft>;
  const LockedDevice exec;
  for_each_pair([&](const ProcessGrid& from, const ProcessGrid& to) {
    Matrix a(from, 29, 13, {.mb = 4, .nb = 3}), b(to, 29, 13, blocks(to, 3, 5));
    plinth::generate(exec, a,
                     [](Index i, Index j) noexcept { return known_entry<double>(i, j); });
    plinth::redistribute(exec, a, b);
    CHECK(has_waited(exec));
    [[maybe_unused]] const auto scope = exec.enter();
    CHECK(wrong_entries(b) == 0);
  });
}

TEST_CASE("redistribution: memory is bounded, and nothing is sent in vain", "[redistribute]") {
  const Index m = 700, n = 60, mb = 8;
  for_each_pair([&](const ProcessGrid& from, const ProcessGrid& to) {
    CountedMatrix a(from, m, n, {.mb = mb, .nb = 6}), b(to, m, n, {.mb = 5, .nb = 4});
    plinth::generate(CountedExecution(), a,
                     [](Index i, Index j) noexcept { return known_entry<double>(i, j); });
    const std::size_t before = CountedMemory::bytes();
    plinth::redistribute(CountedExecution(), a, b);
    const Index used = static_cast<Index>(CountedMemory::bytes() - before);
    const plinth::Extents of_a = a.local_extents(), of_b = b.local_extents();
    const auto& cols = from.shape().cols > to.shape().cols ? a.distribution() : b.distribution();
    const Index line = cols.cols.local_size(cols.cols.source());
    const Index lists = of_a.rows + of_a.cols + of_b.rows + of_b.cols;
    CHECK(used <= 8 * (2 * mb * line + lists));
    CHECK(wrong_entries(b) == 0);
  });
  // From a distribution to the same one nothing travels.
  const auto s = shapes().back();
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{s.rows, s.cols});
  CountedMatrix a(grid, m, n, {.mb = mb, .nb = 6}), b(grid, m, n, {.mb = mb, .nb = 6});
  plinth::generate(CountedExecution(), a,
                   [](Index i, Index j) noexcept { return known_entry<double>(i, j); });
  const auto sent = count_messages([&] { plinth::redistribute(CountedExecution(), a, b); });
  CHECK(sent.sends == 0);
  CHECK(wrong_entries(b) == 0);
  // A small matrix: one message to each other process at most, all at once.
  const ProcessGrid other(MPI_COMM_WORLD, ColumnMajorGrid{s.cols, s.rows});
  CountedMatrix c(grid, 30, 30, {.mb = mb, .nb = 6}), d(other, 30, 30, {.mb = 5, .nb = 4});
  plinth::generate(CountedExecution(), c,
                   [](Index i, Index j) noexcept { return known_entry<double>(i, j); });
  const auto few = count_messages([&] { plinth::redistribute(CountedExecution(), c, d); });
  CHECK(few.sends <= 2 * (world_size() - 1));
  CHECK(wrong_entries(d) == 0);
}

TEST_CASE("misuse: redistribution", "[misuse][redistribute]") {
  using Matrix = HostMatrix<double, LayoutRight>;
  const int ranks = world_size();
  const bool guilty = world_rank() == ranks - 1;
  const ProcessGrid row(MPI_COMM_WORLD, RowMajorGrid{1, ranks});
  const ProcessGrid column(MPI_COMM_WORLD, RowMajorGrid{ranks, 1});
  const Index n = 3 * ranks;
  Matrix a(row, n, n, {3, 3}), b(column, n, n, {3, 3}), small(column, n, n - 1, {3, 3});
  const auto refused = [](const std::string& text, auto&& f) {
    CHECK_THAT(error_of(f), contains(text));
  };
  // Each on one rank alone.
  refused("B is", [&] { plinth::redistribute(Host(), a, guilty ? small : b); });
  refused("at_once", [&] { plinth::redistribute(Host(), a, b, {.at_once = guilty ? -1 : 0}); });
  {
    Matrix same(row, n, n, {3, 3}, a.local().data(),
                plinth::kernel::leading_dimension(a.local()));
    Matrix fresh(row, n, n, {3, 3});
    refused("same storage", [&] { plinth::redistribute(Host(), a, guilty ? same : fresh); });
  }
  if (ranks == 1) return;
  refused("different arguments",
          [&] { plinth::redistribute(Host(), a, b, {.at_once = guilty ? 2 : 1}); });
  // The same processes in another order are not the same communicator.
  MPI_Comm turned = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank(), &turned);
  {
    const ProcessGrid other(turned, RowMajorGrid{1, ranks});
    Matrix c(other, n, n, {3, 3});
    refused("same order", [&] { plinth::redistribute(Host(), a, guilty ? c : b); });
  }
  MPI_Comm_free(&turned);
}
