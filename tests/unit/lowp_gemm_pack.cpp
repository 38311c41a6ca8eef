// SPDX-License-Identifier: BSD-3-Clause
#include <tuple>
#include <vector>

#include "plinth/kernel/lowp/gemm.hpp"
#include "support/catch.hpp"

using plinth::bfloat16;
using plinth::half;
using plinth::Index;
namespace lowp = plinth::kernel::lowp;

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Some number that identifies (i, k), exact in 8 bits.
float entry(Index i, Index k) { return static_cast<float>((i * 37 + k * 11) % 255 - 127); }

/// How many numbers of the packed form of X(i, k), i < n, are not where its definition says.
template <class T, class S>
Index misplaced(const lowp::PackedFormat& format, Index n, bool index_adjacent, float scale) {
  const Index ld = (index_adjacent ? n : format.k) + 2;
  const lowp::PackSource<S> unscaled{nullptr, n, index_adjacent ? 1 : ld,
                                     index_adjacent ? ld : 1};
  std::vector<S> x(at((index_adjacent ? format.k : n) * ld + 1), S(77.0f));
  for (Index i = 0; i < n; ++i)
    for (Index k = 0; k < format.k; ++k)
      x[at(i * unscaled.index_stride + k * unscaled.k_stride)] = S(entry(i, k));
  lowp::PackSource<S> source = unscaled;
  source.data = x.data();
  source.scale = scale;

  std::vector<T> out(at(format.size(n) + 1), T(5.0f));
  const Kokkos::DefaultHostExecutionSpace space;
  const auto counts = lowp::pack(space, format, source, out.data());
  Index wrong = counts == plinth::kernel::NarrowingCounts{} ? 0 : 1;
  wrong += out.back() != T(5.0f);
  for (Index s = 0; s < format.slivers(n); ++s)
    for (Index p = 0; p < format.pairs(); ++p)
      for (Index i = 0; i < format.width; ++i)
        for (Index e = 0; e < 2; ++e) {
          const Index index = s * format.width + i, k = 2 * p + e;
          const float want = index < n && k < format.k ? entry(index, k) * scale : 0.0f;
          const auto here = ((s * format.pairs() + p) * format.width + i) * 2 + e;
          wrong += static_cast<float>(out[at(here)]) != want;
        }
  return wrong;
}

}  // namespace

TEMPLATE_TEST_CASE("packing puts every number where the packed form has it", "[kernel][lowp]",
                   (std::tuple<half, half>), (std::tuple<half, bfloat16>),
                   (std::tuple<half, float>), (std::tuple<half, double>),
                   (std::tuple<bfloat16, half>), (std::tuple<bfloat16, bfloat16>),
                   (std::tuple<bfloat16, float>), (std::tuple<bfloat16, double>)) {
  using T = std::tuple_element_t<0, TestType>;
  using S = std::tuple_element_t<1, TestType>;
  for (const int width : {1, 4, 6, 12, 32, 64})
    for (const Index n : {1, width - 1, width, width + 1, 3 * width + 2, 700})
      for (const Index k : {0, 1, 2, 5, 64, 131})
        for (const bool index_adjacent : {true, false})
          for (const float scale : {1.0f, 0.25f}) {
            CAPTURE(width, n, k, index_adjacent, scale);
            REQUIRE(misplaced<T, S>({width, k}, n, index_adjacent, scale) == 0);
          }
}

TEST_CASE("packing counts what rounding lost, padding apart", "[kernel][lowp]") {
  // 3 x 5: per row one number that overflows, one that vanishes, one that becomes subnormal, a
  // zero, and one that is all right.
  const std::vector<double> row{1e9, 1e-12, 1e-5, 0.0, 1.0};
  std::vector<double> x;
  for (int i = 0; i < 3; ++i) x.insert(x.end(), row.begin(), row.end());
  const lowp::PackedFormat format{12, 5};
  std::vector<half> out(at(format.size(3)));
  const auto counts =
      lowp::pack(format, lowp::PackSource<double>{x.data(), 3, 5, 1}, {0, 1}, out.data());
  REQUIRE(counts == plinth::kernel::NarrowingCounts{3, 3, 3});
  const auto scaled = lowp::pack(format, lowp::PackSource<double>{x.data(), 3, 5, 1, 0x1p-15},
                                 {0, 1}, out.data());
  REQUIRE(scaled == plinth::kernel::NarrowingCounts{0, 6, 3});
}

TEST_CASE("what cannot be packed is refused", "[kernel][lowp]") {
  std::vector<half> x(100), out(1000);
  REQUIRE_THROWS_AS(lowp::pack(lowp::PackedFormat{4, 2},
                               lowp::PackSource<half>{x.data(), 2, 2, 7}, {0, 1}, out.data()),
                    plinth::Error);
  REQUIRE_THROWS_AS(lowp::pack(lowp::PackedFormat{65, 2},
                               lowp::PackSource<half>{x.data(), 2, 1, 2}, {0, 1}, out.data()),
                    plinth::Error);
}
