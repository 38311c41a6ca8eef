// SPDX-License-Identifier: BSD-3-Clause

// How long netlib HPL's matrix takes to generate, and to multiply without being stored: for each
// instruction set of this CPU, on one process.
//
//   generate [n] [threads]      (16384 rows; all threads)
//
// Columns of the table: the first pass over fresh memory, which pays for its pages; later passes
// over the same memory; r = b - A x alone; the same with row and column sums. Medians of five.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bench.hpp"
#include "plinth/kernel/lcg_fill.hpp"
#include "plinth/kernel/lcg_residual.hpp"

namespace {

using plinth::Index;
using plinth::Isa;
using plinth::kernel::IndexRun;
using Space = Kokkos::DefaultHostExecutionSpace;

template <class F>
double seconds(const F& f) {
  Kokkos::Timer timer;
  f();
  return timer.seconds();
}

template <class F>
double median_seconds(const F& f) {
  std::vector<double> times;
  for (int k = 0; k < 5; ++k) times.push_back(seconds(f));
  std::sort(times.begin(), times.end());
  return times[2];
}

void measure(Index n, Isa isa) {
  const Space space;
  const std::vector<IndexRun> whole{{0, 0, n}};
  const auto count = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  const std::unique_ptr<double, decltype(&std::free)> a(
      static_cast<double*>(std::malloc(count * sizeof(double))), &std::free);
  if (a == nullptr) {
    std::fprintf(stderr, "generate: no memory for n = %lld\n", static_cast<long long>(n));
    std::exit(1);
  }
  std::vector<double> x(static_cast<std::size_t>(n), 0.25), r(x), row_sums(x), col_sums(x);

  const auto fill = [&] {
    plinth::kernel::fill_lcg(
        space, plinth::kernel::LcgTarget<double>{a.get(), n, 1, whole, whole}, n, 100, isa);
  };
  const auto residual = [&] {
    plinth::kernel::residual_lcg(space, whole, whole, {x.data(), r.data()}, n, 100, isa);
  };
  const auto with_sums = [&] {
    plinth::kernel::residual_lcg(
        space, whole, whole, {x.data(), r.data(), row_sums.data(), col_sums.data()}, n, 100, isa);
  };
  const double first = seconds(fill), later = median_seconds(fill);
  const double product = median_seconds(residual), sums = median_seconds(with_sums);
  const double gigabytes = static_cast<double>(count) * 8e-9;
  std::printf("%-9s %9.4f %9.4f %9.1f %9.4f %9.4f\n", to_string(isa), first, later,
              gigabytes / later, product, sums);
}

}  // namespace

int main(int argc, char** argv) {
  bench::warn_if_unoptimised();
  const Index n = argc > 1 ? std::atoll(argv[1]) : 16384;
  std::vector<std::string> arguments{argv[0]};
  if (argc > 2) arguments.push_back(std::string("--kokkos-threads=") + argv[2]);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  int kokkos_argc = static_cast<int>(arguments.size());
  if (n < 1) {
    std::fprintf(stderr, "usage: generate [n] [threads]\n");
    return 2;
  }
  const Kokkos::ScopeGuard guard(kokkos_argc, pointers.data());
  std::printf("n = %lld, %d threads, seconds\n", static_cast<long long>(n),
              static_cast<int>(Space().concurrency()));
  std::printf("%-9s %9s %9s %9s %9s %9s\n", "", "first", "later", "GB/s", "b - A x", "and sums");
  for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512})
    if (plinth::is_available(isa)) measure(n, isa);
}
