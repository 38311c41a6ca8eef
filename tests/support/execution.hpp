// SPDX-License-Identifier: BSD-3-Clause
//
// Where the tests' matrices live and kernels run: on the host, or where PLINTH_TEST_ON_STAND_IN is
// defined on the stand-in device. Sources that say Exec and TestMatrix are tests of both.
#pragma once

#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/policy/execution.hpp"

#ifdef PLINTH_TEST_ON_STAND_IN
#include "support/locked_device.hpp"
#endif

namespace plinth_test {

using Host = plinth::HostExecution<>;
template <class T, class Layout>
using HostMatrix = plinth::DistributedMatrix<T, plinth::HostMemory, Layout>;

// PLINTH_TEST_TYPES(...): the types of a templated case, of which the stand-in sees the first
// alone: what it looks for does not depend on them.
#ifdef PLINTH_TEST_ON_STAND_IN
using Exec = LockedDevice;
#define PLINTH_TEST_TYPES(FIRST, ...) FIRST
#else
using Exec = Host;
#define PLINTH_TEST_TYPES(...) __VA_ARGS__
#endif
/// Whether all copies from and to the device have been waited for; none are late on a host.
inline bool has_waited() {
#ifdef PLINTH_TEST_ON_STAND_IN
  return has_waited(Exec());
#else
  return true;
#endif
}

template <class T, class Layout>
using TestMatrix = plinth::DistributedMatrix<T, Exec::memory, Layout>;

}  // namespace plinth_test
