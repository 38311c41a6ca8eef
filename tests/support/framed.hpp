// SPDX-License-Identifier: BSD-3-Clause
//
// Matrices for kernels, with a frame.
#pragma once

#include <cstddef>
#include <vector>

#include "plinth/core/index.hpp"
#include "plinth/kernel/view.hpp"

namespace plinth_test {

/// An m x n matrix in storage with gaps between its lines, which nobody may touch.
template <class T, class Layout>
struct Framed {
  static constexpr bool by_rows = plinth::kernel::is_row_major<Layout>;
  plinth::Index rows, cols, lead;
  std::vector<T> data;
  Framed(plinth::Index m, plinth::Index n)
      : rows(m),
        cols(n),
        lead((by_rows ? n : m) + 3),
        data(static_cast<std::size_t>(lead * ((by_rows ? m : n) + 1)), T(-77.0f)) {}
  auto view() {
    return plinth::kernel::wrap<Layout, Kokkos::HostSpace>(data.data(), rows, cols, lead);
  }
  bool frame_is_whole() {
    plinth::Index kept = 0;
    for (const T x : data) kept += x == T(-77.0f);
    return kept == static_cast<plinth::Index>(data.size()) - rows * cols;
  }
};

}  // namespace plinth_test
