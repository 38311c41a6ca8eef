// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "linpack/config.hpp"
#include "linpack/device.hpp"
#include "plinth/core/float16.hpp"
#include "plinth/kernel/convert_runs.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/refine/hpl_residual.hpp"

namespace hpl_mxp {

using Exec = linpack::Execution;
template <class T>
using Matrix = plinth::DistributedMatrix<T, Exec::memory>;
using Vector = Matrix<double>;

/// The system A x = b of a case, of which nothing is stored but what products with A work with.
/// Exists on the processes of the grid only; every call is collective over them, unless it says
/// otherwise.
class Generated {
 public:
  virtual ~Generated() = default;

  /// A 2^exponent, rounded; returns what was lost.
  virtual plinth::kernel::NarrowingCounts fill(Matrix<plinth::half>& a, int exponent) const = 0;
  virtual plinth::kernel::NarrowingCounts fill(Matrix<plinth::bfloat16>& a,
                                               int exponent) const = 0;
  virtual plinth::kernel::NarrowingCounts fill(Matrix<float>& a, int exponent) const = 0;
  virtual void right_hand_side(Vector& b) const = 0;

  /// y := A x, in FP64.
  virtual void multiply(const Vector& x, Vector& y) = 0;
  /// ||A|| in the infinity norm.
  virtual double norm_inf() = 0;
  /// Of x and of A and b, generated anew. Nothing that multiply() keeps is used; shared code:
  /// the entries, the spreading of x, the runs of indices, and for all but scaled_diagonal the
  /// product of the local part. The tests check both against plain loops.
  virtual plinth::SystemNorms norms(const Vector& x) const = 0;

  /// No entry is larger in magnitude. Not collective.
  virtual double bound() const = 0;
  /// The condition number in the infinity norm; 0: not known. Not collective.
  virtual double condition() const = 0;
};

/// Throws plinth::Error where the parameters have no matrix, and of kind memory.
std::unique_ptr<Generated> make_generated(const plinth::ProcessGrid& grid,
                                          const linpack::Case& c);

}  // namespace hpl_mxp
