// SPDX-License-Identifier: BSD-3-Clause
//
// std::complex at the border: storage that is wrapped, generators, whole arrays.
#include <complex>

#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/problems.hpp"
#include "support/refined.hpp"

using namespace plinth_test;
using plinth::MatrixLayoutOptions;
using plinth::ProcessGrid;

namespace {

template <class R>
std::complex<R> entry(Index i, Index j) {
  return {static_cast<R>(noise(i, j, 71)), static_cast<R>(noise(i, j, 72))};
}

}  // namespace

TEMPLATE_TEST_CASE("std::complex storage is used in place", "[complex][wrap]", double, float) {
  using Number = std::complex<TestType>;
  using T = Kokkos::complex<TestType>;
  using Matrix = HostMatrix<T, Kokkos::LayoutRight>;
  const Index n = 23, nrhs = 2;
  const auto whole = make_dense<T>(n, n, entry<TestType>);
  on_every_active_grid([&](const ProcessGrid& grid) {
    const MatrixLayoutOptions square{4, 4, grid.shape().rows - 1, 0},
        tall{4, 1, grid.shape().rows - 1, 0};
    // Room for any process, with rows that are longer than need be.
    const Index lead = n + 3;
    std::vector<Number> a_storage(static_cast<std::size_t>(lead * n), Number(-7, 7));
    std::vector<Number> b_storage(static_cast<std::size_t>(lead * n), Number(-7, 7));
    Matrix a(grid, n, n, square, a_storage.data(), lead);
    Matrix b(grid, n, nrhs, tall, b_storage.data(), lead);
    CHECK(static_cast<const void*>(a.local().data()) == a_storage.data());

    // A generator of std::complex.
    plinth::generate(Host(), a, [](Index i, Index j) { return entry<TestType>(i, j); });
    plinth::generate(Host(), b, [](Index i, Index j) noexcept { return entry<TestType>(j, i); });
    const plinth::Extents mine = a.local_extents();
    Index wrong = 0;
    for (Index i = 0; i < mine.rows; ++i)
      for (Index j = 0; j < lead; ++j) {
        const Number expected =
            j < mine.cols ? entry<TestType>(a.global_row(i), a.global_col(j)) : Number(-7, 7);
        wrong += a_storage[static_cast<std::size_t>(i * lead + j)] != expected;
      }
    CHECK(wrong == 0);
    CHECK(same_bits(gather(a), whole));

    // A whole array of std::complex on every rank.
    std::vector<Number> array(static_cast<std::size_t>(n * n));
    plinth::to_replicated(Host(), a, array.data(), n);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        wrong += array[static_cast<std::size_t>(i + j * n)] != entry<TestType>(i, j);
    CHECK(wrong == 0);

    // What is solved stands in the caller's storage.
    const auto rhs = gather(b);
    const auto factors = plinth::lu_factor(Host(), std::move(a));
    plinth::lu_solve(Host(), factors, b);
    CHECK(static_cast<const void*>(b.local().data()) == b_storage.data());
    CHECK(solve_ratio(whole, gather(b), rhs, plinth::Op::none) < 30);

    Matrix again(grid, n, n, square, a_storage.data(), lead);
    plinth::from_replicated(Host(), array.data(), n, again);
    CHECK(same_bits(gather(again), whole));

    const bool guilty = grid.all().rank() == 0;  // the others do right
    CHECK_THAT(error_of([&] {
                 Number* const none = nullptr;
                 Matrix(grid, n * 8, n * 8, square, guilty ? none : a_storage.data(), n * 8);
               }),
               contains("null"));
    auto* const askew = reinterpret_cast<T*>(reinterpret_cast<char*>(a_storage.data()) + 1);
    CHECK_THAT(error_of([&] {
                 Matrix(grid, n, n, square,
                        guilty ? askew : reinterpret_cast<T*>(a_storage.data()), lead);
               }),
               contains("aligned"));
  });
}
