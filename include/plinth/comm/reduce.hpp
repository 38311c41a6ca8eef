// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cmath>
#include <span>
#include <vector>

#include "plinth/comm/communicator.hpp"
#include "plinth/comm/mpi.hpp"
#include "plinth/core/index.hpp"
#include "plinth/kernel/convert_runs.hpp"

namespace plinth::comm {

/// values[i] := the largest of all processes' values[i] >= 0, NaN if any is NaN. They are compared
/// as bits, which are ordered so, since MPI_MAX of numbers may lose a NaN. In place: allocates
/// nothing. Collective; one allreduce per `limit` of them.
template <class Real>
void max_of_all(const Communicator& communicator, std::vector<Real>& values) {
  static_assert(sizeof(Real) == 4 || sizeof(Real) == 8);
  constexpr Index limit = Index(1) << 27;
  for (Real& value : values) value = std::fabs(value);
  for_each_chunk(static_cast<Index>(values.size()), limit, [&](Index offset, int count) {
    check(MPI_Allreduce(MPI_IN_PLACE, values.data() + offset, count,
                        sizeof(Real) == 4 ? MPI_INT32_T : MPI_INT64_T, MPI_MAX,
                        communicator.handle()),
          "MPI_Allreduce");
  });
}

/// values[i] := the sum of all processes' values[i]. Collective; one allreduce per `limit` of them.
template <class T>
void sum_of_all(const Communicator& communicator, std::vector<T>& values) {
  constexpr Index limit = Index(1) << 27;
  for_each_chunk(static_cast<Index>(values.size()), limit, [&](Index offset, int count) {
    check(MPI_Allreduce(MPI_IN_PLACE, values.data() + offset, count, datatype<T>(), MPI_SUM,
                        communicator.handle()),
          "MPI_Allreduce");
  });
}

/// The same of what narrowings lost. Collective; one allreduce.
inline void sum_of_all(const Communicator& communicator,
                       std::span<kernel::NarrowingCounts> counts) {
  static_assert(sizeof(kernel::NarrowingCounts) == 3 * sizeof(Index));
  check(MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(3 * counts.size()),
                      datatype<Index>(), MPI_SUM, communicator.handle()),
        "MPI_Allreduce");
}
inline void sum_of_all(const Communicator& communicator, kernel::NarrowingCounts& counts) {
  sum_of_all(communicator, std::span(&counts, 1));
}

}  // namespace plinth::comm
