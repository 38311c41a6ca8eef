// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <span>

#include "plinth/kernel/entries/fill.hpp"
#include "plinth/kernel/entries/lcg_tiles.hpp"
#include "plinth/kernel/entries/walks.hpp"
#include "plinth/kernel/lcg_residual.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/matrix/index_runs.hpp"
#include "plinth/policy/execution.hpp"

namespace plinth {

/// The part of a matrix in host memory that this process owns, for the kernels of generators.
template <class Matrix>
kernel::LcgTarget<typename Matrix::value_type> local_target(const Matrix& a,
                                                            const LocalRuns& runs) {
  const auto view = a.local();
  return {view.data(), static_cast<Index>(view.stride(0)), static_cast<Index>(view.stride(1)),
          runs.rows, runs.cols};
}

/// netlib HPL's n x (n + 1) system [A | b], bit for bit: entry (i, j) as a function for any device,
/// and on a host whole local parts at once (kernel/lcg_fill.hpp). Source of entries as well
/// (kernel/entries/source.hpp).
struct HplMatrix : HplGenerator {
  KOKKOS_INLINE_FUNCTION Index order() const { return n; }  ///< n
  /// No entry is larger.
  double bound() const { return 0.5; }
  /// What tells sources apart.
  std::array<std::uint64_t, 4> key() const { return {0, static_cast<std::uint64_t>(n), seed, 0}; }
  /// Out := the entries (i, i) of some rows.
  void diagonal(Isa, Range rows, double* out) const {
    for (Index i = rows.begin; i < rows.end; ++i) out[i - rows.begin] = (*this)(i, i);
  }
  /// Out := some rows of b.
  void right_hand_side(Range rows, double* out) const {
    for (Index i = rows.begin; i < rows.end; ++i) out[i - rows.begin] = (*this)(i, n);
  }
  /// The entries by tiles, for fast kernels.
  kernel::LcgTiles<kernel::HplValue> tiles() const { return {n, seed}; }
  /// The entries line by line, on any device.
  auto walks() const { return kernel::LcgWalks<kernel::HplValue>(*this); }
  /// The entries without what a source adds to the diagonal: here nothing.
  const HplGenerator& unshifted() const { return *this; }

  /// Fills the local part of `a`, of which any rows and columns of [A | b] may be wanted.
  template <ExecutionPolicy Exec, class Matrix>
  requires(is_host_accessible<Exec>&& std::floating_point<typename Matrix::value_type>) void fill(
      const Exec& exec, const Matrix& a) const {
    const LocalRuns runs(a);
    [[maybe_unused]] auto scope = exec.enter();
    kernel::fill_lcg(exec.space(), local_target(a, runs), n, seed);
  }

  /// r -= A x with sums, by a kernel that stores no tiles (kernel/lcg_residual.hpp).
  template <class Space>
  void residual(const Space& space, std::span<const kernel::IndexRun> rows,
                std::span<const kernel::IndexRun> cols, const kernel::LcgResidual& v) const {
    kernel::residual_lcg(space, rows, cols, v, n, seed);
  }
};

static_assert(kernel::WalkedSource<HplMatrix>);

/// A source's part in the fingerprint of a call.
template <kernel::EntrySource Source>
comm::Fingerprint& operator<<(comm::Fingerprint& print, const Source& source) {
  for (const std::uint64_t word : source.key()) print << static_cast<Index>(word);
  return print;
}

}  // namespace plinth
