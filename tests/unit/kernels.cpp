// SPDX-License-Identifier: BSD-3-Clause
//
// Views, products, triangular solves and copies, against loops that anybody can check.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "plinth/kernel/blas.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/transpose.hpp"
#include "plinth/kernel/trsm.hpp"
#include "plinth/kernel/view.hpp"
#include "support/catch.hpp"

using Kokkos::LayoutLeft;
using Kokkos::LayoutRight;
using plinth::Index;
using plinth::Op;
using plinth::Range;
namespace kernel = plinth::kernel;

namespace {

/// A matrix with room around it, whose padding is checked.
template <class T, class Layout>
class Padded {
 public:
  using View = kernel::MatrixView<T, Layout>;
  template <class F>
  Padded(Index rows, Index cols, const F& f)
      : lead_((kernel::is_row_major<Layout> ? cols : rows) + 3),
        storage_(
            static_cast<std::size_t>(lead_ * ((kernel::is_row_major<Layout> ? rows : cols) + 1)),
            T(77)),
        view_(kernel::wrap<Layout, Kokkos::HostSpace>(storage_.data(), rows, cols, lead_)) {
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j) view_(i, j) = f(i, j);
  }
  const View& view() const { return view_; }
  T& operator()(Index i, Index j) const { return view_(i, j); }
  bool padding_untouched() const {
    std::size_t kept = 0;
    for (const T& e : storage_) kept += e == T(77) ? 1u : 0u;
    return kept >= storage_.size() - view_.extent(0) * view_.extent(1);
  }

 private:
  Index lead_;
  std::vector<T> storage_;
  View view_;
};

/// Small integers, so that sums are exact.
template <class T>
T number(Index i, Index j, Index seed = 0) {
  const Index k = (i * 5 + j * 3 + i * j + seed * 7) % 9 - 4;
  using Real = plinth::RealOf<T>;
  if constexpr (plinth::ScalarTraits<T>::is_complex)
    return T(static_cast<Real>(k), static_cast<Real>((i + 2 * j + seed) % 5 - 2));
  else
    return static_cast<T>(k);
}

template <class T>
T apply(Op op, T x) {
  return op == Op::conj_transpose ? plinth::conjugate(x) : x;
}

/// Kokkos is at work when it is asked for.
plinth::HostExecution<> exec() { return {}; }

template <class T, class Layout>
void check_gemm(Index m, Index n, Index k, Op op_a, Op op_b) {
  INFO(m << "x" << n << "x" << k << " " << plinth::to_char(op_a) << plinth::to_char(op_b));
  const bool ta = op_a != Op::none, tb = op_b != Op::none;
  const Padded<T, Layout> a(ta ? k : m, ta ? m : k,
                            [](Index i, Index j) { return number<T>(i, j, 1); });
  const Padded<T, Layout> b(tb ? n : k, tb ? k : n,
                            [](Index i, Index j) { return number<T>(i, j, 2); });
  const Padded<T, Layout> c(m, n, [](Index i, Index j) { return number<T>(i, j, 3); });
  using View = kernel::MatrixView<T, Layout>;
  kernel::gemm(exec(), T(2), kernel::Operand<View>{a.view(), op_a},
               kernel::Operand<View>{b.view(), op_b}, T(-1), c.view());
  bool right = true;
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) {
      T sum = -number<T>(i, j, 3);
      for (Index l = 0; l < k; ++l)
        sum += T(2) * apply(op_a, ta ? a(l, i) : a(i, l)) * apply(op_b, tb ? b(j, l) : b(l, j));
      right = right && c(i, j) == sum;
    }
  CHECK(right);
  CHECK(c.padding_untouched());
}

/// trsm, or that of devices without one of a vendor's.
template <class T, class Layout, bool by_kernels = false>
void check_trsm(plinth::Side side, plinth::Uplo uplo, Op op, plinth::Diag diag, Index n,
                Index nrhs, T alpha) {
  INFO("alpha " << plinth::magnitude1(alpha) << ", " << plinth::to_char(side)
                << plinth::to_char(uplo) << plinth::to_char(op) << plinth::to_char(diag) << " n "
                << n << ", " << nrhs);
  const bool left = side == plinth::Side::left;
  // The triangle of op(A) that `uplo` names; the rest, and a unit diagonal, hold nonsense.
  const auto in_triangle = [&](Index i, Index j) {
    return i == j ? diag == plinth::Diag::non_unit : (uplo == plinth::Uplo::lower) == (i > j);
  };
  const auto entry = [&](Index i, Index j) {  // of op(A), of powers of two on the diagonal
    return i == j ? T(i % 2 == 0 ? 2 : -1) : number<T>(i, j, 4);
  };
  const Padded<T, Layout> a(n, n, [&](Index i, Index j) {
    const Index r = op == Op::none ? i : j, c = op == Op::none ? j : i;
    return in_triangle(r, c) ? apply(op, entry(r, c)) : T(1e6);
  });
  const auto x = [](Index i, Index j) { return number<T>(i, j, 5) * T(4); };
  const auto full = [&](Index i, Index j) {
    return in_triangle(i, j) ? entry(i, j) : T(i == j ? 1 : 0);
  };
  const Padded<T, Layout> b(left ? n : nrhs, left ? nrhs : n, [&](Index i, Index j) {
    T sum(0);
    for (Index l = 0; l < n; ++l) sum += left ? full(i, l) * x(l, j) : x(i, l) * full(l, j);
    return sum / alpha;
  });
  const kernel::Operand<kernel::MatrixView<T, Layout>> operand{a.view(), op};
  if constexpr (by_kernels) {
    kernel::trsm_by_kernels(exec(), side, uplo, diag, alpha, operand, b.view());
    exec().fence();
  } else {
    kernel::trsm(exec(), side, uplo, diag, alpha, operand, b.view());
  }
  bool right = true;
  for (Index i = 0; i < kernel::rows_of(b.view()); ++i)
    for (Index j = 0; j < kernel::cols_of(b.view()); ++j) right = right && b(i, j) == x(i, j);
  CHECK(right);
  CHECK(b.padding_untouched());
}

}  // namespace

TEMPLATE_TEST_CASE("gemm: every op, layout and shape", "[blas]", double, float,
                   Kokkos::complex<double>, Kokkos::complex<float>) {
  struct Shape {
    Index m, n, k;
  };
  constexpr Shape shapes[] = {
      {0, 3, 2}, {3, 0, 2},                                     // nothing to do
      {3, 2, 0},                                                // only the scaling by beta
      {1, 1, 1}, {5, 4, 3}, {17, 9, 12}, {6, 1, 4}, {1, 1, 7},  // a single column: gemv's way
      {1, 6, 4},                                                // a single row
  };
  for (const auto& s : shapes)
    for (const Op a : {Op::none, Op::transpose, Op::conj_transpose})
      for (const Op b : {Op::none, Op::transpose, Op::conj_transpose}) {
        check_gemm<TestType, LayoutRight>(s.m, s.n, s.k, a, b);
        check_gemm<TestType, LayoutLeft>(s.m, s.n, s.k, a, b);
      }
}

TEMPLATE_TEST_CASE("trsm: every side, triangle, op and layout", "[blas]", double, float,
                   Kokkos::complex<double>, Kokkos::complex<float>) {
  for (const plinth::Side side : {plinth::Side::left, plinth::Side::right})
    for (const plinth::Uplo uplo : {plinth::Uplo::lower, plinth::Uplo::upper})
      for (const Op op : {Op::none, Op::transpose, Op::conj_transpose})
        for (const plinth::Diag diag : {plinth::Diag::unit, plinth::Diag::non_unit})
          for (const auto& [n, nrhs] : {std::pair<Index, Index>{1, 1},
                                        {4, 3},
                                        {5, 1},
                                        {3, 0},
                                        {7, 9},
                                        {32, 64},
                                        {33, 9},
                                        {45, 70},
                                        {97, 33}}) {
            for (const TestType alpha : {TestType(1), TestType(2)}) {
              check_trsm<TestType, LayoutRight>(side, uplo, op, diag, n, nrhs, alpha);
              check_trsm<TestType, LayoutLeft>(side, uplo, op, diag, n, nrhs, alpha);
              check_trsm<TestType, LayoutRight, true>(side, uplo, op, diag, n, nrhs, alpha);
              check_trsm<TestType, LayoutLeft, true>(side, uplo, op, diag, n, nrhs, alpha);
            }
          }
}

TEMPLATE_TEST_CASE("small triangles: every instruction set, and columns on their own", "[blas]",
                   double, float) {
  using T = TestType;
  for (const plinth::Isa isa : {plinth::Isa::portable, plinth::Isa::avx2, plinth::Isa::avx512}) {
    if (!plinth::is_available(isa)) continue;
    for (const Index n : {1, 3, 4, 31, 32})
      for (const Index vectors : {1, 31, 64, 130}) {
        INFO(plinth::to_string(isa) << ", n " << n << ", " << vectors);
        std::vector<T> a(static_cast<std::size_t>(n * n)), b, alone;
        for (Index i = 0; i < n; ++i)
          for (Index j = 0; j < n; ++j)
            a[static_cast<std::size_t>(i * n + j)] = i == j ? T(3) + T(i)
                                                     : j < i
                                                         ? T(1) / T(2 + i + j)
                                                         : std::numeric_limits<T>::quiet_NaN();
        for (Index q = 0; q < n * vectors; ++q) b.push_back(T(1) / T(q % 17 + 1));
        alone = b;
        const kernel::Strided<const T> triangle{a.data(), n, 1};
        const auto solve = [&](T* rhs, Index count) {
          kernel::solve_base(exec().space(), plinth::Uplo::lower, plinth::Diag::non_unit, triangle,
                             n, kernel::Strided<T>{rhs, vectors, 1}, count, kernel::Threads::all,
                             isa);
        };
        const std::vector<T> before = b;
        solve(b.data(), vectors);
        for (Index v = 0; v < vectors; ++v) solve(alone.data() + v, 1);
        CHECK(b == alone);
        // Right-hand sides as lines, as for a triangle on the right.
        std::vector<T> lines(b.size());
        const auto at = [&](Index i, Index v) -> T& {
          return lines[static_cast<std::size_t>(v * n + i)];
        };
        for (Index i = 0; i < n; ++i)
          for (Index v = 0; v < vectors; ++v)
            at(i, v) = before[static_cast<std::size_t>(i * vectors + v)];
        kernel::solve_base(exec().space(), plinth::Uplo::lower, plinth::Diag::non_unit, triangle,
                           n, kernel::Strided<T>{lines.data(), 1, n}, vectors,
                           kernel::Threads::this_one, isa);
        std::size_t same = 0;
        for (Index i = 0; i < n; ++i)
          for (Index v = 0; v < vectors; ++v)
            same += at(i, v) == b[static_cast<std::size_t>(i * vectors + v)] ? 1u : 0u;
        CHECK(same == b.size());
        T worst(0);
        for (Index i = 0; i < n; ++i)
          for (Index v = 0; v < vectors; ++v) {
            T sum(0);
            for (Index j = 0; j <= i; ++j)
              sum += a[static_cast<std::size_t>(i * n + j)] *
                     b[static_cast<std::size_t>(j * vectors + v)];
            worst = std::max(worst,
                             std::abs(sum - before[static_cast<std::size_t>(i * vectors + v)]));
          }
        CHECK(worst <= T(8) * std::numeric_limits<T>::epsilon());
      }
  }
}

TEMPLATE_TEST_CASE("tiles are transposed by every instruction set", "[blas]", float, double,
                   Kokkos::complex<double>) {
  using T = TestType;
  for (const plinth::Isa isa : {plinth::Isa::portable, plinth::Isa::avx2, plinth::Isa::avx512}) {
    if (!plinth::is_available(isa)) continue;
    for (const Index rows : {1, 7, 16, 33})
      for (const Index cols : {1, 8, 19, 32})
        for (const bool backwards :
             {false, true}) {  // rows of the target from the last to the first
          INFO(plinth::to_string(isa) << ", " << rows << " x " << cols << ", " << backwards);
          const Padded<T, LayoutRight> from(rows, cols,
                                            [](Index i, Index j) { return T(i * 100 + j); });
          const Padded<T, LayoutRight> to(cols, rows, [](Index, Index) { return T(-1); });
          const Index lead = kernel::leading_dimension(to.view());
          kernel::transpose_tile_host(isa, static_cast<const T*>(from.view().data()),
                                      kernel::leading_dimension(from.view()),
                                      to.view().data() + (backwards ? (cols - 1) * lead : 0),
                                      backwards ? -lead : lead, rows, cols);
          bool right = true;
          for (Index i = 0; i < rows; ++i)
            for (Index j = 0; j < cols; ++j)
              right = right && to(backwards ? cols - 1 - j : j, i) == T(i * 100 + j);
          CHECK(right);
          CHECK(to.padding_untouched());
        }
  }
}

TEMPLATE_TEST_CASE("a pivot without a reciprocal divides, a zero one gives no number", "[blas]",
                   double, float) {
  using T = TestType;
  const Index n = 5, vectors = 12;
  const T tiny = std::numeric_limits<T>::denorm_min() * T(4);
  const Padded<T, LayoutRight> a(n, n, [&](Index i, Index j) {
    return i != j ? T(0) : i == 2 ? tiny : T(1);
  });
  const Padded<T, LayoutRight> b(
      n, vectors, [&](Index i, Index j) { return T(j + 1) * (i == 2 ? tiny : T(1)); });
  using View = kernel::MatrixView<T, LayoutRight>;
  const auto solve = [&] {
    kernel::trsm(exec(), plinth::Side::left, plinth::Uplo::lower, plinth::Diag::non_unit, T(1),
                 kernel::Operand<View>{a.view()}, b.view());
  };
  solve();
  bool right = true;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < vectors; ++j) right = right && b(i, j) == T(j + 1);
  CHECK(right);
  a.view()(2, 2) = T(0);
  solve();
  CHECK_FALSE(plinth::is_finite(b(2, 0)));
  CHECK(b(1, 0) == T(1));
}

TEST_CASE("single columns go to gemv with unit strides too", "[blas]") {
  // A LayoutRight column is contiguous only if its leading dimension is 1.
  using View = kernel::MatrixView<double, LayoutRight>;
  const Index m = 7, k = 5;
  const Padded<double, LayoutRight> a(m, k,
                                      [](Index i, Index j) { return number<double>(i, j); });
  std::vector<double> x(static_cast<std::size_t>(k)), y(static_cast<std::size_t>(m), 1.0);
  for (Index j = 0; j < k; ++j) x[static_cast<std::size_t>(j)] = number<double>(j, 1);
  kernel::gemm(exec(), 1.0, kernel::Operand<View>{a.view()},
               kernel::wrap<LayoutRight, Kokkos::HostSpace>(x.data(), k, 1, 1), 1.0,
               kernel::wrap<LayoutRight, Kokkos::HostSpace>(y.data(), m, 1, 1));
  for (Index i = 0; i < m; ++i) {
    double sum = 1;
    for (Index j = 0; j < k; ++j) sum += a(i, j) * x[static_cast<std::size_t>(j)];
    CHECK(y[static_cast<std::size_t>(i)] == sum);
  }
}

TEST_CASE("ops on operands", "[blas]") {
  using Real = kernel::Operand<kernel::MatrixView<double, LayoutRight>>;
  using Complex = kernel::Operand<kernel::MatrixView<Kokkos::complex<double>, LayoutRight>>;
  CHECK(kernel::apply(Op::none, Real{{}, Op::transpose}).op == Op::transpose);
  CHECK(kernel::apply(Op::transpose, Real{}).op == Op::transpose);
  CHECK(kernel::apply(Op::transpose, Real{{}, Op::transpose}).op == Op::none);
  CHECK(kernel::apply(Op::conj_transpose, Real{{}, Op::transpose}).op == Op::none);
  CHECK(kernel::apply(Op::conj_transpose, Complex{{}, Op::conj_transpose}).op == Op::none);
  CHECK_THROWS_AS(kernel::apply(Op::conj_transpose, Complex{{}, Op::transpose}), plinth::Error);
}

TEST_CASE("sizes that a BLAS cannot count are refused", "[blas]") {
  const Index large = Index(1) << 31;
  const auto view =
      kernel::wrap<LayoutRight, Kokkos::HostSpace>(static_cast<double*>(nullptr), 0, 1, large);
  CHECK_THROWS_WITH(kernel::require_blas_range(kernel::wrap<LayoutLeft, Kokkos::HostSpace>(
                        static_cast<double*>(nullptr), 1, large, 1)),
                    plinth_test::contains("columns"));
  CHECK_NOTHROW(kernel::rows_of(view));
}

TEMPLATE_TEST_CASE("views: wrapping, parts, leading dimensions", "[view]", LayoutRight,
                   LayoutLeft) {
  std::vector<double> data(60);
  for (std::size_t e = 0; e < data.size(); ++e) data[e] = static_cast<double>(e);
  const bool row_major = kernel::is_row_major<TestType>;
  const auto a = kernel::wrap<TestType, Kokkos::HostSpace>(data.data(), 4, 5, 9);
  CHECK(kernel::rows_of(a) == 4);
  CHECK(kernel::cols_of(a) == 5);
  CHECK(kernel::leading_dimension(a) == 9);
  CHECK(a(2, 3) == (row_major ? 2 * 9 + 3 : 2 + 3 * 9));
  const auto p = kernel::part(a, {1, 4}, {2, 4});
  CHECK(kernel::rows_of(p) == 3);
  CHECK(kernel::cols_of(p) == 2);
  CHECK(kernel::leading_dimension(p) == 9);
  CHECK(p(1, 1) == a(2, 3));
  CHECK(kernel::rows_of(kernel::part(a, {4, 4}, {0, 5})) == 0);
  // Column-major data takes part in products of either layout.
  const auto op = kernel::column_major<TestType, Kokkos::HostSpace>(data.data(), 4, 5, 9);
  CHECK((op.op == Op::transpose) == row_major);
  CHECK((row_major ? op.view(3, 2) : op.view(2, 3)) == 2 + 3 * 9);
}

TEMPLATE_TEST_CASE("copies: fill, convert, gather, scatter, swap", "[copy]", LayoutRight,
                   LayoutLeft) {
  using M = Padded<double, TestType>;
  // Wider and taller than a piece of host work (512).
  for (const auto& [m, n] :
       {std::pair<Index, Index>{0, 3}, {3, 0}, {1, 1}, {7, 5}, {9, 1030}, {1030, 9}}) {
    INFO(m << "x" << n);
    const auto f = [](Index i, Index j) { return static_cast<double>(i * 2000 + j) + 0.5; };
    const M a(m, n, f);
    const M b(m, n, [](Index, Index) { return 0.0; });
    const auto same = [&, rows = m, cols = n](const auto& left, const auto& right) {
      for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < cols; ++j)
          if (left(i, j) != right(i, j)) return false;
      return true;
    };
    kernel::copy(exec(), a.view(), b.view());
    exec().fence();
    CHECK(same(a, b));
    CHECK(b.padding_untouched());
    const Padded<float, TestType> single(m, n, [](Index, Index) { return 0.0f; });
    kernel::copy(exec(), a.view(), single.view());
    exec().fence();
    CHECK(same(single, [&](Index i, Index j) { return static_cast<float>(f(i, j)); }));
    kernel::fill(exec(), b.view(), 3.0);
    exec().fence();
    CHECK(same(b, [](Index, Index) { return 3.0; }));
    CHECK(b.padding_untouched());
    if (m < 7) continue;

    const std::vector<Index> rows{5, 0, 6};
    const M taken(3, n, [](Index, Index) { return 0.0; });
    kernel::gather_rows(exec(), rows.data(), 3, a.view(), taken.view());
    kernel::scatter_rows(exec(), rows.data(), 3, taken.view(), b.view());
    exec().fence();
    CHECK(same(b, [&](Index i, Index j) { return i == 5 || i == 0 || i == 6 ? f(i, j) : 3.0; }));

    // Exchanges in a row: what came to 2 goes on to 6.
    const std::vector<Index> upper{0, 2, 2}, lower{2, 6, 2};
    kernel::swap_rows(exec(), upper.data(), lower.data(), 3, a.view());
    exec().fence();
    CHECK(same(a, [&](Index i, Index j) {
      return f(i == 0 ? 2 : i == 2 ? 6 : i == 6 ? 0 : i, j);
    }));
    CHECK(a.padding_untouched());
  }
}

TEMPLATE_TEST_CASE("transposition", "[copy]", double, float, Kokkos::complex<double>) {
  using T = TestType;
  for (const auto& [m, n] :
       {std::pair<Index, Index>{0, 4}, {1, 1}, {3, 40}, {8, 8}, {16, 16}, {33, 17}, {100, 24}}) {
    INFO(m << "x" << n);
    const Padded<T, LayoutRight> from(
        m, n, [](Index i, Index j) { return T(static_cast<float>(1000 * i + j)); });
    const Padded<T, LayoutRight> to(n, m, [](Index, Index) { return T(0); });
    kernel::transpose(exec(), from.view(), to.view());
    exec().fence();
    bool right = true;
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) right = right && to(j, i) == from(i, j);
    CHECK(right);
    CHECK(to.padding_untouched());
  }
}

TEST_CASE("buffers grow and never shrink", "[buffer]") {
  kernel::Buffer<double> buffer;
  CHECK(buffer.size() == 0);
  buffer.reserve(10);
  double* const data = buffer.data();
  buffer.reserve(5);
  CHECK(buffer.size() == 10);
  CHECK(buffer.data() == data);
  buffer.reserve(20);
  CHECK(buffer.size() == 20);
  kernel::Staged<int, plinth::HostExecution<>> staged(4);
  CHECK(staged.host() == staged.device());  // one buffer where the host may touch it
}
