// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "plinth/core/cpu.hpp"
#include "plinth/core/error.hpp"

// Functions that tell a BLAS what it is; null where another BLAS is linked.
#if defined(__GNUC__) || defined(__clang__)
extern "C" {
[[gnu::weak]] char* openblas_get_config();
[[gnu::weak]] char* openblas_get_corename();
[[gnu::weak]] int openblas_get_parallel();
[[gnu::weak]] int openblas_get_num_threads();
[[gnu::weak]] void openblas_set_num_threads(int threads);
[[gnu::weak]] void mkl_get_version_string(char* text, int length);
[[gnu::weak]] const char* bli_info_get_version_str();
}
#define PLINTH_CAN_ASK_BLAS 1
#else
#define PLINTH_CAN_ASK_BLAS 0
#endif

namespace plinth {

/// How a BLAS uses threads.
enum class BlasThreading { unknown, none, own, openmp };

constexpr const char* to_string(BlasThreading threading) {
  switch (threading) {
    case BlasThreading::none:
      return "no threads";
    case BlasThreading::own:
      return "threads of its own";
    case BlasThreading::openmp:
      return "OpenMP threads";
    case BlasThreading::unknown:
      break;
  }
  return "threads unknown";
}

/// What the linked BLAS says of itself.
struct BlasInfo {
  std::string library;  ///< name and version; "unknown" if it does not say
  std::string kernel;   ///< the kernel that it chose for this CPU; empty if it does not say
  BlasThreading threading = BlasThreading::unknown;
  int threads = 0;  ///< how many it will use; 0: unknown
};

/// Asks the linked BLAS: OpenBLAS, MKL and BLIS answer.
inline BlasInfo blas_info() {
  BlasInfo info{"unknown", "", BlasThreading::unknown, 0};
#if PLINTH_CAN_ASK_BLAS
  if (openblas_get_config != nullptr) {
    // "OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY ...": name and version are the first two words.
    const std::string_view config = openblas_get_config();
    const std::size_t space = config.find(' ');
    info.library = std::string(config.substr(0, config.find(' ', space + 1)));
    if (openblas_get_corename != nullptr) info.kernel = openblas_get_corename();
    if (openblas_get_parallel != nullptr) {
      constexpr std::array kinds{BlasThreading::none, BlasThreading::own, BlasThreading::openmp};
      const int kind = openblas_get_parallel();
      if (kind >= 0 && kind < 3) info.threading = kinds[static_cast<std::size_t>(kind)];
    }
    if (openblas_get_num_threads != nullptr) info.threads = openblas_get_num_threads();
  } else if (mkl_get_version_string != nullptr) {
    char text[200] = {};
    mkl_get_version_string(text, sizeof text);
    info.library = text;
  } else if (bli_info_get_version_str != nullptr) {
    info.library = std::string("BLIS ") + bli_info_get_version_str();
  }
#endif
  return info;
}

/// Tells the linked BLAS how many threads to use from now on. False if it cannot be told: only
/// OpenBLAS can. Precondition: threads >= 1.
inline bool set_blas_threads(int threads) {
  require(threads >= 1, "a BLAS runs on one thread or more");
#if PLINTH_CAN_ASK_BLAS
  if (openblas_set_num_threads != nullptr) {
    openblas_set_num_threads(threads);
    return true;
  }
#endif
  return false;
}

/// How wide the vectors of an x86-64 kernel or CPU are: SSE, AVX, AVX2 with FMA, AVX-512.
enum class VectorLevel { unknown, sse, avx, avx2, avx512 };

/// Of this CPU.
inline VectorLevel cpu_vector_level() {
#if PLINTH_X86_KERNELS
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd"))
    return VectorLevel::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return VectorLevel::avx2;
  if (__builtin_cpu_supports("avx")) return VectorLevel::avx;
  return VectorLevel::sse;
#else
  return VectorLevel::unknown;
#endif
}

/// Of one of OpenBLAS's kernels, by the name that it goes by.
inline VectorLevel openblas_kernel_level(std::string_view kernel) {
  using Named = std::pair<std::string_view, VectorLevel>;
  constexpr std::array named{
      Named{"Prescott", VectorLevel::sse},      Named{"Core2", VectorLevel::sse},
      Named{"Penryn", VectorLevel::sse},        Named{"Dunnington", VectorLevel::sse},
      Named{"Nehalem", VectorLevel::sse},       Named{"Athlon", VectorLevel::sse},
      Named{"Opteron", VectorLevel::sse},       Named{"Opteron_SSE3", VectorLevel::sse},
      Named{"Barcelona", VectorLevel::sse},     Named{"Bobcat", VectorLevel::sse},
      Named{"Atom", VectorLevel::sse},          Named{"Nano", VectorLevel::sse},
      Named{"Sandybridge", VectorLevel::avx},   Named{"Bulldozer", VectorLevel::avx},
      Named{"Piledriver", VectorLevel::avx},    Named{"Steamroller", VectorLevel::avx},
      Named{"Haswell", VectorLevel::avx2},      Named{"Zen", VectorLevel::avx2},
      Named{"Excavator", VectorLevel::avx2},    Named{"SkylakeX", VectorLevel::avx512},
      Named{"Cooperlake", VectorLevel::avx512}, Named{"SapphireRapids", VectorLevel::avx512},
  };
  for (const auto& [name, level] : named)
    if (name == kernel) return level;
  return VectorLevel::unknown;
}

/// The OpenBLAS kernel, by the name that its variable OPENBLAS_CORETYPE takes, that this CPU could
/// run where the BLAS has chosen a lesser one: an OpenBLAS older than the CPU does not know it and
/// falls back to the oldest kernel, a fifth as fast. Empty if there is nothing to gain, or nothing
/// known. The library itself never touches the environment: programs decide what to do.
inline std::string better_blas_kernel(const BlasInfo& blas,
                                      VectorLevel cpu = cpu_vector_level()) {
  const VectorLevel kernel = openblas_kernel_level(blas.kernel);
  if (kernel == VectorLevel::unknown || cpu == VectorLevel::unknown || kernel >= cpu) return "";
  switch (cpu) {
    case VectorLevel::avx512:
      return "SkylakeX";
    case VectorLevel::avx2:
      return "Haswell";
    case VectorLevel::avx:
      return "Sandybridge";
    default:
      return "";
  }
}

}  // namespace plinth
