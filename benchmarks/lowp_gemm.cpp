// SPDX-License-Identifier: BSD-3-Clause

// How fast 16-bit operands are multiplied on one thread: C -= A B with each micro-kernel that
// this CPU runs, against the BLAS's dgemm and sgemm.
//
//   lowp_gemm [m n k [rounds]]      (3840 3840 256 5)
//
// All matrices are row-major; A and B are packed anew each time, and that counts. Every candidate
// is followed by a dgemm, in turns; the columns are medians: GF/s, and the ratio of the two
// rates. Time is the thread's CPU time, so that other programs disturb it less. Make sure that
// the BLAS uses its best kernel (OpenBLAS: do not set OPENBLAS_CORETYPE to another CPU's).

#include <KokkosBlas3_gemm.hpp>
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "bench.hpp"
#include "plinth/kernel/lowp/gemm.hpp"

namespace {

using plinth::bfloat16;
using plinth::half;
using plinth::Index;
namespace lowp = plinth::kernel::lowp;
using Space = Kokkos::DefaultHostExecutionSpace;
template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

struct Shape {
  Index m, n, k;
  int rounds;
  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

double thread_seconds() {
#if defined(CLOCK_THREAD_CPUTIME_ID)
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
#else
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
#endif
}

double seconds(const std::function<void()>& f, int times) {
  const double start = thread_seconds();
  for (int i = 0; i < times; ++i) f();
  return (thread_seconds() - start) / times;
}

/// How often `f` has to run for a quarter of a second: a busy system's clocks are coarse.
int enough_times(const std::function<void()>& f) {
  return std::max(1, static_cast<int>(0.25 / std::max(seconds(f, 2), 1e-7)));
}

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

template <class T>
Matrix<T> filled(const std::string& name, Index rows, Index cols) {
  Matrix<T> a(name, static_cast<std::size_t>(rows), static_cast<std::size_t>(cols));
  for (Index i = 0; i < rows * cols; ++i)
    a.data()[i] = T(static_cast<float>((i * 7919) % 1021 - 510) / 1024.0f);
  return a;
}

/// One line of the table: `run` in turns with `dgemm`.
void compare(const Shape& s, const std::string& name, const std::function<void()>& run,
             const std::function<void()>& dgemm) {
  std::vector<double> times, ratios;
  run();
  const int my_times = enough_times(run), their_times = enough_times(dgemm);
  for (int r = 0; r < s.rounds; ++r) {
    const double mine = seconds(run, my_times), theirs = seconds(dgemm, their_times);
    times.push_back(mine);
    ratios.push_back(theirs / mine);
  }
  std::printf("%-44s %8.1f %8.2f\n", name.c_str(), s.flops() * 1e-9 / median(times),
              median(ratios));
  std::fflush(stdout);
}

template <class T>
std::function<void()> blas_gemm(const Shape& s) {
  const auto a = filled<T>("A", s.m, s.k), b = filled<T>("B", s.k, s.n);
  const auto c = filled<T>("C", s.m, s.n);
  return [=] { KokkosBlas::gemm("N", "N", T(-1), a, b, T(1), c); };
}

template <class T, class C>
void measure(const Shape& s, const lowp::GemmSetup<T>& setup, const std::string& what,
             const std::function<void()>& dgemm) {
  const auto a = filled<T>("A", s.m, s.k), b = filled<T>("B", s.k, s.n);
  const auto c = filled<C>("C", s.m, s.n);
  std::vector<T> packed_a(static_cast<std::size_t>(setup.a_format(s.k).size(s.m)));
  std::vector<T> packed_b(static_cast<std::size_t>(setup.b_format(s.k).size(s.n)));
  lowp::Workspace workspace;
  compare(
      s, what,
      [&] {
        const Space space;
        lowp::pack_a(space, setup, s.m, s.k, a.data(), s.k, 1, packed_a.data());
        lowp::pack_b(space, setup, s.k, s.n, b.data(), s.n, 1, packed_b.data());
        lowp::gemm(space, setup, s.m, s.n, s.k, -1.0f, packed_a.data(), packed_b.data(), c.data(),
                   s.n, workspace);
      },
      dgemm);
}

template <class T>
void measure_all(const Shape& s, const std::string& operand, const std::function<void()>& dgemm) {
  for (const lowp::MicroKernel& kernel : lowp::available_kernels<T>()) {
    if (std::string(kernel.name).rfind("portable", 0) == 0 && s.flops() > 4e9) continue;
    lowp::GemmSetup<T> setup;
    setup.kernel = kernel;
    const std::string name =
        operand + ", " + kernel.name + ", sums " + to_string(kernel.accumulate);
    const bool in_half = kernel.accumulate == lowp::Accumulate::half;
    for (const Index flush : in_half ? std::vector<Index>{0, 128, 64} : std::vector<Index>{0}) {
      setup.flush_k = flush;
      const std::string each = flush > 0 ? " per " + std::to_string(flush) : std::string();
      measure<T, float>(s, setup, name + each + ", C FP32", dgemm);
      measure<T, T>(s, setup, name + each + ", C " + operand, dgemm);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::warn_if_unoptimised();
  const auto number = [&](int i, Index otherwise) {
    return argc > i ? static_cast<Index>(std::atoll(argv[i])) : otherwise;
  };
  const Shape s{number(1, 3840), number(2, 3840), number(3, 256), static_cast<int>(number(4, 5))};
  if (s.m < 1 || s.n < 1 || s.k < 1 || s.rounds < 1 || argc == 2 || argc == 3) {
    std::fprintf(stderr, "usage: lowp_gemm [m n k [rounds]]\n");
    return 2;
  }
  std::string name = argv[0], one_thread = "--kokkos-threads=1";
  char* arguments[] = {name.data(), one_thread.data(), nullptr};
  int count = 2;
  const Kokkos::ScopeGuard guard(count, arguments);
  if (Space().concurrency() != 1) {
    std::fprintf(stderr, "lowp_gemm: this measures one thread; set OMP_NUM_THREADS=1\n");
    return 2;
  }
  const auto dgemm = blas_gemm<double>(s);
  dgemm();
  std::printf("m = %lld, n = %lld, k = %lld, one thread, packing included\n",
              static_cast<long long>(s.m), static_cast<long long>(s.n),
              static_cast<long long>(s.k));
  std::printf("%-44s %8s %8s\n", "", "GF/s", "/ dgemm");
  compare(s, "BLAS dgemm", dgemm, dgemm);
  compare(s, "BLAS sgemm", blas_gemm<float>(s), dgemm);
  measure_all<half>(s, "half", dgemm);
  measure_all<bfloat16>(s, "bfloat16", dgemm);
}
