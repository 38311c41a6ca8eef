// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "plinth/core/float16.hpp"
#include "plinth/core/index.hpp"

/// Matrix products of 16-bit operands on the host, structured as in GotoBLAS and BLIS (Goto and
/// van de Geijn 2008; Van Zee and van de Geijn 2015): operands are packed into slivers, and a
/// micro-kernel multiplies a sliver by a sliver.
///
/// C lies in lines that are contiguous: its rows if it is row-major, else its columns.
///
///   vector side      the operand whose index runs along a line of C (B of C += A B if C is
///                    row-major, A if it is column-major): read as vectors
///   broadcast side   the other one, whose index says which line: read number by number
///
/// Packed form of either side, X(i, k) for i in [0, n): slivers of `width` indices i, one after
/// the other; in each sliver pairs of k, in each pair the indices, in each index the two k:
///
///     X(s width + i, 2 p + e)  at  ((s pairs + p) width + i) 2 + e,   pairs = ceil(k / 2)
///
/// filled up with zeros where n is no multiple of the width or k is odd. It is what a dot product
/// of pairs (AVX512-BF16, AMX) reads, and for arithmetic in half one 32-bit broadcast feeds two
/// k.
namespace plinth::kernel::lowp {

/// Two 16-bit numbers of successive k, as they lie in packed form: the even k in the lower half.
#if defined(__GNUC__) || defined(__clang__)
using Pair [[gnu::may_alias]] = std::uint32_t;
#else
using Pair = std::uint32_t;
#endif

/// What products are summed in.
enum class Accumulate {
  single,  ///< float: products are exact in it (two half or two bfloat16 numbers)
  half     ///< half, added to a float sum every flush_k of k
};

constexpr const char* to_string(Accumulate accumulate) {
  return accumulate == Accumulate::single ? "FP32" : "FP16";
}

/// One call of a micro-kernel:
///
///     c[j line_stride + i] += alpha sum over k of broadcast(j, k) vector(i, k)
///
/// for i < vector_count, j < broadcast_count. Both slivers are whole and in prepared form.
template <class C>
struct Tile {
  const void* vector;
  const void* broadcast;
  Index pairs;
  C* c;
  Index line_stride;
  int vector_count, broadcast_count;
  float alpha;
  Index flush_pairs;  ///< pairs of k that are summed in half; at least 1
};

/// How a sliver is made ready for the micro-kernel, block by block, while it stays in a cache.
struct Preparation {
  /// From the packed sliver to `out`; null where the micro-kernel reads the packed form itself.
  void (*run)(const Pair* packed, Index pairs, void* out) = nullptr;
  int bytes = 4;          ///< per index and pair of k, afterwards
  int pair_multiple = 1;  ///< pairs are filled up to a multiple of this many
};

/// A micro-kernel and what has to be known to call it.
struct MicroKernel {
  const char* name;
  bool is_half;  ///< operands are half, else bfloat16
  Accumulate accumulate;
  int vector_width, broadcast_width;  ///< indices per sliver
  Preparation vector, broadcast;
  void (*run_float)(const Tile<float>&);
  void (*run_half)(const Tile<half>&);
  void (*run_bfloat16)(const Tile<bfloat16>&);

  template <class C>
  void operator()(const Tile<C>& tile) const {
    if constexpr (std::same_as<C, float>)
      run_float(tile);
    else if constexpr (std::same_as<C, half>)
      run_half(tile);
    else
      run_bfloat16(tile);
  }
  template <Scalar16 T>
  bool multiplies() const {
    return is_half == std::same_as<T, half>;
  }
};

/// What C may be made of.
template <class C>
concept TileScalar = Scalar16<C> || std::same_as<C, float>;

/// Shape of a packed operand.
struct PackedFormat {
  int width = 1;  ///< indices per sliver
  Index k = 0;

  constexpr Index pairs() const { return ceil_div(k, 2); }
  constexpr Index slivers(Index n) const { return ceil_div(n, width); }
  /// Numbers per sliver, and of the packed form of n indices.
  constexpr Index sliver_size() const { return 2 * pairs() * width; }
  constexpr Index size(Index n) const { return slivers(n) * sliver_size(); }
  constexpr bool operator==(const PackedFormat&) const = default;
};

}  // namespace plinth::kernel::lowp
