// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <type_traits>

#include "plinth/core/index.hpp"
#include "plinth/core/options.hpp"

namespace plinth::kernel {

/// A matrix somewhere in memory, not owned: rows contiguous (LayoutRight) or columns contiguous
/// (LayoutLeft), with a leading dimension.
template <class T, class Layout, class Space = Kokkos::HostSpace>
using MatrixView = Kokkos::View<T**, Layout, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Whether kernels of a space run on the host.
template <class Space>
inline constexpr bool runs_on_host =
    Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible;

template <class Layout>
inline constexpr bool is_row_major = std::is_same_v<Layout, Kokkos::LayoutRight>;

template <class Layout>
concept MatrixLayout =
    std::is_same_v<Layout, Kokkos::LayoutLeft> || std::is_same_v<Layout, Kokkos::LayoutRight>;

/// rows x cols View of data with leading dimension ld: the distance between columns (LayoutLeft)
/// or rows (LayoutRight). Precondition: ld >= rows, or ld >= cols.
template <MatrixLayout Layout, class Space, class T>
MatrixView<T, Layout, Space> wrap(T* data, Index rows, Index cols, Index ld) {
  using View = MatrixView<T, Layout, Space>;
  using Kokkos::pair;
  if constexpr (is_row_major<Layout>) {
    return Kokkos::subview(View(data, rows, ld), Kokkos::ALL, pair<Index, Index>(0, cols));
  } else {
    return Kokkos::subview(View(data, ld, cols), pair<Index, Index>(0, rows), Kokkos::ALL);
  }
}

/// rows x cols View of data without gaps; of nothing too.
template <MatrixLayout Layout, class Space, class T>
MatrixView<T, Layout, Space> contiguous(T* data, Index rows, Index cols) {
  const Index lead = is_row_major<Layout> ? cols : rows;
  return wrap<Layout, Space>(data, rows, cols, lead > 0 ? lead : 1);
}

/// The part of a matrix in `rows` and `cols`, same layout.
template <class View>
View part(const View& a, Range rows, Range cols) {
  return Kokkos::subview(a, Kokkos::pair<Index, Index>(rows.begin, rows.end),
                         Kokkos::pair<Index, Index>(cols.begin, cols.end));
}

template <class View>
Index rows_of(const View& a) {
  return static_cast<Index>(a.extent(0));
}
template <class View>
Index cols_of(const View& a) {
  return static_cast<Index>(a.extent(1));
}

/// Distance between consecutive columns (LayoutLeft) or rows (LayoutRight).
template <class View>
Index leading_dimension(const View& a) {
  return static_cast<Index>(is_row_major<typename View::array_layout> ? a.stride(0)
                                                                      : a.stride(1));
}

/// A matrix as a kernel reads it: op(view). Lets a column-major panel take part in row-major
/// products without a copy, since it is the transpose of a row-major View.
template <class View>
struct Operand {
  View view;
  Op op = Op::none;
};

/// Column-major data (rows x cols, leading dimension ld) as an operand of products whose other
/// matrices have layout `Layout`.
template <MatrixLayout Layout, class Space, class T>
Operand<MatrixView<T, Layout, Space>> column_major(T* data, Index rows, Index cols, Index ld) {
  if constexpr (is_row_major<Layout>) {
    return {wrap<Layout, Space>(data, cols, rows, ld), Op::transpose};
  } else {
    return {wrap<Layout, Space>(data, rows, cols, ld), Op::none};
  }
}

}  // namespace plinth::kernel
