// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <KokkosKernels_config.h>

#include <Kokkos_Core.hpp>
#include <string>

#if defined(KOKKOS_ENABLE_CUDA) && defined(KOKKOSKERNELS_ENABLE_TPL_CUBLAS)
#include <cublas_v2.h>
#elif defined(KOKKOS_ENABLE_HIP) && defined(KOKKOSKERNELS_ENABLE_TPL_ROCBLAS)
#include <rocblas/rocblas.h>
#endif

namespace plinth::kernel {

/// Why the vendor's BLAS cannot work on the device of this process, and what to do about it; empty
/// where it can, or Kokkos Kernels has none. To be asked once Kokkos is at work, before the first
/// product: Kokkos Kernels makes a handle then, and ends the program where it gets none.
inline std::string device_blas_problem() {
#if defined(KOKKOS_ENABLE_CUDA) && defined(KOKKOSKERNELS_ENABLE_TPL_CUBLAS)
  cublasHandle_t handle = nullptr;
  const cublasStatus_t status = cublasCreate(&handle);
  if (status != CUBLAS_STATUS_SUCCESS)
    return std::string("cuBLAS gives no handle (") + cublasGetStatusString(status) +
           "): see whether the device's memory is full, and whether the driver goes with this "
           "CUDA";
  cublasDestroy(handle);
#elif defined(KOKKOS_ENABLE_HIP) && defined(KOKKOSKERNELS_ENABLE_TPL_ROCBLAS)
  rocblas_handle handle = nullptr;
  const rocblas_status status = rocblas_create_handle(&handle);
  if (status != rocblas_status_success)
    return std::string("rocBLAS gives no handle (") + rocblas_status_to_string(status) +
           "): see whether the device's memory is full, and whether the driver goes with this "
           "ROCm";
  rocblas_destroy_handle(handle);
#endif
  return {};
}

}  // namespace plinth::kernel
