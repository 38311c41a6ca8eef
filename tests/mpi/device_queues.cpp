// SPDX-License-Identifier: BSD-3-Clause
//
// The stand-in device's queues: what one has to wait for, and that it is found out where it does
// not.
#include <mpi.h>

#include <cmath>
#include <memory>

#include "support/catch.hpp"
#include "support/locked_device.hpp"

using namespace plinth_test;

namespace {

/// A number on the device.
class Number {
 public:
  double* data() const { return static_cast<double*>(memory_.get()); }
  void set(const LockedDevice& device, double value) const {
    const auto scope = device.enter();
    *data() = value;
  }
  double get(const LockedDevice& device) const {
    const auto scope = device.enter();
    return *data();
  }

 private:
  std::shared_ptr<void> memory_ = LockedMemory::allocate(sizeof(double));
};

int races() { return LockedDevice::copies().take_races(); }

}  // namespace

TEST_CASE("A copy to the host waits for another queue's kernel where it is told to", "[device]") {
  const LockedDevice device;
  const LockedDevice beside = device.beside();
  const Number number;
  const bool waits = GENERATE(true, false);
  number.set(device, 2);
  if (waits) beside.after(device);
  double out = 0;
  beside.to_host(&out, number.data(), sizeof out);
  CHECK(std::isnan(out));
  device.fence();  // that of the other queue
  CHECK(std::isnan(out));
  beside.fence();
  CHECK((waits ? out == 2 : std::isnan(out)));
  CHECK(races() == (waits ? 0 : 1));
  CHECK(has_waited(device));
}

TEST_CASE("The host's waiting orders queues, too", "[device]") {
  const LockedDevice device;
  const LockedDevice beside = device.beside();
  const Number number;
  number.set(device, 2);
  device.fence();
  double out = 0;
  beside.to_host(&out, number.data(), sizeof out);
  beside.fence();
  CHECK(out == 2);
  number.set(device, 3);
  CHECK(has_waited(device));
}

TEST_CASE("A kernel waits for another queue's copy where it is told to", "[device]") {
  const LockedDevice device;
  const LockedDevice beside = device.beside();
  const Number number;
  const bool waits = GENERATE(true, false);
  number.set(device, 2);
  beside.after(device);
  const double in = 3;
  beside.to_device(number.data(), &in, sizeof in);
  if (waits) device.after(beside);
  CHECK(number.get(device) == (waits ? 3 : 2));
  CHECK(races() == (waits ? 0 : 1));
  beside.fence();
  CHECK(number.get(device) == 3);
  CHECK(has_waited(device));
}

TEST_CASE("What another queue copies to the host must be left alone until it is there",
          "[device]") {
  const LockedDevice device;
  const LockedDevice beside = device.beside();
  const Number number;
  const bool waits = GENERATE(true, false);
  number.set(device, 2);
  beside.after(device);
  double out = 0;
  beside.to_host(&out, number.data(), sizeof out);
  CHECK(number.get(device) == 2);  // reading is no race
  if (waits) device.after(beside);
  number.set(device, 3);
  beside.fence();
  CHECK(out == (waits ? 2 : 3));
  CHECK(races() == (waits ? 0 : 1));
  CHECK(has_waited(device));
}

TEST_CASE("A copy to the device waits for another queue's kernels that read where it is told to",
          "[device]") {
  const LockedDevice device;
  const LockedDevice beside = device.beside();
  const Number number, other;
  const bool waits = GENERATE(true, false);
  number.set(device, 2);
  device.fence();
  CHECK(number.get(device) == 2);
  if (waits) beside.after(device);
  other.set(device, 1);  // queued later, and elsewhere
  const double in = 3;
  beside.to_device(number.data(), &in, sizeof in);
  device.after(beside);
  const double seen = number.get(device);
  CHECK((waits ? seen == 3 : std::isnan(seen)));
  CHECK(races() == (waits ? 0 : 1));
  beside.fence();
  CHECK(has_waited(device));
}

TEST_CASE("Kernels of two queues may read one place, and write to it in turn", "[device]") {
  const LockedDevice device;
  const LockedDevice beside = device.beside();
  const Number number;
  number.set(device, 2);
  device.fence();
  CHECK(number.get(device) == 2);
  CHECK(number.get(beside) == 2);
  CHECK(races() == 0);
  number.set(beside, 3);
  CHECK(races() == 1);
  number.set(device, 4);
  CHECK(races() == 1);
  beside.after(device);
  number.set(beside, 5);
  CHECK(races() == 0);
  CHECK(has_waited(device));
}

TEST_CASE("A queue knows of what the one that it comes after knew of, and of nothing later",
          "[device]") {
  const LockedDevice device;
  const LockedDevice second = device.beside();
  const LockedDevice third = device.beside();
  const LockedDevice same = third;  // a copy is in its queue
  const Number number;
  const double in[] = {3, 4};
  device.to_device(number.data(), &in[0], sizeof in[0]);
  second.after(device);
  third.after(second);
  CHECK(number.get(third) == 3);
  CHECK(races() == 0);
  device.after(same);
  device.to_device(number.data(), &in[1], sizeof in[1]);
  CHECK(races() == 0);
  CHECK(number.get(same) == 3);
  CHECK(races() == 1);
  third.after(device);
  CHECK(number.get(same) == 4);
  CHECK(races() == 0);
  third.fence();  // and with it the copies that it came after
  CHECK(has_waited(device));
}

TEST_CASE("A copy's host side may be used by the next copy of its queue, not by the host",
          "[device]") {
  const LockedDevice device;
  const LockedDevice beside = device.beside();
  const Number from, to;
  from.set(device, 5);
  beside.after(device);
  double staged = 3;
  beside.to_device(to.data(), &staged, sizeof staged);
  beside.to_host(&staged, from.data(), sizeof staged);
  beside.fence();
  CHECK(staged == 5);
  CHECK(to.get(device) == 3);
  CHECK(has_waited(device));

  beside.after(device);
  beside.to_device(to.data(), &staged, sizeof staged);
  staged = 7;
  device.fence();
  CHECK(LockedDevice::copies().take_changed() == 0);  // nobody has looked yet
  beside.fence();
  CHECK(LockedDevice::copies().take_changed() == 1);
  CHECK(to.get(device) == 7);  // read at the last moment
  CHECK(has_waited(device));
}

TEST_CASE("The host waits for a kernel before MPI sends what it wrote", "[device][transport]") {
  const LockedDevice device;
  const LockedDevice beside = device.beside();
  const Number number;
  const bool waits = GENERATE(true, false);
  number.set(beside, 2);
  device.after(beside);
  if (waits) device.fence();
  double out = 0;
  MPI_Request requests[2];
  MPI_Irecv(&out, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &requests[0]);
  MPI_Isend(number.data(), 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &requests[1]);
  CHECK_FALSE(LockedDevice::copies().empty());
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK((waits ? out == 2 : std::isnan(out)));
  CHECK(races() == (waits ? 0 : 1));
  device.fence();
  CHECK(has_waited(device));
}

TEST_CASE("The host waits for kernels that read before MPI receives into their memory",
          "[device][transport]") {
  const LockedDevice device;
  const LockedDevice beside = device.beside();
  const Number number;
  const bool waits = GENERATE(true, false);
  number.set(device, 2);
  device.fence();
  CHECK(number.get(beside) == 2);
  if (waits) beside.fence();
  const double in = 3;
  MPI_Request requests[2];
  MPI_Irecv(number.data(), 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &requests[0]);
  CHECK(races() == (waits ? 0 : 1));
  MPI_Isend(&in, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(number.get(device) == 3);  // any queue's, from now on
  device.fence();
  CHECK(has_waited(device));
}

TEST_CASE("Kernels leave the memory alone that MPI has been given", "[device][transport]") {
  const LockedDevice device;
  const LockedDevice beside = device.beside();
  const Number number;
  number.set(device, 2);
  device.fence();
  double out = 0;
  MPI_Request send, receive;
  MPI_Isend(number.data(), 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &send);
  CHECK(number.get(device) == 2);
  CHECK(races() == 0);  // both read
  number.set(device, 3);
  CHECK(races() == 1);
  MPI_Recv(&out, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  CHECK(out == 2);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  CHECK(LockedDevice::copies().take_changed() == 1);

  MPI_Irecv(number.data(), 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &receive);
  CHECK(races() == 1);  // that has not been waited for either
  MPI_Send(&out, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF);
  CHECK(std::isnan(number.get(device)));  // not there before the host knows
  CHECK(races() == 1);
  int over = 0;
  while (over == 0) MPI_Test(&receive, &over, MPI_STATUS_IGNORE);
  CHECK(number.get(device) == 2);
  CHECK(races() == 0);
  CHECK(has_waited(device));
}
