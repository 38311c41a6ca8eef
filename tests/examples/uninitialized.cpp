// SPDX-License-Identifier: BSD-3-Clause
//
// What is forgotten first: MPI_Init, or Kokkos::initialize, or enough ranks. On two ranks; status 0
// if each is an Error that says so, and none is where nothing is forgotten.
#include <cstdio>
#include <cstring>

#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/policy/execution.hpp"

namespace {

/// Whether `work` throws an Error whose text has `part` in it; "" stands for none.
template <class Work>
bool throws(const char* part, const Work& work) {
  try {
    work();
  } catch (const plinth::Error& error) {
    const bool right = *part != '\0' && std::strstr(error.what(), part) != nullptr;
    if (!right) std::fprintf(stderr, "unexpected: %s\n", error.what());
    return right;
  }
  if (*part != '\0') std::fprintf(stderr, "no error with '%s'\n", part);
  return *part == '\0';
}

}  // namespace

int main(int argc, char** argv) {
  const auto make_grid = [] {
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, 2});
  };
  const auto make_matrix = [] {
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, 2});
    const plinth::DistributedMatrix<double> a(grid, 10, 10);
  };
  const auto wrap_matrix = [] {
    const plinth::ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, 2});
    double storage[100];
    const plinth::DistributedMatrix<double> a(grid, 10, 10, {.mb = 5, .nb = 5}, storage, 10);
  };
  bool right = throws("MPI is not initialized", make_grid);
  MPI_Init(&argc, &argv);
  right &= throws("Kokkos is not initialized", make_matrix);
  right &= throws("Kokkos is not initialized", wrap_matrix);
  right &= throws("needs 2 ranks, the communicator has 1 (was it started by", [] {
    const plinth::ProcessGrid grid(MPI_COMM_SELF, plinth::RowMajorGrid{1, 2});
  });
  Kokkos::initialize(argc, argv);
  right &= throws("", make_matrix);
  right &= throws("", wrap_matrix);
  Kokkos::finalize();
  right &= throws("Kokkos is not initialized", make_matrix);
  MPI_Finalize();
  right &= throws("MPI is not initialized", make_grid);
  return right ? 0 : 1;
}
