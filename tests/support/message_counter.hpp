// SPDX-License-Identifier: BSD-3-Clause
//
// Counts the messages and the collective calls of this process, in the programs of the MPI tests.
#pragma once

#include <algorithm>

namespace plinth_test {

struct MessageCount {
  long sends = 0;       ///< point-to-point messages sent
  long allreduces = 0;  ///< MPI_Allreduce
  long gathers = 0;     ///< MPI_Iallgatherv
  long scatters = 0;    ///< MPI_Iscatterv
  long broadcasts = 0;  ///< MPI_Bcast and MPI_Ibcast
  long longest = 0;     ///< bytes of the longest point-to-point message of bytes
};

/// What has been counted since the start of the program, or since it was last set.
MessageCount& message_count();

/// What f() adds.
template <class F>
MessageCount count_messages(F&& f) {
  message_count() = {};
  f();
  return message_count();
}

}  // namespace plinth_test
