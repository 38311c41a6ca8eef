// SPDX-License-Identifier: BSD-3-Clause
//
// The frame of hpl around a solver that does as it is told: N says how a run ends. For the tests
// of what no honest solver does on demand.
#include <cmath>
#include <limits>
#include <stdexcept>

#include "linpack/program.hpp"
#include "plinth/core/error.hpp"

namespace {

enum Script : std::int64_t {
  passes = 1,
  fails = 2,
  is_skipped = 3,
  throws_everywhere = 4,
  throws_on_rank_1 = 5,
  gives_nan = 6,
};

linpack::Case effective(const linpack::Case& asked) {
  linpack::Case runs = asked;
  runs.depth = std::min(asked.depth, 1);
  return runs;
}

linpack::Result run(MPI_Comm comm, const linpack::Case& c) {
  if (c.n == is_skipped) return linpack::skipped(c, "as told");
  if (c.n == throws_everywhere) throw plinth::Error("as told");
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (c.n == throws_on_rank_1 && rank == 1) throw std::runtime_error("as told");
  MPI_Barrier(comm);
  linpack::Result result;
  result.ran = c;
  result.seconds = 1.5;
  if (c.n == fails) result.residual = 1e6;
  if (c.n == gives_nan) result.residual = std::nan("");
  result.norms = {0.5, 2.5, 3.5, std::numeric_limits<double>::infinity(), 5.5, result.residual};
  result.verdict = linpack::judge(result.residual, c.threshold);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return linpack::run_program(argc, argv, {"scripted", "does as it is told", "0.0.0"},
                              {effective, run});
}
