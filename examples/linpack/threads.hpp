// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "plinth/kernel/blas_info.hpp"

namespace linpack {

/// Whether an argument is for Kokkos: it begins with --kokkos-.
bool is_for_kokkos(const std::string& argument);

/// Refuses numbers of threads that Kokkos would not survive. `threads_given`: the program's own
/// --threads is given, beside which none may be named to Kokkos. Throws InputError.
void check_kokkos_arguments(const std::vector<std::string>& arguments, bool threads_given);

/// Kokkos at work, for as long as this object lives.
class KokkosSession {
 public:
  /// `arguments`: the program's, of which Kokkos gets its own. threads: per rank; 0: as Kokkos
  /// finds it in its arguments and the environment. A BLAS that shares its threads with Kokkos,
  /// or for which a number is given, is told the number. Throws InputError for what Kokkos does
  /// not take.
  KokkosSession(const std::vector<std::string>& arguments, int threads);
  ~KokkosSession();
  KokkosSession(const KokkosSession&) = delete;
  KokkosSession& operator=(const KokkosSession&) = delete;

 private:
  struct Guard;
  std::unique_ptr<Guard> guard_;
};

/// A set of up to 8192 CPUs.
class CpuSet {
 public:
  /// Those that this process may run on; none if that is unknown. To be asked before threads are
  /// started by others than OpenMP, which may bind the first one.
  static CpuSet allowed();
  /// Has this thread, and what it becomes, run on them.
  void allow() const;

  int count() const;
  void add(int cpu);
  /// 1 for each CPU of the set, 0 for all others.
  std::vector<int> counts() const;
  /// Of how many CPUs a rank with this set has the whole, if each is divided among the ranks that
  /// have it: the sum of all ranks' counts().
  int share(const std::vector<int>& ranks) const;
  /// Collective: of all ranks of `comm`.
  CpuSet united(MPI_Comm comm) const;

 private:
  std::array<unsigned long, 8192 / (8 * sizeof(unsigned long))> bits_{};
};

/// Collective: how many threads each rank is given where nobody says how many: as many as it has
/// CPUs, each of which is shared by the ranks that may run on it; the same on every rank. 0:
/// somebody says it (in `arguments`, Kokkos' own, or by a variable of the environment of Kokkos,
/// OpenMP or the BLAS), CPUs are not known, or kernels on the host have no threads.
int default_threads(MPI_Comm comm, const std::vector<std::string>& arguments,
                    const CpuSet& allowed);

/// The threads of this rank.
struct ThreadCounts {
  int kokkos = 1;
  int blas = 0;  ///< 0: it does not say
  plinth::BlasThreading blas_threading = plinth::BlasThreading::unknown;
  bool shared = true;  ///< Kokkos' threads are the BLAS's, too
};

/// Precondition: Kokkos is at work.
ThreadCounts count_threads();

/// "2 of Kokkos and 2 of the BLAS per rank"
std::string describe(const ThreadCounts& threads);

/// What is wrong with the threads of a rank, whatever the machine: sentences without a full
/// stop. wanted: by --threads, or 0.
std::vector<std::string> thread_warnings(const ThreadCounts& threads, int wanted);

/// How busy the CPUs are that some rank may use.
struct Load {
  int own_threads = 1;  ///< of one rank
  int own_cpus = 0;     ///< that it may run on; 0: unknown
  bool bound = false;   ///< the machine has more
  int ranks = 1;        ///< on its machine
  int threads = 1;      ///< of those ranks together
  int cpus = 0;         ///< that any of them may run on; 0: unknown
};

/// A sentence if there are more threads than CPUs, else nothing.
std::string overload_warning(const Load& load);

/// Collective: this rank's.
Load measure_load(MPI_Comm comm, const ThreadCounts& threads, const CpuSet& allowed);

}  // namespace linpack
