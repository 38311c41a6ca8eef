// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "plinth/comm/broadcast.hpp"
#include "plinth/comm/grid.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/lowp/gemm.hpp"
#include "plinth/kernel/view.hpp"

namespace plinth::lu {

/// Some columns of U12 as the update reads them: packed operands, in pieces of columns that a
/// second-level cache holds. Each piece has an exponent of its own, that of its largest entry, and
/// can travel down the process column, where nobody has to pack it again: while one is multiplied
/// the next one is made. Packed and multiplied where kernels of `Exec` work; messages are the
/// host's, or with direct transport the kernels', but for the exponents.
template <Scalar16 Operand, ExecutionPolicy Exec>
class PackedBlockRow {
 public:
  using Setup = kernel::lowp::GemmSetup<Operand>;

  /// `lane`: tells block rows apart that travel at a time. `direct`: ProcessGrid::is_direct of
  /// Exec's memory.
  PackedBlockRow(const Setup& setup, Index max_width, Index max_cols, int lane, bool direct)
      : setup_(setup), lane_(lane), direct_(direct) {
    const Index pieces = ceil_div(max_cols, piece_cols(setup));
    for (Index p = 0; p < pieces; ++p)
      capacity_ +=
          bytes_of(max_width, std::min(piece_cols(setup), max_cols - p * piece_cols(setup)));
    storage_.reserve(capacity_, direct);
    if (direct) exponents_.reserve(pieces);
    broadcasts_.resize(static_cast<std::size_t>(pieces));
  }

  /// Columns of a piece: about a thousand, whole slivers; more on a device, which is waited for
  /// several times for each.
  static Index piece_cols(const Setup& setup) {
    constexpr Index about = kernel::runs_on_host<typename Exec::execution_space> ? 1024 : 16384;
    const Index width = setup.b_format(1).width;
    return ceil_div(about, width) * width;
  }

  /// Takes the shape width x cols, contents unspecified. Waits until what was sent from here has
  /// left, and what was received has been copied and, since it may be received into, read.
  void reshape(const Exec& exec, Index width, Index cols) {
    release();
    if constexpr (!is_host_accessible<Exec>) exec.fence();
    width_ = width;
    cols_ = cols;
  }
  /// Bytes that it has room for.
  Index bytes() const { return capacity_; }

  Index pieces() const { return ceil_div(cols_, piece_cols(setup_)); }
  Range piece(Index p) const {
    return {p * piece_cols(setup_), std::min((p + 1) * piece_cols(setup_), cols_)};
  }
  int& exponent(Index p) const {
    return direct_ ? exponents_.data()[p] : *reinterpret_cast<int*>(message(p));
  }
  /// For kernels.
  Operand* packed(Index p) const {
    return reinterpret_cast<Operand*>(storage_.device() + offset(p) + line);
  }

  /// Starts the broadcast of a piece down the process column, from process row `root`. On the root
  /// it must be packed.
  void send(const Exec& exec, const ProcessGrid& grid, int root, Index p,
            comm::BroadcastAlgorithm algorithm) {
    received_ = grid.coord().row != root;
    const Index bytes = bytes_of(width_, piece(p).size()) - line;
    if (!received_) {
      storage_.start_to_message(exec, offset(p) + line, bytes);
      exec.fence();
    }
    const Index exponent_bytes = direct_ ? Index(sizeof(int)) : line;
    broadcast(p).start(grid.column_rows(), {&exponent(p), exponent_bytes},
                       {message(p) + line, bytes}, direct_, root,
                       static_cast<int>((2 * p + lane_) % 16384), algorithm,
                       grid.options().max_message);
  }
  /// Returns when a piece that was sent is here and ready for kernels.
  void wait(const Exec& exec, Index p) {
    broadcast(p).wait_arrival();
    if (received_)
      storage_.from_message(exec, offset(p) + line, bytes_of(width_, piece(p).size()) - line);
  }
  void progress() {
    for (auto& b : broadcasts_) b.progress();
  }
  void release() {
    for (auto& b : broadcasts_) b.finish();
  }

 private:
  static constexpr Index line = 64;
  Index bytes_of(Index width, Index cols) const {
    const Index bytes = setup_.b_format(width).size(cols) * Index(sizeof(Operand));
    return line + ceil_div(bytes, line) * line;
  }
  Index offset(Index p) const { return p * bytes_of(width_, piece_cols(setup_)); }
  std::byte* message(Index p) const { return storage_.message() + offset(p); }
  comm::BroadcastInParts& broadcast(Index p) { return broadcasts_[static_cast<std::size_t>(p)]; }

  Setup setup_;
  int lane_;
  bool direct_;
  Index capacity_ = 0;
  kernel::MessageBuffer<std::byte, Exec> storage_;
  kernel::Buffer<int> exponents_;  ///< where they are not in the messages
  std::vector<comm::BroadcastInParts> broadcasts_;
  Index width_ = 0;
  Index cols_ = 0;
  bool received_ = false;  ///< pieces come from another process row
};

}  // namespace plinth::lu
