// SPDX-License-Identifier: BSD-3-Clause
//
// Products and triangular solves with matrices that are stored in another type than the vectors
// have, against plain loops in long double.
#include <cmath>
#include <limits>
#include <vector>

#include "plinth/kernel/stored_factors.hpp"
#include "support/catch.hpp"

using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::bfloat16;
using plinth::half;
using plinth::Index;
using plinth::Isa;
using plinth::Op;
namespace kernel = plinth::kernel;

namespace {

/// Kokkos is at work when it is asked for.
plinth::HostExecution<> exec() { return {}; }

/// Numbers that every type holds, of either sign and some range.
double number(Index i, Index j, Index seed) {
  const Index k = (i * 37 + j * 101 + i * j * 7 + seed * 53) % 255 - 127;
  return static_cast<double>(k) * ((i + j) % 3 == 0 ? 0x1p-7 : 0x1p-5);
}

template <class T>
struct Array {
  Index lead;
  std::vector<T> data;
  Array(Index rows, Index cols, bool row_major)
      : lead((row_major ? cols : rows) + 5),
        data(static_cast<std::size_t>((row_major ? rows : cols) * lead + 1), T(77.0f)) {}
};

template <class S, class T>
void check_lines(Isa isa) {
  INFO("instruction set " << to_string(isa) << ", " << sizeof(S) << " and " << sizeof(T)
                          << " bytes");
  const double u = static_cast<double>(plinth::ScalarTraits<T>::epsilon);
  for (const Index count : {0, 1, 3, 7, 8, 9, 15, 16, 31, 32, 33, 64, 100, 257, 600}) {
    const Index ld = count + 3;
    std::vector<S> a(static_cast<std::size_t>(8 * ld), S(0.0f));
    for (int r = 0; r < 8; ++r)
      for (Index q = 0; q < ld; ++q)  // what stands beyond a line must not be used
        a[static_cast<std::size_t>(r * ld + q)] =
            q < count ? S(static_cast<float>(number(r, q, 1)))
                      : S(std::numeric_limits<float>::quiet_NaN());
    std::vector<T> x(static_cast<std::size_t>(count) + 8);
    for (std::size_t q = 0; q < x.size(); ++q)
      x[q] = static_cast<T>(number(static_cast<Index>(q), 2, 3)) / 3;
    for (int lines = 1; lines <= 8; ++lines) {
      INFO("count " << count << ", lines " << lines);
      T out[8];
      kernel::dot_lines(a.data(), ld, lines, x.data(), count, 16, out, isa);
      for (int r = 0; r < lines; ++r) {
        long double sum = 0, size = 0;
        for (Index q = 0; q < count; ++q) {
          const long double term = static_cast<long double>(static_cast<double>(
                                       a[static_cast<std::size_t>(r * ld + q)])) *
                                   static_cast<long double>(x[static_cast<std::size_t>(q)]);
          sum += term;
          size += std::abs(term);
        }
        CHECK(std::abs(static_cast<double>(sum - static_cast<long double>(out[r]))) <=
              static_cast<double>(count + 1) * u * static_cast<double>(size));
      }
      std::vector<T> w(static_cast<std::size_t>(count) + 1, T(0.25));
      kernel::axpy_lines(a.data(), ld, lines, x.data(), w.data(), count, 8 * ld, isa);
      for (Index q = 0; q < count; ++q) {
        long double sum = 0.25L, size = 0.25L;
        for (int r = 0; r < lines; ++r) {
          const long double term = static_cast<long double>(static_cast<double>(
                                       a[static_cast<std::size_t>(r * ld + q)])) *
                                   static_cast<long double>(x[static_cast<std::size_t>(r)]);
          sum += term;
          size += std::abs(term);
        }
        const double error =
            static_cast<double>(sum - static_cast<long double>(w[static_cast<std::size_t>(q)]));
        if (!(std::abs(error) <= 9 * u * static_cast<double>(size))) CHECK(error == 0);
      }
      CHECK(w.back() == T(0.25));
    }
  }
}

template <class T>
double as_double(T x) {
  return static_cast<double>(x);
}

template <class S, class T, class Layout>
void check_products() {
  const double u = static_cast<double>(plinth::ScalarTraits<T>::epsilon);
  using View = kernel::MatrixView<T, Layout>;
  using Stored = kernel::MatrixView<S, Layout>;
  constexpr bool rows = kernel::is_row_major<Layout>;
  kernel::StoredFactors<S, T, plinth::HostExecution<>, Layout> factors(exec());
  struct Shape {
    Index m, k;
  };
  for (const Shape s : {Shape{0, 3}, {3, 0}, {1, 1}, {13, 9}, {40, 17}, {700, 33}, {2100, 20}})
    for (const Index c : {0, 1, 2, 3, 4, 7})
      for (const Op op : {Op::none, Op::transpose, Op::conj_transpose}) {
        INFO(s.m << "x" << s.k << ", " << c << " vectors, op " << plinth::to_char(op));
        const bool plain = op == Op::none;
        const Index ar = plain ? s.m : s.k, ac = plain ? s.k : s.m;
        Array<S> a(ar, ac, rows);
        const Stored av = kernel::wrap<Layout, Kokkos::HostSpace>(a.data.data(), ar, ac, a.lead);
        for (Index i = 0; i < ar; ++i)
          for (Index j = 0; j < ac; ++j) av(i, j) = S(static_cast<float>(number(i, j, 5)));
        Array<T> x(s.k, c, rows), w(s.m, c, rows);
        const View xv = kernel::wrap<Layout, Kokkos::HostSpace>(x.data.data(), s.k, c, x.lead);
        const View wv = kernel::wrap<Layout, Kokkos::HostSpace>(w.data.data(), s.m, c, w.lead);
        for (Index j = 0; j < c; ++j) {
          for (Index i = 0; i < s.k; ++i) xv(i, j) = static_cast<T>(number(i, j, 6)) / 3;
          for (Index i = 0; i < s.m; ++i) wv(i, j) = static_cast<T>(number(i, j, 7)) / 7;
        }
        const auto before = w;
        const View old = kernel::wrap<Layout, Kokkos::HostSpace>(
            const_cast<T*>(before.data.data()), s.m, c, before.lead);
        factors.multiply_add({av, op}, xv, wv);
        double worst = 0;
        for (Index i = 0; i < s.m; ++i)
          for (Index j = 0; j < c; ++j) {
            double sum = as_double(old(i, j)), size = std::abs(sum);
            for (Index l = 0; l < s.k; ++l) {
              const double term = as_double(plain ? av(i, l) : av(l, i)) * as_double(xv(l, j));
              sum += term;
              size += std::abs(term);
            }
            worst = std::max(worst, std::abs(sum - as_double(wv(i, j))) / size);
          }
        CHECK(worst <= static_cast<double>(s.k + 2) * u);
        if (rows && c > 0 && s.m > 0) CHECK(w.data[static_cast<std::size_t>(c)] == T(77));
      }
}

template <class S, class T, class Layout>
void check_solves() {
  using View = kernel::MatrixView<T, Layout>;
  using Stored = kernel::MatrixView<S, Layout>;
  constexpr bool rows = kernel::is_row_major<Layout>;
  kernel::StoredFactors<S, T, plinth::HostExecution<>, Layout> factors(exec());
  for (const Index n : {0, 1, 5, 8, 9, 40, 75})
    for (const Index c : {0, 1, 3, 5})
      for (const Op op : {Op::none, Op::transpose})
        for (const auto uplo : {plinth::Uplo::lower, plinth::Uplo::upper})
          for (const auto diag : {plinth::Diag::unit, plinth::Diag::non_unit}) {
            const bool unit = diag == plinth::Diag::unit;
            INFO("n " << n << ", " << c << " vectors, op " << plinth::to_char(op) << ", "
                      << plinth::to_char(uplo) << plinth::to_char(diag));
            const T scale = unit ? T(0.125) : T(1);
            // Exact: small integers times powers of two, sparse, so that no sum rounds.
            const auto entry = [&](Index i, Index j) {  // of op(A), without the scaling
              if (i == j) return unit ? 1.0 : i % 3 == 0 ? 2.0 : -0.5;
              const bool here = (uplo == plinth::Uplo::lower) == (i > j);
              return here && (i + 2 * j) % 7 == 0 ? (unit ? 8.0 : 1.0) : 0.0;
            };
            Array<S> a(n, n, rows);
            const Stored av =
                kernel::wrap<Layout, Kokkos::HostSpace>(a.data.data(), n, n, a.lead);
            for (Index i = 0; i < n; ++i)
              for (Index j = 0; j < n; ++j) {
                const Index r = op == Op::none ? i : j, q = op == Op::none ? j : i;
                const bool wanted = i == j ? !unit : (uplo == plinth::Uplo::lower) == (r > q);
                // The other triangle, and a unit diagonal, hold nonsense.
                av(i, j) = wanted ? S(static_cast<float>(entry(r, q))) : S(3000.0f);
              }
            Array<T> x(n, c, rows);
            const View xv = kernel::wrap<Layout, Kokkos::HostSpace>(x.data.data(), n, c, x.lead);
            const auto solution = [](Index i, Index j) {
              return static_cast<double>((i * 5 + j * 3) % 9 - 4);
            };
            for (Index j = 0; j < c; ++j)
              for (Index i = 0; i < n; ++i) {
                double sum = 0;
                for (Index l = 0; l < n; ++l)
                  sum +=
                      entry(i, l) * (i == l ? 1.0 : static_cast<double>(scale)) * solution(l, j);
                xv(i, j) = static_cast<T>(sum);
              }
            factors.solve(uplo, diag, {av, op}, xv, scale);
            bool right = true;
            for (Index j = 0; j < c; ++j)
              for (Index i = 0; i < n; ++i)
                right = right && as_double(xv(i, j)) == solution(i, j);
            CHECK(right);
          }
}

}  // namespace

TEST_CASE("products of lines: every instruction set, every tail", "[stored]") {
  for (const Isa isa : {Isa::portable, Isa::avx2, Isa::avx512}) {
    if (!plinth::is_available(isa)) continue;
    check_lines<half, double>(isa);
    check_lines<bfloat16, double>(isa);
    check_lines<float, double>(isa);
    check_lines<double, double>(isa);
    check_lines<half, float>(isa);
    check_lines<bfloat16, float>(isa);
    check_lines<float, float>(isa);
    check_lines<double, float>(isa);
  }
}

TEST_CASE("products with stored factors", "[stored]") {
  check_products<half, double, LayoutRight>();
  check_products<half, double, LayoutLeft>();
  check_products<bfloat16, double, LayoutRight>();
  check_products<float, double, LayoutRight>();
  check_products<float, double, LayoutLeft>();
  check_products<half, float, LayoutRight>();
  check_products<double, double, LayoutRight>();
}

TEST_CASE("triangular solves with stored factors", "[stored]") {
  check_solves<half, double, LayoutRight>();
  check_solves<half, double, LayoutLeft>();
  check_solves<bfloat16, double, LayoutRight>();
  check_solves<float, double, LayoutRight>();
  check_solves<float, double, LayoutLeft>();
  check_solves<double, float, LayoutRight>();
}

TEST_CASE("complex stored factors, one vector and more", "[stored]") {
  using S = Kokkos::complex<float>;
  using T = Kokkos::complex<double>;
  constexpr Index n = 33;
  const auto entry = [](Index i, Index j) {  // lower, small integers: exact
    return i == j ? S(1, 0) : i > j && (i + 2 * j) % 5 == 0 ? S(2, -1) : S(0, 0);
  };
  std::vector<S> a(static_cast<std::size_t>(n * n));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) a[static_cast<std::size_t>(i * n + j)] = entry(i, j);
  for (const Index c : {1, 3, 4}) {
    INFO(c << " vectors");
    // A fresh object each time: its workspace is no larger than this call asks for.
    kernel::StoredFactors<S, T, plinth::HostExecution<>, LayoutRight> factors(exec());
    const auto av = kernel::contiguous<LayoutRight, Kokkos::HostSpace>(a.data(), n, n);
    std::vector<T> x(static_cast<std::size_t>(n * c)), w(x.size(), T(0));
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = T(static_cast<double>(i % 7) - 3, static_cast<double>(i % 3));
    const auto xv = kernel::contiguous<LayoutRight, Kokkos::HostSpace>(x.data(), n, c);
    const auto wv = kernel::contiguous<LayoutRight, Kokkos::HostSpace>(w.data(), n, c);
    factors.multiply_add({av, Op::none}, xv, wv);
    bool right = true;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < c; ++j) {
        T sum(0);
        for (Index l = 0; l < n; ++l) sum += T(entry(i, l).real(), entry(i, l).imag()) * xv(l, j);
        right = right && sum == wv(i, j);
      }
    CHECK(right);
    factors.solve(plinth::Uplo::lower, plinth::Diag::unit, {av, Op::none}, wv, 1.0);
    CHECK(w == x);
  }
}
