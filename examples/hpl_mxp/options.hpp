// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "linpack/config.hpp"
#include "plinth/lu/mixed_options.hpp"
#include "plinth/matrix/distributed_matrix.hpp"

namespace hpl_mxp {

/// Whether LU without pivoting may grow a matrix by any factor, because some leading block is
/// likely to be near a singular one: of scaled-diagonal, the eigenvalues of the block of order k,
/// sigma apart, fill the disc of radius sqrt(k / 12) (circular law: J. Ginibre 1965, V. Girko
/// 1984), which sigma sqrt(n) leaves at k = 12 sigma^2 n.
bool may_grow(const linpack::Mixed& mixed);

/// What runs when `asked` is asked for: sums in FP16 only on a CPU with arithmetic in it (devices
/// sum in FP32), scaling only where FP16 holds the matrix, and the precision chosen where that was
/// left open. By this CPU's features, so the same on all CPUs of a kind:
///
/// | this CPU has             | scaled-diagonal, dominant | fasi-higham, what may grow |
/// |--------------------------|---------------------------|----------------------------|
/// | AMX-BF16                 | bf16                      | fp32                       |
/// | else AVX512-FP16         | fp16-fast                 | fp32                       |
/// | else AVX512-BF16, by AMD | bf16                      | fp32                       |
/// | none of these            | fp32                      | fp32                       |
/// | (on a device)            | fp16                      | fp32                       |
///
/// (AVX512-BF16 of Intel's is no faster than FP64. The condition number and growth want the bits.)
linpack::Case effective(const linpack::Case& asked);

/// NB, or the order of the matrix if that is less.
plinth::Index block_size(const linpack::Case& c);

/// Square blocks with lines that begin on multiples of c.alignment 8-byte words.
plinth::MatrixLayoutOptions square_blocks(const linpack::Case& c, std::size_t bytes_of_scalar);

plinth::lu::MixedOptions mixed_options(const linpack::Case& c, int matrix_exponent);

}  // namespace hpl_mxp
