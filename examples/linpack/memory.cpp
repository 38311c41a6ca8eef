// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

#include "linpack/text.hpp"
#include "plinth/comm/mpi.hpp"

namespace linpack {

namespace {

using plinth::comm::check;

/// The number behind `key` in a file of lines "key number".
std::optional<double> value_of(const char* file, const std::string& key) {
  std::ifstream in(file);
  std::string word;
  for (double value = 0; in >> word;)
    if (word == key && in >> value) return value;
  return std::nullopt;
}

/// The number that a file consists of; nothing if it is a word, such as "max".
std::optional<double> number_in(const char* file) {
  std::ifstream in(file);
  double value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

}  // namespace

std::string shortage(const char* whose, double available, double wanted) {
  constexpr double gib = 1024.0 * 1024.0 * 1024.0;
  if (wanted <= available) return {};
  return print(
      "its %s has %.3g GiB available, %.3g GiB wanted: take a smaller N, or more processes",
      whose, available / gib, wanted / gib);
}

std::optional<double> available_memory() {
  std::optional<double> out;
  if (const auto kilobytes = value_of("/proc/meminfo", "MemAvailable:")) out = *kilobytes * 1024;
  // Version 2 of control groups, as a container sees its own.
  const auto limit = number_in("/sys/fs/cgroup/memory.max");
  const auto used = number_in("/sys/fs/cgroup/memory.current");
  if (limit && used) {
    const double cache = value_of("/sys/fs/cgroup/memory.stat", "inactive_file").value_or(0);
    const double left = std::max(0.0, *limit - *used + cache);
    out = out ? std::min(*out, left) : left;
  }
  return out;
}

double peak_memory() {
  // In kilobytes, for threads of the process together.
  return value_of("/proc/self/status", "VmHWM:").value_or(0) * 1024;
}

std::string memory_shortage(MPI_Comm comm, double bytes) {
  MPI_Comm shared = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared),
        "MPI_Comm_split_type");
  constexpr double address_space = 0x1p47;
  double together = bytes;
  double available = available_memory().value_or(address_space);
  const int sum = MPI_Allreduce(MPI_IN_PLACE, &together, 1, MPI_DOUBLE, MPI_SUM, shared);
  const int min = MPI_Allreduce(MPI_IN_PLACE, &available, 1, MPI_DOUBLE, MPI_MIN, shared);
  MPI_Comm_free(&shared);
  check(sum, "MPI_Allreduce");
  check(min, "MPI_Allreduce");
  return first_complaint(comm, shortage("machine", available, together));
}

std::string device_memory_shortage(MPI_Comm comm, double bytes,
                                   std::optional<std::size_t> available) {
  return first_complaint(
      comm, available ? shortage("device", static_cast<double>(*available), bytes) : "");
}

std::string first_complaint(MPI_Comm comm, const std::string& mine) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  int speaker = mine.empty() ? std::numeric_limits<int>::max() : rank;
  check(MPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (speaker == std::numeric_limits<int>::max()) return {};
  std::string text = print("rank %d: ", rank) + mine;
  int length = static_cast<int>(text.size());
  check(MPI_Bcast(&length, 1, MPI_INT, speaker, comm), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length));
  check(MPI_Bcast(text.data(), length, MPI_CHAR, speaker, comm), "MPI_Bcast");
  return text;
}

}  // namespace linpack
