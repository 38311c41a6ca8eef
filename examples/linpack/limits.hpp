// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "linpack/text.hpp"

namespace linpack {

// Ranges of HPL.dat's integers, which are 32 bits wide in netlib HPL.

constexpr std::int64_t int32_max = std::numeric_limits<std::int32_t>::max();

constexpr int most_values = 20;  ///< of one list
constexpr IntegerRange count_range{1, most_values};
constexpr IntegerRange n_range{0, int32_max};
constexpr IntegerRange nb_range{1, int32_max};
constexpr IntegerRange grid_range{1, int32_max};
constexpr IntegerRange nbmin_range{1, int32_max};
constexpr IntegerRange ndiv_range{2, int32_max};
constexpr IntegerRange depth_range{0, int32_max};
constexpr IntegerRange swap_threshold_range{0, int32_max};
constexpr IntegerRange alignment_range{1, int32_max};
constexpr IntegerRange threads_range{1, 512};  ///< the most that Kokkos' OpenMP takes
// Beyond these a matrix is so near to a diagonal one that 16 bits alone come near to its solution,
// and a run says nothing.
constexpr double largest_sigma = 1000;
constexpr double least_kappa = 2;
// Far beyond 1/u of FP64 the data do not determine a solution any more, and the larger the
// condition number, the smaller the part of the matrix that decides on the residual, until LU in
// FP32 alone passes.
constexpr double largest_kappa = 1e18;
constexpr IntegerRange any_integer{std::numeric_limits<std::int32_t>::min(), int32_max};

}  // namespace linpack
