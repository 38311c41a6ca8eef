// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "plinth/comm/allreduce.hpp"
#include "plinth/comm/grid.hpp"
#include "plinth/kernel/panel_columns.hpp"

namespace plinth::lu {

/// The message of one pivot reduction: the best candidate so far (row = global row), the whole
/// panel row it stands in, and the whole current row, which only the process row of the diagonal
/// block can supply. After the all-reduction every process of the column has all three, so one
/// exchange per column finds the pivot and moves both rows.
///
/// Bytes: 40 + 2 width sizeof(T). Source of the scheme: netlib HPL's panel exchange.
template <class T>
class PivotMessage {
 public:
  using Candidate = kernel::PivotCandidate<RealOf<T>>;

  explicit PivotMessage(Index width) : width_(width), bytes_(offset(2)) {}

  T* winner_row() { return row(bytes_.data(), 0); }
  T* current_row() { return row(bytes_.data(), 1); }
  const Candidate& candidate() const { return header(bytes_.data()).candidate; }

  void set(const Candidate& candidate, bool has_current) {
    Header h;
    h.candidate = candidate;
    h.has_current = has_current;
    std::memcpy(bytes_.data(), &h, sizeof h);
  }

  /// Collective over the process column.
  void reduce(const comm::Communicator& column, comm::SmallAllreduce& allreduce) {
    if (column.size() == 1) return;
    allreduce(column, bytes_.data(), static_cast<int>(bytes_.size()),
              [this](std::byte* mine, const std::byte* other) { combine(mine, other); });
  }
  std::size_t bytes() const { return bytes_.size(); }

 private:
  struct Header {
    Candidate candidate;
    bool has_current = false;
  };
  static constexpr std::size_t header_bytes = (sizeof(Header) + 15) / 16 * 16;

  std::size_t row_bytes() const { return static_cast<std::size_t>(width_) * sizeof(T); }
  std::size_t offset(int row) const {
    return header_bytes + static_cast<std::size_t>(row) * row_bytes();
  }
  T* row(std::byte* message, int which) const {
    return reinterpret_cast<T*>(message + offset(which));
  }
  static const Header& header(const std::byte* message) {
    return *reinterpret_cast<const Header*>(message);
  }
  void combine(std::byte* mine, const std::byte* other) const {
    Header& h = *reinterpret_cast<Header*>(mine);
    const Header& o = header(other);
    if (h.candidate.loses_to(o.candidate)) {
      h.candidate = o.candidate;
      std::memcpy(mine + offset(0), other + offset(0), row_bytes());
    }
    if (!h.has_current && o.has_current) {
      h.has_current = true;
      std::memcpy(mine + offset(1), other + offset(1), row_bytes());
    }
  }

  Index width_;
  std::vector<std::byte> bytes_;
};

}  // namespace plinth::lu
