// SPDX-License-Identifier: BSD-3-Clause
//
// Small blocks: factored without pivoting, and their triangles, walked and inverted.
#include <algorithm>
#include <cmath>
#include <vector>

#include "plinth/lu/diagonal_block.hpp"
#include "plinth/lu/triangle_runs.hpp"
#include "support/catch.hpp"

using plinth::Index;
namespace kernel = plinth::kernel;
namespace lu = plinth::lu;

namespace {

/// Kokkos is at work when it is asked for.
plinth::HostExecution<> exec() { return {}; }

/// A square matrix of floats.
template <class Layout>
class Square {
 public:
  using View = kernel::MatrixView<float, Layout>;
  template <class F>
  Square(Index n, const F& f)
      : storage_(static_cast<std::size_t>(n * n)),
        view_(kernel::wrap<Layout, Kokkos::HostSpace>(storage_.data(), n, n, n)) {
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) view_(i, j) = static_cast<float>(f(i, j));
  }
  const View& view() const { return view_; }

 private:
  std::vector<float> storage_;
  View view_;
};

double entry(Index i, Index j) {
  return static_cast<double>((i * 7 + j * 3 + i * j) % 11 - 5) / 11;
}

}  // namespace

TEMPLATE_TEST_CASE("the runs of a triangle are its elements, once each", "[diagonal_block]",
                   Kokkos::LayoutRight, Kokkos::LayoutLeft) {
  for (const Index n : {0, 1, 2, 7})
    for (const plinth::Uplo uplo : {plinth::Uplo::lower, plinth::Uplo::upper})
      for (const plinth::Diag diag : {plinth::Diag::unit, plinth::Diag::non_unit}) {
        INFO(n << plinth::to_char(uplo) << plinth::to_char(diag));
        const auto in_triangle = [&](Index i, Index j) {
          return i == j ? diag == plinth::Diag::non_unit
                        : (uplo == plinth::Uplo::lower) == (i > j);
        };
        const Square<TestType> seen(n, [](Index, Index) { return 0; });
        lu::for_each_run(uplo, diag, seen.view(), [&](Index i, Index j, Index count) {
          CHECK(count > 0);
          for (Index q = 0; q < count; ++q) (&seen.view()(i, j))[q] += 1;
        });
        double most = 0;
        const Square<TestType> a(n, [&](Index i, Index j) {
          const double e = -1 - entry(i, j);
          if (!in_triangle(i, j)) return std::nan("");
          most = std::max(most, static_cast<double>(std::abs(static_cast<float>(e))));
          return e;
        });
        bool right = true;
        for (Index i = 0; i < n; ++i)
          for (Index j = 0; j < n; ++j)
            right = right && seen.view()(i, j) == (in_triangle(i, j) ? 1 : 0);
        CHECK(right);
        CHECK(lu::largest_in_triangle(uplo, diag, a.view()) == most);
      }
}

TEMPLATE_TEST_CASE("triangles are inverted", "[diagonal_block]", Kokkos::LayoutRight,
                   Kokkos::LayoutLeft) {
  for (const Index n : {1, 5, 32, 33, 97})
    for (const plinth::Uplo uplo : {plinth::Uplo::lower, plinth::Uplo::upper})
      for (const plinth::Diag diag : {plinth::Diag::unit, plinth::Diag::non_unit}) {
        INFO(n << plinth::to_char(uplo) << plinth::to_char(diag));
        const auto in_triangle = [&](Index i, Index j) {
          return i != j && (uplo == plinth::Uplo::lower) == (i > j);
        };
        // Small beside the diagonal; the other half, and a unit diagonal, are not to be read.
        const Square<TestType> a(n, [&](Index i, Index j) {
          if (in_triangle(i, j)) return entry(i, j) / static_cast<double>(n);
          return i == j && diag == plinth::Diag::non_unit ? 2.0 : std::nan("");
        });
        const Square<TestType> x(n, [](Index, Index) { return 7; });
        CHECK(lu::invert_triangle(exec(), uplo, diag, a.view(), x.view()));
        double worst = 0;
        for (Index i = 0; i < n; ++i)
          for (Index j = 0; j < n; ++j) {
            double sum = 0;
            for (Index l = 0; l < n; ++l) {
              const double t = l == i              ? diag == plinth::Diag::unit ? 1.0 : 2.0
                               : in_triangle(i, l) ? static_cast<double>(a.view()(i, l))
                                                   : 0.0;
              sum += t * static_cast<double>(x.view()(l, j));
            }
            const double off = std::abs(sum - (i == j ? 1 : 0));
            worst = std::max(worst, std::isnan(off) ? 1 : off);
          }
        CHECK(worst <= 1e-6);
      }
}

TEST_CASE("an inverse that is large beside its triangle is not good for products",
          "[diagonal_block]") {
  using Layout = Kokkos::LayoutRight;
  const Square<Layout> x(2, [](Index, Index) { return 0; });
  const auto judge = [&](plinth::Uplo uplo, plinth::Diag diag, double a00, double off,
                         double a11) {
    const Square<Layout> a(2, [&](Index i, Index j) {
      return i != j ? off : i == 0 ? a00 : a11;
    });
    return lu::invert_triangle(exec(), uplo, diag, a.view(), x.view());
  };
  CHECK(judge(plinth::Uplo::upper, plinth::Diag::non_unit, 64, 0, 64));
  CHECK(judge(plinth::Uplo::upper, plinth::Diag::non_unit, 1, 0, 0x1p-10));
  CHECK_FALSE(judge(plinth::Uplo::upper, plinth::Diag::non_unit, 1, 0, 0x1p-11));
  CHECK_FALSE(judge(plinth::Uplo::upper, plinth::Diag::non_unit, 1, 0, 0));
  CHECK_FALSE(judge(plinth::Uplo::upper, plinth::Diag::non_unit, 1, std::nan(""), 1));
  CHECK(judge(plinth::Uplo::lower, plinth::Diag::unit, 0, 0x1p5, 0));
  CHECK_FALSE(judge(plinth::Uplo::lower, plinth::Diag::unit, 0, 0x1p6, 0));
}

TEST_CASE("a block without pivoting: factors, and zero pivots", "[diagonal_block]") {
  for (const Index n : {1, 16, 17, 70}) {
    const auto element = [&](Index i, Index j) { return i == j ? 4.0 : entry(i, j); };
    const Square<Kokkos::LayoutRight> a(n, element);
    std::vector<Index> zeros;
    lu::PanelOutcome outcome;
    lu::factor_unpivoted(exec(), a.view(), {0, n}, 100, outcome, zeros);
    CHECK(zeros.empty());
    CHECK(outcome.first_zero_pivot == -1);
    double worst = 0;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) {
        double sum = i <= j ? static_cast<double>(a.view()(i, j)) : 0;
        for (Index l = 0; l < std::min(i, j + 1); ++l)
          sum += static_cast<double>(a.view()(i, l)) * static_cast<double>(a.view()(l, j));
        worst = std::max(worst, std::abs(sum - element(i, j)));
      }
    CHECK(worst <= 1e-5);
  }
  const Square<Kokkos::LayoutRight> singular(
      20, [](Index i, Index j) { return i == j && i != 18 ? 1 : 0; });
  std::vector<Index> zeros;
  lu::PanelOutcome outcome;
  lu::factor_unpivoted(exec(), singular.view(), {0, 20}, 100, outcome, zeros);
  CHECK(zeros == std::vector<Index>{18});
  CHECK(outcome.first_zero_pivot == 118);
}

TEST_CASE("outcomes of panels: what comes first is kept", "[diagonal_block]") {
  lu::PanelOutcome all;
  all.merge({.first_zero_pivot = 7});
  CHECK(all.first_zero_pivot == 7);
  CHECK(all.first_nonfinite == -1);
  all.merge({.first_zero_pivot = 9, .first_nonfinite = 0});
  CHECK(all.first_zero_pivot == 7);
  CHECK(all.first_nonfinite == 0);
  all.merge({});
  all.merge({.first_zero_pivot = 3, .first_nonfinite = 5});
  CHECK(all.first_zero_pivot == 3);
  CHECK(all.first_nonfinite == 0);
}
