// SPDX-License-Identifier: BSD-3-Clause
//
// Storage by descriptor, and the call that stands for pdgesv: against ScaLAPACK where it is there.
#include "plinth/interop/scalapack.hpp"

#include <complex>

#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/problems.hpp"

#ifdef PLINTH_TEST_SCALAPACK
extern "C" {
int Csys2blacs_handle(MPI_Comm communicator);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridexit(int context);
void pdgesv_(const int* n, const int* nrhs, double* a, const int* ia, const int* ja,
             const int* desc_a, int* ipiv, double* b, const int* ib, const int* jb,
             const int* desc_b, int* info);
}
#endif

using namespace plinth_test;
using Kokkos::LayoutLeft;
using plinth::ProcessGrid;
using plinth::RowMajorGrid;
namespace scalapack = plinth::scalapack;

namespace {

constexpr double canary = -7.5;

/// The local part of an array that is larger than the part of it that is used.
struct Array {
  scalapack::Descriptor desc;
  Index local_rows = 0, local_cols = 0;
  std::vector<double> data;

  Array(const ProcessGrid& grid, int m, int n, int nb, int source_row, int source_col)
      : desc{1, 0, m, n, nb, nb, source_row, source_col, 0} {
    local_rows =
        plinth::BlockCyclic(m, nb, grid.shape().rows, source_row).local_size(grid.coord().row);
    local_cols =
        plinth::BlockCyclic(n, nb, grid.shape().cols, source_col).local_size(grid.coord().col);
    desc[scalapack::lld] = static_cast<int>(local_rows) + 3;
    data.assign(static_cast<std::size_t>(desc[scalapack::lld] * local_cols + 1), canary);
  }
  Index canaries() const { return std::count(data.begin(), data.end(), canary); }
};

double entry_a(Index i, Index j) { return (i * 7 % 31 == j ? 3 : 0) + noise(i, j, 41) / 8; }
double entry_b(Index i, Index j) { return noise(i, j, 42); }

std::vector<plinth::GridShape> shapes() {
  std::vector<plinth::GridShape> fit;
  for (const plinth::GridShape s :
       {plinth::GridShape{1, 1}, plinth::GridShape{1, 2}, plinth::GridShape{2, 2},
        plinth::GridShape{2, 3}, plinth::GridShape{3, 2}})
    if (s.size() <= world_size()) fit.push_back(s);
  return fit;
}

}  // namespace

TEST_CASE("pgesv solves in the caller's array, as pdgesv does", "[scalapack]") {
  const int n = 31, nrhs = 4, nb = 4, ia = 5, ja = 9, ib = 9, jb = 1;
  const auto a_whole = make_dense<double>(n, n, entry_a);
  const auto b_whole = make_dense<double>(n, nrhs, entry_b);
  for (const auto shape : shapes()) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    if (!grid.active()) continue;
    INFO("grid " << shape.rows << "x" << shape.cols);
    // B's second block row is A's first: sources that differ by one.
    const int source = shape.rows - 1;
    Array a(grid, n + 10, n + 9, nb, source, shape.cols - 1);
    Array b(grid, n + 12, nrhs, nb, (source + shape.rows - 1) % shape.rows, 0);
    std::vector<int> ipiv(static_cast<std::size_t>(a.local_rows + nb), -1);
    const auto wrapped = [&](Array& x, int cols, int i, int j) {
      return scalapack::wrap(grid, n, cols, x.data.data(), i, j, x.desc.data());
    };
    const auto fill = [&](Array& x, int cols, int i, int j, auto f) {
      auto part = wrapped(x, cols, i, j);
      plinth::generate(Host(), part, f);
    };
    const auto fill_a = [](Index i, Index j) noexcept { return entry_a(i, j); };
    const auto fill_b = [](Index i, Index j) noexcept { return entry_b(i, j); };
    fill(a, n, ia, ja, fill_a);
    fill(b, nrhs, ib, jb, fill_b);
    const Index rest_of_a = a.canaries(), rest_of_b = b.canaries();
    const auto again = scalapack::descriptor(wrapped(a, n, ia, ja), 17);
    CHECK(again[scalapack::context] == 17);
    CHECK(again[scalapack::m] == n);
    CHECK(again[scalapack::mb] == nb);
    CHECK(again[scalapack::rsrc] == (source + 1) % shape.rows);
    CHECK(again[scalapack::lld] == a.desc[scalapack::lld]);
    int info = -99;
    scalapack::pgesv(grid, n, nrhs, a.data.data(), ia, ja, a.desc.data(), ipiv.data(),
                     b.data.data(), ib, jb, b.desc.data(), info);
    CHECK(info == 0);
    CHECK(solve_ratio(a_whole, gather(wrapped(b, nrhs, ib, jb)), b_whole, plinth::Op::none) < 30);
    CHECK(a.canaries() == rest_of_a);
    CHECK(b.canaries() == rest_of_b);
#ifdef PLINTH_TEST_SCALAPACK
    const auto lu = gather(wrapped(a, n, ia, ja)), x = gather(wrapped(b, nrhs, ib, jb));
    fill(a, n, ia, ja, fill_a);
    fill(b, nrhs, ib, jb, fill_b);
    const int handle = Csys2blacs_handle(grid.all().handle());
    int context = handle;
    Cblacs_gridinit(&context, "Row", shape.rows, shape.cols);
    a.desc[scalapack::context] = b.desc[scalapack::context] = context;
    std::vector<int> theirs(ipiv.size(), -1);
    pdgesv_(&n, &nrhs, a.data.data(), &ia, &ja, a.desc.data(), theirs.data(), b.data.data(), &ib,
            &jb, b.desc.data(), &info);
    CHECK(info == 0);
    Cblacs_gridexit(context);
    Cfree_blacs_system_handle(handle);
    // (ScaLAPACK also writes behind those of the part.)
    Index pivots = 0, wrong = 0;
    for (std::size_t l = 0; l < ipiv.size(); ++l)
      if (ipiv[l] != -1) {
        ++pivots;
        wrong += ipiv[l] != theirs[l];
      }
    CHECK(pivots == wrapped(a, n, ia, ja).local_extents().rows);
    CHECK(wrong == 0);
    const auto difference = [](const auto& p, const auto& q) {
      double most = 0;
      for (std::size_t e = 0; e < p.data.size(); ++e)
        most = std::max(most, std::abs(p.data[e] - q.data[e]));
      return most;
    };
    CHECK(difference(lu, gather(wrapped(a, n, ia, ja))) < 1e-13);
    CHECK(difference(x, gather(wrapped(b, nrhs, ib, jb))) < 1e-12);
#endif
  }
}

TEST_CASE("pgesv: singular, empty, and with a grid of its own", "[scalapack]") {
  const int ranks = world_size();
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::ColumnMajorGrid{ranks, 1});
  const int n = 12;
  Array a(grid, n, n, 2, 0, 0), b(grid, n, 1, 2, 0, 0);
  std::vector<int> ipiv(static_cast<std::size_t>(a.local_rows + 2));
  auto part = scalapack::wrap(grid, n, n, a.data.data(), 1, 1, a.desc.data());
  plinth::generate(Host(), part,
                   [](Index i, Index j) noexcept { return i == j && i != 6 ? 2.0 : 0.0; });
  const auto solve = [&](int order) {
    int info = -99;
    scalapack::pgesv(MPI_COMM_WORLD, plinth::ColumnMajorGrid{ranks, 1}, order, 1, a.data.data(),
                     1, 1, a.desc.data(), ipiv.data(), b.data.data(), 1, 1, b.desc.data(), info);
    return info;
  };
  const Index before = b.canaries();
  CHECK(solve(n) == 7);
  CHECK(b.canaries() == before);  // B is kept
  CHECK(solve(0) == 0);
  CHECK(b.canaries() == before);
  CHECK(solve(6) == 0);
  CHECK((b.canaries() < before) == (world_rank() < 3));  // who owns one of 6 rows
}

TEST_CASE("misuse: pgesv and wrap, one rank alone", "[misuse][scalapack]") {
  const int ranks = world_size();
  const bool guilty = world_rank() == ranks - 1;
  const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{1, ranks});
  const int n = 4 * ranks;
  Array a(grid, n, n, 2, 0, 0), b(grid, n, n, 2, 0, 0);
  std::vector<int> ipiv(static_cast<std::size_t>(a.local_rows + 2));
  struct Call {
    int n, nrhs, ia, ja, ib, jb;
    scalapack::Descriptor a, b;
    double* a_data;
    double* b_data;
    int* ipiv;
  };
  const auto refused = [&](int expected, auto&& spoil) {
    Call c{2, 1, 1, 1, 1, 1, a.desc, b.desc, a.data.data(), b.data.data(), ipiv.data()};
    if (guilty) spoil(c);
    int info = -99;
    CHECK_THAT(error_of([&] {
                 scalapack::pgesv(grid, c.n, c.nrhs, c.a_data, c.ia, c.ja, c.a.data(), c.ipiv,
                                  c.b_data, c.ib, c.jb, c.b.data(), info);
               }),
               contains("info = " + std::to_string(expected)));
    CHECK(info == expected);
  };
  refused(-1, [](Call& c) { c.n = -1; });
  refused(-2, [](Call& c) { c.nrhs = -1; });
  refused(-3, [](Call& c) { c.a_data = nullptr; });
  refused(-4, [](Call& c) { c.ia = 0; });
  refused(-4, [](Call& c) { c.ia = 2; });
  refused(-5, [](Call& c) { c.ja = 2; });
  refused(-601, [](Call& c) { c.a[scalapack::dtype] = 2; });
  refused(-603, [](Call& c) { c.n = 9999; });
  refused(-605, [](Call& c) { c.a[scalapack::mb] = 0; });
  refused(-606, [](Call& c) { c.a[scalapack::nb] = 4; });
  refused(-607, [](Call& c) { c.a[scalapack::rsrc] = 1; });
  refused(-608, [](Call& c) { c.a[scalapack::csrc] = -1; });
  refused(-609, [](Call& c) { c.a[scalapack::lld] = 1; });
  refused(-7, [](Call& c) { c.ipiv = nullptr; });
  refused(-8, [](Call& c) { c.b_data = nullptr; });
  refused(-9, [](Call& c) { c.ib = 2; });
  refused(-10, [](Call& c) { c.jb = 0; });
  refused(-1106, [](Call& c) { c.b[scalapack::mb] = 4; });
  refused(-1102, [](Call& c) { c.b[scalapack::context] = 5; });
  if (ranks > 1) refused(-1, [](Call& c) { c.n = 4; });
  if (ranks > 1) refused(-10, [](Call& c) { c.jb = 3; });
  auto desc = a.desc;
  if (guilty) desc[scalapack::lld] = 1;
  CHECK_THAT(error_of([&] { scalapack::wrap(grid, 2, 2, a.data.data(), 1, 1, desc.data()); }),
             contains("LLD"));
  CHECK_THAT(error_of([&] {
               scalapack::wrap(grid, 2, 2, a.data.data(), guilty ? 2 : 1, 1, a.desc.data());
             }),
             contains("ia"));
}
