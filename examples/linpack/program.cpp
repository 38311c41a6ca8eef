// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/program.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <climits>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include "linpack/blas_fix.hpp"
#include "linpack/cases.hpp"
#include "linpack/device.hpp"
#include "linpack/differences.hpp"
#include "linpack/input_error.hpp"
#include "linpack/invocation.hpp"
#include "linpack/json.hpp"
#include "linpack/memory.hpp"
#include "linpack/output.hpp"
#include "linpack/text.hpp"
#include "linpack/threads.hpp"
#include "plinth/comm/mpi.hpp"
#include "plinth/kernel/blas_info.hpp"

namespace linpack {

namespace {

using plinth::comm::check;

/// What rank 0 makes of the input. Elsewhere there is a configuration at most.
struct Start {
  ExitStatus status = ExitStatus::all_passed;
  std::optional<Config> config;  ///< nothing: there is nothing to run
  std::vector<std::string> notes;
  std::vector<std::string> warnings;
  double input_seconds = 0;
  std::unique_ptr<Output> output;
};

/// Rank 0: reads the input, opens the output, tells the user what is wrong with either.
Start read_input(const Program& program, const std::vector<std::string>& arguments, int ranks) {
  Start start;
  try {
    Invocation invocation = interpret(program, arguments, ranks);
    for (const std::string& warning : invocation.warnings) std::cerr << warning << "\n";
    if (invocation.text) {
      std::cout << *invocation.text << std::flush;
      return start;
    }
    start.output = std::make_unique<Output>(invocation);
    start.config = std::move(invocation.config);
    start.notes = std::move(invocation.notes);
  } catch (const InputError& error) {
    std::cerr << error.what() << std::endl;
    start.status = ExitStatus::bad_input;
  } catch (const std::exception& error) {
    std::cerr << "reading the input: " << error.what() << std::endl;
    start.status = ExitStatus::internal_error;
  }
  return start;
}

/// Collective: every rank learns the status and the configuration of rank 0.
void share(MPI_Comm comm, int rank, Start& start) {
  std::vector<std::uint8_t> bytes;
  if (start.config) bytes = encode(*start.config);
  int header[2] = {static_cast<int>(start.status), static_cast<int>(bytes.size())};
  check(MPI_Bcast(header, 2, MPI_INT, 0, comm), "MPI_Bcast");
  bytes.resize(static_cast<std::size_t>(header[1]));
  check(MPI_Bcast(bytes.data(), header[1], MPI_BYTE, 0, comm), "MPI_Bcast");
  if (rank == 0) return;
  start.status = static_cast<ExitStatus>(header[0]);
  if (!bytes.empty()) start.config = decode(bytes);
}

std::string kokkos_name() {
  const Kokkos::DefaultExecutionSpace space;
  return print("%d.%d.%d, %s, concurrency %d", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100,
               KOKKOS_VERSION % 100, space.name(), static_cast<int>(space.concurrency()));
}

std::string blas_name() {
  const plinth::BlasInfo blas = plinth::blas_info();
  std::string name = blas.library;
  if (!blas.kernel.empty()) name += ", kernel " + blas.kernel;
  name += std::string(", ") + to_string(blas.threading);
  return blas.threads > 0 ? name + print(" (%d)", blas.threads) : name;
}

/// Collective: what the user should know of the threads of this rank, and of the lowest rank whose
/// threads have too few CPUs.
std::vector<std::string> warnings_of_threads(MPI_Comm comm, int wanted, const CpuSet& cpus) {
  const ThreadCounts threads = count_threads();
  std::vector<std::string> out = thread_warnings(threads, wanted);
  const std::string overload =
      first_complaint(comm, overload_warning(measure_load(comm, threads, cpus)));
  if (!overload.empty()) out.push_back(overload);
  return out;
}

/// What the first runs (of very many) do differently from what was asked for.
std::vector<std::string> expected_differences(const Cases& cases, const Solver& solver,
                                              Differences& known) {
  constexpr std::uint64_t most = 100'000;
  std::vector<std::string> out;
  for (std::uint64_t i = 0; i < std::min(cases.size(), most); ++i) {
    const Case asked = cases[i];
    for (std::string& sentence : known.add(asked, solver.effective(asked)))
      out.push_back(std::move(sentence));
  }
  return out;
}

/// Collective: all runs. `tally` holds what was done even if an exception ends it.
void run_all(MPI_Comm comm, int ranks, const Program& program, const Solver& solver,
             const BlasFix& blas_fix, const Start& start, Tally& tally) {
  const Cases cases(*start.config);
  const std::string transport = describe_transport(comm, start.config->extensions.transport);
  Differences known;
  if (start.output) {
    Preamble preamble{program, *start.config, cases.size(),   ranks,
                      {},      start.notes,   start.warnings, start.input_seconds};
    preamble.environment = {{"MPI", plinth::comm::mpi_name()},
                            {"Kokkos", kokkos_name()},
                            {"BLAS", blas_name()},
                            {"Threads", describe(count_threads())}};
    if (!transport.empty()) preamble.environment.emplace_back("Transport", transport);
    for (const std::string& note : program.notes) preamble.notes.push_back(note);
    if (!blas_fix.note.empty()) preamble.notes.push_back(blas_fix.note);
    for (std::string& sentence : expected_differences(cases, solver, known))
      preamble.notes.push_back(std::move(sentence));
    start.output->begin(preamble);
  }
  for (const Case& asked : cases) {
    const Result result = solver.run(comm, solver.effective(asked));
    tally.add(result.verdict);
    if (start.output) start.output->run(asked, result, known.add(asked, result.ran));
  }
  if (start.output) start.output->end(tally);
}

/// Collective: the status of the program, from what each rank makes of it. A rank with an error
/// gives the others ten seconds to come here, and then ends them all. `message` is printed by
/// the lowest rank that has one.
ExitStatus agree(MPI_Comm comm, int rank, ExitStatus mine, const std::string& message) {
  const bool failed = !message.empty();
  const auto say = [&] { std::cerr << "rank " << rank << ": " << message << std::endl; };
  int lowest[2] = {mine == ExitStatus::all_passed ? INT_MAX : static_cast<int>(mine),
                   failed ? rank : INT_MAX};
  MPI_Request request = MPI_REQUEST_NULL;
  bool lost =
      MPI_Iallreduce(MPI_IN_PLACE, lowest, 2, MPI_INT, MPI_MIN, comm, &request) != MPI_SUCCESS;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  int done = 0;
  while (!lost && done == 0) {
    lost = MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
           (failed && done == 0 && std::chrono::steady_clock::now() > deadline);
    if (done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (lost) {
    if (failed) say();
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(combine(mine, ExitStatus::internal_error)));
  }
  if (lowest[1] == rank) say();
  return lowest[0] == INT_MAX ? ExitStatus::all_passed : static_cast<ExitStatus>(lowest[0]);
}

/// Everything between MPI_Init and MPI_Finalize. Collective.
ExitStatus run_in_mpi(int argc, char** argv, const Program& program, const Solver& solver,
                      const BlasFix& blas_fix) {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int ranks = 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);

  const CpuSet cpus = CpuSet::allowed();
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  Start start;
  Tally tally;
  ExitStatus failure = ExitStatus::all_passed;
  std::string message;
  const auto fail = [&](ExitStatus how, const std::string& what) {
    failure = how;
    message = what;
  };
  try {
    const double begin = MPI_Wtime();
    if (rank == 0) start = read_input(program, arguments, ranks);
    share(comm, rank, start);
    start.input_seconds = MPI_Wtime() - begin;
    if (start.config) {
      const int wanted = start.config->extensions.threads;
      const int threads = wanted > 0 ? wanted : default_threads(comm, arguments, cpus);
      const KokkosSession kokkos(with_device(comm, arguments), threads);
      prepare_device(comm);
      start.warnings = warnings_of_threads(comm, wanted, cpus);
      run_all(comm, ranks, program, solver, blas_fix, start, tally);
    }
    if (start.output && !start.output->good())
      fail(ExitStatus::internal_error,
           "the report could not be written to " + start.output->unwritten());
  } catch (const InputError& error) {
    fail(ExitStatus::bad_input, error.what());
  } catch (const std::exception& error) {
    fail(ExitStatus::internal_error, error.what());
  } catch (...) {
    fail(ExitStatus::internal_error, "an exception of unknown type");
  }
  const ExitStatus mine = combine(combine(start.status, tally.status()), failure);
  const ExitStatus status = agree(comm, rank, mine, message);
  MPI_Comm_free(&comm);
  return status;
}

}  // namespace

int run_program(int argc, char** argv, const Program& program, const Solver& solver) {
  const BlasFix blas_fix = fix_blas_kernel(argc, argv);
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    return static_cast<int>(ExitStatus::internal_error);
  const ExitStatus status = run_in_mpi(argc, argv, program, solver, blas_fix);
  MPI_Finalize();
  return static_cast<int>(status);
}

}  // namespace linpack
