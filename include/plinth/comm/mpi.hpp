// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>

#include "plinth/core/error.hpp"
#include "plinth/core/float16.hpp"
#include "plinth/core/index.hpp"
#include "plinth/core/scalar.hpp"

namespace plinth::comm {

/// Throws Error of kind communication, naming the call, unless `rc` is MPI_SUCCESS. Communicators
/// of the library return errors instead of aborting.
inline void check(int rc, const char* call) {
  if (rc == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(rc, text, &length);
  throw Error(std::string(call) + ": " + std::string(text, static_cast<std::size_t>(length)),
              ErrorKind::communication);
}

/// This MPI's name and version: "Open MPI v4.1.4", as far as it gives them in few words.
inline std::string mpi_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  check(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
  std::string name(text, static_cast<std::size_t>(length));
  name.resize(std::min(name.find_first_of(",\n"), name.size()));
  std::replace(name.begin(), name.end(), '\t', ' ');
  return name;
}

/// The MPI datatype of one element. MPI knows no 16-bit numbers: they travel as what they are to
/// it, 16 bits, and its reductions would not compute with them (reduce floats instead).
template <class T>
MPI_Datatype datatype() {
  if constexpr (std::is_same_v<T, double>) {
    return MPI_DOUBLE;
  } else if constexpr (std::is_same_v<T, float>) {
    return MPI_FLOAT;
  } else if constexpr (std::is_same_v<T, Kokkos::complex<double>>) {
    return MPI_C_DOUBLE_COMPLEX;
  } else if constexpr (std::is_same_v<T, Kokkos::complex<float>>) {
    return MPI_C_FLOAT_COMPLEX;
  } else if constexpr (Scalar16<T>) {
    return MPI_UINT16_T;
  } else if constexpr (std::is_same_v<T, Index>) {
    return MPI_INT64_T;
  } else if constexpr (std::is_same_v<T, int>) {
    return MPI_INT;
  } else {
    static_assert(sizeof(T) == 0, "plinth: no MPI datatype for this type");
  }
}

/// Calls f(offset, count) for the pieces of [0, total) that are at most `limit` long: an MPI count
/// is a 32-bit int.
template <class F>
void for_each_chunk(Index total, Index limit, F&& f) {
  for (Index begin = 0; begin < total; begin += limit)
    f(begin, static_cast<int>(std::min(limit, total - begin)));
}

}  // namespace plinth::comm
