// SPDX-License-Identifier: BSD-3-Clause
//
// A program written for ScaLAPACK, line by line: mpirun -n 4 from_scalapack
//
// Each line of before stands as a comment over what takes its place. The local arrays,
// descriptors, pivots and `info` stay what they were, so a large program can be converted call by
// call, and keep calling ScaLAPACK for the rest.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <plinth/plinth.hpp>
#include <vector>

double element(plinth::Index i, plinth::Index j) { return std::cos(double(i * j)); }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);  // new
  bool good = false;
  {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int nprow = ranks % 2 == 0 ? 2 : 1, npcol = ranks / nprow;
    const int n = 600, nrhs = 3, nb = 64, one = 1;

    // Cblacs_get(-1, 0, &context);
    // Cblacs_gridinit(&context, "Row", nprow, npcol);
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{nprow, npcol});

    // Cblacs_gridinfo(context, &nprow, &npcol, &myrow, &mycol);
    const auto [myrow, mycol] = grid.coord();

    // int rows = numroc_(&n, &nb, &myrow, &zero, &nprow);
    // int cols = numroc_(&n, &nb, &mycol, &zero, &npcol);
    // int rhs_cols = numroc_(&nrhs, &nb, &mycol, &zero, &npcol);
    const plinth::BlockCyclic by_row(n, nb, nprow, 0), by_col(n, nb, npcol, 0);
    const plinth::BlockCyclic rhs_by_col(nrhs, nb, npcol, 0);
    const auto rows = by_row.local_size(myrow), cols = by_col.local_size(mycol);
    const auto rhs_cols = rhs_by_col.local_size(mycol);

    // descinit_(desca, &n, &n, &nb, &nb, &zero, &zero, &context, &lld, &info);
    // descinit_(descb, &n, &nrhs, &nb, &nb, &zero, &zero, &context, &lld, &info);
    const int lld = static_cast<int>(std::max<plinth::Index>(1, rows)), context = 0;
    const plinth::scalapack::Descriptor desca{1, context, n, n, nb, nb, 0, 0, lld};
    const plinth::scalapack::Descriptor descb{1, context, n, nrhs, nb, nb, 0, 0, lld};

    // The arrays are filled as before; indxl2g_(&l, &nb, &myrow, &zero, &nprow) is global().
    std::vector<double> a(lld * cols), b(lld * rhs_cols);
    std::vector<int> ipiv(rows + nb);
    const auto fill = [&] {
      for (plinth::Index j = 0; j < cols; ++j)
        for (plinth::Index i = 0; i < rows; ++i)
          a[i + j * lld] = element(by_row.global(i, myrow), by_col.global(j, mycol));
      for (plinth::Index j = 0; j < rhs_cols; ++j)
        for (plinth::Index i = 0; i < rows; ++i)
          b[i + j * lld] = std::sin(1.0 * by_row.global(i, myrow) + rhs_by_col.global(j, mycol));
    };
    fill();

    // pdgesv_(&n, &nrhs, a.data(), &one, &one, desca, ipiv.data(), b.data(), &one, &one, descb,
    //         &info);
    int info = 0;
    plinth::scalapack::pgesv(grid, n, nrhs, a.data(), one, one, desca.data(), ipiv.data(),
                             b.data(), one, one, descb.data(), info);
    const std::vector<double> x_local = b;  // b holds X now, a holds L and U

    // What ScaLAPACK has not: the same arrays as matrices, in place, for everything else that the
    // library does. Here factors in FP32, refined to FP64.
    fill();
    const plinth::HostExecution<> exec;
    const auto a_wrapped = plinth::scalapack::wrap(grid, n, n, a.data(), one, one, desca.data());
    const auto b_wrapped =
        plinth::scalapack::wrap(grid, n, nrhs, b.data(), one, one, descb.data());
    std::vector<double> refined(b.size());
    auto x = plinth::scalapack::wrap(grid, n, nrhs, refined.data(), one, one, descb.data());
    const auto report = plinth::solve<plinth::DoubleSingle>(exec, a_wrapped, b_wrapped, x);

    // Both ways must give the same X.
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < refined.size(); ++i) {
      difference = std::max(difference, std::abs(refined[i] - x_local[i]));
      size = std::max(size, std::abs(refined[i]));
    }
    // Cdgamx2d(context, "All", " ", 1, 1, &difference, ...);
    MPI_Allreduce(MPI_IN_PLACE, &difference, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    good = info == 0 && report && difference < 1e-9 * size;
    if (myrow == 0 && mycol == 0)
      std::printf("info %d; refined: %s, backward error %.1e; difference %.1e\n", info,
                  to_string(report.outcome), report.backward_error, difference / size);
  }
  // Cblacs_gridexit(context); Cblacs_exit(1);
  Kokkos::finalize();
  MPI_Finalize();
  return good ? 0 : 1;
}
