// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>

#include "plinth/core/index.hpp"
#include "plinth/core/scalar.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/device_columns.hpp"
#include "plinth/kernel/run_parts.hpp"
#include "plinth/lu/panel_columns.hpp"
#include "plinth/policy/execution.hpp"

namespace plinth::lu {

/// The columns of a panel in a device's memory, as HostColumns: what touches single elements is a
/// kernel of `exec`, and nothing is waited for, unless it says so.
///
/// Where the process column is one process, nobody on the host has to know of a pivot before the
/// panel is factored: exchange_rows() moves its row at once, and keeps what it was.
template <class T, ExecutionPolicy Exec>
class DeviceColumns : public PanelColumns<T, typename Exec::memory::space> {
 public:
  using Candidate = kernel::PivotCandidate<RealOf<T>>;
  /// In the device's memory; none stands for row j as the only candidate of column j.
  using Best = const Candidate*;
  static constexpr bool on_device = true;

  explicit DeviceColumns(const Exec& exec) : exec_(exec), best_(1) {}
  /// Room for panels of so many columns, of one process's rows or of several.
  void reserve(Index max_width, bool is_alone) {
    if (is_alone) {
      found_.reserve(max_width);
    } else {
      rows_.reserve(head + 2 * max_width);
    }
  }

  const Exec& exec() const { return exec_; }

  // One process.

  /// Exchanges row j and the best candidate's.
  void exchange_rows(Index j, Best best) const {
    kernel::exchange_rows(exec_, column(j), this->width_, best, found_.device() + j);
  }
  /// Starts bringing what was found to the host: found(j) is there after the next fence.
  void start_found_to_host() const { found_.start_to_host(exec_, 0, this->width_); }
  const kernel::FoundPivot<T>& found(Index j) const { return found_.host()[j]; }

  // Several.

  Best in_place(Index) const { return nullptr; }
  /// As HostColumns; waits.
  Candidate read_rows(Index j, Best best, T* winner, T* current) const {
    const Index width = this->width_;
    T* const there = rows_.device();
    kernel::read_rows(exec_, column(j), width, this->has_top_rows_, best,
                      {reinterpret_cast<Candidate*>(there), there + head, there + head + width});
    rows_.to_host(exec_, 0, head + 2 * width);
    const T* const here = rows_.host();
    Candidate candidate;
    std::memcpy(static_cast<void*>(&candidate), here, sizeof candidate);
    if (candidate.row >= 0) std::copy_n(here + head, width, winner);
    if (this->has_top_rows_) std::copy_n(here + head + width, width, current);
    return candidate;
  }
  /// As HostColumns.
  void write_rows(Index j, Index local, const T* winner, const T* current) const {
    const Index width = this->width_;
    T* const here = rows_.host() + head;
    std::copy_n(winner, width, here);
    if (local >= 0) std::copy_n(current, width, here + width);
    rows_.to_device(exec_, head, local >= 0 ? 2 * width : width);
    const T* const there = rows_.device() + head;
    kernel::write_rows(exec_, column(j), width, local, there, there + width);
  }

 protected:
  // As HostColumns.

  Best advance_and_search(const kernel::ColumnStep<T>& step, kernel::ByMagnitude) const {
    kernel::advance_and_search(exec_, step, this->active(step.j), best_.data());
    return best_.data();
  }
  void scale_column(Range rows, Index j) const { kernel::scale_column(exec_, column(j), rows); }
  void solve_top_column(Index c0, Index j) const {
    kernel::solve_top_column(exec_, column(j), c0);
  }
  void finish_top_row(Index c0, Index j, Index c1) const {
    kernel::finish_top_row(exec_, column(j), c0, c1);
  }

  template <class Work>
  void deal(Range rows, const Work& work) const {
    work(rows);
  }
  kernel::Threads threads(Index) const { return kernel::Threads::all; }

 private:
  /// Elements that a candidate takes the room of.
  static constexpr Index head =
      ceil_div(static_cast<Index>(sizeof(Candidate)), static_cast<Index>(sizeof(T)));

  kernel::PanelColumn<T> column(Index j) const { return {this->a_, this->lead_, j}; }

  Exec exec_;
  kernel::Buffer<Candidate, typename Exec::memory> best_;
  kernel::Staged<kernel::FoundPivot<T>, Exec> found_;
  kernel::Staged<T, Exec> rows_;  ///< a candidate, its row, the row in its place
};

}  // namespace plinth::lu
