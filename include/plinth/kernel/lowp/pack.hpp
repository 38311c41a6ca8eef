// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <concepts>
#include <type_traits>

#include "plinth/core/error.hpp"
#include "plinth/kernel/convert.hpp"
#include "plinth/kernel/lowp/interleave.hpp"
#include "plinth/kernel/lowp/micro_kernel.hpp"

namespace plinth::kernel::lowp {

/// What can be packed: 16-bit numbers, or wider ones that are rounded on the way.
template <class S>
concept PackableScalar = Scalar16<S> || std::same_as<S, float> || std::same_as<S, double>;

/// One operand of a product, unpacked: X(i, k) at data[i index_stride + k k_stride] for i < n.
/// One of the strides is 1. Every number is multiplied by `scale`, a power of two, before it is
/// rounded.
template <PackableScalar S>
struct PackSource {
  const S* data;
  Index n;
  Index index_stride, k_stride;
  std::conditional_t<std::same_as<S, double>, double, float> scale = 1;
};

/// `count` adjacent numbers as T: themselves if they are so already, else converted into `room`.
template <Scalar16 T, PackableScalar S>
const T* as_operands(const S* in, Index count, decltype(PackSource<S>::scale) scale, T* room,
                     NarrowingCounts& counts) {
  if constexpr (std::same_as<S, T>) {
    if (scale == 1) return in;
  }
  if constexpr (Scalar16<S>) {
    constexpr Index chunk = 256;
    float wide[chunk];
    for (Index i = 0; i < count; i += chunk) {
      const Index some = std::min(chunk, count - i);
      widen(in + i, wide, some);
      counts += narrow(wide, room + i, some, scale);
    }
  } else {
    counts += narrow(in, room, count, scale);
  }
  return room;
}

/// Packs slivers [slivers.begin, slivers.end) of an operand whose indices are adjacent.
template <Scalar16 T, PackableScalar S>
void pack_index_lines(const PackedFormat& format, const PackSource<S>& x, Range slivers, T* out,
                      NarrowingCounts& counts) {
  constexpr Index longest = 512;
  const Index width = format.width, at_once = std::max<Index>(longest / width, 1);
  T even_room[longest], odd_room[longest];
  const T zeros[longest] = {};
  for (Index first = slivers.begin; first < slivers.end; first += at_once) {
    const Index end = std::min(first + at_once, slivers.end);
    const Index i = first * width, count = std::min(end * width, x.n) - i;
    for (Index k = 0; k < format.k; k += 2) {
      const S* const line = x.data + i + k * x.k_stride;
      const T* even = as_operands(line, count, x.scale, even_room, counts);
      const T* odd = zeros;
      if (k + 1 < format.k)
        odd = as_operands(line + x.k_stride, count, x.scale, odd_room, counts);
      for (Index s = first; s < end; ++s) {
        const Index done = (s - first) * width;
        interleave(even + done, odd + done, std::min(width, count - done), width,
                   reinterpret_cast<Pair*>(out + s * format.sliver_size() + k * width));
      }
    }
  }
}

/// Packs slivers [slivers.begin, slivers.end) of an operand whose k are adjacent.
template <Scalar16 T, PackableScalar S>
void pack_k_lines(const PackedFormat& format, const PackSource<S>& x, Range slivers, T* out,
                  NarrowingCounts& counts) {
  constexpr Index longest = 64;  // of k: a line of a cache, or several
  alignas(64) T room[max_width * longest];
  for (Index s = slivers.begin; s < slivers.end; ++s) {
    const Index i = s * format.width, count = std::min<Index>(format.width, x.n - i);
    for (Index k = 0; k < format.k; k += longest) {
      const Index length = std::min(longest, format.k - k), pairs = ceil_div(length, 2);
      for (Index j = 0; j < format.width; ++j) {
        T* const line = room + j * longest;
        Index filled = 0;
        if (j < count) {
          const T* const got =
              as_operands(x.data + (i + j) * x.index_stride + k, length, x.scale, line, counts);
          if (got != line) std::copy(got, got + length, line);
          filled = length;
        }
        std::fill(line + filled, line + 2 * pairs, T{});
      }
      transpose_pairs(reinterpret_cast<const Pair*>(room), longest / 2, format.width, pairs,
                      reinterpret_cast<Pair*>(out + s * format.sliver_size() + k * format.width));
    }
  }
}

/// Packs slivers [slivers.begin, slivers.end) of `x` to their places in `out`, on the calling
/// thread, and says what rounding to T did. Every number of these slivers is written, the zeros
/// that fill up n and k too. Preconditions: one stride of x is 1; format.width <= max_width.
template <Scalar16 T, PackableScalar S>
NarrowingCounts pack(const PackedFormat& format, const PackSource<S>& x, Range slivers, T* out) {
  require(x.index_stride == 1 || x.k_stride == 1, "pack: neither rows nor columns are adjacent");
  require(format.width >= 1 && format.width <= max_width, "pack: no micro-kernel is so wide");
  NarrowingCounts counts;
  if (slivers.empty()) return counts;
  if (x.index_stride == 1)
    pack_index_lines(format, x, slivers, out, counts);
  else
    pack_k_lines(format, x, slivers, out, counts);
  return counts;
}

}  // namespace plinth::kernel::lowp
