// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/matrix/distributed_matrix.hpp"

namespace plinth {

/// This process's part of a matrix where host code may read and write it: in place, or, where
/// kernels alone may touch the matrix, in a copy. For vectors, whose elements are few.
template <ExecutionPolicy Exec, class Matrix>
class LocalOnHost {
 public:
  using T = typename Matrix::value_type;
  using Layout = typename Matrix::layout;
  using View = kernel::MatrixView<T, Layout, Kokkos::HostSpace>;

  /// The matrix must outlive this object.
  LocalOnHost(const Exec& exec, const Matrix& a) : exec_(exec), local_(a.local()) {
    if constexpr (!in_place) copy_.reserve(size());
  }

  /// The elements: those of the matrix after fetch(), which write_back() makes them.
  View view() const {
    if constexpr (in_place) {
      return local_;
    } else {
      return kernel::contiguous<Layout, Kokkos::HostSpace>(copy_.host(), kernel::rows_of(local_),
                                                           kernel::cols_of(local_));
    }
  }
  /// Waits for kernels.
  void fetch() const {
    exec_.fence();
    if constexpr (!in_place) {
      kernel::copy(exec_, local_, on_device());
      copy_.to_host(exec_, 0, size());
    }
  }
  void write_back() const {
    if constexpr (!in_place) {
      copy_.to_device(exec_, 0, size());
      kernel::copy(exec_, on_device(), local_);
      exec_.fence();
    }
  }

 private:
  static constexpr bool in_place = is_host_accessible<Exec>;

  Index size() const { return kernel::rows_of(local_) * kernel::cols_of(local_); }
  auto on_device() const {
    return kernel::contiguous<Layout, typename Exec::memory::space>(
        copy_.device(), kernel::rows_of(local_), kernel::cols_of(local_));
  }

  Exec exec_;
  typename Matrix::View local_;
  kernel::Staged<T, Exec> copy_;
};

}  // namespace plinth
