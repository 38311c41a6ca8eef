// SPDX-License-Identifier: BSD-3-Clause
#include "plinth/kernel/blas_info.hpp"

#include "support/catch.hpp"

using plinth::BlasInfo;
using plinth::BlasThreading;
using plinth::VectorLevel;

TEST_CASE("The BLAS says what it is", "[blas_info]") {
  const BlasInfo info = plinth::blas_info();
  CHECK_FALSE(info.library.empty());
  if (info.library.rfind("OpenBLAS", 0) == 0) {
    CHECK(info.library.find('.') != std::string::npos);  // with its version
    CHECK_FALSE(info.kernel.empty());
    CHECK(info.threading != BlasThreading::unknown);
    CHECK(info.threads >= 1);
  }
}

TEST_CASE("A lesser BLAS kernel than the CPU allows is noticed", "[blas_info]") {
  const auto better = [](const char* kernel, VectorLevel cpu) {
    return plinth::better_blas_kernel({"OpenBLAS 0.3.21", kernel, BlasThreading::openmp, 1}, cpu);
  };
  CHECK(better("Prescott", VectorLevel::avx512) == "SkylakeX");
  CHECK(better("Haswell", VectorLevel::avx512) == "SkylakeX");
  CHECK(better("Zen", VectorLevel::avx512) == "SkylakeX");
  CHECK(better("Prescott", VectorLevel::avx2) == "Haswell");
  CHECK(better("Nehalem", VectorLevel::avx) == "Sandybridge");
  // Nothing to gain.
  CHECK(better("Cooperlake", VectorLevel::avx512).empty());
  CHECK(better("SkylakeX", VectorLevel::avx512).empty());
  CHECK(better("SkylakeX", VectorLevel::avx2).empty());
  CHECK(better("Haswell", VectorLevel::avx2).empty());
  CHECK(better("Prescott", VectorLevel::sse).empty());
  // Nothing known.
  CHECK(better("", VectorLevel::avx512).empty());
  CHECK(better("neoversen1", VectorLevel::unknown).empty());
  CHECK(better("a later one", VectorLevel::avx512).empty());
}
