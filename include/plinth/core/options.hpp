// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace plinth {

/// op(A) in a product or a system: A, its transpose, or its conjugate transpose.
enum class Op : char { none = 'N', transpose = 'T', conj_transpose = 'C' };

/// Which side of the unknown a triangular matrix stands on.
enum class Side : char { left = 'L', right = 'R' };

/// Which triangle of a matrix is referenced.
enum class Uplo : char { lower = 'L', upper = 'U' };

/// Whether the diagonal is taken as ones and not referenced.
enum class Diag : char { non_unit = 'N', unit = 'U' };

/// Matrix norms: largest absolute column sum, largest absolute row sum, largest modulus (which is
/// no norm that bounds products).
enum class Norm : char { one = '1', inf = 'I', max = 'M' };

/// A character that the BLAS understands.
constexpr char to_char(Op v) { return static_cast<char>(v); }
constexpr char to_char(Side v) { return static_cast<char>(v); }  ///< likewise
constexpr char to_char(Uplo v) { return static_cast<char>(v); }  ///< likewise
constexpr char to_char(Diag v) { return static_cast<char>(v); }  ///< likewise

}  // namespace plinth
