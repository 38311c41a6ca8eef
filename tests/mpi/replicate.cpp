// SPDX-License-Identifier: BSD-3-Clause
//
// Whole matrices in plain arrays: gathered, scattered, replicated.
#include <algorithm>
#include <complex>

#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/locked_device.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::ProcessGrid;
using plinth::RowMajorGrid;

namespace {

using Complex = Kokkos::complex<double>;

/// A column-major array with padding below each column.
template <class T, class Element = T>
struct Padded {
  Index rows, cols, lead;
  std::vector<Element> data;

  Padded(Index m, Index n, Index padding)
      : rows(m),
        cols(n),
        lead(m + padding),
        data(static_cast<std::size_t>(lead * n), Element(-99)) {}
  Element& at(Index i, Index j) { return data[static_cast<std::size_t>(i + j * lead)]; }
  void fill() {
    for (Index j = 0; j < cols; ++j)
      for (Index i = 0; i < rows; ++i) at(i, j) = Element(known_entry<T>(i, j));
  }
  /// Entries that are not entry()'s, and padding that was touched.
  Index wrong() {
    Index count = 0;
    for (Index j = 0; j < cols; ++j)
      for (Index i = 0; i < lead; ++i)
        count += at(i, j) != (i < rows ? Element(known_entry<T>(i, j)) : Element(-99));
    return count;
  }
  bool untouched() const {
    return std::all_of(data.begin(), data.end(), [](Element e) { return e == Element(-99); });
  }
};

/// There and back by every call, from and to every rank.
template <class T, class Element, class Matrix, class Exec>
void check(const Exec& exec, Index m, Index n) {
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols},
                           {.max_message = 100});
    INFO(m << " x " << n << " on " << shape.rows << "x" << shape.cols);
    Matrix a(grid, m, n, {4, 3, shape.rows - 1, shape.cols / 2});
    const auto clear = [&] {
      plinth::generate(exec, a, [](Index, Index) noexcept { return T(55); });
    };
    const auto correct = [&] {
      [[maybe_unused]] const auto scope = exec.enter();
      return wrong_entries(a) == 0;
    };
    for (int root = 0; root < shape.size(); ++root) {
      const bool mine = grid.active() && grid.all().rank() == root;
      const Index padding = mine ? 3 : 0;
      Padded<T, Element> array(m, n, padding), back(m, n, padding);
      if (mine) array.fill();
      clear();
      plinth::scatter_from(exec, root, mine ? array.data.data() : nullptr, array.lead, a);
      CHECK(correct());
      plinth::gather_to(exec, a, root, back.data.data(), back.lead);
      if (mine) CHECK(back.wrong() == 0);
      if (!mine) CHECK(back.untouched());
    }
    // The ranks pad differently.
    Padded<T, Element> array(m, n, 2), all(m, n, world_rank() % 3);
    array.fill();
    clear();
    plinth::from_replicated(exec, array.data.data(), array.lead, a);
    CHECK(correct());
    plinth::to_replicated(exec, a, all.data.data(), all.lead);
    if (grid.active()) CHECK(all.wrong() == 0);
    if (!grid.active()) CHECK(all.untouched());
  }
}

}  // namespace

TEST_CASE("matrices from and to arrays", "[replicate]") {
  using Matrix = plinth::DistributedMatrix<double, plinth::HostMemory, LayoutRight>;
  for (const auto& [m, n] : {std::pair<Index, Index>{0, 5}, {5, 0}, {2, 1}, {23, 17}})
    check<double, double, Matrix>(Host(), m, n);
}

TEST_CASE("matrices from and to arrays of std::complex", "[replicate]") {
  using Matrix = plinth::DistributedMatrix<Complex, plinth::HostMemory, LayoutLeft>;
  check<Complex, std::complex<double>, Matrix>(Host(), 14, 19);
}

TEST_CASE("matrices of a device from and to arrays", "[replicate]") {
  using Matrix = plinth::DistributedMatrix<double, LockedMemory, LayoutRight>;
  check<double, double, Matrix>(LockedDevice(), 14, 19);
  CHECK(has_waited(LockedDevice()));
}

TEST_CASE("matrices from and to Views", "[replicate]") {
  const Index m = 11, n = 14;
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    plinth::DistributedMatrix<double> a(grid, m, n, {3, 2});
    Kokkos::View<double**, LayoutRight, Kokkos::HostSpace> from("from", m, n), to("to", m, n);
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) from(i, j) = known_entry<double>(i, j);
    const auto same = [&] { return std::equal(from.data(), from.data() + m * n, to.data()); };
    plinth::from_replicated(Host(), from, a);
    CHECK(wrong_entries(a) == 0);
    plinth::to_replicated(Host(), a, to);
    CHECK(same() == grid.active());
    Kokkos::deep_copy(to, 0.0);
    plinth::generate(Host(), a, [](Index, Index) noexcept { return 0.0; });
    plinth::scatter_from(Host(), shape.size() - 1, from, a);
    CHECK(wrong_entries(a) == 0);
    plinth::gather_to(Host(), a, shape.size() - 1, to);
    CHECK(same() == (world_rank() == shape.size() - 1));
  }
}

TEST_CASE("misuse: arrays", "[misuse][replicate]") {
  const int ranks = world_size();
  const bool guilty = world_rank() == ranks - 1;  // the root, or it alone
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{ranks, 1});
  const Index n = 2 * ranks;
  plinth::DistributedMatrix<double> a(grid, n, n, {2, 2});
  plinth::generate(Host(), a,
                   [](Index i, Index j) noexcept { return known_entry<double>(i, j); });
  std::vector<double> array(static_cast<std::size_t>(n * n));
  double* const data = array.data();
  Kokkos::View<double**, LayoutRight, Kokkos::HostSpace> flat("flat", n, n - 1), right("r", n, n);
  const auto refused = [](const std::string& text, auto&& f) {
    CHECK_THAT(error_of(f), contains(text));
  };
  const Host exec;
  refused("not on the grid", [&] { plinth::gather_to(exec, a, guilty ? ranks : 0, data, n); });
  refused("not on the grid", [&] { plinth::scatter_from(exec, guilty ? -1 : 0, data, n, a); });
  const int last = ranks - 1;
  const Index lead = guilty ? n - 1 : n;
  refused("leading dimension", [&] { plinth::gather_to(exec, a, last, data, lead); });
  refused("leading dimension", [&] { plinth::scatter_from(exec, last, data, lead, a); });
  refused("leading dimension", [&] { plinth::to_replicated(exec, a, data, lead); });
  refused("leading dimension", [&] { plinth::from_replicated(exec, data, lead, a); });
  double* const null = guilty ? nullptr : data;
  refused("null", [&] { plinth::gather_to(exec, a, last, null, n); });
  refused("null", [&] { plinth::scatter_from(exec, last, null, n, a); });
  refused("null", [&] { plinth::to_replicated(exec, a, null, n); });
  refused("null", [&] { plinth::from_replicated(exec, null, n, a); });
  const auto& view = guilty ? flat : right;
  refused("shapes", [&] { plinth::gather_to(exec, a, last, view); });
  refused("shapes", [&] { plinth::scatter_from(exec, last, view, a); });
  refused("shapes", [&] { plinth::to_replicated(exec, a, view); });
  refused("shapes", [&] { plinth::from_replicated(exec, view, a); });
  if (ranks > 1)
    refused("different", [&] { plinth::gather_to(exec, a, guilty ? 1 : 0, data, n); });
  CHECK(wrong_entries(a) == 0);
}
