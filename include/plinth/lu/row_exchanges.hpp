// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "plinth/core/index.hpp"
#include "plinth/kernel/buffer.hpp"
#include "plinth/kernel/elementwise.hpp"
#include "plinth/lu/row_permutation.hpp"
#include "plinth/matrix/distribution.hpp"

namespace plinth::lu {

/// The interchanges of one panel where one process has all rows, as kernels read them: pairs of
/// rows, exchanged in place and in order. They serve for any columns.
template <ExecutionPolicy Exec>
class RowExchanges {
 public:
  explicit RowExchanges(Index max_width) : lists_(2 * max_width) {}

  /// Makes the pairs and starts their copy to kernels. Copies from former ones must be done, and
  /// `exec` come after the kernels that read them.
  void prepare(const Exec& exec, const Interchanges& swaps, const BlockCyclic& rows) {
    Index* const upper = lists_.host();
    Index* const lower = upper + swaps.width;
    width_ = swaps.width;
    count_ = 0;
    for (Index n = 0; n < swaps.width; ++n) {
      const Index t = swaps.inverse ? swaps.width - 1 - n : n;
      if (swaps.rows[t] == swaps.first + t) continue;
      upper[count_] = rows.local(swaps.first + t);
      lower[count_++] = rows.local(swaps.rows[t]);
    }
    is_prepared_ = true;
    if (count_ != 0) lists_.to_device(exec, 0, 2 * width_);
  }
  /// Another panel's are to come.
  void forget() { is_prepared_ = false; }
  bool is_prepared() const { return is_prepared_; }

  /// Starts exchanging rows of `a`, some columns with all rows.
  template <class View>
  void operator()(const Exec& exec, const View& a) const {
    if (count_ != 0)
      kernel::swap_rows(exec, lists_.device(), lists_.device() + width_, count_, a);
  }

 private:
  kernel::Staged<Index, Exec> lists_;
  Index width_ = 0;
  Index count_ = 0;
  bool is_prepared_ = false;
};

}  // namespace plinth::lu
