// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "plinth/comm/broadcast.hpp"
#include "plinth/comm/grid.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/lowp/gemm.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/lu/panel.hpp"
#include "plinth/lu/plan.hpp"
#include "plinth/policy/execution.hpp"

namespace plinth::lu {

/// What everybody has to know about a factored panel besides its numbers.
struct MixedPanelHeader {
  PanelOutcome outcome;
  int l = 0;              ///< L is stored as L 2^l
  int u = 0;              ///< U's block row is stored as U 2^u
  int l_operand = 0;      ///< L21 is packed as L21 2^l_operand
  bool inverted = false;  ///< the triangle is L11^-1, not L11
};

/// The factored panel of one step as it moves along process rows, one contiguous message:
///
///     header   outcome and exponents
///     pivots   a global row for each column
///     triangle width x width floats, in the matrix's layout: L11 or its inverse
///     L21      this process row's rows below the diagonal block, 16 bits each, packed as the
///              update reads them
///
/// On the host, where it is made and travels; triangle and L21 also where kernels of `Exec` read
/// them. (Where panels are the device's L21 is made there, and comes to the host if it travels.)
/// With direct transport L21 is a message of its own, received in the device's memory, and sent
/// from where it was made. Each part begins on a cache line.
template <Scalar16 T, class Layout, ExecutionPolicy Exec>
class MixedPanel {
 public:
  using Operand = T;
  using layout = Layout;
  using Setup = kernel::lowp::GemmSetup<Operand>;
  using Triangle = kernel::MatrixView<float, Layout, Kokkos::HostSpace>;
  using DeviceTriangle = kernel::MatrixView<float, Layout, typename Exec::memory::space>;

  /// Room for panels of up to `width` columns with up to `below` rows below the diagonal block.
  /// `direct`: ProcessGrid::is_direct of Exec's memory.
  MixedPanel(const Setup& setup, Index width, Index below, bool direct)
      : setup_(setup), storage_(bytes_of(width, below)), direct_(direct) {}

  /// Takes the shape of a step, contents unspecified.
  void reshape(const Step& step, const LocalStep& mine) {
    step_ = step;
    below_ = mine.below.size();
    pivots_at_ = lines(sizeof(MixedPanelHeader));
    triangle_at_ = pivots_at_ + lines(width() * Index(sizeof(Index)));
    packed_at_ = triangle_at_ + lines(width() * width() * Index(sizeof(float)));
    header() = {};
  }

  /// Bytes that it has room for.
  Index bytes() const { return storage_.size(); }

  const Step& step() const { return step_; }
  Index width() const { return step_.width(); }
  Index below() const { return below_; }

  MixedPanelHeader& header() { return *at<MixedPanelHeader>(0); }
  const MixedPanelHeader& header() const { return *at<MixedPanelHeader>(0); }
  Index* pivots() const { return at<Index>(pivots_at_); }
  Triangle triangle() const {
    return kernel::wrap<Layout, Kokkos::HostSpace>(at<float>(triangle_at_), width(), width(),
                                                   width());
  }
  Operand* packed() const { return at<Operand>(packed_at_); }

  /// The same for kernels, once the panel is here, or for those that make L21.
  DeviceTriangle device_triangle() const {
    return kernel::wrap<Layout, typename Exec::memory::space>(
        reinterpret_cast<float*>(storage_.device() + triangle_at_), width(), width(), width());
  }
  Operand* device_packed() const {
    return reinterpret_cast<Operand*>(storage_.device() + packed_at_);
  }

  /// Everything before L21, which is the same in each process row.
  std::byte* head() const { return storage_.host(); }
  Index head_bytes() const { return packed_at_; }

  /// Starts the broadcast along the process row, from the owner of the panel. The host must have
  /// waited for the queue `beside`: for copies from the host's side of the former panel, and with
  /// direct transport for the kernels that read it, which the queue comes after, since MPI writes
  /// there from now on. Kernels that make L21 are in that queue, too; they are waited for if L21
  /// travels.
  void send(const Exec& exec, const Exec& beside, const ProcessGrid& grid,
            comm::BroadcastAlgorithm algorithm) {
    const bool owner = grid.coord().col == step_.owner_col;
    const bool from_host = owner && !is_made_on_device;
    arrived_ = false;
    if (owner && is_made_on_device) arrive(exec, beside, false);
    if (owner && is_made_on_device && grid.shape().cols > 1) {
      if (!direct_) storage_.start_to_host(beside, packed_at_, message_bytes() - packed_at_);
      beside.fence();
    }
    std::byte* const l21 = direct_ && !from_host ? storage_.device() : storage_.host();
    broadcast_.start(grid.row(), {storage_.host(), packed_at_},
                     {l21 + packed_at_, message_bytes() - packed_at_}, direct_, step_.owner_col,
                     static_cast<int>(step_.k % 16384), algorithm, grid.options().max_message);
    if (from_host) arrive(exec, beside, true);
  }
  /// Passes pieces on, without blocking.
  void progress() { broadcast_.progress(); }
  /// Returns when the panel is here, and ready for kernels of `exec`. `beside` must come after
  /// those that worked with the former panel.
  void wait(const Exec& exec, const Exec& beside) {
    if (arrived_) return;
    broadcast_.wait_arrival();
    arrive(exec, beside, !direct_);
  }
  /// Returns when the panel may be reshaped: neighbours have what they were sent.
  void release() { broadcast_.finish(); }

 private:
  static constexpr bool is_made_on_device = has_panels_on_device<Exec>;

  /// The triangle goes to kernels, and L21 where it is the host's. The host must leave them alone
  /// from here to the next fence.
  void arrive(const Exec& exec, const Exec& beside, bool with_l21) {
    storage_.to_device(beside, triangle_at_,
                       (with_l21 ? message_bytes() : packed_at_) - triangle_at_);
    exec.after(beside);
    arrived_ = true;
  }
  Index message_bytes() const {
    return packed_at_ + setup_.a_format(width()).size(below_) * Index(sizeof(Operand));
  }
  static constexpr Index lines(Index bytes) { return ceil_div(bytes, 64) * 64; }
  Index bytes_of(Index width, Index below) const {
    return lines(sizeof(MixedPanelHeader)) + lines(width * Index(sizeof(Index))) +
           lines(width * width * Index(sizeof(float))) +
           setup_.a_format(width).size(below) * Index(sizeof(Operand));
  }
  template <class Part>
  Part* at(Index offset) const {
    return reinterpret_cast<Part*>(storage_.host() + offset);
  }

  Setup setup_;
  kernel::Staged<std::byte, Exec> storage_;
  bool direct_;
  Step step_;
  Index below_ = 0;
  Index pivots_at_ = 0, triangle_at_ = 0, packed_at_ = 0;
  comm::BroadcastInParts broadcast_;
  bool arrived_ = true;
};

}  // namespace plinth::lu
