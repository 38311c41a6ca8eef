// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/blas_fix.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "linpack/text.hpp"
#include "linpack/threads.hpp"
#include "plinth/kernel/blas_info.hpp"

namespace linpack {

namespace {

constexpr const char* choice_variable = "OPENBLAS_CORETYPE";
/// Set by the first execution to the kernel that the BLAS had chosen by itself.
constexpr const char* mark_variable = "PLINTH_BLAS_KERNEL_BEFORE";

bool is_given(int argc, char** argv, std::string_view option) {
  for (int i = 1; i < argc; ++i)
    if (argv[i] == option) return true;
  return false;
}

}  // namespace

BlasFix fix_blas_kernel(int argc, char** argv) {
  const plinth::BlasInfo blas = plinth::blas_info();
  if (const char* before = std::getenv(mark_variable)) {
    const std::string was(before);
    unsetenv(mark_variable);
    const char* const chosen = std::getenv(choice_variable);
    return {"the BLAS chose its kernel " + was +
            " for this CPU; the program started itself again with " + choice_variable + "=" +
            (chosen != nullptr ? chosen : "") +
            (plinth::better_blas_kernel(blas).empty() ? "" : ", which did not help") +
            " (--no-blas-fix prevents that)"};
  }
  const std::string better = plinth::better_blas_kernel(blas);
  if (better.empty()) return {};
  const std::string finding =
      "the BLAS runs its kernel " + blas.kernel + " although this CPU could run " + better;
  if (std::getenv(choice_variable) != nullptr)
    return {finding + ", as " + choice_variable + " in the environment wants it"};
  if (is_given(argc, argv, "--no-blas-fix")) return {finding + ", and --no-blas-fix was given"};
  setenv(choice_variable, better.c_str(), 1);
  setenv(mark_variable, blas.kernel.c_str(), 1);
  // Else OpenMP would be left with the one CPU that it has bound this thread to.
  if (const CpuSet cpus = CpuSet::allowed(); cpus.count() > 0) cpus.allow();
  execv("/proc/self/exe", argv);
  const std::string why = std::strerror(errno);
  unsetenv(choice_variable);
  unsetenv(mark_variable);
  return {finding + ", and starting again with it failed: " + why + "; set " + choice_variable +
          "=" + better};
}

}  // namespace linpack
