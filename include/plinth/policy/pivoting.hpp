// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "plinth/core/index.hpp"

namespace plinth {

/// The entry of largest magnitude (|re| + |im| for complex) in the column; ties go to the smaller
/// global row, a NaN ranks above everything, so that it is found and reported.
struct PartialPivoting {
  static constexpr bool exchanges_rows = true;  ///< rows move

  /// The magnitude itself.
  template <std::floating_point Real>
  constexpr Real merit(Real magnitude, Index, Index) const noexcept {
    return magnitude;
  }
};

/// The diagonal entry, whatever it is: for matrices that are known to allow it.
struct NoPivoting {
  static constexpr bool exchanges_rows = false;  ///< none moves
};

/// The row that is in place already, unless the column has an entry of more than 1 / threshold
/// times its magnitude: fewer rows travel, entries of L may be as large as 1 / threshold (as a
/// magnitude of a quotient), and U may grow accordingly. threshold = 1 is partial pivoting, but
/// that of several entries of the same magnitude the one in place is taken, as always.
struct ThresholdPivoting {
  static constexpr bool exchanges_rows = true;  ///< rows move
  double threshold = 0.1;                       ///< in (0, 1]

  /// What valid() wants, in words.
  static constexpr const char* requirement = "0 < pivoting threshold <= 1 wanted";
  /// Whether the threshold makes sense.
  constexpr bool valid() const { return threshold > 0 && threshold <= 1; }
  /// The threshold, for ranks to agree on.
  constexpr Index fingerprint() const { return std::bit_cast<Index>(threshold); }

  /// The magnitude, by so much the larger where the row is in place.
  template <std::floating_point Real>
  constexpr Real merit(Real magnitude, Index row, Index column) const noexcept {
    constexpr Real most = std::numeric_limits<Real>::max();
    if (row != column || magnitude > most) return magnitude;
    // Dividing what is in place loses nothing where multiplying the others would underflow; an
    // infinite entry still outdoes it.
    const Real here = magnitude / static_cast<Real>(threshold);
    return here > most ? most : here;
  }
};

/// The rows of a whole panel at a time, by a tournament: each process of the column picks the best
/// rows of its own by LU with partial pivoting, the picked ones of `radix` processes at a time
/// compete up a tree, and the last winners are the pivots, in the order of the last match. Two
/// messages per panel and process instead of one per column, for twice the operations on panels.
/// As stable as partial pivoting in practice; entries of L may exceed 1. On grids of one process
/// row there is nobody to compete with: that is partial pivoting.
///
/// Source: Grigori, Demmel, Xiang 2011 (CALU).
struct TournamentPivoting {
  static constexpr bool exchanges_rows = true;  ///< rows move
  /// How many compete at a time: 2 is a binary tree.
  Index radix = 2;

  /// What valid() wants, in words.
  static constexpr const char* requirement = "tournament radix >= 2 wanted";
  /// Whether the radix makes sense.
  constexpr bool valid() const { return radix >= 2; }
  /// The radix, for ranks to agree on.
  constexpr Index fingerprint() const { return radix; }
};

/// A policy that tells how good a pivot an entry is:
///
///   p.merit(magnitude, row, column) noexcept   magnitude of the entry, |re| + |im| for complex, in
///                                              the matrix's real type; the global row that it
///                                              stands in now, after all interchanges so far; its
///                                              global column
///
/// Rows at and below the diagonal compete, row >= column; row == column is the one in place. The
/// largest merit wins, of equal ones the smaller row: where all are 0 the row in place stays. A
/// NaN entry wins without being asked about, so that it is found. A merit that is negative or NaN
/// counts as 0.
///
/// The answer must depend on nothing but the arguments and the policy's members, and be the same
/// on every rank. It is asked for from several threads at once.
template <class P>
concept ElementPivoting = requires(const P& p, double magnitude, Index i) {
  { p.merit(magnitude, i, i) }
  noexcept->std::convertible_to<double>;
};

/// A policy that picks the pivot rows of a whole panel at a time.
template <class P>
concept PanelPivoting = std::same_as<P, TournamentPivoting>;

/// Which row becomes the next pivot row, and whether rows move at all. An object, copied freely.
///
///   P::exchanges_rows     whether the factorization searches for pivots and interchanges rows; if
///                         so, how: ElementPivoting, or TournamentPivoting
///   p.fingerprint()       wanted of a policy with members: an Index that tells different values
///                         apart, so that ranks that disagree are told so
///   p.valid(),            may be there: whether the members make sense, and what they should be,
///   P::requirement        in words; factorizations refuse those that do not
template <class P>
concept PivotingPolicy = std::copy_constructible<P> && requires {
  { P::exchanges_rows } -> std::convertible_to<bool>;
} &&(!P::exchanges_rows || ElementPivoting<P> ||
     PanelPivoting<P>)&&(std::is_empty_v<P> || requires(const P& p) {
  { p.fingerprint() } -> std::convertible_to<Index>;
});

/// Whether the members of a policy make sense; those of one that does not say do.
template <PivotingPolicy P>
constexpr bool is_valid(const P& pivoting) {
  if constexpr (requires {
                  { pivoting.valid() } -> std::convertible_to<bool>;
                })
    return pivoting.valid();
  else
    return true;
}

/// What a policy wants of its members, in words.
template <PivotingPolicy P>
constexpr const char* requirement_of(const P&) {
  if constexpr (requires {
                  { P::requirement } -> std::convertible_to<const char*>;
                })
    return P::requirement;
  else
    return "the pivoting policy is not valid";
}

}  // namespace plinth
