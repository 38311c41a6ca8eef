// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>

#include "plinth/core/index.hpp"
#include "plinth/kernel/entries/source.hpp"
#include "plinth/kernel/lcg.hpp"

namespace plinth::kernel {

/// A source of entries that any device makes one after the other along a line, for much less than
/// by their indices:
///
///   s.walks()               an object to be copied to a device; what is costly to prepare is
///                           prepared
///   s.walks().right(i, j)   a walk: its calls give the entries (i, j), (i, j + 1), ... of A
///   s.walks().down(i, j)    likewise (i, j), (i + 1, j), ...
///
/// What a walk gives on the diagonal of A is anything finite.
template <class S>
concept WalkedSource = EntrySource<S> && requires(const S& s, Index i) {
  { s.walks().right(i, i)() } -> std::convertible_to<double>;
  { s.walks().down(i, i)() } -> std::convertible_to<double>;
};

/// Entries that are the values of states of a linear congruential generator.
template <class Value>
struct LcgEntryWalk {
  std::uint64_t x;
  Affine step;
  KOKKOS_FUNCTION double operator()() {
    const double value = Value::of(x);
    x = step(x);
    return value;
  }
};

/// Walks through a matrix whose entry (i, j) is the value of state X_{1 + i + j n}, X_0 = seed.
template <class Value>
struct LcgWalks {
  HplGenerator states;
  Affine to_the_right;
  explicit LcgWalks(const HplGenerator& generator)
      : states(generator), to_the_right(Lcg64::jump(static_cast<std::uint64_t>(generator.n))) {}
  KOKKOS_FUNCTION LcgEntryWalk<Value> right(Index i, Index j) const {
    return {states.state(i, j), to_the_right};
  }
  KOKKOS_FUNCTION LcgEntryWalk<Value> down(Index i, Index j) const {
    return {states.state(i, j), Lcg64::step()};
  }
};

}  // namespace plinth::kernel
