// SPDX-License-Identifier: BSD-3-Clause
//
// What takes the place of MPI's functions in the programs of the MPI tests: counts messages, and
// gives MPI what stands on the stand-in device.
#include "support/message_counter.hpp"

#include <mpi.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "support/device_messages.hpp"

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

DeviceMessages& device() { return DeviceMessages::instance(); }

std::size_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}
void* sent(const void* data, int count, MPI_Datatype type) {
  return device().start(data, {{0, bytes_of(count, type), false}});
}
void* received(void* data, int count, MPI_Datatype type) {
  return device().start(data, {{0, bytes_of(count, type), true}});
}
void* broadcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank == root ? sent(data, count, type) : received(data, count, type);
}

/// The blocks of all ranks in a buffer; `arrives(rank)` says which way each goes.
template <class F>
std::vector<DeviceMessages::Part> blocks(MPI_Comm comm, const int counts[],
                                         const int displacements[], MPI_Datatype type,
                                         const F& arrives) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  std::vector<DeviceMessages::Part> parts;
  for (int rank = 0; rank < size; ++rank)
    parts.push_back(
        {bytes_of(displacements[rank], type), bytes_of(counts[rank], type), arrives(rank)});
  return parts;
}

}  // namespace

}  // namespace plinth_test

// MPI's profiling interface: these take the place of MPI's own.
using plinth_test::device;
using plinth_test::message_count;

extern "C" {

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  plinth_test::count_send(count);
  return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  plinth_test::count_send(count);
  const void* const from = plinth_test::sent(data, count, type);
  // Messages that are through at once may share one request: these are not, until they are met.
  const auto send = from == data ? PMPI_Isend : PMPI_Issend;
  const int status = send(from, count, type, to, tag, comm, request);
  return device().bind(status, *request);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  void* const into = plinth_test::received(data, count, type);
  const int status = PMPI_Irecv(into, count, type, from, tag, comm, request);
  return device().bind(status, *request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return device().complete(
      1, request, [&] { return std::pair(PMPI_Wait(request, status), true); });
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status* statuses) {
  return device().complete(count, requests, [&] {
    return std::pair(PMPI_Waitall(count, requests, statuses), true);
  });
}

int MPI_Test(MPI_Request* request, int* over, MPI_Status* status) {
  return device().complete(1, request, [&] {
    const int rc = PMPI_Test(request, over, status);
    return std::pair(rc, *over != 0);
  });
}

int MPI_Testall(int count, MPI_Request requests[], int* over, MPI_Status* statuses) {
  return device().complete(count, requests, [&] {
    const int rc = PMPI_Testall(count, requests, over, statuses);
    return std::pair(rc, *over != 0);
  });
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
  int me = 0;
  PMPI_Comm_rank(comm, &me);
  void* const into =
      device().start(all, plinth_test::blocks(comm, counts, displacements, all_type,
                                              [&](int r) { return r != me; }));
  const int status = PMPI_Iallgatherv(mine, count, type, into, counts, displacements, all_type,
                                      comm, request);
  return device().bind(status, *request);
}

int MPI_Iscatterv(const void* all, const int counts[], const int displacements[],
                  MPI_Datatype all_type, void* mine, int count, MPI_Datatype type, int root,
                  MPI_Comm comm, MPI_Request* request) {
  ++message_count().scatters;
  int me = 0;
  PMPI_Comm_rank(comm, &me);
  const void* from = all;
  if (me == root) {
    from = device().start(all, plinth_test::blocks(comm, counts, displacements, all_type,
                                                   [](int) { return false; }));
  } else {
    mine = plinth_test::received(mine, count, type);
  }
  const int status = PMPI_Iscatterv(from, counts, displacements, all_type, mine, count, type, root,
                                    comm, request);
  return device().bind(status, *request);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  ++message_count().broadcasts;
  void* const there = plinth_test::broadcast(data, count, type, root, comm);
  return device().bind(PMPI_Bcast(there, count, type, root, comm));
}

int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request) {
  ++message_count().broadcasts;
  void* const there = plinth_test::broadcast(data, count, type, root, comm);
  const int status = PMPI_Ibcast(there, count, type, root, comm, request);
  return device().bind(status, *request);
}

}  // extern "C"
