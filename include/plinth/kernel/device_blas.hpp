// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <KokkosKernels_config.h>

#include <Kokkos_Core.hpp>
#include <memory>
#include <string>
#include <type_traits>

#include "plinth/core/error.hpp"

#if defined(KOKKOS_ENABLE_CUDA) && defined(KOKKOSKERNELS_ENABLE_TPL_CUBLAS)
#include <cublas_v2.h>
#elif defined(KOKKOS_ENABLE_HIP) && defined(KOKKOSKERNELS_ENABLE_TPL_ROCBLAS)
#include <rocblas/rocblas.h>
#endif

namespace plinth::kernel {

/// A product as BLAS libraries have it, column-major: C += alpha X^T Y, C being m x n, X k x m and
/// Y k x n.
struct VendorProduct {
  int m, n, k;
  const void *x, *y;
  int ldx, ldy, ldc;
};

/// What Plinth calls in the BLAS that the vendor of a space's device has for it, by one set of
/// names. Empty where there is none, or Kokkos Kernels was built without it.
template <class Space>
struct VendorLibrary {};

#if defined(KOKKOS_ENABLE_CUDA) && defined(KOKKOSKERNELS_ENABLE_TPL_CUBLAS)

template <>
struct VendorLibrary<Kokkos::Cuda> {
  using Handle = cublasHandle_t;
  using Status = cublasStatus_t;
  using Type = cudaDataType_t;
  static constexpr const char *name = "cuBLAS", *platform = "CUDA";
  static constexpr Status success = CUBLAS_STATUS_SUCCESS;
  static constexpr Type half = CUDA_R_16F, bfloat16 = CUDA_R_16BF, single = CUDA_R_32F;

  static const char* text(Status status) { return cublasGetStatusString(status); }
  static Status create(Handle& handle) { return cublasCreate(&handle); }
  static void destroy(Handle handle) { cublasDestroy(handle); }
  static Status use_queue(Handle handle, const Kokkos::Cuda& space) {
    return cublasSetStream(handle, space.cuda_stream());
  }
  static Status gemm(Handle handle, const VendorProduct& p, Type xy, float alpha, void* c,
                     Type of_c) {
    const float one = 1;
    return cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, p.m, p.n, p.k, &alpha, p.x, xy, p.ldx,
                        p.y, xy, p.ldy, &one, c, of_c, p.ldc, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT);
  }
};

#elif defined(KOKKOS_ENABLE_HIP) && defined(KOKKOSKERNELS_ENABLE_TPL_ROCBLAS)

template <>
struct VendorLibrary<Kokkos::HIP> {
  using Handle = rocblas_handle;
  using Status = rocblas_status;
  using Type = rocblas_datatype;
  static constexpr const char *name = "rocBLAS", *platform = "ROCm";
  static constexpr Status success = rocblas_status_success;
  static constexpr Type half = rocblas_datatype_f16_r, bfloat16 = rocblas_datatype_bf16_r,
                        single = rocblas_datatype_f32_r;

  static const char* text(Status status) { return rocblas_status_to_string(status); }
  static Status create(Handle& handle) { return rocblas_create_handle(&handle); }
  static void destroy(Handle handle) { rocblas_destroy_handle(handle); }
  static Status use_queue(Handle handle, const Kokkos::HIP& space) {
    return rocblas_set_stream(handle, space.hip_stream());
  }
  static Status gemm(Handle handle, const VendorProduct& p, Type xy, float alpha, void* c,
                     Type of_c) {
    const float one = 1;
    return rocblas_gemm_ex(handle, rocblas_operation_transpose, rocblas_operation_none, p.m, p.n,
                           p.k, &alpha, p.x, xy, p.ldx, p.y, xy, p.ldy, &one, c, of_c, p.ldc, c,
                           of_c, p.ldc, single, rocblas_gemm_algo_standard, 0, 0);
  }
};

#endif

/// Whether there is one for a space.
template <class Space>
concept HasVendorLibrary = requires { typename VendorLibrary<Space>::Handle; };

/// A handle of the vendor's library, made when it is first asked for. Move-only.
/// Errors: what the library refuses, in its words.
template <HasVendorLibrary Space>
class VendorHandle {
 public:
  using Library = VendorLibrary<Space>;

  /// The handle, whose memory is the library's own affair.
  typename Library::Handle get() {
    if (!handle_) {
      typename Library::Handle handle = nullptr;
      require_success(Library::create(handle), "gives no handle");
      handle_.reset(handle);
    }
    return handle_.get();
  }
  /// An Error that says what the library did not do, unless it did.
  static void require_success(typename Library::Status status, const char* what) {
    if (status != Library::success)
      throw Error(std::string(Library::name) + " " + what + " (" + Library::text(status) + ")");
  }

 private:
  struct Destroy {
    void operator()(typename Library::Handle handle) const { Library::destroy(handle); }
  };
  std::unique_ptr<std::remove_pointer_t<typename Library::Handle>, Destroy> handle_;
};

/// Why the vendor's BLAS cannot work on the device of this process, and what to do about it; empty
/// where it can, or Kokkos Kernels has none. To be asked once Kokkos is at work, before the first
/// product: Kokkos Kernels makes a handle then, and ends the program where it gets none.
template <class Space = Kokkos::DefaultExecutionSpace>
std::string device_blas_problem() {
  if constexpr (HasVendorLibrary<Space>) {
    try {
      VendorHandle<Space>().get();
    } catch (const Error& error) {
      return std::string(error.message()) +
             ": see whether the device's memory is full, and whether the driver goes with this " +
             VendorLibrary<Space>::platform;
    }
  }
  return {};
}

}  // namespace plinth::kernel
