// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "plinth/comm/broadcast.hpp"
#include "plinth/comm/grid.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/kernel/transpose.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/lu/plan.hpp"

namespace plinth::lu {

/// first := candidate, if that comes before it. Of both, -1 says that there is none.
inline void keep_first(Index& first, Index candidate) {
  if (candidate >= 0 && (first < 0 || candidate < first)) first = candidate;
}

/// What the factorization of a panel found, the same on every process once it has arrived.
struct PanelOutcome {
  Index first_zero_pivot = -1;  ///< global column of the first exactly zero pivot, or -1
  Index first_nonfinite = -1;   ///< global column of the first infinite or NaN pivot, or -1

  /// Takes what another panel has that comes first.
  void merge(const PanelOutcome& other) {
    keep_first(first_zero_pivot, other.first_zero_pivot);
    keep_first(first_nonfinite, other.first_nonfinite);
  }
};

/// The factored panel of one step: the one thing that moves along process rows. One contiguous
/// object, column-major with leading dimension width + rows below:
///
///     +-------+
///     | L\U   |  width x width   L11 (unit lower) and U11, the same in every process row
///     +-------+
///     | L21   |  this process row's rows below the diagonal block
///     +-------+
///
/// followed, in the same message, by the pivots (global rows, one per column) and the outcome; with
/// direct transport these, which are the host's, are a message of their own, and the elements are
/// received in the device's memory, and sent from where they were made.
/// It is factored into, broadcast and multiplied with in place. Its columns are the rows of a
/// row-major View, so products with row-major matrices take it as a transposed operand, uncopied.
template <class T, ExecutionPolicy Exec>
class Panel {
 public:
  using Space = typename Exec::memory::space;

  /// Room for a panel of `elements` elements and `width` columns. `direct`: ProcessGrid::is_direct
  /// of Exec's memory.
  Panel(Index elements, Index width, bool direct)
      : storage_(elements + trailer_elements(width)),
        direct_(direct),
        pivots_(static_cast<std::size_t>(width)) {}

  /// Takes the shape of a step, contents unspecified.
  void reshape(const Step& step, const LocalStep& mine) {
    step_ = step;
    below_ = mine.below.size();
    outcome_ = {};
  }

  const Step& step() const { return step_; }
  Index width() const { return step_.width(); }
  Index below() const { return below_; }
  Index lead() const { return width() + below_; }
  /// Elements of top block and L21.
  Index elements() const { return width() * lead(); }

  /// Column-major data on the host, lead() apart, valid between factorization and reshape.
  T* host() const { return storage_.host(); }
  T* device() const { return storage_.device(); }

  /// L11 and U11, and L21, as operands of products with matrices of layout `Layout`.
  template <class Layout>
  auto top() const {
    return kernel::column_major<Layout, Space>(storage_.device(), width(), width(), lead());
  }
  template <class Layout>
  auto l21() const {
    return l21<Layout>({0, below_});
  }
  /// Some rows of L21.
  template <class Layout>
  auto l21(Range rows) const {
    return kernel::column_major<Layout, Space>(storage_.device() + width() + rows.begin,
                                               rows.size(), width(), lead());
  }

  /// Global pivot row of each column: column c of the panel was interchanged with it.
  const Index* pivots() const { return pivots_.data(); }
  Index* pivots() { return pivots_.data(); }
  const PanelOutcome& outcome() const { return outcome_; }
  PanelOutcome& outcome() { return outcome_; }

  /// Starts copying the panel's columns of the local matrix in: the diagonal block's rows to the
  /// top, on the process row that owns them, the rows below to L21. Work of `beside`, the queue of
  /// all of this object's copies, finds them on the device; unless panels are factored there, they
  /// are on the host after the queue's next fence.
  template <class View>
  void start_load(const Exec& exec, const Exec& beside, const View& local,
                  const LocalStep& mine) {
    copy_rows(local, mine, [&](const auto& from, const auto& to) { transfer(exec, from, to); });
    beside.after(exec);
    if constexpr (!is_made_on_device) storage_.start_to_host(beside, 0, elements());
  }
  /// Makes a panel that the device factored readable by MPI, for those that it is sent to: it is
  /// after the queue's next fence.
  void start_to_message(const Exec& beside) const {
    if (!direct_) storage_.start_to_host(beside, 0, elements());
  }
  /// Copies the factored columns back, L21 only if `with_l21`.
  template <class View>
  void store(const Exec& exec, const View& local, const LocalStep& mine, bool with_l21) const {
    copy_rows(
        local, mine, [&](const auto& to, const auto& from) { transfer(exec, from, to); },
        with_l21);
  }

  /// Starts the broadcast along the process row. The owner's panel must be factored, and readable
  /// by MPI if there is somebody to send it to. The host must have waited for the queue `beside`:
  /// for copies from the host's side of the former panel, and with direct transport for the kernels
  /// that read it, which the queue comes after, since MPI writes there from now on.
  void send(const Exec& exec, const Exec& beside, const ProcessGrid& grid,
            comm::BroadcastAlgorithm algorithm) {
    const bool owner = grid.coord().col == step_.owner_col;
    if (owner) pack_trailer();
    arrived_ = false;
    const bool from_host = owner && !is_made_on_device;
    T* const data = direct_ && !from_host ? storage_.device() : storage_.host();
    constexpr auto bytes = static_cast<Index>(sizeof(T));
    broadcast_.start(grid.row(), {data, elements() * bytes},
                     {trailer(), trailer_elements(width()) * bytes}, direct_, step_.owner_col,
                     static_cast<int>(step_.k % 16384), algorithm, grid.options().max_message);
    if (owner) arrive(exec, beside, from_host);
  }
  /// Passes pieces on, without blocking.
  void progress() { broadcast_.progress(); }
  /// Returns when the panel is here, and ready for kernels of `exec`. `beside` must come after
  /// those that worked with the former panel.
  void wait(const Exec& exec, const Exec& beside) {
    if (arrived_) return;
    broadcast_.wait_arrival();
    unpack_trailer();
    arrive(exec, beside, !direct_);
  }
  /// Returns when the panel may be reshaped: neighbours have what they were sent.
  void release() { broadcast_.finish(); }

 private:
  static constexpr bool is_made_on_device = has_panels_on_device<Exec>;

  /// Pivots and outcome, in whole elements of T behind the data.
  static Index trailer_elements(Index width) {
    return ceil_div((width + 2) * static_cast<Index>(sizeof(Index)),
                    static_cast<Index>(sizeof(T)));
  }
  std::byte* trailer() const {
    return reinterpret_cast<std::byte*>(storage_.host() + elements());
  }
  void pack_trailer() {
    const Index found[2] = {outcome_.first_zero_pivot, outcome_.first_nonfinite};
    const auto width_bytes = static_cast<std::size_t>(width()) * sizeof(Index);
    std::memcpy(trailer(), pivots_.data(), width_bytes);
    std::memcpy(trailer() + width_bytes, found, sizeof found);
  }
  void unpack_trailer() {
    Index found[2];
    const auto width_bytes = static_cast<std::size_t>(width()) * sizeof(Index);
    std::memcpy(pivots_.data(), trailer(), width_bytes);
    std::memcpy(found, trailer() + width_bytes, sizeof found);
    outcome_ = {found[0], found[1]};
  }
  void arrive(const Exec& exec, const Exec& beside, bool is_on_host) {
    if (is_on_host) storage_.to_device(beside, 0, elements());
    exec.after(beside);
    arrived_ = true;
  }

  template <class View, class Transfer>
  void copy_rows(const View& local, const LocalStep& mine, Transfer&& transfer_rows,
                 bool with_l21 = true) const {
    using Layout = typename View::array_layout;
    if (mine.has_diagonal_rows) {
      transfer_rows(kernel::part(local, mine.top, mine.panel), top<Layout>().view);
    }
    if (with_l21) transfer_rows(kernel::part(local, mine.below, mine.panel), l21<Layout>().view);
  }
  /// Between the matrix and the panel, whose View is the transpose of a row-major matrix's.
  template <class From, class To>
  static void transfer(const Exec& exec, const From& from, const To& to) {
    if constexpr (kernel::is_row_major<typename To::array_layout>) {
      kernel::transpose(exec, from, to);
    } else {
      kernel::copy(exec, from, to);
    }
  }

  kernel::Staged<T, Exec> storage_;
  bool direct_;
  std::vector<Index> pivots_;
  PanelOutcome outcome_;
  Step step_;
  Index below_ = 0;
  comm::BroadcastInParts broadcast_;
  bool arrived_ = true;
};

}  // namespace plinth::lu
