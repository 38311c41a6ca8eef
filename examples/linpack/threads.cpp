// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/threads.hpp"

#if defined(_OPENMP)
#include <omp.h>
#endif
#include <sched.h>
#include <unistd.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <type_traits>

#include "linpack/input_error.hpp"
#include "linpack/limits.hpp"
#include "linpack/text.hpp"
#include "plinth/comm/mpi.hpp"

namespace linpack {

namespace {

using plinth::BlasThreading;
using plinth::comm::check;

/// Kokkos' own name for its number of threads, which changed with version 3.7.
#if KOKKOS_VERSION >= 30700
constexpr std::string_view threads_flag = "--kokkos-num-threads";
#else
constexpr std::string_view threads_flag = "--kokkos-threads";
#endif

/// Whether Kokkos' kernels on the host have more threads than one, if asked for.
#if defined(KOKKOS_ENABLE_SERIAL)
constexpr bool host_has_threads =
    !std::is_same_v<Kokkos::DefaultHostExecutionSpace, Kokkos::Serial>;
#else
constexpr bool host_has_threads = true;
#endif

/// The ranks that share a machine with this one.
class Machine {
 public:
  explicit Machine(MPI_Comm comm) {
    check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm_),
          "MPI_Comm_split_type");
    check(MPI_Comm_size(comm_, &ranks_), "MPI_Comm_size");
  }
  ~Machine() { MPI_Comm_free(&comm_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  MPI_Comm comm() const { return comm_; }
  int ranks() const { return ranks_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int ranks_ = 1;
};

bool is_flag(const std::string& argument, std::string_view flag) {
  return argument == flag || argument.rfind(std::string(flag) + "=", 0) == 0;
}

}  // namespace

bool is_for_kokkos(const std::string& argument) { return argument.rfind("--kokkos-", 0) == 0; }

void check_kokkos_arguments(const std::vector<std::string>& arguments, bool threads_given) {
  for (const std::string& argument : arguments) {
    for (const std::string flag : {"--kokkos-threads", "--kokkos-num-threads"}) {
      if (!is_flag(argument, flag)) continue;
      if (threads_given)
        throw InputError("--threads: expected no " + flag + " beside it, found " +
                         in_quotes(argument));
      const std::string value = argument.substr(std::min(flag.size() + 1, argument.size()));
      if (!parse_integer(value, threads_range))
        throw InputError(flag + ": expected =, and " + describe(threads_range) + ", found " +
                         in_quotes(argument));
    }
  }
}

struct KokkosSession::Guard {
  Guard(int& argc, char** argv) : scope(argc, argv) {}
  Kokkos::ScopeGuard scope;
};

KokkosSession::KokkosSession(const std::vector<std::string>& arguments, int threads) {
  // Where it is not set Kokkos warns of that on each rank, amid the report. OpenMP reads its
  // variables before its first answer, so nothing else changes.
#if defined(_OPENMP)
  static_cast<void>(omp_get_max_threads());
  setenv("OMP_PROC_BIND", "false", 0);
#endif
  std::vector<std::string> own{"program"};
  std::copy_if(arguments.begin(), arguments.end(), std::back_inserter(own), is_for_kokkos);
  if (threads > 0) own.push_back(std::string(threads_flag) + "=" + std::to_string(threads));
  std::vector<char*> argv;
  for (std::string& argument : own) argv.push_back(argument.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  try {
    guard_ = std::make_unique<Guard>(argc, argv.data());
  } catch (const std::exception& error) {
    throw InputError(std::string("options of Kokkos (--kokkos-...): ") + error.what());
  }
  // Kokkos takes away what it knows, but for the request of its help.
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[static_cast<std::size_t>(i)]) != "--kokkos-help")
      throw InputError("unknown argument " + in_quotes(argv[static_cast<std::size_t>(i)]) +
                       ": this Kokkos does not know it");
  const ThreadCounts now = count_threads();
  if (threads > 0 || now.shared) plinth::set_blas_threads(now.kokkos);
}

KokkosSession::~KokkosSession() = default;

int default_threads(MPI_Comm comm, const std::vector<std::string>& arguments,
                    const CpuSet& allowed) {
  constexpr const char* variables[] = {
      "OMP_NUM_THREADS",    "OMP_THREAD_LIMIT",     "OMP_DYNAMIC",    "OMP_PLACES",
      "KOKKOS_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"};
  const bool is_said =
      std::any_of(std::begin(variables), std::end(variables),
                  [](const char* name) { return std::getenv(name) != nullptr; }) ||
      std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
        return is_flag(argument, "--kokkos-threads") || is_flag(argument, "--kokkos-num-threads");
      });
  std::vector<int> ranks = allowed.counts();
  check(MPI_Allreduce(MPI_IN_PLACE, ranks.data(), static_cast<int>(ranks.size()), MPI_INT, MPI_SUM,
                      Machine(comm).comm()),
        "MPI_Allreduce");
  const int share = allowed.share(ranks);
  const bool is_ours = !is_said && host_has_threads && allowed.count() > 0;
  int threads = is_ours ? std::clamp(share, 1, static_cast<int>(threads_range.max)) : 0;
  check(MPI_Allreduce(MPI_IN_PLACE, &threads, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  return threads;
}

ThreadCounts count_threads() {
  const Kokkos::DefaultHostExecutionSpace space;
  const plinth::BlasInfo blas = plinth::blas_info();
  const bool openmp = std::string_view(space.name()) == "OpenMP";
  return {static_cast<int>(space.concurrency()), blas.threads, blas.threading,
          openmp && blas.threading == BlasThreading::openmp};
}

std::string describe(const ThreadCounts& threads) {
  return print("%d of Kokkos and ", threads.kokkos) +
         (threads.blas > 0 ? std::to_string(threads.blas) : "an unknown number") +
         " of the BLAS per rank";
}

std::vector<std::string> thread_warnings(const ThreadCounts& threads, int wanted) {
  std::vector<std::string> out;
  const auto differs = [&](const char* who, int count) {
    if (wanted > 0 && count != wanted)
      out.push_back(print("%s runs on %d %s per rank instead of the %d of --threads", who, count,
                          count == 1 ? "thread" : "threads", wanted));
  };
  differs("Kokkos", threads.kokkos);
  if (threads.blas > 0) differs("the BLAS", threads.blas);
  if (!threads.shared && threads.kokkos > 1 && threads.blas > 1)
    out.push_back(
        print("Kokkos (%d threads) and the BLAS (%d threads of its own) do not share "
              "their threads, which hinder each other; a BLAS with OpenMP threads "
              "shares them with Kokkos' OpenMP",
              threads.kokkos, threads.blas));
  return out;
}

CpuSet CpuSet::allowed() {
  CpuSet set;
#if defined(_OPENMP)
  // Where OpenMP binds threads it has bound this one before main(); its places are all there were.
  if (omp_get_proc_bind() != omp_proc_bind_false && omp_get_num_places() > 0) {
    for (int place = 0; place < omp_get_num_places(); ++place) {
      std::vector<int> cpus(static_cast<std::size_t>(omp_get_place_num_procs(place)));
      omp_get_place_proc_ids(place, cpus.data());
      for (const int cpu : cpus) set.add(cpu);
    }
    return set;
  }
#endif
  if (sched_getaffinity(0, sizeof set.bits_, reinterpret_cast<cpu_set_t*>(set.bits_.data())) != 0)
    set.bits_.fill(0);
  return set;
}

void CpuSet::allow() const {
  sched_setaffinity(0, sizeof bits_, reinterpret_cast<const cpu_set_t*>(bits_.data()));
}

int CpuSet::count() const {
  int out = 0;
  for (const unsigned long word : bits_) out += std::popcount(word);
  return out;
}

void CpuSet::add(int cpu) {
  constexpr int width = 8 * sizeof(unsigned long);
  bits_.at(static_cast<std::size_t>(cpu / width)) |= 1UL << (cpu % width);
}

std::vector<int> CpuSet::counts() const {
  constexpr std::size_t width = 8 * sizeof(unsigned long);
  std::vector<int> out(bits_.size() * width);
  for (std::size_t cpu = 0; cpu < out.size(); ++cpu)
    out[cpu] = static_cast<int>(bits_[cpu / width] >> (cpu % width) & 1);
  return out;
}

int CpuSet::share(const std::vector<int>& ranks) const {
  const std::vector<int> mine = counts();
  double whole = 0;
  for (std::size_t cpu = 0; cpu < mine.size(); ++cpu)
    if (mine[cpu] != 0) whole += 1.0 / ranks[cpu];
  return static_cast<int>(whole + 1e-6);  // thirds and the like
}

CpuSet CpuSet::united(MPI_Comm comm) const {
  CpuSet out = *this;
  check(MPI_Allreduce(MPI_IN_PLACE, out.bits_.data(), static_cast<int>(out.bits_.size()),
                      MPI_UNSIGNED_LONG, MPI_BOR, comm),
        "MPI_Allreduce");
  return out;
}

std::string overload_warning(const Load& load) {
  const auto cpus = [](int count) { return print("%d %s", count, count == 1 ? "CPU" : "CPUs"); };
  if (load.own_cpus > 0 && load.own_threads > load.own_cpus)
    return print("its %d threads share %s", load.own_threads, cpus(load.own_cpus).c_str()) +
           (load.bound ? print(" that it is bound to; mpirun --bind-to none, or --map-by "
                               "slot:PE=%d, gives it more",
                               load.own_threads)
                       : "");
  if (load.cpus > 0 && load.threads > load.cpus)
    return print("the %d threads of the %d %s on its machine share %s", load.threads, load.ranks,
                 load.ranks == 1 ? "rank" : "ranks", cpus(load.cpus).c_str()) +
           (load.ranks < load.threads
                ? print("; --threads %d is faster", std::max(1, load.cpus / load.ranks))
                : "; fewer ranks are faster");
  return {};
}

Load measure_load(MPI_Comm comm, const ThreadCounts& threads, const CpuSet& allowed) {
  const Machine machine(comm);
  Load load;
  load.own_threads = std::max(threads.kokkos, threads.blas);
  load.own_cpus = allowed.count();
  load.bound = load.own_cpus < sysconf(_SC_NPROCESSORS_ONLN);
  load.ranks = machine.ranks();
  check(MPI_Allreduce(&load.own_threads, &load.threads, 1, MPI_INT, MPI_SUM, machine.comm()),
        "MPI_Allreduce");
  load.cpus = allowed.united(machine.comm()).count();
  return load;
}

}  // namespace linpack
