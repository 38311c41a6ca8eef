// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "generated.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/lu/mixed_report.hpp"
#include "plinth/trace/phase.hpp"

namespace hpl_mxp {

/// A matrix in the precision of a case, its LU factors, and what they are made and used with.
/// Exists on the processes of the grid only; every call is collective over them.
class Factored {
 public:
  virtual ~Factored() = default;

  /// Fills the matrix, in the place of L and U if need be; returns what was lost.
  virtual plinth::kernel::NarrowingCounts fill(const Generated& system) = 0;
  /// The matrix becomes L and U.
  virtual plinth::lu::MixedReport factor() = 0;
  /// Scales the matrices to come lower, for an LU that has overflowed; false: it cannot.
  virtual bool scale_lower() { return false; }
  /// r := (L U)^-1 r, in FP64.
  virtual void solve(Vector& r) = 0;

  /// The matrix is scaled by 2 to this power.
  virtual int exponent() const = 0;
  /// What multiplies, and what it sums in.
  virtual std::string arithmetic() const = 0;
};

/// Powers of two that the matrix is scaled by, the next where one has overflowed; not empty.
using Exponents = std::vector<int>;

/// Writes to every page of a matrix, so that the clock does not see the system find them.
template <class T>
void touch(const Exec& exec, const Matrix<T>& a) {
  plinth::kernel::fill(exec, a.local(), T(0.0f));
  exec.fence();
}

/// Allocates all memory. The clock must outlive the result. Throws plinth::Error of kind memory.
std::unique_ptr<Factored> make_factored(const plinth::ProcessGrid& grid, const linpack::Case& c,
                                        const Generated& system,
                                        plinth::trace::PhaseClock& clock);

/// For one precision each: what make_factored calls.
std::unique_ptr<Factored> make_half(const plinth::ProcessGrid& grid, const linpack::Case& c,
                                    const Exponents& exponents, plinth::trace::PhaseClock& clock);
std::unique_ptr<Factored> make_half_fast(const plinth::ProcessGrid& grid, const linpack::Case& c,
                                         const Exponents& exponents,
                                         plinth::trace::PhaseClock& clock);
std::unique_ptr<Factored> make_bfloat16(const plinth::ProcessGrid& grid, const linpack::Case& c,
                                        plinth::trace::PhaseClock& clock);
std::unique_ptr<Factored> make_single(const plinth::ProcessGrid& grid, const linpack::Case& c,
                                      plinth::trace::PhaseClock& clock);
std::unique_ptr<Factored> make_single_half(const plinth::ProcessGrid& grid,
                                           const linpack::Case& c,
                                           plinth::trace::PhaseClock& clock);

}  // namespace hpl_mxp
