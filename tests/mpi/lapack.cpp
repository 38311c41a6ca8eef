// SPDX-License-Identifier: BSD-3-Clause
//
// The same pivots, factors and solutions as LAPACK's getrf and ScaLAPACK's pdgesv.
#include "support/catch.hpp"
#include "support/instances.hpp"
#include "support/problems.hpp"

extern "C" {
void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv, int* info);
void zgetrf_(const int* m, const int* n, Kokkos::complex<double>* a, const int* lda, int* ipiv,
             int* info);
#ifdef PLINTH_TEST_SCALAPACK
int Csys2blacs_handle(MPI_Comm communicator);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridexit(int context);
void descinit_(int* desc, const int* m, const int* n, const int* mb, const int* nb,
               const int* source_row, const int* source_col, const int* context, const int* lld,
               int* info);
void pdgesv_(const int* n, const int* nrhs, double* a, const int* ia, const int* ja,
             const int* desc_a, int* ipiv, double* b, const int* ib, const int* jb,
             const int* desc_b, int* info);
#endif
}

using namespace plinth_test;
using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::ProcessGrid;
using plinth::RowMajorGrid;

namespace {

void getrf(Dense<double>& a, std::vector<int>& pivots, int& info) {
  const int n = static_cast<int>(a.rows);
  dgetrf_(&n, &n, a.data.data(), &n, pivots.data(), &info);
}
void getrf(Dense<Kokkos::complex<double>>& a, std::vector<int>& pivots, int& info) {
  const int n = static_cast<int>(a.rows);
  zgetrf_(&n, &n, a.data.data(), &n, pivots.data(), &info);
}

/// Rows in any order of a matrix whose columns have one large entry each: no two candidates for a
/// pivot are close, so rounding does not decide, and the condition number is small.
template <class T>
Dense<T> well_separated(Index n) {
  const auto order = shuffled(n, 17);
  return make_dense<T>(n, n, [&](Index i, Index j) {
    const Index row = order[static_cast<std::size_t>(i)];
    const T small = noise_as<T>(row, j, 81) * T(1.0 / 16);
    return row == j ? small + T(2) : small;
  });
}

template <class T, class Layout>
void check_against_getrf(const Dense<T>& a, Index nb) {
  const Index n = a.rows;
  Dense<T> expected = a;
  std::vector<int> ipiv(static_cast<std::size_t>(n));
  int info = -1;
  getrf(expected, ipiv, info);
  REQUIRE(info == 0);
  double most = 0;
  for (const T& e : expected.data) most = std::max(most, plinth::modulus(e));

  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    if (!grid.active()) continue;
    INFO("n " << n << ", nb " << nb << ", grid " << shape.rows << "x" << shape.cols);
    const auto factors = plinth::lu_factor(Host(), distribute<Layout>(grid, a, {nb, nb}));
    const auto pivots = gather_pivots(factors);
    bool same_pivots = true;
    for (std::size_t k = 0; k < pivots.size(); ++k)
      same_pivots = same_pivots && pivots[k] + 1 == ipiv[k];
    CHECK(same_pivots);
    const auto lu = gather(factors.matrix());
    double difference = 0;
    for (std::size_t e = 0; e < lu.data.size(); ++e)
      difference = std::max(difference, plinth::modulus(lu.data[e] - expected.data[e]));
    CHECK(difference <= 30 * static_cast<double>(n) * plinth::ScalarTraits<T>::epsilon * most);
  }
}

}  // namespace

TEST_CASE("pivots and factors are LAPACK's", "[lu][lapack]") {
  check_against_getrf<double, LayoutRight>(well_separated<double>(50), 6);
  check_against_getrf<double, LayoutRight>(well_separated<double>(64), 16);
  check_against_getrf<double, LayoutLeft>(well_separated<double>(50), 6);
  check_against_getrf<Kokkos::complex<double>, LayoutRight>(
      well_separated<Kokkos::complex<double>>(45), 6);
  check_against_getrf<double, LayoutRight>(powers_of_two<double>(50).a, 7);
}

#ifdef PLINTH_TEST_SCALAPACK
// Both solve with the same storage: column-major, in blocks, from any process on.
TEST_CASE("solutions are ScaLAPACK's", "[lu][scalapack]") {
  const int n = 44, nb = 5, nrhs = 3;
  const auto a = well_separated<double>(n);
  const auto b = make_dense<double>(n, nrhs, [](Index i, Index j) { return noise(i, j, 82); });
  for (const auto shape : grids(world_size())) {
    const ProcessGrid grid(MPI_COMM_WORLD, RowMajorGrid{shape.rows, shape.cols});
    if (!grid.active()) continue;
    INFO("grid " << shape.rows << "x" << shape.cols);
    const int source_row = shape.rows - 1, source_col = shape.cols / 2;
    const plinth::MatrixLayoutOptions square{nb, nb, source_row, source_col};
    const auto da = distribute<LayoutLeft>(grid, a, square);
    const auto db = distribute<LayoutLeft>(grid, b, square);
    HostMatrix<double, LayoutLeft> dx(grid, n, nrhs, square);
    CHECK(plinth::solve(Host(), da, db, dx).outcome == plinth::Outcome::solved);

    const int handle = Csys2blacs_handle(grid.all().handle());
    int context = handle;
    Cblacs_gridinit(&context, "Row", shape.rows, shape.cols);
    const auto descriptor = [&](const auto& m, std::vector<int>& desc) {
      const int cols = static_cast<int>(m.cols());
      const int lld = static_cast<int>(plinth::kernel::leading_dimension(m.local()));
      int info = -1;
      desc.resize(9);
      descinit_(desc.data(), &n, &cols, &nb, &nb, &source_row, &source_col, &context, &lld,
                &info);
      CHECK(info == 0);
    };
    std::vector<int> desc_a, desc_b, ipiv(static_cast<std::size_t>(da.local_extents().rows + nb));
    descriptor(da, desc_a);
    descriptor(db, desc_b);
    const int one = 1;
    int info = -1;
    pdgesv_(&n, &nrhs, da.local().data(), &one, &one, desc_a.data(), ipiv.data(),
            db.local().data(), &one, &one, desc_b.data(), &info);
    CHECK(info == 0);
    Cblacs_gridexit(context);
    Cfree_blacs_system_handle(handle);

    const auto x = gather(dx), expected = gather(db);
    double difference = 0, most = 0;
    for (std::size_t e = 0; e < x.data.size(); ++e) {
      difference = std::max(difference, std::abs(x.data[e] - expected.data[e]));
      most = std::max(most, std::abs(expected.data[e]));
    }
    CHECK(difference <= 30 * n * plinth::ScalarTraits<double>::epsilon * most);
  }
}
#endif
