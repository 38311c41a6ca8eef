// SPDX-License-Identifier: BSD-3-Clause
//
// Products of 16-bit operands as a vendor's library on a device gets them: how operands are packed,
// and what the library is asked for.
#include "plinth/kernel/lowp/device_gemm.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "plinth/kernel/lowp/gemm.hpp"
#include "support/catch.hpp"

using plinth::bfloat16;
using plinth::half;
using plinth::Index;
namespace lowp = plinth::kernel::lowp;

namespace {

float entry(Index i, Index k) { return std::sin(static_cast<float>(5 * i + 3 * k)); }

/// What a BLAS library does with these arguments: all matrices column-major.
template <class T, class C>
void multiply(const plinth::kernel::VendorProduct& p, float alpha, C* c) {
  const auto* const x = static_cast<const T*>(p.x);
  const auto* const y = static_cast<const T*>(p.y);
  for (int i = 0; i < p.m; ++i)
    for (int j = 0; j < p.n; ++j) {
      float sum = 0;
      for (int k = 0; k < p.k; ++k)
        sum += static_cast<float>(x[k + i * p.ldx]) * static_cast<float>(y[k + j * p.ldy]);
      C& element = c[i + j * p.ldc];
      element = C(static_cast<float>(element) + alpha * sum);
    }
}

}  // namespace

TEMPLATE_TEST_CASE("Operands for a device are packed plainly, by any kernels alike",
                   "[kernel][lowp]", half, bfloat16) {
  using T = TestType;
  const Kokkos::DefaultHostExecutionSpace space;
  for (const Index n : {1, 5, 70})
    for (const Index k : {1, 2, 33, 130})
      for (const bool k_adjoin : {false, true}) {
        INFO("n " << n << ", k " << k << ", k adjoin " << k_adjoin);
        std::vector<float> x(static_cast<std::size_t>(n * k));
        const Index index_stride = k_adjoin ? k : 1, k_stride = k_adjoin ? 1 : n;
        for (Index i = 0; i < n; ++i)
          for (Index q = 0; q < k; ++q)
            x[static_cast<std::size_t>(i * index_stride + q * k_stride)] =
                (i + q) % 11 == 3 ? 1e-9f : (i + q) % 11 == 4 ? 1e-6f : 3e4f * entry(i, q);
        const lowp::PackSource<float> source{x.data(), n, index_stride, k_stride, 4.0f};
        const lowp::PackedFormat format{1, k};
        std::vector<T> by_host(static_cast<std::size_t>(format.size(n)), T(7.0f));
        std::vector<T> by_elements(by_host);
        const auto lost = lowp::pack_slivers(space, format, source, by_host.data());
        CHECK(lowp::pack_plain(space, k, source, by_elements.data()) == lost);
        Index wrong = 0;
        for (Index i = 0; i < n; ++i)
          for (Index q = 0; q < 2 * format.pairs(); ++q) {
            const auto at = static_cast<std::size_t>(i * 2 * format.pairs() + q);
            const float whole =
                q < k ? x[static_cast<std::size_t>(i * index_stride + q * k_stride)] : 0.0f;
            wrong += by_host[at] != T(4 * whole) || by_elements[at] != T(4 * whole);
          }
        CHECK(wrong == 0);
      }
}

TEMPLATE_TEST_CASE("What a vendor's library is asked for is the product", "[kernel][lowp]", half,
                   bfloat16) {
  using T = TestType;
  const Kokkos::DefaultHostExecutionSpace space;
  lowp::GemmSetup<T> setup;
  setup.kernel = lowp::vendor_kernel<T>();
  CHECK(setup.kernel.template multiplies<T>());
  for (const auto order : {lowp::Order::row_major, lowp::Order::column_major})
    for (const Index k : {1, 6, 17}) {
      const Index m = 9, n = 14;
      setup.order = order;
      const bool by_rows = setup.is_row_major();
      INFO("row-major " << by_rows << ", k " << k);
      std::vector<float> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
      for (Index i = 0; i < m; ++i)
        for (Index q = 0; q < k; ++q) a[static_cast<std::size_t>(i * k + q)] = entry(i, q);
      for (Index q = 0; q < k; ++q)
        for (Index j = 0; j < n; ++j) b[static_cast<std::size_t>(q * n + j)] = entry(j + 50, q);
      std::vector<T> packed_a(static_cast<std::size_t>(setup.a_format(k).size(m)));
      std::vector<T> packed_b(static_cast<std::size_t>(setup.b_format(k).size(n)));
      (void)lowp::pack_a(space, setup, m, k, a.data(), k, 1, packed_a.data());
      (void)lowp::pack_b(space, setup, k, n, b.data(), n, 1, packed_b.data());
      const Index ldc = (by_rows ? n : m) + 3;
      std::vector<float> c(static_cast<std::size_t>(ldc * (by_rows ? m : n)), 2.0f);
      multiply<T>(lowp::vendor_product(by_rows, m, n, k, packed_a.data(), packed_b.data(), ldc),
                  -0.5f, c.data());
      double most = 0;
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < n; ++j) {
          double wanted = 2;
          for (Index q = 0; q < k; ++q)
            wanted -= 0.5 * static_cast<double>(T(entry(i, q))) *
                      static_cast<double>(T(entry(j + 50, q)));
          const auto at = static_cast<std::size_t>(by_rows ? i * ldc + j : i + j * ldc);
          most = std::max(most, std::abs(static_cast<double>(c[at]) - wanted));
        }
      CHECK(most < 1e-5);
      CHECK(c.back() == 2.0f);  // between the lines
    }
  CHECK_THROWS_AS(lowp::vendor_product<T>(true, Index(1) << 32, 1, 1, nullptr, nullptr, 1),
                  plinth::Error);
}
