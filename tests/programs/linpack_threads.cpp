// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/threads.hpp"

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "linpack/input_error.hpp"
#include "support/catch.hpp"

using linpack::CpuSet;
using linpack::Load;
using linpack::ThreadCounts;
using plinth::BlasThreading;
using plinth_test::contains;
using Sentences = std::vector<std::string>;

namespace {

std::string error_of(const Sentences& arguments, bool threads_given = false) {
  try {
    linpack::check_kokkos_arguments(arguments, threads_given);
  } catch (const linpack::InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("threads: what Kokkos would not survive is refused") {
  for (const std::string flag : {"--kokkos-threads", "--kokkos-num-threads"}) {
    for (const char* good : {"=1", "=512"})
      CHECK(error_of({"--n", "5", flag + good}) == "no error");
    for (const char* bad : {"", "=", "=0", "=-1", "=513", "=x", "=2x"})
      CHECK(error_of({flag + bad}) ==
            flag + ": expected =, and an integer from 1 to 512, found '" + flag + bad + "'");
    CHECK(error_of({flag + "=2"}, true) ==
          "--threads: expected no " + flag + " beside it, found '" + flag + "=2'");
  }
  CHECK(error_of({"--kokkos-threads-of-another-kind=0"}, true) == "no error");
}

TEST_CASE("threads: pools that do not know of each other") {
  const auto warnings = [](int kokkos, int blas, bool shared) {
    return linpack::thread_warnings({kokkos, blas, BlasThreading::own, shared}, 0);
  };
  CHECK(warnings(2, 2, true).empty());
  CHECK(warnings(1, 2, false).empty());
  CHECK(warnings(2, 1, false).empty());
  CHECK(warnings(2, 0, false).empty());
  REQUIRE(warnings(2, 4, false).size() == 1);
  CHECK_THAT(warnings(2, 4, false)[0],
             contains("Kokkos (2 threads) and the BLAS (4 threads of its own) do not share"));
}

TEST_CASE("threads: others than those that were asked for") {
  const ThreadCounts serial{1, 1, BlasThreading::none, false};
  CHECK(linpack::thread_warnings(serial, 0).empty());
  CHECK(linpack::thread_warnings(serial, 1).empty());
  CHECK(linpack::thread_warnings(serial, 2) ==
        Sentences{"Kokkos runs on 1 thread per rank instead of the 2 of --threads",
                  "the BLAS runs on 1 thread per rank instead of the 2 of --threads"});
  CHECK(linpack::describe(ThreadCounts{2, 0, BlasThreading::unknown, false}) ==
        "2 of Kokkos and an unknown number of the BLAS per rank");
}

TEST_CASE("threads: more of them than CPUs") {
  using linpack::overload_warning;
  CHECK(overload_warning({.own_threads = 2, .own_cpus = 2, .threads = 2, .cpus = 2}).empty());
  CHECK(overload_warning({.own_threads = 2, .own_cpus = 0, .threads = 8, .cpus = 0}).empty());
  CHECK(overload_warning(
            {.own_threads = 2, .own_cpus = 1, .bound = true, .threads = 2, .cpus = 1}) ==
        "its 2 threads share 1 CPU that it is bound to; mpirun --bind-to none, or --map-by "
        "slot:PE=2, gives it more");
  CHECK(overload_warning({.own_threads = 4, .own_cpus = 2, .threads = 4, .cpus = 2}) ==
        "its 4 threads share 2 CPUs");
  CHECK(
      overload_warning({.own_threads = 1, .own_cpus = 2, .ranks = 3, .threads = 3, .cpus = 2}) ==
      "the 3 threads of the 3 ranks on its machine share 2 CPUs; fewer ranks are faster");
  CHECK(
      overload_warning({.own_threads = 4, .own_cpus = 4, .ranks = 2, .threads = 8, .cpus = 4}) ==
      "the 8 threads of the 2 ranks on its machine share 4 CPUs; --threads 2 is faster");
}

TEST_CASE("threads: sets of CPUs") {
  CpuSet set;
  CHECK(set.count() == 0);
  for (const int cpu : {0, 63, 64, 8191, 64}) set.add(cpu);
  CHECK(set.count() == 4);
  CHECK(CpuSet::allowed().count() >= 1);
}

TEST_CASE("threads: CPUs that ranks share") {
  CpuSet all, two, none;
  for (int cpu = 0; cpu < 16; ++cpu) all.add(cpu);
  for (const int cpu : {16, 17}) two.add(cpu);
  const auto ranks = [](std::initializer_list<std::pair<CpuSet, int>> sets) {
    std::vector<int> out(CpuSet().counts().size());
    for (const auto& [set, times] : sets)
      for (std::size_t cpu = 0; cpu < out.size(); ++cpu) out[cpu] += times * set.counts()[cpu];
    return out;
  };
  CHECK(all.share(ranks({{all, 1}})) == 16);
  CHECK(all.share(ranks({{all, 3}})) == 5);
  // Ranks that are bound do not take from the others.
  CHECK(all.share(ranks({{all, 2}, {two, 1}})) == 8);
  CHECK(two.share(ranks({{all, 2}, {two, 1}})) == 2);
  CHECK(two.share(ranks({{two, 3}})) == 0);
  CHECK(none.share(ranks({{all, 1}})) == 0);
}

TEST_CASE("threads: the BLAS is told") {
  if (!plinth::set_blas_threads(1)) return;  // it is none that listens
  CHECK(plinth::blas_info().threads == 1);
  CHECK_THROWS_AS(plinth::set_blas_threads(0), plinth::Error);
}
