// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plinth/core/cpu.hpp"
#include "plinth/kernel/lcg_avx2.hpp"
#include "plinth/kernel/lcg_avx512.hpp"
#include "plinth/kernel/lcg_portable.hpp"

namespace plinth::kernel {

/// Fills a tile (see LcgTile) with the kernel for `isa`. T is float or double.
/// Precondition: is_available(isa). The bits do not depend on isa.
template <class T>
void lcg_fill_tile(Isa isa, const LcgTile<T>& tile, const LcgSteps& along, Affine across) {
#if PLINTH_X86_KERNELS
  if (isa == Isa::avx512) return avx512::fill(tile, along, across);
  if (isa == Isa::avx2) return avx2::fill(tile, along, across);
#endif
  lcg_fill_portable(tile, along, across);
}

/// Multiplies a tile (see LcgProduct) with the kernel for `isa`. T, float or double, is what the
/// entries are rounded to. Precondition: is_available(isa). The bits do not depend on isa.
template <class T, bool Sums>
void lcg_product_tile(Isa isa, const LcgProduct& tile, const LcgSteps& down, Affine right) {
#if PLINTH_X86_KERNELS
  if (isa == Isa::avx512) return avx512::product<T, Sums>(tile, down, right);
  if (isa == Isa::avx2) return avx2::product<T, Sums>(tile, down, right);
#endif
  lcg_product_portable<T, Sums>(tile, down, right);
}

template <class T>
void lcg_product_tile(Isa isa, const LcgProduct& tile, const LcgSteps& down, Affine right) {
  if (tile.row_sums != nullptr)
    lcg_product_tile<T, true>(isa, tile, down, right);
  else
    lcg_product_tile<T, false>(isa, tile, down, right);
}

}  // namespace plinth::kernel
