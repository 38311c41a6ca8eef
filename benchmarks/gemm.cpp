// SPDX-License-Identifier: BSD-3-Clause
//
// The rate of a matrix product on all ranks at once, each its own: the ceiling of HPL on these
// ranks and threads, or devices, and with 16-bit operands that of HPL-MxP. C := C - A B with m = n,
// as in the trailing update of LU, on Kokkos' default space: the device that it was built for, else
// the host.
//
//     mpirun -n 2 gemm [m = n] [k] [rounds] [fp64 | fp32 | fp16 | bf16]
//
// Operands of 16 bits are packed before the clock runs, sums are kept in FP32, C has 16 bits.
// Prints GF/s of all ranks together, the median of the rounds, on one line.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

#include "bench.hpp"
#include "plinth/core/float16.hpp"
#include "plinth/kernel/blas.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/lowp/gemm.hpp"
#include "plinth/kernel/lowp/kernels.hpp"

namespace {

using plinth::Index;
using Exec = bench::Execution;
using Memory = Exec::memory;
using Space = Exec::execution_space;
namespace kernel = plinth::kernel;

KOKKOS_INLINE_FUNCTION double a_entry(Index i, Index p) {
  return static_cast<double>((i * 7 + p * 3) % 11) * 0.0625 - 0.25;
}
KOKKOS_INLINE_FUNCTION double b_entry(Index p, Index j) {
  return static_cast<double>((j * 5 + p * 2) % 13) * 0.0625 - 0.25;
}

/// A row-major matrix, entries unspecified.
template <class T>
class Matrix {
 public:
  Matrix(Index rows, Index cols) : rows_(rows), cols_(cols), data_(rows * cols) {}
  auto view() const {
    return kernel::contiguous<Kokkos::LayoutRight, Memory::space>(data_.data(), rows_, cols_);
  }
  T* data() const { return data_.data(); }

 private:
  Index rows_, cols_;
  kernel::Buffer<T, Memory> data_;
};

template <class T>
void fill_operands(const Exec& exec, const Matrix<T>& a, const Matrix<T>& b) {
  const auto av = a.view(), bv = b.view();
  kernel::for_each<Kokkos::LayoutRight>(
      exec, kernel::rows_of(av), kernel::cols_of(av),
      KOKKOS_LAMBDA(const Index i, const Index p) {
        av(i, p) = static_cast<T>(a_entry(i, p));
        bv(p, i) = static_cast<T>(b_entry(p, i));
      });
}

/// Two operands of the BLAS.
template <class T>
class Product {
 public:
  Product(const Exec& exec, Index n, Index k) : a_(n, k), b_(k, n) {
    fill_operands(exec, a_, b_);
  }
  void operator()(const Exec& exec, const Matrix<T>& c) {
    const auto a = a_.view();
    kernel::gemm(exec, T(-1), kernel::Operand<decltype(a)>{a}, b_.view(), T(1), c.view());
  }

 private:
  Matrix<T> a_, b_;
};

/// Two packed operands of 16 bits.
template <plinth::Scalar16 T>
class Product<T> {
 public:
  Product(const Exec& exec, Index n, Index k)
      : n_(n), k_(k), a_(setup_.a_format(k).size(n)), b_(setup_.b_format(k).size(n)) {
    const Matrix<float> a(n, k), b(k, n);
    fill_operands(exec, a, b);
    exec.fence();
    kernel::lowp::pack_a(exec.space(), setup_, n, k, a.data(), k, 1, a_.data());
    kernel::lowp::pack_b(exec.space(), setup_, k, n, b.data(), n, 1, b_.data());
    exec.fence();
    prepare(exec, workspace_);
  }
  void operator()(const Exec& exec, const Matrix<T>& c) {
    kernel::lowp::gemm(exec.space(), setup_, n_, n_, k_, -1.0f, a_.data(), b_.data(), c.data(), n_,
                       workspace_);
  }

 private:
  template <class Workspace>
  void prepare(const Exec& exec, Workspace& workspace) const {
    if constexpr (kernel::runs_on_host<Space>) {
      workspace.reserve(setup_, k_, exec.space().concurrency());
    } else {
      workspace.prepare();
    }
  }

  Index n_, k_;
  kernel::lowp::GemmSetup<T> setup_{
      .kernel = kernel::lowp::best_kernel_of<T, Space>(kernel::lowp::Accumulate::single)};
  kernel::Buffer<T, Memory> a_, b_;
  typename kernel::lowp::WorkspaceOf<Space>::type workspace_;
};

template <class T>
bool measure(Index n, Index k, long rounds) {
  const Exec exec;
  Product<T> product(exec, n, k);
  const Matrix<T> c(n, n);
  int ranks = 1, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double flops =
      2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(k) * ranks;
  std::vector<double> rates;
  for (long round = 0; round <= rounds; ++round) {
    kernel::fill(exec, c.view(), T(0.0f));
    exec.fence();
    const double seconds = bench::seconds_of([&] {
      product(exec, c);
      exec.fence();
    });
    if (round > 0) rates.push_back(flops / seconds * 1e-9);  // the first one warms up
  }
  // One entry by hand: a product that computes nothing would be fast.
  const Index i = n / 2, j = n - 1;
  double expected = 0, sizes = 0;
  for (Index p = 0; p < k; ++p) {
    expected -= a_entry(i, p) * b_entry(p, j);
    sizes += std::abs(a_entry(i, p) * b_entry(p, j));
  }
  T found{};
  exec.to_host(&found, c.data() + i * n + j, sizeof found);
  exec.fence();
  if (rank == 0) std::printf("%.2f\n", bench::median(rates));
  return std::abs(static_cast<double>(found) - expected) <=
         sizes * static_cast<double>(plinth::ScalarTraits<T>::epsilon);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, [=] {
    const Index n = bench::argument(argc, argv, 1, 3840), k = bench::argument(argc, argv, 2, 192);
    const long rounds = bench::argument(argc, argv, 3, 7);
    const std::string_view precision = argc > 4 ? argv[4] : "fp64";
    if (precision == "fp64") return measure<double>(n, k, rounds);
    if (precision == "fp32") return measure<float>(n, k, rounds);
    if (precision == "fp16") return measure<plinth::half>(n, k, rounds);
    if (precision == "bf16") return measure<plinth::bfloat16>(n, k, rounds);
    std::fprintf(stderr, "gemm: a precision is fp64, fp32, fp16 or bf16\n");
    return false;
  });
}
