// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <memory>
#include <string>
#include <type_traits>

#include "plinth/core/error.hpp"
#include "plinth/core/float16.hpp"
#include "plinth/core/index.hpp"
#include "plinth/kernel/convert_elements.hpp"
#include "plinth/kernel/lowp/micro_kernel.hpp"
#include "plinth/kernel/lowp/pack.hpp"

#if defined(KOKKOS_ENABLE_CUDA)
#include <cublas_v2.h>
#elif defined(KOKKOS_ENABLE_HIP)
#include <rocblas/rocblas.h>
#endif

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

/// A product as BLAS libraries have it, column-major: C += alpha X^T Y, C being m x n, X k x m and
/// Y k x n.
struct VendorProduct {
  int m, n, k;
  const void *x, *y;
  int ldx, ldy, ldc;
};

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

/// What products on a device work with: a handle of the vendor's library. Move-only.
template <class Space>
class VendorBlas {
  static_assert(!std::same_as<Space, Space>,
                "plinth: a device multiplies 16-bit operands by cuBLAS or rocBLAS; Kokkos was "
                "built for neither");
};

/// An Error that names what failed, unless ok.
inline void require_vendor(bool ok, const char* call, int status) {
  if (!ok) throw Error(std::string(call) + " failed with status " + std::to_string(status));
}

#if defined(KOKKOS_ENABLE_CUDA)

/// Of cuBLAS.
template <>
class VendorBlas<Kokkos::Cuda> {
 public:
  /// Makes the handle, whose memory is the library's own affair.
  void prepare() {
    if (handle_) return;
    cublasHandle_t handle = nullptr;
    check(cublasCreate(&handle), "cublasCreate");
    handle_.reset(handle);
  }
  /// Starts the product in the queue of `space`, C being `c`.
  template <Scalar16 T, TileScalar C>
  void multiply(const Kokkos::Cuda& space, const VendorProduct& p, float alpha, C* c) {
    prepare();
    const float one = 1;
    check(cublasSetStream(handle_.get(), space.cuda_stream()), "cublasSetStream");
    check(cublasGemmEx(handle_.get(), CUBLAS_OP_T, CUBLAS_OP_N, p.m, p.n, p.k, &alpha, p.x,
                       type<T>, p.ldx, p.y, type<T>, p.ldy, &one, c, type<C>, p.ldc,
                       CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
  }

 private:
  template <class T>
  static constexpr cudaDataType_t type = std::same_as<T, half>       ? CUDA_R_16F
                                         : std::same_as<T, bfloat16> ? CUDA_R_16BF
                                                                     : CUDA_R_32F;
  static void check(cublasStatus_t status, const char* call) {
    require_vendor(status == CUBLAS_STATUS_SUCCESS, call, static_cast<int>(status));
  }
  struct Destroy {
    void operator()(cublasHandle_t handle) const { cublasDestroy(handle); }
  };
  std::unique_ptr<std::remove_pointer_t<cublasHandle_t>, Destroy> handle_;
};

#elif defined(KOKKOS_ENABLE_HIP)

/// Of rocBLAS.
template <>
class VendorBlas<Kokkos::HIP> {
 public:
  /// Makes the handle, whose memory is the library's own affair.
  void prepare() {
    if (handle_) return;
    rocblas_handle handle = nullptr;
    check(rocblas_create_handle(&handle), "rocblas_create_handle");
    handle_.reset(handle);
  }
  /// Starts the product in the queue of `space`, C being `c`.
  template <Scalar16 T, TileScalar C>
  void multiply(const Kokkos::HIP& space, const VendorProduct& p, float alpha, C* c) {
    prepare();
    const float one = 1;
    check(rocblas_set_stream(handle_.get(), space.hip_stream()), "rocblas_set_stream");
    check(rocblas_gemm_ex(handle_.get(), rocblas_operation_transpose, rocblas_operation_none, p.m,
                          p.n, p.k, &alpha, p.x, type<T>, p.ldx, p.y, type<T>, p.ldy, &one, c,
                          type<C>, p.ldc, c, type<C>, p.ldc, rocblas_datatype_f32_r,
                          rocblas_gemm_algo_standard, 0, 0),
          "rocblas_gemm_ex");
  }

 private:
  template <class T>
  static constexpr rocblas_datatype type = std::same_as<T, half>       ? rocblas_datatype_f16_r
                                           : std::same_as<T, bfloat16> ? rocblas_datatype_bf16_r
                                                                       : rocblas_datatype_f32_r;
  static void check(rocblas_status status, const char* call) {
    require_vendor(status == rocblas_status_success, call, static_cast<int>(status));
  }
  struct Destroy {
    void operator()(rocblas_handle handle) const { rocblas_destroy_handle(handle); }
  };
  std::unique_ptr<std::remove_pointer_t<rocblas_handle>, Destroy> handle_;
};

#endif

}  // namespace plinth::kernel::lowp
