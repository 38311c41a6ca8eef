// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "plinth/core/error.hpp"
#include "plinth/kernel/lowp/device_gemm.hpp"
#include "plinth/kernel/lowp/kernels.hpp"
#include "plinth/kernel/lowp/multiply.hpp"
#include "plinth/kernel/lowp/pack.hpp"

namespace plinth::kernel::lowp {

/// The micro-kernels that a space runs, the fastest of each accumulation last: those of the CPU, or
/// the one that a device has.
template <Scalar16 T, class Space>
std::vector<MicroKernel> kernels_of() {
  if constexpr (runs_on_host<Space>) {
    return available_kernels<T>();
  } else {
    return {vendor_kernel<T>()};
  }
}
/// The fastest of them; on a device sums are floats.
template <Scalar16 T, class Space>
MicroKernel best_kernel_of(Accumulate accumulate) {
  if constexpr (runs_on_host<Space>) {
    return best_kernel<T>(accumulate);
  } else {
    return vendor_kernel<T>();
  }
}

/// How the lines of C lie.
enum class Order { row_major, column_major };

/// One kind of product C += alpha A B of 16-bit operands T: A is m x k, B is k x n, C is m x n.
/// Says how A and B are packed for it. Everyone who packs for a product and everyone who
/// multiplies uses the same kernel and order.
template <Scalar16 T>
struct GemmSetup {
  MicroKernel kernel = best_kernel<T>();
  Order order = Order::row_major;
  Index flush_k = 0;  ///< sums in half go to a float every so many k; 0: at the end of a block
  CacheSizes caches = cache_sizes();

  bool is_row_major() const { return order == Order::row_major; }
  PackedFormat a_format(Index k) const {
    return {is_row_major() ? kernel.broadcast_width : kernel.vector_width, k};
  }
  PackedFormat b_format(Index k) const {
    return {is_row_major() ? kernel.vector_width : kernel.broadcast_width, k};
  }
};

/// Memory for the slivers that threads prepare. Grows when asked, never shrinks.
class Workspace {
 public:
  /// Room for products of k up to `k` on so many threads.
  template <Scalar16 T>
  void reserve(const GemmSetup<T>& setup, Index k, Index threads) {
    reserve(per_thread(setup, k) * threads);
  }
  /// Bytes per thread, whole lines of a cache. (Short k have longer blocks, so the most that any
  /// k up to this one needs is half of each cache, or one sliver.)
  template <Scalar16 T>
  static Index per_thread(const GemmSetup<T>& setup, Index k) {
    const MicroKernel& kernel = setup.kernel;
    const Blocking blocking = Blocking::of(kernel, k, setup.caches);
    const Index whole = setup.caches.second / 2 + setup.caches.first;
    const Index least = workspace_bytes(kernel, {blocking.pairs, 1});
    if (kernel.vector.run == nullptr && kernel.broadcast.run == nullptr) return 0;
    return ceil_div(std::max(whole, least + setup.caches.first), 64) * 64;
  }
  void reserve(Index bytes) {
    if (bytes <= bytes_) return;
    memory_.reset();
    memory_.reset(static_cast<std::byte*>(
        ::operator new(static_cast<std::size_t>(bytes), std::align_val_t(64))));
    bytes_ = bytes;
  }
  std::byte* data() const { return memory_.get(); }
  Index bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t(64)); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  Index bytes_ = 0;
};

/// Part `part` of `parts` nearly equal ones of [0, count).
constexpr Range even_part(Index count, Index part, Index parts) {
  return {count * part / parts, count * (part + 1) / parts};
}

/// What products on a space work with.
template <class Space>
struct WorkspaceOf {
  using type = Workspace;
};
template <class Space>
  requires(!runs_on_host<Space>)
struct WorkspaceOf<Space> {
  using type = VendorBlas<Space>;
};

/// Packs all of `x` with the threads of a host space; see pack().
template <class Space, Scalar16 T, PackableScalar S>
NarrowingCounts pack_slivers(const Space& space, const PackedFormat& format,
                             const PackSource<S>& x, T* out) {
  const Index slivers = format.slivers(x.n);
  const Index parts = std::clamp<Index>(space.concurrency(), 1, std::max<Index>(slivers, 1));
  if (parts == 1) return pack(format, x, {0, slivers}, out);
  std::vector<NarrowingCounts> counts(static_cast<std::size_t>(parts));
  NarrowingCounts* const each = counts.data();
  Kokkos::parallel_for(
      "plinth::lowp::pack", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, parts),
      [=](Index part) { each[part] = pack(format, x, even_part(slivers, part, parts), out); });
  space.fence();
  NarrowingCounts all;
  for (const NarrowingCounts& c : counts) all += c;
  return all;
}

/// Packs all of `x` by kernels of `space`; on a device width is 1.
template <class Space, Scalar16 T, PackableScalar S>
NarrowingCounts pack(const Space& space, const PackedFormat& format, const PackSource<S>& x,
                     T* out) {
  if constexpr (!runs_on_host<Space>) {
    require(format.width == 1, "pack: a device has plain operands");
    return pack_plain(space, format.k, x, out);
  } else {
    return pack_slivers(space, format, x, out);
  }
}

/// Packs A (m x k) or B (k x n): entry (i, j) at data[i row_stride + j col_stride], one stride 1.
template <class Space, Scalar16 T, PackableScalar S>
NarrowingCounts pack_a(const Space& space, const GemmSetup<T>& setup, Index m, Index k,
                       const S* data, Index row_stride, Index col_stride, T* out,
                       decltype(PackSource<S>::scale) scale = 1) {
  return pack(space, setup.a_format(k), PackSource<S>{data, m, row_stride, col_stride, scale},
              out);
}
template <class Space, Scalar16 T, PackableScalar S>
NarrowingCounts pack_b(const Space& space, const GemmSetup<T>& setup, Index k, Index n,
                       const S* data, Index row_stride, Index col_stride, T* out,
                       decltype(PackSource<S>::scale) scale = 1) {
  return pack(space, setup.b_format(k), PackSource<S>{data, n, col_stride, row_stride, scale},
              out);
}

/// How many parts a product's two sides are cut into for so many threads: the largest part is as
/// small as can be, and lines stay long.
inline GridShape part_grid(Index broadcast_slivers, Index vector_slivers, Index threads) {
  GridShape best;
  Index least = broadcast_slivers * vector_slivers;
  for (Index rows = std::min(threads, broadcast_slivers); rows >= 1; --rows) {
    const Index cols = std::min(threads / rows, vector_slivers);
    const Index largest = ceil_div(broadcast_slivers, rows) * ceil_div(vector_slivers, cols);
    if (largest < least) {
      least = largest;
      best = {static_cast<int>(rows), static_cast<int>(cols)};
    }
  }
  return best;
}

/// C += alpha A B on the threads of `space`, from packed operands (pack_a, pack_b with the same
/// setup). C is m x n in setup.order with leading dimension ldc, of float, half or bfloat16.
///
/// Sums are kept as setup.kernel says; alpha times the sum and C are added with one rounding to
/// float and, if C has 16 bits, one more, once per block of k (Blocking: several hundred k).
/// Inf and NaN in operands and C propagate. The result does not depend on the number of threads.
/// Preconditions: setup.kernel multiplies T; workspace reserved for k and the space's threads.
template <class Space, Scalar16 T, TileScalar C>
void gemm(const Space& space, const GemmSetup<T>& setup, Index m, Index n, Index k, float alpha,
          const T* a, const T* b, C* c, Index ldc, Workspace& workspace) {
  static_assert(Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible,
                "plinth: lowp::gemm runs on the host");
  const MicroKernel& kernel = setup.kernel;
  const bool rows = setup.is_row_major();
  require(kernel.template multiplies<T>(), "lowp::gemm: a micro-kernel for other operands");
  require(ldc >= (rows ? n : m), "lowp::gemm: leading dimension of C is too small");
  if (m <= 0 || n <= 0 || k <= 0) return;
  const PackedProduct<T, C> product{
      .kernel = kernel,
      .vector_count = rows ? n : m,
      .broadcast_count = rows ? m : n,
      .k = k,
      .alpha = alpha,
      .vector = rows ? b : a,
      .broadcast = rows ? a : b,
      .c = c,
      .line_stride = ldc,
      .flush_k = setup.flush_k,
  };
  const Index vector_slivers = ceil_div(product.vector_count, kernel.vector_width);
  const Index broadcast_slivers = ceil_div(product.broadcast_count, kernel.broadcast_width);
  const GridShape grid =
      part_grid(broadcast_slivers, vector_slivers, std::max<Index>(space.concurrency(), 1));
  const Blocking blocking = Blocking::of(kernel, k, setup.caches);
  const Index bytes = Workspace::per_thread(setup, k);
  workspace.reserve(bytes * grid.size());
  std::byte* const memory = workspace.data();
  const auto run_part = [=](Index part) {
    multiply(product, even_part(vector_slivers, part % grid.cols, grid.cols),
             even_part(broadcast_slivers, part / grid.cols, grid.rows), blocking,
             memory + part * bytes);
  };
  if (grid.size() == 1) return run_part(0);
  Kokkos::parallel_for(
      "plinth::lowp::gemm",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, grid.size()), run_part);
  space.fence();
}

/// The same in the queue of a device: operands of width 1, sums in float. May still run on return.
/// Errors: a dimension beyond an int's; what the vendor's library refuses.
template <class Space, Scalar16 T, TileScalar C>
void gemm(const Space& space, const GemmSetup<T>& setup, Index m, Index n, Index k, float alpha,
          const T* a, const T* b, C* c, Index ldc, VendorBlas<Space>& blas) {
  static_assert(std::same_as<C, T> || std::same_as<C, float>,
                "plinth: on a device C has the operands' type or is of floats");
  require(ldc >= (setup.is_row_major() ? n : m), "lowp::gemm: leading dimension of C is too small");
  if (m <= 0 || n <= 0 || k <= 0) return;
  blas.template multiply<T>(space, vendor_product(setup.is_row_major(), m, n, k, a, b, ldc),
                            alpha, c);
}

}  // namespace plinth::kernel::lowp
