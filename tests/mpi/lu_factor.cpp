// SPDX-License-Identifier: BSD-3-Clause
//
// Factors and solutions are as good as a stable factorization's, whatever the size, the grid, the
// distribution and the options.
#include "plinth/lu/factors.hpp"

#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::GridShape;
using plinth::PanelVariant;
using plinth::ProcessGrid;
using plinth::comm::BroadcastAlgorithm;
using plinth::lu::FactorOptions;

namespace {

struct Size {
  Index n, nb;
};
constexpr Size sizes[] = {
    {0, 4},     // nothing at all
    {1, 4},     // one element, nb > n
    {3, 4},     // nb - 1
    {4, 4},     // one block
    {5, 4},     // nb + 1: a last block of one
    {13, 1},    // a block per column
    {50, 8},    // ragged
    {100, 16},  // several rounds of every grid
    {33, 100},  // all of it in one block, the other processes own nothing
};

plinth::MatrixLayoutOptions square(Index nb, int source_row = 0, int source_col = 0) {
  return {.mb = nb, .nb = nb, .source_row = source_row, .source_col = source_col};
}

/// Random A and three right-hand sides: the usual ratios, N, T and C.
template <class T, class Layout>
void check_ratios(const ProcessGrid& grid, Index n, const plinth::MatrixLayoutOptions& layout,
                  const FactorOptions& options) {
  const Exec exec;
  constexpr Index nrhs = 3;
  const auto f = [](Index i, Index j) noexcept { return noise_as<T>(i, j); };
  const auto g = [](Index i, Index j) noexcept { return noise_as<T>(i, j, 7); };
  TestMatrix<T, Layout> a(grid, n, n, layout);
  plinth::generate(exec, a, f);
  const auto factors = plinth::lu_factor(exec, std::move(a), plinth::PartialPivoting{}, options);
  if (!grid.active()) return;
  const auto whole = make_dense<T>(n, n, f);
  const auto rhs = make_dense<T>(n, nrhs, g);
  CHECK_FALSE(factors.first_zero_pivot());
  CHECK_FALSE(factors.first_nonfinite_pivot());
  const auto lu = gather(factors.matrix());
  CHECK(factor_ratio(whole, lu, gather_pivots(factors)) < 30);
  // |l| <= 1; where pivots are the largest |re| + |im|, that sum of a quotient is at most 2.
  const plinth::RealOf<T> bound = plinth::ScalarTraits<T>::is_complex ? 2 : 1;
  bool bounded = true;
  for (Index j = 0; j < n; ++j)
    for (Index i = j + 1; i < n; ++i) bounded = bounded && plinth::magnitude1(lu(i, j)) <= bound;
  CHECK(bounded);
  for (const auto op : {plinth::Op::none, plinth::Op::transpose, plinth::Op::conj_transpose}) {
    INFO("op " << plinth::to_char(op));
    TestMatrix<T, Layout> b(grid, n, nrhs,
                            {.mb = layout.mb, .nb = 2, .source_row = layout.source_row});
    plinth::generate(exec, b, g);
    plinth::lu_solve(exec, factors, b, op, 2);
    CHECK(solve_ratio(whole, gather(b), rhs, op) < 30);
  }
}

template <class T, class L>
struct Kind {
  using Scalar = T;
  using Layout = L;
};

FactorOptions depth(Index lookahead) { return {.lookahead = lookahead}; }

}  // namespace

// Every size on every grid in double precision, on every other grid in the others; the look-ahead
// depth takes turns, so that each size sees all of them.
TEMPLATE_TEST_CASE("LU: ratios for every size, grid and scalar type", "[lu]",
                   PLINTH_TEST_TYPES((Kind<double, LayoutRight>), (Kind<double, LayoutLeft>),
                                     (Kind<Kokkos::complex<double>, LayoutRight>),
                                     (Kind<float, LayoutRight>),
                                     (Kind<Kokkos::complex<float>, LayoutRight>))) {
  constexpr Index depths[] = {0, 1, 3};
  constexpr bool all = std::is_same_v<TestType, Kind<double, LayoutRight>>;
  std::size_t turn = 0;
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{shape.rows, shape.cols});
    turn += 10;
    for (const auto size : sizes) {
      if (++turn % 2 == 0 && !all && shape.size() > 1) continue;
      const Index d = depths[turn % 3];
      INFO("grid " << shape.rows << "x" << shape.cols << ", n " << size.n << ", nb " << size.nb
                   << ", look-ahead " << d);
      check_ratios<typename TestType::Scalar, typename TestType::Layout>(
          grid, size.n, square(size.nb), depth(d));
    }
  }
}

TEST_CASE("LU: ratios where rank (0, 0) does not own the first block", "[lu]") {
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{shape.rows, shape.cols});
    INFO("grid " << shape.rows << "x" << shape.cols);
    check_ratios<double, LayoutRight>(grid, 37, square(5, shape.rows - 1, shape.cols - 1),
                                      depth(1));
    check_ratios<double, LayoutLeft>(grid, 37, square(5, shape.rows / 2, shape.cols - 1),
                                     depth(0));
  }
}

TEST_CASE("LU: ratios when ranks are placed column by column or by nodes", "[lu][grid]") {
  for (const auto shape : grids(world_size())) {
    INFO("grid " << shape.rows << "x" << shape.cols);
    const ProcessGrid by_columns(MPI_COMM_WORLD, plinth::ColumnMajorGrid{shape.rows, shape.cols});
    check_ratios<double, LayoutRight>(by_columns, 41, square(4), depth(1));
    const int node_cols = shape.cols % 2 == 0 ? 2 : 1;
    const ProcessGrid by_nodes(
        MPI_COMM_WORLD, plinth::NodeBlockedGrid{shape.rows, shape.cols, shape.rows, node_cols});
    check_ratios<double, LayoutRight>(by_nodes, 41, square(4), depth(1));
  }
}

TEST_CASE("LU: look-ahead deeper than there are panels", "[lu]") {
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, world_size()});
  for (const Index d : {5, 6, 7, 40}) {
    INFO("look-ahead " << d);
    check_ratios<double, LayoutRight>(grid, 48, square(8), depth(d));
  }
}

// Factors that are free of rounding errors show more than a ratio: that they are the same.
TEST_CASE("LU: every way of factoring a panel gives the same factors", "[lu][panel]") {
  const Exec exec;
  const auto exact = powers_of_two<double>(70);
  const auto layout = square(20);
  constexpr PanelVariant variants[] = {PanelVariant::left, PanelVariant::crout,
                                       PanelVariant::right};
  const int ranks = world_size();
  const ProcessGrid grid(MPI_COMM_WORLD,
                         plinth::RowMajorGrid{ranks > 1 ? ranks / 2 : 1, ranks > 1 ? 2 : 1});
  for (const auto variant : variants)
    for (const auto base : variants)
      for (const Index nbmin : {1, 4, 16})
        for (const Index ndiv : {2, 3}) {
          INFO("variant " << static_cast<int>(variant) << ", base " << static_cast<int>(base)
                          << ", nbmin " << nbmin << ", ndiv " << ndiv);
          const auto factors = plinth::lu_factor(exec, distribute(grid, exact.a, layout),
                                                 plinth::PartialPivoting{},
                                                 {.panel = {variant, base, ndiv, nbmin}});
          if (!grid.active()) continue;
          CHECK(gather_pivots(factors) == exact.pivots);
          CHECK(gather(factors.matrix()).data == exact.lu.data);  // -0 is 0
          if (ndiv == 3 || nbmin != 4) continue;  // with rounding errors, a sample
          check_ratios<double, LayoutRight>(grid, 45, layout,
                                            {.panel = {variant, base, ndiv, nbmin}});
        }
}

TEST_CASE("LU: the same bits by every broadcast, in messages of every length", "[lu][comm]") {
  const Exec exec;
  const Index n = 60;
  const auto whole = make_dense<double>(n, n, [](Index i, Index j) { return noise(i, j, 3); });
  const auto factor = [&](const ProcessGrid& grid, BroadcastAlgorithm algorithm,
                          Index lookahead) {
    const auto factors =
        plinth::lu_factor(exec, distribute(grid, whole, square(8)), plinth::PartialPivoting{},
                          {.lookahead = lookahead, .broadcast = algorithm});
    return grid.active() ? gather(factors.matrix()) : whole;
  };
  // A process row as long as possible, where routes differ, and two process rows.
  for (const auto shape : {GridShape{1, world_size()}, GridShape{2, world_size() / 2}}) {
    if (shape.cols == 0) continue;
    const plinth::RowMajorGrid layout{shape.rows, shape.cols};
    const ProcessGrid grid(MPI_COMM_WORLD, layout);
    // 100 bytes: a dozen doubles, fewer than a panel row of pivots; 8: a double; 1: a byte.
    const ProcessGrid chunked(MPI_COMM_WORLD, layout, {.max_message = 100});
    const ProcessGrid tiny(MPI_COMM_WORLD, layout, {.max_message = 8});
    const auto expected = factor(grid, BroadcastAlgorithm::ring1, 1);
    for (const auto algorithm : {BroadcastAlgorithm::ring1, BroadcastAlgorithm::ring1_modified,
                                 BroadcastAlgorithm::ring2, BroadcastAlgorithm::ring2_modified,
                                 BroadcastAlgorithm::long_, BroadcastAlgorithm::long_modified,
                                 BroadcastAlgorithm::bcast, BroadcastAlgorithm::ibcast}) {
      INFO("grid " << shape.rows << "x" << shape.cols << ", broadcast "
                   << static_cast<int>(algorithm));
      CHECK(same_bits(factor(grid, algorithm, 1), expected));
      CHECK(same_bits(factor(chunked, algorithm, 1), expected));
    }
    CHECK(same_bits(factor(tiny, BroadcastAlgorithm::ring2, 1), expected));
    CHECK(same_bits(factor(grid, BroadcastAlgorithm::ring1, 1), expected));  // a second time
  }
}

TEST_CASE("LU: any number of right-hand sides", "[lu][solve]") {
  const Exec exec;
  const Index n = 30, nb = 4;
  const auto f = [](Index i, Index j) noexcept { return noise(i, j); };
  const auto g = [](Index i, Index j) noexcept { return noise(i, j, 9); };
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{shape.rows, shape.cols});
    TestMatrix<double, LayoutRight> a(grid, n, n, square(nb));
    plinth::generate(exec, a, f);
    const auto whole = make_dense<double>(n, n, f);
    const auto factors = plinth::lu_factor(exec, std::move(a));
    struct Rhs {
      Index count, block, at_once;
      int source_col;
    };
    for (const Rhs rhs : {Rhs{0, 4, 8, 0},                   // none
                          Rhs{1, 4, 8, 0},                   // one
                          Rhs{nb + 1, nb, 128, 0},           // a block and a piece of one
                          Rhs{nb + 1, nb, 2, 0},             // in several goes
                          Rhs{11, 3, 4, shape.cols - 1}}) {  // columns dealt unlike A's
      for (const auto op : {plinth::Op::none, plinth::Op::transpose}) {
        INFO("grid " << shape.rows << "x" << shape.cols << ", " << rhs.count << " columns, "
                     << rhs.at_once << " at once, op " << plinth::to_char(op));
        TestMatrix<double, LayoutRight> b(
            grid, n, rhs.count, {.mb = nb, .nb = rhs.block, .source_col = rhs.source_col});
        plinth::generate(exec, b, g);
        plinth::lu_solve(exec, factors, b, op, rhs.at_once);
        if (!grid.active()) continue;
        CHECK(solve_ratio(whole, gather(b), make_dense<double>(n, rhs.count, g), op) < 30);
      }
    }
  }
}
