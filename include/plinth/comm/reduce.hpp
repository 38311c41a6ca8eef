// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <limits>
#include <vector>

#include "plinth/comm/communicator.hpp"
#include "plinth/core/scalar.hpp"

namespace plinth::comm {

/// values[i] := the largest of all processes' values[i] >= 0, NaN if any is NaN (MPI_MAX alone may
/// lose one). Collective; one allreduce.
template <class Real>
void max_of_all(const Communicator& communicator, std::vector<Real>& values) {
  const std::size_t n = values.size();
  std::vector<Real> pairs(2 * n, Real(0));  // value, and whether there is a NaN
  for (std::size_t i = 0; i < n; ++i) {
    if (is_nan(values[i])) {
      pairs[n + i] = Real(1);
    } else {
      pairs[i] = values[i];
    }
  }
  check(MPI_Allreduce(MPI_IN_PLACE, pairs.data(), static_cast<int>(2 * n), datatype<Real>(),
                      MPI_MAX, communicator.handle()),
        "MPI_Allreduce");
  for (std::size_t i = 0; i < n; ++i)
    values[i] = pairs[n + i] > Real(0) ? std::numeric_limits<Real>::quiet_NaN() : pairs[i];
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

}  // namespace plinth::comm
