// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>

#include "plinth/kernel/lowp/gemm.hpp"
#include "plinth/kernel/lowp/kernels.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/lu/mixed_options.hpp"
#include "plinth/policy/precision.hpp"

namespace plinth::lu {

/// What LU in mixed precision makes of a precision policy: which policies it takes, and the product
/// that updates matrices of a layout by kernels of a space.
template <PrecisionPolicy Precision, class Layout, class Space>
struct MixedPrecision {
  using Roles = PrecisionRoles<Precision>;
  using Factor = typename Roles::Factor;
  using Operand = typename Roles::Operand;
  using Setup = kernel::lowp::GemmSetup<Operand>;

  static_assert(
      Scalar16<Operand>,
      "plinth: LU in mixed precision multiplies 16-bit operands; where the operands are "
      "float or double use lu_factor");
  static_assert(std::is_same_v<Factor, Operand> || std::is_same_v<Factor, float>,
                "plinth: Factor must be the Operand type or float");
  static_assert(std::is_same_v<typename Roles::Panel, float>,
                "plinth: LU in mixed precision factors its panels in float");
  static_assert(std::is_same_v<typename Roles::Accumulate, float> ||
                    (std::is_same_v<typename Roles::Accumulate, half> &&
                     std::is_same_v<Operand, half>),
                "plinth: LU in mixed precision sums in float, or in half what is multiplied in "
                "half");
  static_assert(Roles::flush_k == 0 || std::is_same_v<typename Roles::Accumulate, half>,
                "plinth: flush_k is for sums in half");

  /// The product that the options and the precision policy ask for.
  static Setup setup_of(const MixedOptions& options) {
    using kernel::lowp::Accumulate;
    constexpr bool in_half = std::is_same_v<typename Roles::Accumulate, half>;
    Setup setup;
    setup.kernel = options.micro_kernel.value_or(kernel::lowp::best_kernel_of<Operand, Space>(
        in_half ? Accumulate::half : Accumulate::single));
    setup.order = kernel::is_row_major<Layout> ? kernel::lowp::Order::row_major
                                               : kernel::lowp::Order::column_major;
    setup.flush_k = options.flush_k.value_or(Roles::flush_k);
    return setup;
  }

  /// An Error unless the micro-kernel is one for these operands that this CPU, or device, runs.
  static void require_kernel(const Setup& setup) {
    require(setup.kernel.template multiplies<Operand>(),
            "the micro-kernel is for other operands");
    const auto kernels = kernel::lowp::kernels_of<Operand, Space>();
    require(std::any_of(kernels.begin(), kernels.end(),
                        [&](const kernel::lowp::MicroKernel& k) {
                          return std::string_view(k.name) == setup.kernel.name &&
                                 k.accumulate == setup.kernel.accumulate;
                        }),
            std::string("not among the micro-kernels that run here: ") + setup.kernel.name);
    require(kernel::runs_on_host<Space> || setup.flush_k == Roles::flush_k,
            "a device sums in float: flush_k has no meaning there");
  }
};

}  // namespace plinth::lu
