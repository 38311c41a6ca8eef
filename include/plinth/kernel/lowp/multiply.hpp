// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>

#include "plinth/core/index.hpp"
#include "plinth/kernel/lowp/micro_kernel.hpp"

#if defined(__unix__)
#include <unistd.h>
#endif

namespace plinth::kernel::lowp {

/// Sizes of a core's caches in bytes.
struct CacheSizes {
  Index first = 32 * 1024;
  Index second = 512 * 1024;
};

/// Those of this machine, as far as the system tells.
inline CacheSizes cache_sizes() {
  CacheSizes sizes;
#if defined(_SC_LEVEL1_DCACHE_SIZE) && defined(_SC_LEVEL2_CACHE_SIZE)
  if (const long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE); bytes >= 16 * 1024) sizes.first = bytes;
  if (const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes >= 128 * 1024)
    sizes.second = bytes;
#endif
  return sizes;
}

/// How a product is cut for the caches: `pairs` pairs of k at a time, of which a sliver of the
/// broadcast side takes half of the first-level cache, and `vector_slivers` slivers of the vector
/// side, which take half of the second-level cache while the broadcast side passes by.
struct Blocking {
  Index pairs = 1;
  Index vector_slivers = 1;

  /// For a product over k. Blocks of k are even, so that no small one is left over.
  static Blocking of(const MicroKernel& kernel, Index k, const CacheSizes& caches) {
    const Index unit = 16;
    const Index fits = caches.first / 2 / (kernel.broadcast_width * kernel.broadcast.bytes);
    const Index most = std::clamp<Index>(fits / unit * unit, 4 * unit, 32 * unit);
    const Index all = std::max<Index>(ceil_div(k, 2), 1);
    const Index pairs = ceil_div(ceil_div(all, ceil_div(all, most)), unit) * unit;
    const Index sliver = pairs * kernel.vector_width * kernel.vector.bytes;
    return {pairs, std::max<Index>(caches.second / 2 / sliver, 1)};
  }
};

/// C += alpha (A B) with packed operands: what each thread has to know.
template <Scalar16 T, TileScalar C>
struct PackedProduct {
  MicroKernel kernel;
  Index vector_count;     ///< length of C's lines
  Index broadcast_count;  ///< number of lines
  Index k;
  float alpha;
  const T* vector;     ///< packed in slivers of kernel.vector_width
  const T* broadcast;  ///< packed in slivers of kernel.broadcast_width
  C* c;
  Index line_stride;  ///< from line to line of C, at least vector_count
  Index flush_k;      ///< see Accumulate::half; 0: never within a block of k
};

/// The bytes of workspace that multiply() needs: prepared slivers.
inline Index workspace_bytes(const MicroKernel& kernel, const Blocking& blocking) {
  const auto sliver = [&](const Preparation& side, int width) {
    return side.run == nullptr ? Index(0) : blocking.pairs * width * side.bytes;
  };
  return blocking.vector_slivers * sliver(kernel.vector, kernel.vector_width) +
         sliver(kernel.broadcast, kernel.broadcast_width);
}

/// The part of a product whose slivers are in the ranges given, on the calling thread.
/// `workspace`: workspace_bytes(), aligned to 64 bytes. C is read and written once per block of
/// k; a C of 16 bits is rounded each time.
template <Scalar16 T, TileScalar C>
void multiply(const PackedProduct<T, C>& p, Range vector_slivers, Range broadcast_slivers,
              const Blocking& blocking, std::byte* workspace) {
  const MicroKernel& kernel = p.kernel;
  const int vw = kernel.vector_width, bw = kernel.broadcast_width;
  const Index all_pairs = ceil_div(p.k, 2);
  const auto sliver_of = [&](const T* packed, int width, Index sliver, Index pair) {
    return packed + 2 * (sliver * all_pairs + pair) * width;
  };
  const Index flush_pairs = p.flush_k > 0 ? std::max<Index>(p.flush_k / 2, 1) : all_pairs;

  for (Index pair = 0; pair < all_pairs; pair += blocking.pairs) {
    const Index pairs = std::min(blocking.pairs, all_pairs - pair);
    const Index vector_bytes = blocking.pairs * vw * kernel.vector.bytes;
    for (Index first = vector_slivers.begin; first < vector_slivers.end;
         first += blocking.vector_slivers) {
      const Index end = std::min(first + blocking.vector_slivers, vector_slivers.end);
      // A block of the vector side: prepared once, in the second-level cache.
      std::byte* const block = workspace;
      std::byte* const sliver =
          workspace +
          (kernel.vector.run == nullptr ? Index(0) : blocking.vector_slivers * vector_bytes);
      if (kernel.vector.run != nullptr)
        for (Index v = first; v < end; ++v)
          kernel.vector.run(reinterpret_cast<const Pair*>(sliver_of(p.vector, vw, v, pair)),
                            pairs, block + (v - first) * vector_bytes);
      for (Index b = broadcast_slivers.begin; b < broadcast_slivers.end; ++b) {
        // A sliver of the broadcast side, in the first-level cache.
        const void* broadcast = sliver_of(p.broadcast, bw, b, pair);
        if (kernel.broadcast.run != nullptr) {
          kernel.broadcast.run(static_cast<const Pair*>(broadcast), pairs, sliver);
          broadcast = sliver;
        }
        const Index line = b * bw;
        const int lines = static_cast<int>(std::min<Index>(bw, p.broadcast_count - line));
        for (Index v = first; v < end; ++v) {
          const void* vector = kernel.vector.run == nullptr
                                   ? static_cast<const void*>(sliver_of(p.vector, vw, v, pair))
                                   : block + (v - first) * vector_bytes;
          kernel(Tile<C>{
              .vector = vector,
              .broadcast = broadcast,
              .pairs = pairs,
              .c = p.c + line * p.line_stride + v * vw,
              .line_stride = p.line_stride,
              .vector_count = static_cast<int>(std::min<Index>(vw, p.vector_count - v * vw)),
              .broadcast_count = lines,
              .alpha = p.alpha,
              .flush_pairs = flush_pairs});
        }
      }
    }
  }
}

}  // namespace plinth::kernel::lowp
