// SPDX-License-Identifier: BSD-3-Clause
//
// Sums and largest ones of moduli along rows and columns, of parts of rows and with weights.
#include "plinth/kernel/line_moduli.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "plinth/core/cpu.hpp"
#include "support/catch.hpp"
#include "support/framed.hpp"

using plinth::Index;
using plinth::kernel::Fold;
using plinth::kernel::FoldedLines;
using Exec = plinth::HostExecution<>;

namespace {

/// Small whole numbers of either sign, or 5 k for complex ones: sums of moduli are exact.
template <class T>
T entry(Index i, Index j) {
  using Real = plinth::RealOf<T>;
  const auto k = static_cast<Real>((i * 31 + j * 17) % 23 - 11);
  if constexpr (plinth::ScalarTraits<T>::is_complex)
    return T(3 * k, -4 * k);
  else
    return k;
}

template <class T, class Layout>
plinth_test::Framed<T, Layout> filled(Index m, Index n) {
  plinth_test::Framed<T, Layout> a(m, n);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) a.view()(i, j) = entry<T>(i, j);
  return a;
}

/// Where row i begins to count: in steps, so that several rows begin at one place.
struct Stairs {
  Index operator()(Index i) const { return i / 3 * 4; }
};

template <bool by_row, Fold fold, class T, class Layout, class First = plinth::kernel::WholeLine>
void check(plinth_test::Framed<T, Layout>& a, bool weighted, const First& first = {}) {
  using Real = plinth::RealOf<T>;
  INFO("by row " << by_row << ", fold " << static_cast<int>(fold) << ", weighted " << weighted);
  const Index lines = by_row ? a.rows : a.cols, along = by_row ? a.cols : a.rows;
  std::vector<Real> found(static_cast<std::size_t>(lines) + 1, Real(-1)), expected, weights;
  for (Index q = 0; q < along; ++q)
    weights.push_back(static_cast<Real>(std::ldexp(1.0, static_cast<int>(q % 5) - 2)));
  const auto view = a.view();
  for (Index l = 0; l < lines; ++l) {
    Real most(0);
    for (Index q = first(l); q < along; ++q) {
      Real here = plinth::modulus(by_row ? view(l, q) : view(q, l));
      if (weighted) here *= weights[static_cast<std::size_t>(q)];
      most = fold == Fold::sum ? most + here : std::max(most, here);
    }
    expected.push_back(most);
  }
  expected.push_back(Real(-1));
  FoldedLines<Real, First> folded{found.data(), weighted ? weights.data() : nullptr, false,
                                  first};
  plinth::kernel::fold_moduli<by_row, fold>(Exec(), view, folded);
  CHECK(found == expected);
  // Once more, on top of that.
  folded.more = true;
  plinth::kernel::fold_moduli<by_row, fold>(Exec(), view, folded);
  if (fold == Fold::sum)
    for (std::size_t l = 0; l + 1 < expected.size(); ++l) expected[l] *= 2;
  CHECK(found == expected);
}

}  // namespace

TEMPLATE_TEST_CASE("Moduli along rows and columns: whole numbers exactly", "[kernel][norm]",
                   double, float, Kokkos::complex<double>, Kokkos::complex<float>) {
  using T = TestType;
  struct Size {
    Index m, n;
  };
  const auto run = [](auto layout, Size s) {
    INFO(s.m << " x " << s.n);
    auto a = filled<T, decltype(layout)>(s.m, s.n);
    for (const bool weighted : {false, true}) {
      check<true, Fold::sum>(a, weighted);
      check<false, Fold::sum>(a, weighted);
      check<true, Fold::largest>(a, weighted);
      check<false, Fold::largest>(a, weighted);
      check<true, Fold::largest>(a, weighted, Stairs{});
      check<true, Fold::sum>(a, weighted, Stairs{});
    }
  };
  for (const Size s : {Size{0, 0}, Size{0, 3}, Size{3, 0}, Size{1, 1}, Size{7, 300}, Size{300, 7},
                       Size{2, 5000}, Size{5000, 2}, Size{130, 257}}) {
    run(Kokkos::LayoutRight(), s);
    run(Kokkos::LayoutLeft(), s);
  }
}

TEMPLATE_TEST_CASE("Moduli along rows and columns: infinities, and NaN above them",
                   "[kernel][norm]", double, float, Kokkos::complex<double>) {
  using T = TestType;
  using Real = plinth::RealOf<T>;
  const Real infinity = std::numeric_limits<Real>::infinity();
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const auto run = [&](auto layout) {
    auto a = filled<T, decltype(layout)>(40, 70);
    const auto view = a.view();
    view(3, 64) = T(-infinity);
    view(5, 11) = T(std::copysign(nan, Real(-1)));
    view(5, 12) = T(infinity);
    std::vector<Real> rows(40), cols(70);
    const auto look = [&](bool row) { return row ? rows[3] : cols[64]; };
    plinth::kernel::fold_moduli<true, Fold::largest>(Exec(), view,
                                                     FoldedLines<Real>{rows.data()});
    plinth::kernel::fold_moduli<false, Fold::largest>(Exec(), view,
                                                      FoldedLines<Real>{cols.data()});
    for (int fold = 0; fold < 2; ++fold) {
      CHECK(look(true) == infinity);
      CHECK(look(false) == infinity);
      CHECK(plinth::is_nan(rows[5]));
      CHECK(plinth::is_nan(cols[11]));
      CHECK(cols[12] == infinity);
      CHECK(std::count_if(rows.begin(), rows.end(),
                          [](Real r) { return plinth::is_finite(r); }) == 38);
      CHECK(std::count_if(cols.begin(), cols.end(),
                          [](Real c) { return plinth::is_finite(c); }) == 67);
      plinth::kernel::fold_moduli<true, Fold::sum>(Exec(), view, FoldedLines<Real>{rows.data()});
      plinth::kernel::fold_moduli<false, Fold::sum>(Exec(), view, FoldedLines<Real>{cols.data()});
    }
  };
  run(Kokkos::LayoutRight());
  run(Kokkos::LayoutLeft());
}

TEST_CASE("Moduli along a line: the same bits with every instruction set", "[kernel][norm]") {
  std::vector<double> x;
  for (int i = 0; i < 1003; ++i) x.push_back(std::sin(static_cast<double>(i)) * 1e3);
  const auto count = static_cast<Index>(x.size());
  double portable = 0;
  plinth::kernel::sum_moduli(plinth::Isa::portable, x.data(), count, &portable);
  for (const auto isa : {plinth::Isa::avx2, plinth::Isa::avx512}) {
    if (!plinth::is_available(isa)) continue;
    double sum = 0;
    plinth::kernel::sum_moduli(isa, x.data(), count, &sum);
    CHECK(sum == portable);
  }
}
