// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>

#include "plinth/core/float16.hpp"
#include "plinth/core/index.hpp"
#include "plinth/kernel/convert_elements.hpp"
#include "plinth/kernel/device_blas.hpp"
#include "plinth/kernel/lowp/micro_kernel.hpp"
#include "plinth/kernel/lowp/pack.hpp"

/// Products of 16-bit operands on a device, by the vendor's library. Operands are in packed form of
/// width 1 (micro_kernel.hpp), which is a plain one: the k of an index adjoin each other, filled up
/// to an even number with a zero.
namespace plinth::kernel::lowp {

/// What stands for a micro-kernel where a vendor's library multiplies: sums in float.
template <Scalar16 T>
MicroKernel vendor_kernel() {
  return {.name = "GemmEx",
          .is_half = std::same_as<T, half>,
          .accumulate = Accumulate::single,
          .vector_width = 1,
          .broadcast_width = 1,
          .vector = {},
          .broadcast = {},
          .run_float = nullptr,
          .run_half = nullptr,
          .run_bfloat16 = nullptr};
}

/// C += alpha A B (m x k, k x n) of plain operands. A row-major C is the transpose of what a
/// library sees. Errors: numbers that do not fit an int.
template <Scalar16 T>
VendorProduct vendor_product(bool row_major, Index m, Index n, Index k, const T* a, const T* b,
                             Index ldc) {
  const int lead = to_int(2 * PackedFormat{1, k}.pairs(), "leading dimension");
  const int rows = to_int(m, "rows"), cols = to_int(n, "columns");
  const int inner = to_int(k, "inner dimension"), c = to_int(ldc, "leading dimension");
  if (row_major) return {cols, rows, inner, b, a, lead, lead, c};
  return {rows, cols, inner, a, b, lead, lead, c};
}

/// pack() for width 1 by kernels of any space, an element a work item. Done on return.
template <class Space, Scalar16 T, PackableScalar S>
NarrowingCounts pack_plain(const Space& space, Index k, const PackSource<S>& x, T* out) {
  using Convert = Conversion<S, T>;
  const Index lead = 2 * PackedFormat{1, k}.pairs(), count = x.n;
  const Index index_stride = x.index_stride, k_stride = x.k_stride;
  const S* const data = x.data;
  const auto scale = static_cast<double>(x.scale);
  NarrowingCounts lost;
  if (count == 0 || k == 0) return lost;
  // Neighbouring work items read neighbouring numbers.
  const bool along_k = k_stride == 1;
  Kokkos::parallel_reduce(
      "plinth::lowp::pack_plain",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, count * lead),
      KOKKOS_LAMBDA(const Index item, Index& overflowed, Index& flushed, Index& subnormal) {
        const Index i = along_k ? item / lead : item % count;
        const Index q = along_k ? item % lead : item / count;
        const S before = q < k ? data[i * index_stride + q * k_stride] : S(0.0f);
        const T after = Convert::of(before, scale);
        out[i * lead + q] = after;
        overflowed += Convert::overflows(before, after) ? 1 : 0;
        flushed += Convert::is_flushed(before, after) ? 1 : 0;
        subnormal += Convert::is_subnormal(after) ? 1 : 0;
      },
      lost.overflowed, lost.flushed, lost.subnormal);
  if (std::same_as<S, T> && scale == 1) return {};
  return lost;
}

/// What products on a device work with: the vendor's library. Move-only.
template <class Space>
class VendorBlas {
  static_assert(HasVendorLibrary<Space>,
                "plinth: a device multiplies 16-bit operands by cuBLAS or rocBLAS; Kokkos Kernels "
                "was built with neither");

 public:
  /// Makes what the first product would make otherwise.
  void prepare() { handle_.get(); }
  /// Starts the product in the queue of `space`, C being `c`.
  template <Scalar16 T, TileScalar C>
  void multiply(const Space& space, const VendorProduct& p, float alpha, C* c) {
    Handle::require_success(Library::use_queue(handle_.get(), space), "takes no queue");
    Handle::require_success(Library::gemm(handle_.get(), p, type<T>, alpha, c, type<C>),
                            "does not multiply");
  }

 private:
  using Handle = VendorHandle<Space>;
  using Library = VendorLibrary<Space>;
  template <class T>
  static constexpr auto type = std::same_as<T, half>       ? Library::half
                               : std::same_as<T, bfloat16> ? Library::bfloat16
                                                           : Library::single;
  Handle handle_;
};

}  // namespace plinth::kernel::lowp
