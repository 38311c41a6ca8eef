// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <type_traits>

#include "plinth/comm/agree.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/matrix/distributed_matrix.hpp"

namespace plinth {

/// A generator that fills a local part faster than element by element.
template <class G, class Exec, class Matrix>
concept BulkGenerator = requires(const G& g, const Exec& exec, const Matrix& a) {
  g.fill(exec, a);
};

/// A(i, j) := f(i, j) for global 0-based i and j, on every process its own part, in parallel.
/// f is called from kernels of `exec`, so it must be callable there and free of side effects; its
/// result converts to the scalar type. A generator with a member fill(exec, A) is asked to fill the
/// local part as a whole instead. Collective.
/// Errors: an exception from f on any rank becomes an Error of kind user_callback on every rank,
/// after which the contents of A are unspecified. O(m n / (P Q)) calls per process.
template <ExecutionPolicy Exec, class Matrix, class F>
void generate(const Exec& exec, Matrix& a, const F& f) {
  if (!a.grid().active()) return;
  using T = typename Matrix::value_type;
  if constexpr (BulkGenerator<F, Exec, Matrix>) {
    comm::agree_on(a.grid().all(), "generate", 0, [&] { f.fill(exec, a); });
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
  if constexpr (std::is_nothrow_invocable_v<F, Index, Index> || !is_host_accessible<Exec>) {
    run([=] KOKKOS_FUNCTION(Index i, Index j) {
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

}  // namespace plinth
