// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "plinth/comm/agree.hpp"
#include "plinth/lu/factors.hpp"
#include "plinth/lu/mixed_factor.hpp"

namespace plinth {

/// Factors the square matrix A, which is consumed and holds the precision policy's Factor type, in
/// mixed precision: A = L U, or P A = L U with PartialPivoting. Collective over A's grid.
///
/// Precision: DoubleHalf, DoubleHalfFast, DoubleBfloat16, DoubleSingleHalf, or one of that kind
/// (16-bit operands, panels in float). LU in float throughout is lu_factor of a matrix of floats.
/// Preconditions, each an Error on every rank: A is square; square blocks (mb = nb); valid options;
/// a micro-kernel for the operands that runs here; flush_k on a host only; the same call, policies
/// and options, and the same micro-kernel, on every rank; with Transport::direct an MPI that reads
/// A's memory; enough memory for the workspace (lu/mixed_factor.hpp). Outcomes: first_zero_pivot(),
/// first_nonfinite_pivot() and report() of the result. (2/3) n^3 flops. Messages per panel:
/// those of lu_factor, in 16 bits, or without pivoting a broadcast of the diagonal block down its
/// column and one of U12 down every column; two allreduces at the end.
template <PrecisionPolicy Precision, ExecutionPolicy Exec, class Matrix,
          PivotingPolicy Pivoting = NoPivoting>
LuFactors<Matrix> mixed_lu_factor(const Exec& exec, Matrix&& a, Pivoting pivoting = {},
                                  const lu::MixedOptions& options = {}) {
  static_assert(std::is_rvalue_reference_v<Matrix&&>,
                "plinth: mixed_lu_factor consumes A: write std::move(a)");
  static_assert(std::is_same_v<typename Matrix::memory, typename Exec::memory>,
                "plinth: A must live in the memory of the execution policy");
  using Factorization = lu::MixedFactorization<Matrix, Exec, Precision, Pivoting>;
  lu::Pivots pivots;
  lu::BlockExponents exponents;
  trace::Off off;
  std::optional<Factorization> factorization;
  comm::Fingerprint arguments;
  arguments << a.distribution() << lu::fingerprint(options) << lu::fingerprint(pivoting);
  for (const char* c = typeid(Precision).name(); *c != '\0'; ++c) arguments << *c;
  const auto complaint = comm::complaint_of([&] {
    const auto setup = Factorization::Mixed::setup_of(options);
    for (const char* c = setup.kernel.name; *c != '\0'; ++c) arguments << *c;
    require(a.rows() == a.cols(), "the matrix is " + std::to_string(a.rows()) + " x " +
                                      std::to_string(a.cols()) + ", not square");
    require(a.distribution().rows.block() == a.distribution().cols.block(),
            "the blocks are not square");
    require(options.valid(), lu::MixedOptions::requirement);
    Factorization::Mixed::require_kernel(setup);
    if (!a.grid().active()) return;
    pivots = lu::Pivots(a.distribution().rows, a.grid().coord().row);
    factorization.emplace(exec, a.grid(), a.distribution(), options, off);
    exponents.reset(lu::Plan(a.distribution(), 0).steps());
  });
  comm::agree(a.grid().all(), "mixed_lu_factor", complaint, arguments.value());
  lu::MixedReport report;
  if (factorization) report = (*factorization)(a, pivots, exponents);
  return LuFactors<Matrix>(std::move(a), std::move(pivots), std::move(exponents), report);
}

/// Factors A with a workspace that is kept and tells its sink where the time goes. Collective.
/// Preconditions: the grid is active here; `prepared` was made for A's grid and distribution.
template <class Matrix, ExecutionPolicy Exec, PrecisionPolicy Precision, PivotingPolicy Pivoting,
          class Sink>
LuFactors<Matrix> mixed_lu_factor(
    lu::MixedFactorization<Matrix, Exec, Precision, Pivoting, Sink>& prepared, Matrix&& a) {
  lu::Pivots pivots;
  lu::BlockExponents exponents;
  comm::agree_on(a.grid().all(), "mixed_lu_factor", 0, [&] {
    pivots = lu::Pivots(a.distribution().rows, a.grid().coord().row);
    exponents.reset(lu::Plan(a.distribution(), 0).steps());
  });
  const lu::MixedReport report = prepared(a, pivots, exponents);
  return LuFactors<Matrix>(std::move(a), std::move(pivots), std::move(exponents), report);
}

}  // namespace plinth
