// SPDX-License-Identifier: BSD-3-Clause
#include "support/message_counter.hpp"

#include <mpi.h>

namespace plinth_test {

MessageCount& message_count() {
  static MessageCount count;
  return count;
}

namespace {

void count_send(int count) {
  ++message_count().sends;
  message_count().longest = std::max<long>(message_count().longest, count);
}

}  // namespace

}  // namespace plinth_test

// MPI's profiling interface: these take the place of MPI's own.
using plinth_test::message_count;

extern "C" {

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  plinth_test::count_send(count);
  return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  plinth_test::count_send(count);
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Sendrecv(const void* data, int count, MPI_Datatype type, int to, int tag, void* into,
                 int room, MPI_Datatype into_type, int from, int from_tag, MPI_Comm comm,
                 MPI_Status* status) {
  plinth_test::count_send(count);
  return PMPI_Sendrecv(data, count, type, to, tag, into, room, into_type, from, from_tag, comm,
                       status);
}

int MPI_Allreduce(const void* mine, void* all, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  ++message_count().allreduces;
  return PMPI_Allreduce(mine, all, count, type, op, comm);
}

int MPI_Iallgatherv(const void* mine, int count, MPI_Datatype type, void* all, const int counts[],
                    const int displacements[], MPI_Datatype all_type, MPI_Comm comm,
                    MPI_Request* request) {
  ++message_count().gathers;
  return PMPI_Iallgatherv(mine, count, type, all, counts, displacements, all_type, comm, request);
}

int MPI_Iscatterv(const void* all, const int counts[], const int displacements[],
                  MPI_Datatype all_type, void* mine, int count, MPI_Datatype type, int root,
                  MPI_Comm comm, MPI_Request* request) {
  ++message_count().scatters;
  return PMPI_Iscatterv(all, counts, displacements, all_type, mine, count, type, root, comm,
                        request);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  ++message_count().broadcasts;
  return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request) {
  ++message_count().broadcasts;
  return PMPI_Ibcast(data, count, type, root, comm, request);
}

}  // extern "C"
