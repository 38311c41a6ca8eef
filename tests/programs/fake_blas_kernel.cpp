// SPDX-License-Identifier: BSD-3-Clause
//
// To be loaded before the BLAS: an OpenBLAS that does not know this CPU and chooses its oldest
// kernel, unless it is told which to take.
#include <cstdlib>

extern "C" {

char* openblas_get_config() {
  static char text[] = "OpenBLAS 0.0.0 made up";
  return text;
}

char* openblas_get_corename() {
  static char oldest[] = "Prescott";
  char* const chosen = std::getenv("OPENBLAS_CORETYPE");
  return chosen != nullptr ? chosen : oldest;
}
}
