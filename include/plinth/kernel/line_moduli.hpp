// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <type_traits>

#include "plinth/core/cpu.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/kernel/lane_sum.hpp"
#include "plinth/kernel/magnitude.hpp"
#include "plinth/kernel/run_parts.hpp"
#include "plinth/kernel/simd.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/policy/execution.hpp"

namespace plinth::kernel {

/// What is made of the moduli in a line.
enum class Fold {
  sum,      ///< their sum
  largest,  ///< the largest of them, NaN above all
};

/// *out := it, folded with the moduli of `count` adjacent numbers.
template <Fold fold, std::floating_point T>
void fold_line(const T* numbers, Index count, T* out, Isa isa) {
  if constexpr (fold == Fold::sum) {
    sum_moduli(isa, numbers, count, out);
  } else {
    auto most = std::bit_cast<BitsOf<T>>(*out);
    run_simd(isa, LargestBits<T>{numbers, count, &most});
    *out = std::bit_cast<T>(most);
  }
}

/// out[i] := it, folded with |numbers[i]| weight.
template <Fold fold, std::floating_point T>
struct FoldAcross {
  const T* numbers;
  T weight;
  Index count;
  T* out;

  PLINTH_SIMD_BODY void operator()() const {
    constexpr int lanes = 64 / sizeof(T);
    T result[lanes];
    Index i = 0;
    for (; i + lanes <= count; i += lanes) {
      std::memcpy(result, out + i, sizeof result);
      for (int l = 0; l < lanes; ++l) result[l] = folded(result[l], numbers[i + l]);
      std::memcpy(out + i, result, sizeof result);
    }
    for (; i < count; ++i) out[i] = folded(out[i], numbers[i]);
  }

 private:
  /// Of numbers without a sign the bits are compared, as integers.
  PLINTH_SIMD_BODY T folded(T before, T number) const {
    const T here = std::abs(number) * weight;
    if constexpr (fold == Fold::sum) return before + here;
    return std::bit_cast<BitsOf<T>>(here) > std::bit_cast<BitsOf<T>>(before) ? here : before;
  }
};

/// Calls f(numbers, begin, count) for pieces of a line of `length` numbers: their moduli, each
/// times its weight if there are `weights`, or the numbers where these do as well.
template <class T, class F>
void for_each_moduli(const T* line, const RealOf<T>* weights, Index length, const F& f) {
  using Real = RealOf<T>;
  if constexpr (std::is_same_v<T, Real>)
    if (weights == nullptr) return f(line, Index(0), length);
  constexpr Index piece = 256;
  Real moduli[piece];
  for (Index q = 0; q < length; q += piece) {
    const Index some = std::min(piece, length - q);
    for (Index p = 0; p < some; ++p) moduli[p] = modulus(line[q + p]);
    if (weights != nullptr)
      for (Index p = 0; p < some; ++p) moduli[p] *= weights[q + p];
    f(static_cast<const Real*>(moduli), q, some);
  }
}

/// A line from its first entry on.
struct WholeLine {
  KOKKOS_INLINE_FUNCTION Index operator()(Index) const { return 0; }
};

/// What fold_moduli() makes of lines.
template <class Real, class First = WholeLine>
struct FoldedLines {
  Real* out;  ///< out[l]: of line l
  /// By which the moduli of a line are multiplied first; positive, or nullptr: they are not.
  const Real* weights = nullptr;
  bool more = false;  ///< out[l] has been begun, with other parts of the lines
  First first = {};   ///< first(l): where line l begins to count, which grows with l
};

/// lines.out[l] := what `fold` makes of the moduli in row (or column) l of `a`. Pointers are
/// accessible to kernels, which may still run on return (exec.fence()). One pass over `a`. The
/// result does not depend on the number of threads.
template <bool by_row, Fold fold, ExecutionPolicy Exec, class View, class Real, class First>
void fold_moduli(const Exec& exec, const View& a, const FoldedLines<Real, First>& folded) {
  using Space = typename Exec::execution_space;
  constexpr bool on_host = Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible;
  [[maybe_unused]] constexpr bool contiguous =
      is_row_major<typename View::array_layout> == by_row;
  const Index lines = by_row ? rows_of(a) : cols_of(a);
  const Index along = by_row ? cols_of(a) : rows_of(a);
  Real* const out = folded.out;
  const Real* const weights = folded.weights;
  const bool more = folded.more;
  const First first = folded.first;
  [[maybe_unused]] auto scope = exec.enter();
  if constexpr (on_host) {
    const Index lead = leading_dimension(a);
    const auto* const data = a.data();
    const Isa isa = best_isa();
    run_parts(exec.space(), lines, lines * along > 16384, [=](Index part, Index parts) {
      const Index end = lines * (part + 1) / parts;
      if constexpr (contiguous) {
        for (Index l = lines * part / parts; l < end; ++l) {
          const Index begin = std::min(first(l), along);
          if (!more) out[l] = Real(0);
          for_each_moduli(data + l * lead + begin, weights == nullptr ? weights : weights + begin,
                          along - begin, [&](const Real* numbers, Index, Index count) {
                            fold_line<fold>(numbers, count, out + l, isa);
                          });
        }
      } else {
        constexpr Index piece = 2048;  // results stay in the first-level cache
        for (Index begin = lines * part / parts; begin < end; begin += piece) {
          const Index most = std::min(begin + piece, end);
          if (!more) std::fill(out + begin, out + most, Real(0));
          Index upto = begin;  // lines that have begun
          for (Index q = first(begin); q < along; ++q) {
            while (upto < most && first(upto) <= q) ++upto;
            const Real weight = weights == nullptr ? Real(1) : weights[q];
            for_each_moduli(
                data + q * lead + begin, static_cast<const Real*>(nullptr), upto - begin,
                [&](const Real* numbers, Index p, Index count) {
                  run_simd(isa, FoldAcross<fold, Real>{numbers, weight, count, out + begin + p});
                });
          }
        }
      }
    });
  } else {
    Kokkos::parallel_for(
        "plinth::fold_moduli",
        Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(exec.space(), 0, lines),
        KOKKOS_LAMBDA(const Index l) {
          Real result = more ? out[l] : Real(0);
          for (Index q = first(l); q < along; ++q) {
            Real here = modulus(by_row ? a(l, q) : a(q, l));
            if (weights != nullptr) here *= weights[q];
            if (fold == Fold::sum)
              result += here;
            else if (here > result || is_nan(here))
              result = here;
          }
          out[l] = result;
        });
  }
}

}  // namespace plinth::kernel
