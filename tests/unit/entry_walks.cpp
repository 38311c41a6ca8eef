// SPDX-License-Identifier: BSD-3-Clause
//
// Entries made one after the other along lines, and what devices make of them: matrices, products
// and sums, against the pure function.
#include "plinth/kernel/entries/walk_kernels.hpp"

#include <cmath>
#include <vector>

#include "plinth/kernel/entries/dominant.hpp"
#include "plinth/kernel/entries/fasi_higham.hpp"
#include "plinth/kernel/entries/scaled_diagonal.hpp"
#include "plinth/matrix/hpl_matrix.hpp"
#include "plinth/matrix/index_runs.hpp"
#include "support/catch.hpp"

using namespace plinth;
using Exec = HostExecution<>;

namespace {

/// f(system) for one of every kind.
template <class F>
void for_each_system(Index n, const F& f) {
  f(HplMatrix{{.n = n}});
  f(ScaledDiagonal(n, 0.75));
  f(FasiHigham(n, 0.125, 0.3));
  f(DominantReference(n));
  f(DominantOpenmxp(n));
}

/// A process of a grid, and its part of an n x (n + 1) matrix.
struct Part {
  BlockCyclic rows, cols;
  int p, q;
  Index m() const { return rows.local_size(p); }
  Index n() const { return cols.local_size(q); }
};
std::vector<Part> parts(Index n, Index cols, Index nb) {
  std::vector<Part> all;
  for (int p = 0; p < 3; ++p)
    for (int q = 0; q < 2; ++q)
      all.push_back({BlockCyclic(n, nb, 3, 1), BlockCyclic(cols, nb, 2, 0), p, q});
  return all;
}

}  // namespace

TEST_CASE("walks give the entries off the diagonal, bit for bit", "[entries]") {
  const Index n = 40;
  for_each_system(n, [&](const auto& system) {
    const auto walks = system.walks();
    Index wrong = 0;
    for (Index i = 0; i < n; ++i)
      for (const Index from : {Index(0), i, Index(17), n - 1}) {
        auto right = walks.right(i, from);
        auto down = walks.down(from, i);
        for (Index k = from; k < n; ++k) {
          const double there = right(), below = down();
          if (k == i) {
            wrong += !is_finite(there) || !is_finite(below);
          } else {
            wrong += there != system(i, k) || below != system(k, i);
          }
        }
      }
    CHECK(wrong == 0);
  });
}

TEMPLATE_TEST_CASE("a matrix filled by walks is the pure function, and what is lost is counted",
                   "[entries]", half, bfloat16, float, double) {
  using T = TestType;
  const Exec exec;
  const auto check = [&](auto layout, const auto& system, const Part& part, double scale) {
    using Layout = decltype(layout);
    std::vector<T> data(static_cast<std::size_t>(part.m() * part.n()));
    std::vector<T> other(data.size());
    const auto a = kernel::contiguous<Layout, Kokkos::HostSpace>(data.data(), part.m(), part.n());
    const auto b = kernel::contiguous<Layout, Kokkos::HostSpace>(other.data(), part.m(), part.n());
    const auto rows = dealt_lines(part.rows, part.p), cols = dealt_lines(part.cols, part.q);
    const auto lost = kernel::fill_by_walks(exec, system, rows, cols, a, scale);
    CHECK(kernel::fill_by_entries(exec, system, rows, cols, b, scale) == lost);
    Index wrong = 0;
    for (Index i = 0; i < part.m(); ++i)
      for (Index j = 0; j < part.n(); ++j) {
        const double entry =
            system(part.rows.global(i, part.p), part.cols.global(j, part.q)) * scale;
        wrong += a(i, j) != T(entry) || b(i, j) != T(entry);
      }
    CHECK(wrong == 0);
  };
  for (const Index n : {1, 23, 150})
    for_each_system(n, [&](const auto& system) {
      for (const Index nb : {1, 7, 100})
        for (const Part& part : parts(n, n + 1, nb))
          for (const double scale : {1.0, 0x1p-17, 0x1p18}) {
            INFO("n " << n << ", nb " << nb << ", process " << part.p << ", " << part.q);
            check(Kokkos::LayoutRight{}, system, part, scale);
            check(Kokkos::LayoutLeft{}, system, part, scale);
          }
    });
}

TEST_CASE("products and row sums by walks are those of the entries", "[entries]") {
  const Exec exec;
  for (const Index n : {1, 23, 150})
    for_each_system(n, [&](const auto& system) {
      for (const Index nb : {2, 7, 200})
        for (const Part& part : parts(n, n, nb)) {
          INFO("n " << n << ", nb " << nb << ", process " << part.p << ", " << part.q);
          const auto rows = dealt_lines(part.rows, part.p), cols = dealt_lines(part.cols, part.q);
          std::vector<double> x(static_cast<std::size_t>(part.n()));
          for (std::size_t j = 0; j < x.size(); ++j) x[j] = std::sin(static_cast<double>(j + 1));
          const auto height = static_cast<std::size_t>(part.m());
          std::vector<double> diagonal(height, -1.0), y(height, -1.0), sums(height, -1.0);
          std::vector<double> room(static_cast<std::size_t>(kernel::fold_room(rows, cols)));
          kernel::diagonal_by_entries(exec, system, rows, OwnedBy{part.cols, part.q},
                                      diagonal.data());
          kernel::multiply_by_walks(exec, system, rows, cols, diagonal.data(), room.data(), -0.5,
                                    x.data(), y.data());
          kernel::row_sums_by_walks(exec, system, rows, cols, diagonal.data(), room.data(),
                                    sums.data());
          exec.fence();
          double most = 0;
          for (Index i = 0; i < part.m(); ++i) {
            double product = 0, sum = 0;
            for (Index j = 0; j < part.n(); ++j) {
              const double entry =
                  system(part.rows.global(i, part.p), part.cols.global(j, part.q));
              product -= 0.5 * entry * x[static_cast<std::size_t>(j)];
              sum += std::abs(entry);
            }
            const auto at = static_cast<std::size_t>(i);
            const double size = 1e-16 * static_cast<double>(n) * (sum + 1e-300);
            most = std::max({most, std::abs(y[at] - product) / size,
                             std::abs(sums[at] - sum) / size});
          }
          CHECK(most < 30);
        }
    });
}
