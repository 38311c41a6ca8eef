// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/cases.hpp"

#include "support/catch.hpp"

using linpack::Broadcast;
using linpack::Case;
using linpack::Cases;
using linpack::Config;
using linpack::Grid;
using linpack::PanelVariant;

namespace {

Config two_of_each() {
  Config c;
  c.grids = {{1, 2}, {2, 1}};
  c.n = {10, 20};
  c.nb = {3, 4};
  c.depth = {0, 1};
  c.bcast = {Broadcast::ring2, Broadcast::long_};
  c.rfact = {PanelVariant::left, PanelVariant::right};
  c.pfact = {PanelVariant::crout, PanelVariant::left};
  c.nbmin = {2, 8};
  c.ndiv = {2, 3};
  return c;
}

}  // namespace

TEST_CASE("cases: netlib's loops, grid outermost and NDIV innermost") {
  const Config c = two_of_each();
  const Cases cases(c);
  REQUIRE(cases.size() == 512);
  std::uint64_t i = 0;
  for (const Grid grid : c.grids)
    for (const auto n : c.n)
      for (const int nb : c.nb)
        for (const int depth : c.depth)
          for (const Broadcast bcast : c.bcast)
            for (const PanelVariant rfact : c.rfact)
              for (const PanelVariant pfact : c.pfact)
                for (const int nbmin : c.nbmin)
                  for (const int ndiv : c.ndiv) {
                    const Case k = cases[i++];
                    REQUIRE(k.grid == grid);
                    REQUIRE(k.n == n);
                    REQUIRE(k.nb == nb);
                    REQUIRE(k.depth == depth);
                    REQUIRE(k.bcast == bcast);
                    REQUIRE(k.rfact == rfact);
                    REQUIRE(k.pfact == pfact);
                    REQUIRE(k.nbmin == nbmin);
                    REQUIRE(k.ndiv == ndiv);
                  }
  CHECK(i == cases.size());
}

TEST_CASE("cases: what has one value only is in every case") {
  Config c = two_of_each();
  c.mapping = linpack::Mapping::column_major;
  c.swap = linpack::SwapAlgorithm::spread_roll;
  c.swap_threshold = 7;
  c.l1 = linpack::Form::not_transposed;
  c.u = linpack::Form::not_transposed;
  c.equilibration = linpack::Equilibration::off;
  c.alignment = 16;
  c.threshold = 0;
  std::uint64_t count = 0;
  const Cases cases(c);
  for (const Case& k : cases) {
    ++count;
    REQUIRE(k.mapping == c.mapping);
    REQUIRE(k.swap == c.swap);
    REQUIRE(k.swap_threshold == 7);
    REQUIRE(k.l1 == c.l1);
    REQUIRE(k.u == c.u);
    REQUIRE(k.equilibration == c.equilibration);
    REQUIRE(k.alignment == 16);
    REQUIRE_FALSE(k.checks());
  }
  CHECK(count == 512);
}

TEST_CASE("cases: twenty values of everything are counted, not stored") {
  Config c;
  c.grids.assign(20, Grid{1, 1});
  c.n.assign(20, 5);
  c.nb.assign(20, 1);
  c.depth.assign(20, 0);
  c.bcast.assign(20, Broadcast::ring1);
  c.rfact.assign(20, PanelVariant::left);
  c.pfact.assign(20, PanelVariant::left);
  c.nbmin.assign(20, 1);
  c.ndiv.assign(20, 2);
  c.ndiv.back() = 9;
  const Cases cases(c);
  CHECK(cases.size() == 512'000'000'000u);
  CHECK(cases[cases.size() - 1].ndiv == 9);
}

TEST_CASE("cases: the squarest grid") {
  CHECK(linpack::squarest_grid(1) == Grid{1, 1});
  CHECK(linpack::squarest_grid(2) == Grid{1, 2});
  CHECK(linpack::squarest_grid(4) == Grid{2, 2});
  CHECK(linpack::squarest_grid(6) == Grid{2, 3});
  CHECK(linpack::squarest_grid(7) == Grid{1, 7});
  CHECK(linpack::squarest_grid(12) == Grid{3, 4});
}
