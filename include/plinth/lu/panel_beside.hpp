// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/lu/plan.hpp"

namespace plinth::lu {

/// A panel's columns of the local matrix where kernels of another queue, `beside`, work on them
/// while the matrix is updated: a copy on the device. Of the diagonal block there is one on the
/// host, which factors it.
template <class T, ExecutionPolicy Exec, class Layout>
class PanelBeside {
 public:
  using HostView = kernel::MatrixView<T, Layout, Kokkos::HostSpace>;
  using View = kernel::MatrixView<T, Layout, typename Exec::memory::space>;

  /// For panels of up to so many columns, and a matrix of so many local rows.
  PanelBeside(Index max_width, Index max_rows)
      : diagonal_(max_width * max_width), below_(max_width * max_rows) {}
  /// Bytes on the device.
  Index bytes() const { return (diagonal_.size() + below_.size()) * Index(sizeof(T)); }

  /// Starts copying the panel of a step, `mine` of it: kernels of `beside` that start from now on
  /// find it, the host finds the diagonal block after the next fence of `beside`.
  void start_fetch(const Exec& exec, const Exec& beside, const View& a, const LocalStep& mine) {
    top_ = mine.top.size();
    rows_ = mine.below.size();
    width_ = mine.panel.size();
    kernel::copy(exec, kernel::part(a, mine.top, mine.panel), diagonal_on_device());
    kernel::copy(exec, kernel::part(a, mine.below, mine.panel), below());
    beside.after(exec);
    diagonal_.start_to_host(beside, 0, top_ * width_);
  }
  /// Puts it back; kernels of `exec` that start from now on see it. The host must leave the
  /// diagonal block alone until the next panel's is there.
  void write_back(const Exec& exec, const Exec& beside, const View& a,
                  const LocalStep& mine) const {
    diagonal_.to_device(beside, 0, top_ * width_);
    exec.after(beside);
    kernel::copy(exec, diagonal_on_device(), kernel::part(a, mine.top, mine.panel));
    kernel::copy(exec, below(), kernel::part(a, mine.below, mine.panel));
  }

  /// The diagonal block, or no rows, for the host.
  HostView diagonal() const {
    return kernel::contiguous<Layout, Kokkos::HostSpace>(diagonal_.host(), top_, width_);
  }
  /// The rows below, for kernels of `beside`.
  View below() const {
    return kernel::contiguous<Layout, typename Exec::memory::space>(below_.data(), rows_, width_);
  }

 private:
  View diagonal_on_device() const {
    return kernel::contiguous<Layout, typename Exec::memory::space>(diagonal_.device(), top_,
                                                                    width_);
  }

  kernel::Staged<T, Exec> diagonal_;
  kernel::Buffer<T, typename Exec::memory> below_;
  Index top_ = 0;    ///< rows of the diagonal block that are here
  Index rows_ = 0;   ///< below it
  Index width_ = 0;
};

}  // namespace plinth::lu
