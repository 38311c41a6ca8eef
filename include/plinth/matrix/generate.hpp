// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <exception>
#include <mutex>
#include <type_traits>

#include "plinth/comm/agree.hpp"
#include "plinth/comm/reduce.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/entries/walk_kernels.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/matrix/hpl_matrix.hpp"
#include "plinth/matrix/index_runs.hpp"

namespace plinth {

/// A generator that fills a local part faster than element by element.
template <class G, class Exec, class Matrix>
concept BulkGenerator = requires(const G& g, const Exec& exec, const Matrix& a) {
  g.fill(exec, a);
};

/// A(i, j) := f(i, j) for global 0-based i and j, on every process its own part, in parallel.
/// f is called from kernels of `exec`, so it must be callable there and free of side effects; its
/// result converts to the scalar type. A generator with a member fill(exec, A) is asked to fill the
/// local part as a whole instead; of a source of entries (kernel/entries/source.hpp) a host makes
/// many at a time, a device walks along its lines. Collective; no messages but an agreement at the
/// end, where f may throw or memory may be wanted.
/// Errors: an exception from f on any rank becomes an Error of kind user_callback on every rank,
/// after which the contents of A are unspecified. O(m n / (P Q)) calls per process.
template <ExecutionPolicy Exec, class Matrix, class F>
void generate(const Exec& exec, Matrix& a, const F& f) {
  if (!a.grid().active()) return;
  using T = typename Matrix::value_type;
  if constexpr (BulkGenerator<F, Exec, Matrix>) {
    comm::agree_on(a.grid().all(), "generate", 0, [&] { f.fill(exec, a); });
    return;
  } else if constexpr (kernel::EntrySource<F> && is_host_accessible<Exec>) {
    comm::agree_on(a.grid().all(), "generate", 0, [&] {
      [[maybe_unused]] auto scope = exec.enter();
      const LocalRuns runs(a);
      kernel::fill_entries(exec.space(), f, local_target(a, runs));
    });
    return;
  } else if constexpr (kernel::WalkedSource<F> && kernel::RealScalar<T>) {
    comm::agree_on(a.grid().all(), "generate", 0, [&] {
      const GridCoord at = a.grid().coord();
      (void)kernel::fill_lines(exec, f, dealt_lines(a.distribution().rows, at.row),
                               dealt_lines(a.distribution().cols, at.col), a.local(), 1);
    });
    return;
  }
  const auto view = a.local();
  const GridCoord at = a.grid().coord();
  const BlockCyclic rows = a.distribution().rows;
  const BlockCyclic cols = a.distribution().cols;
  const auto run = [&](const auto& element) {
    kernel::for_each<typename Matrix::layout>(exec, kernel::rows_of(view), kernel::cols_of(view),
                                              element);
    exec.fence();
  };
  if constexpr (!is_host_accessible<Exec>) {
    run([=] KOKKOS_FUNCTION(Index i, Index j) {
      view(i, j) = static_cast<T>(f(rows.global(i, at.row), cols.global(j, at.col)));
    });
  } else if constexpr (std::is_nothrow_invocable_v<F, Index, Index>) {
    // Not a function of the device: nvcc wants those to capture no plain lambda, which f may be.
    run([=](Index i, Index j) {
      view(i, j) = static_cast<T>(f(rows.global(i, at.row), cols.global(j, at.col)));
    });
  } else {
    // A host kernel must not leak an exception: keep the first, rethrow it outside.
    std::mutex mutex;
    std::exception_ptr first;
    std::atomic<bool> failed{false};
    comm::agree_on(a.grid().all(), "generate", 0, [&] {
      run([=, &mutex, &first, &failed](Index i, Index j) {
        if (failed.load(std::memory_order_relaxed)) return;
        try {
          view(i, j) = static_cast<T>(f(rows.global(i, at.row), cols.global(j, at.col)));
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!first) first = std::current_exception();
          failed = true;
        }
      });
      if (first) std::rethrow_exception(first);
    });
  }
}

/// A(i, j) := scale s(i, j), rounded once to A's type: 16-bit and FP32 matrices without a copy in
/// FP64. Returns what was lost in rounding, on all processes together, the same on every rank.
/// Collective. Preconditions, each an Error on every rank: scale is a power of two; A has at most
/// n rows and n + 1 columns; the same call on every rank. Messages: an allreduce.
/// A host makes many entries at a time; a device walks along lines (kernel/entries/walks.hpp), or
/// where a source has no walks, asks for each entry.
template <ExecutionPolicy Exec, class Matrix, kernel::EntrySource Source>
kernel::NarrowingCounts generate_scaled(const Exec& exec, Matrix& a, const Source& source,
                                        double scale) {
  const ProcessGrid& grid = a.grid();
  comm::Fingerprint arguments;
  arguments << source << a.distribution()
            << static_cast<Index>(std::bit_cast<std::uint64_t>(scale));
  kernel::NarrowingCounts counts;
  comm::agree_on(grid.all(), "generate_scaled", arguments.value(), [&] {
    int exponent = 0;
    require(scale > 0 && std::isfinite(scale) && std::frexp(scale, &exponent) == 0.5,
            "the scale is not a power of two");
    require(a.rows() <= source.order() && a.cols() <= source.order() + 1,
            "the matrix is larger than the system");
    if (!grid.active()) return;
    const GridCoord at = grid.coord();
    [[maybe_unused]] auto scope = exec.enter();
    if constexpr (is_host_accessible<Exec>) {
      const LocalRuns runs(a);
      counts = kernel::fill_entries(exec.space(), source, local_target(a, runs), scale);
    } else {
      counts = kernel::fill_lines(exec, source, dealt_lines(a.distribution().rows, at.row),
                                  dealt_lines(a.distribution().cols, at.col), a.local(), scale);
    }
  });
  if (!grid.active()) return counts;
  comm::sum_of_all(grid.all(), counts);
  return counts;
}

}  // namespace plinth
