// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <algorithm>

#include "hpl/options.hpp"
#include "linpack/device.hpp"
#include "plinth/core/cpu.hpp"
#include "plinth/kernel/lowp/kernels.hpp"

namespace hpl_mxp {

namespace {

using linpack::Precision;

Precision fastest(const linpack::Mixed& mixed) {
  if (mixed.matrix == linpack::SystemKind::fasi_higham || may_grow(mixed)) return Precision::fp32;
  if (linpack::has_device) return Precision::fp16;
#if PLINTH_AMX_KERNELS
  if (plinth::kernel::lowp::amx_bf16::is_available()) return Precision::bf16;
#endif
  if (plinth::kernel::lowp::has_half_arithmetic()) return Precision::fp16_fast;
  if (plinth::cpu_features().fast_bf16_dot) return Precision::bf16;
  return Precision::fp32;
}

}  // namespace

bool may_grow(const linpack::Mixed& mixed) {
  return mixed.matrix == linpack::SystemKind::scaled_diagonal &&
         12 * mixed.sigma * mixed.sigma <= 1;
}

linpack::Case effective(const linpack::Case& asked) {
  linpack::Case runs = asked;
  linpack::Mixed& mixed = runs.extensions.mixed.value();
  if (mixed.precision == Precision::automatic) mixed.precision = fastest(mixed);
  if (mixed.precision == Precision::fp16_fast &&
      (linpack::has_device || !plinth::kernel::lowp::has_half_arithmetic()))
    mixed.precision = Precision::fp16;
  if (mixed.precision != Precision::fp16 && mixed.precision != Precision::fp16_fast)
    mixed.scaling = linpack::Switch::off;
  // See MixedFactored.
  if (linpack::has_device && mixed.precision != Precision::fp32)
    runs.extensions.panels = linpack::Panels::on_device;
  return runs;
}

plinth::Index block_size(const linpack::Case& c) {
  return std::max<plinth::Index>(1, std::min<plinth::Index>(c.nb, c.n));
}

plinth::MatrixLayoutOptions square_blocks(const linpack::Case& c, std::size_t bytes_of_scalar) {
  return {.mb = block_size(c),
          .nb = block_size(c),
          .align = static_cast<plinth::Index>(8 / bytes_of_scalar) * c.alignment};
}

plinth::lu::MixedOptions mixed_options(const linpack::Case& c, int matrix_exponent) {
  plinth::lu::MixedOptions options =
      plinth::lu::MixedOptions::of(hpl::factor_options(hpl::effective(c)));
  options.matrix_exponent = matrix_exponent;
  options.invert_diagonal = linpack::has_device;
  return options;
}

}  // namespace hpl_mxp
