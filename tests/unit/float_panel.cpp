// SPDX-License-Identifier: BSD-3-Clause
//
// A panel in float beside a matrix of another layout: in and out.
#include "plinth/lu/float_panel.hpp"

#include <cstddef>
#include <vector>

#include "support/catch.hpp"

using plinth::half;
using plinth::Index;
using plinth::Range;
namespace kernel = plinth::kernel;
namespace lu = plinth::lu;

namespace {

/// Kokkos is at work when it is asked for.
plinth::HostExecution<> exec() { return {}; }

/// Integers that half holds.
float entry(Index i, Index j) { return static_cast<float>((i * 13 + j * 5) % 1021); }

/// Rows of numbers, with a column more on each side than is used.
template <class Layout>
struct Matrix {
  using View = kernel::MatrixView<half, Layout, Kokkos::HostSpace>;
  Matrix(Index rows, Index cols)
      : storage(static_cast<std::size_t>(rows * (cols + 2))),
        whole(kernel::contiguous<Layout, Kokkos::HostSpace>(storage.data(), rows, cols + 2)) {
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols + 2; ++j) whole(i, j) = half(entry(i, j));
  }
  View rows(Range some) const {
    return kernel::part(whole, some, {1, kernel::cols_of(whole) - 1});
  }
  std::vector<half> storage;
  View whole;
};

}  // namespace

TEMPLATE_TEST_CASE("a panel in float: L21 in the matrix's layout, and the top block",
                   "[float_panel]", Kokkos::LayoutRight, Kokkos::LayoutLeft) {
  using Panel = lu::FloatPanel<TestType>;
  for (const Index width : {1, 5, 300})
    for (const Index below : {0, 3, 256, 600}) {
      INFO(width << " columns, " << below << " rows below");
      const Matrix<TestType> a(width + below, width);
      Panel panel(width, below);
      panel.reshape(width, below);
      panel.load(
          exec(), true, [&](Range some) { return a.rows(some); },
          [&](Range some) {
            return a.rows({width + some.begin, width + some.end});
          });
      exec().fence();
      bool right = true;
      for (Index i = 0; i < width + below; ++i)
        for (Index j = 0; j < width; ++j)
          right = right && panel.data()[i + j * (width + below)] == entry(i, j + 1);
      CHECK(right);
      CHECK(panel.lead() == width + below);
      CHECK(panel.l21_data() == panel.data() + width);

      std::vector<float> square(static_cast<std::size_t>(width * width));
      const auto top =
          kernel::contiguous<TestType, Kokkos::HostSpace>(square.data(), width, width);
      panel.copy_top(exec(), top);
      for (Index i = 0; i < width; ++i)
        for (Index j = 0; j < width; ++j) right = right && top(i, j) == entry(i, j + 1);
      CHECK(right);

      Index seen = 0;
      panel.for_each_strip([&](Range some) {
        CHECK(some.begin == seen);
        seen = some.end;
        const auto rows = panel.rows_of_l21(exec(), some);
        for (Index i = 0; i < some.size(); ++i)
          for (Index j = 0; j < width; ++j)
            right = right && rows(i, j) == entry(width + some.begin + i, j + 1);
      });
      CHECK(seen == below);
      CHECK(right);
    }
}

TEST_CASE("a panel in float: what is there of memory", "[float_panel]") {
  using Kokkos::LayoutLeft;
  using Kokkos::LayoutRight;
  const Index width = 10, below = 1000, strip = 256;
  CHECK(lu::FloatPanel<LayoutRight>(width, below).bytes() ==
        4 * width * (width + below + strip));
  CHECK(lu::FloatPanel<LayoutLeft>(width, below).bytes() == 4 * width * (width + below));
}
