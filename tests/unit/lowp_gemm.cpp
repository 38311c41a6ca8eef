// SPDX-License-Identifier: BSD-3-Clause
#include "plinth/kernel/lowp/gemm.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "plinth/core/scalar.hpp"
#include "support/catch.hpp"

using plinth::bfloat16;
using plinth::half;
using plinth::Index;
using plinth::ScalarTraits;
namespace lowp = plinth::kernel::lowp;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// A product and its operands: A row-major m x k, B row-major k x n, C as `order` says with a
/// leading dimension that is `padding` too large.
template <class T, class C>
struct Problem {
  Index m, n, k;
  lowp::Order order;
  Index padding;
  float alpha;
  std::vector<T> a, b;
  std::vector<C> c;

  Index ld() const { return (order == lowp::Order::row_major ? n : m) + padding; }
  std::size_t c_at(Index i, Index j) const {
    return at(order == lowp::Order::row_major ? i * ld() + j : i + j * ld());
  }
  template <class Value>
  static Problem make(Index m, Index n, Index k, lowp::Order order, float alpha,
                      const Value& value) {
    Problem p{m, n, k, order, 3, alpha, {}, {}, {}};
    for (Index i = 0; i < m * k; ++i) p.a.push_back(T(static_cast<float>(value())));
    for (Index i = 0; i < k * n; ++i) p.b.push_back(T(static_cast<float>(value())));
    const Index lines = order == lowp::Order::row_major ? m : n;
    for (Index i = 0; i < lines * p.ld(); ++i) p.c.push_back(C(static_cast<float>(value())));
    return p;
  }
  /// C after C += alpha A B; A is packed from columns where the order is column-major.
  std::vector<C> run(const lowp::GemmSetup<T>& setup) const {
    std::vector<T> packed_a(at(setup.a_format(k).size(m))),
        packed_b(at(setup.b_format(k).size(n)));
    const Space space;
    lowp::pack_a(space, setup, m, k, a.data(), k, 1, packed_a.data());
    lowp::pack_b(space, setup, k, n, b.data(), n, 1, packed_b.data());
    std::vector<C> result = c;
    lowp::Workspace workspace;
    lowp::gemm(space, setup, m, n, k, alpha, packed_a.data(), packed_b.data(), result.data(),
               ld(), workspace);
    return result;
  }
};

/// Sum of |a_ik b_kj| and of a_ik b_kj, in double.
template <class T, class C>
std::pair<double, double> sums(const Problem<T, C>& p, Index i, Index j) {
  double magnitude = 0, sum = 0;
  for (Index l = 0; l < p.k; ++l) {
    const double term =
        static_cast<double>(p.a[at(i * p.k + l)]) * static_cast<double>(p.b[at(l * p.n + j)]);
    magnitude += std::fabs(term);
    sum += term;
  }
  return {magnitude, sum};
}

/// What rounding can do to c + alpha sum, where S = sum of the products' magnitudes. Products are
/// exact in float. With gamma(j) = j u / (1 - j u):
///   sums in float   at most k (or k + 1) additions, gamma(k + 1) S in all
///   sums in half    first f additions of half, f the pairs before a flush, gamma_half(f) S and
///                   2^-25 each below half's normal range; then the flushes in float
///   C               per block of k, alpha sum + c in at most two roundings to float, and one to
///   C
template <class T, class C>
double error_bound(const lowp::GemmSetup<T>& setup, const Problem<T, C>& p, double magnitude,
                   double c) {
  const auto gamma = [](double u, Index j) {
    const double ju = u * static_cast<double>(j);
    return ju / (1 - ju);
  };
  const lowp::Blocking blocking = lowp::Blocking::of(setup.kernel, p.k, setup.caches);
  const Index blocks = plinth::ceil_div(plinth::ceil_div(p.k, 2), blocking.pairs);
  const double alpha = std::fabs(static_cast<double>(p.alpha));
  double error = gamma(0x1p-24, p.k + 1) * magnitude;
  if (setup.kernel.accumulate == lowp::Accumulate::half) {
    const Index chunk = setup.flush_k > 0 ? setup.flush_k / 2 : blocking.pairs;
    error += gamma(0x1p-11, std::min(chunk, blocking.pairs)) * magnitude * (1 + 0x1p-10) +
             static_cast<double>(p.k + 1) * 0x1p-25;
  }
  const double size = c + alpha * (magnitude + error);
  double u = 0, tiny = 0;
  if constexpr (!std::is_same_v<C, float>) {
    u = ScalarTraits<C>::epsilon;
    tiny = ScalarTraits<C>::min_normal * u;
  }
  return alpha * error +
         static_cast<double>(blocks) * (size * (gamma(0x1p-24, 2) + u * (1 + 0x1p-7)) *
                                            std::pow(1 + u, static_cast<double>(blocks)) +
                                        tiny);
}

/// How many entries of C are further from the product than rounding explains, or, outside C, are
/// not what they were.
template <class T, class C>
Index wrong_entries(const lowp::GemmSetup<T>& setup, const Problem<T, C>& p) {
  const std::vector<C> result = p.run(setup);
  std::vector<bool> seen(result.size());
  Index wrong = 0;
  for (Index i = 0; i < p.m; ++i)
    for (Index j = 0; j < p.n; ++j) {
      const std::size_t here = p.c_at(i, j);
      seen[here] = true;
      const auto [magnitude, sum] = sums(p, i, j);
      const double before = static_cast<double>(p.c[here]);
      const double want = before + static_cast<double>(p.alpha) * sum;
      const double error = std::fabs(static_cast<double>(result[here]) - want);
      wrong += !(error <= error_bound(setup, p, magnitude, std::fabs(before)));
    }
  for (std::size_t i = 0; i < result.size(); ++i)
    wrong += !seen[i] && static_cast<float>(result[i]) != static_cast<float>(p.c[i]);
  return wrong;
}

/// f(setup) for every micro-kernel of this CPU, both orders, and flushes where they matter.
template <class T, class F>
void for_each_setup(const F& f) {
  for (const lowp::MicroKernel& kernel : lowp::available_kernels<T>())
    for (const lowp::Order order : {lowp::Order::row_major, lowp::Order::column_major}) {
      const bool in_half = kernel.accumulate == lowp::Accumulate::half;
      for (const Index flush : in_half ? std::vector<Index>{0, 2, 32} : std::vector<Index>{0}) {
        lowp::GemmSetup<T> setup;
        setup.kernel = kernel;
        setup.order = order;
        setup.flush_k = flush;
        f(setup);
      }
    }
}

/// Numbers from -1 to 1.
struct Uniform {
  std::shared_ptr<std::mt19937> random = std::make_shared<std::mt19937>(5);
  double operator()() const { return static_cast<double>((*random)() % 4001) / 2000.0 - 1.0; }
};

/// Integers from -3 to 3, so that every sum is exact.
struct Integers {
  std::shared_ptr<std::mt19937> random = std::make_shared<std::mt19937>(9);
  double operator()() const { return static_cast<double>((*random)() % 7) - 3.0; }
};

}  // namespace

TEMPLATE_TEST_CASE("packed products are right to rounding at ragged sizes", "[kernel][lowp]",
                   (std::tuple<half, float>), (std::tuple<half, half>),
                   (std::tuple<half, bfloat16>), (std::tuple<bfloat16, float>),
                   (std::tuple<bfloat16, half>), (std::tuple<bfloat16, bfloat16>)) {
  using T = std::tuple_element_t<0, TestType>;
  using C = std::tuple_element_t<1, TestType>;
  const Uniform value;
  for_each_setup<T>([&](const lowp::GemmSetup<T>& setup) {
    const Index v = setup.kernel.vector_width, b = setup.kernel.broadcast_width;
    const std::vector<std::tuple<Index, Index, Index>> shapes{
        {1, 1, 1},          // the least
        {2, 3, 5},          // less than any tile
        {b, v, 2},          // one tile, if row-major
        {v, b, 3},          // one tile, if column-major
        {b - 1, v - 1, 8},  // one short of it
        {b + 1, v + 1, 7},  // one more
        {2 * b + 3, 2 * v + 3, 31},
        {2 * v + 3, 2 * b + 3, 32},
        {3 * v + 1, 3 * v - 1, 33},
        {1, 2 * v + 3, 64},
        {2 * v + 3, 1, 65},
        {v / 2 + 1, v / 2, 130},
    };
    float alpha = -1;
    for (const auto& [m, n, k] : shapes) {
      CAPTURE(setup.kernel.name, setup.order == lowp::Order::row_major, setup.flush_k, m, n, k);
      const auto p = Problem<T, C>::make(m, n, k, setup.order, alpha, value);
      REQUIRE(wrong_entries(setup, p) == 0);
      alpha = alpha == -1 ? 1.0f : alpha == 1 ? 0.625f : -1.0f;
    }
  });
}

TEMPLATE_TEST_CASE("packed products are right to rounding over many blocks", "[kernel][lowp]",
                   (std::tuple<half, float>), (std::tuple<half, half>),
                   (std::tuple<bfloat16, float>), (std::tuple<bfloat16, bfloat16>)) {
  using T = std::tuple_element_t<0, TestType>;
  using C = std::tuple_element_t<1, TestType>;
  const Uniform value;
  for_each_setup<T>([&](const lowp::GemmSetup<T>& s) {
    lowp::GemmSetup<T> setup = s;
    const Index v = setup.kernel.vector_width, b = setup.kernel.broadcast_width;
    CAPTURE(setup.kernel.name, setup.order == lowp::Order::row_major, setup.flush_k);
    SECTION("a long k") {
      const auto p = Problem<T, C>::make(b + 2, v + 5, 3001, setup.order, -1, value);
      REQUIRE(wrong_entries(setup, p) == 0);
    }
    SECTION("caches of almost nothing: blocks of one sliver and of 128 k") {
      setup.caches = {1, 1};
      const auto p = Problem<T, C>::make(2 * v + 1, 3 * b + 1, 301, setup.order, 1, value);
      REQUIRE(lowp::Blocking::of(setup.kernel, p.k, setup.caches).vector_slivers == 1);
      REQUIRE(lowp::Blocking::of(setup.kernel, p.k, setup.caches).pairs < 80);
      REQUIRE(wrong_entries(setup, p) == 0);
    }
  });
}

TEMPLATE_TEST_CASE("packed products of small integers are exact", "[kernel][lowp]", half,
                   bfloat16) {
  const Integers value;
  for_each_setup<TestType>([&](const lowp::GemmSetup<TestType>& setup) {
    for (const Index k : {1, 6, 17, 200}) {
      const auto p = Problem<TestType, float>::make(37, 75, k, setup.order, -1.0f, value);
      const auto result = p.run(setup);
      Index wrong = 0;
      for (Index i = 0; i < p.m; ++i)
        for (Index j = 0; j < p.n; ++j)
          wrong += static_cast<double>(result[p.c_at(i, j)]) !=
                   static_cast<double>(p.c[p.c_at(i, j)]) - sums(p, i, j).second;
      CAPTURE(setup.kernel.name, k, setup.flush_k);
      REQUIRE(wrong == 0);
    }
  });
}

TEMPLATE_TEST_CASE("sums in float neither overflow early nor hide Inf and NaN", "[kernel][lowp]",
                   half, bfloat16) {
  const bool is_half = std::is_same_v<TestType, half>;
  const float large = is_half ? 65504.0f : 0x1p60f;
  for_each_setup<TestType>([&](const lowp::GemmSetup<TestType>& setup) {
    CAPTURE(setup.kernel.name, setup.order == lowp::Order::row_major);
    const Index m = 5, n = 40, k = 21;
    auto p = Problem<TestType, float>::make(m, n, k, setup.order, 1.0f, [] { return 1.0; });
    if (setup.kernel.accumulate == lowp::Accumulate::single) {
      for (TestType& x : p.a) x = TestType(large);
      for (TestType& x : p.b) x = TestType(large);
      const double want = static_cast<double>(k) * static_cast<double>(large) * large;
      for (const float x : p.run(setup))
        if (x != 1.0f) REQUIRE(std::fabs(static_cast<double>(x) - want) <= 1e-5 * want);
      // The same in a narrower C is infinite.
      auto narrow =
          Problem<TestType, half>::make(m, n, k, setup.order, -1.0f, [] { return 1.0; });
      narrow.a = p.a;
      narrow.b = p.b;
      const auto result = narrow.run(setup);
      REQUIRE(static_cast<float>(result[narrow.c_at(2, 7)]) ==
              -std::numeric_limits<float>::infinity());
    }
    for (TestType& x : p.a) x = TestType(0.5f);
    for (TestType& x : p.b) x = TestType(0.5f);
    const float inf = std::numeric_limits<float>::infinity();
    p.a[at(1 * k + k - 1)] = TestType(inf);      // row 1, last k (of a padded pair)
    p.a[at(3 * k)] = TestType(std::nanf(""));    // row 3
    p.b[at((k - 1) * n + 33)] = TestType(-inf);  // column 33
    const auto result = p.run(setup);
    int wrong = 0;
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        const float x = result[p.c_at(i, j)];
        if (i == 3)
          wrong += !plinth::is_nan(x);
        else if (j == 33)
          wrong += x != -inf;
        else
          wrong += x != (i == 1 ? inf : 1.0f + 0.25f * static_cast<float>(k));
      }
    REQUIRE(wrong == 0);
  });
}

TEMPLATE_TEST_CASE("a packed product has the same bits whoever computes which part",
                   "[kernel][lowp]", half, bfloat16) {
  const lowp::GemmSetup<TestType> setup;
  const Uniform value;
  const auto p = Problem<TestType, float>::make(100, 200, 90, setup.order, -1, value);
  const auto whole = p.run(setup);
  std::vector<TestType> a(at(setup.a_format(p.k).size(p.m))),
      b(at(setup.b_format(p.k).size(p.n)));
  lowp::pack(setup.a_format(p.k), lowp::PackSource<TestType>{p.a.data(), p.m, p.k, 1},
             {0, setup.a_format(p.k).slivers(p.m)}, a.data());
  lowp::pack(setup.b_format(p.k), lowp::PackSource<TestType>{p.b.data(), p.n, 1, p.n},
             {0, setup.b_format(p.k).slivers(p.n)}, b.data());
  std::vector<float> parts = p.c;
  lowp::Workspace workspace;
  workspace.reserve(setup, p.k, 1);
  const lowp::PackedProduct<TestType, float> product{
      setup.kernel, p.n,      p.m,          p.k,    p.alpha,
      b.data(),     a.data(), parts.data(), p.ld(), setup.flush_k};
  const auto blocking = lowp::Blocking::of(setup.kernel, p.k, setup.caches);
  for (Index v = 0; v < setup.b_format(p.k).slivers(p.n); ++v)
    for (Index s = 0; s < setup.a_format(p.k).slivers(p.m); ++s)
      lowp::multiply(product, {v, v + 1}, {s, s + 1}, blocking, workspace.data());
  REQUIRE(parts == whole);
}

TEST_CASE("nothing to do, and misuse, of packed products", "[kernel][lowp]") {
  lowp::GemmSetup<half> setup;
  lowp::Workspace workspace;
  const Space space;
  std::vector<half> a(1000, half(1.0f)), b(a);
  std::vector<float> c{7.0f};
  for (const auto& [m, n, k] : {std::tuple<Index, Index, Index>{0, 1, 1}, {1, 0, 1}, {1, 1, 0}})
    lowp::gemm(space, setup, m, n, k, 1.0f, a.data(), b.data(), c.data(), 1, workspace);
  REQUIRE(c[0] == 7.0f);
  REQUIRE_THROWS_AS(
      lowp::gemm(space, setup, 1, 2, 1, 1.0f, a.data(), b.data(), c.data(), 1, workspace),
      plinth::Error);
  setup.kernel = lowp::best_kernel<bfloat16>();
  REQUIRE_THROWS_AS(
      lowp::gemm(space, setup, 1, 1, 1, 1.0f, a.data(), b.data(), c.data(), 1, workspace),
      plinth::Error);
}

TEST_CASE("the best micro-kernel is one of those that sum as asked", "[kernel][lowp]") {
  using lowp::Accumulate;
  REQUIRE(lowp::best_kernel<half>().multiplies<half>());
  REQUIRE(lowp::best_kernel<bfloat16>().multiplies<bfloat16>());
  REQUIRE(lowp::best_kernel<half>().accumulate == Accumulate::single);
  REQUIRE(lowp::best_kernel<bfloat16>(Accumulate::half).accumulate == Accumulate::single);
  REQUIRE((lowp::best_kernel<half>(Accumulate::half).accumulate == Accumulate::half) ==
          lowp::has_half_arithmetic());
#if PLINTH_X86_KERNELS
  // A dot product of bfloat16 is no gain by itself.
  const std::string best = lowp::best_kernel<bfloat16>().name;
  if (best != "AMX-BF16" && plinth::cpu_features().avx512_bf16)
    REQUIRE(best == (plinth::cpu_features().fast_bf16_dot ? "AVX512-BF16" : "AVX-512"));
#endif
  for (const auto& kernel : lowp::available_kernels<half>()) {
    REQUIRE(kernel.vector_width <= lowp::max_width);
    REQUIRE(kernel.broadcast_width <= lowp::max_width);
  }
}

TEST_CASE("a product is cut into parts for its threads", "[kernel][lowp]") {
  REQUIRE(lowp::part_grid(10, 10, 1) == plinth::GridShape{1, 1});
  REQUIRE(lowp::part_grid(1, 1, 8) == plinth::GridShape{1, 1});
  REQUIRE(lowp::part_grid(1, 100, 8) == plinth::GridShape{1, 8});
  REQUIRE(lowp::part_grid(100, 1, 8) == plinth::GridShape{8, 1});
  const auto grid = lowp::part_grid(6, 4, 6);
  REQUIRE(plinth::ceil_div(6, grid.rows) * plinth::ceil_div(4, grid.cols) == 4);
}
