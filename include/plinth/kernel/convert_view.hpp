// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "plinth/kernel/convert.hpp"
#include "plinth/kernel/convert_elements.hpp"
#include "plinth/kernel/run_parts.hpp"
#include "plinth/kernel/view.hpp"
#include "plinth/policy/execution.hpp"

namespace plinth::kernel {

/// convert() on a host, line by line.
template <ExecutionPolicy Exec, class From, class To>
NarrowingCounts convert_lines_of(const Exec& exec, const From& from, const To& to, double scale) {
  constexpr bool by_rows = is_row_major<typename To::array_layout>;
  const Index lines = by_rows ? rows_of(to) : cols_of(to);
  const Index length = by_rows ? cols_of(to) : rows_of(to);
  if (lines == 0 || length == 0) return {};
  const Index from_lead = leading_dimension(from), to_lead = leading_dimension(to);
  const auto* const source = from.data();
  auto* const target = to.data();
  [[maybe_unused]] auto scope = exec.enter();
  std::vector<NarrowingCounts> counts(
      static_cast<std::size_t>(std::max<Index>(exec.space().concurrency(), 1)));
  NarrowingCounts* const each = counts.data();
  run_parts(exec.space(), lines, lines * length > 4096, [=](Index part, Index parts) {
    for (Index l = lines * part / parts; l < lines * (part + 1) / parts; ++l)
      convert_run(source + l * from_lead, target + l * to_lead, length, scale, each[part]);
  });
  NarrowingCounts all;
  for (const NarrowingCounts& c : counts) all += c;
  return all;
}

/// to(i, j) = from(i, j) scale, rounded once to the type of `to`; says what that lost. Same shape,
/// same layout; `scale` a power of two. Done on return, but a device's kernel may still run where
/// nothing can be lost.
template <ExecutionPolicy Exec, class From, class To>
NarrowingCounts convert(const Exec& exec, const From& from, const To& to, double scale = 1) {
  static_assert(std::is_same_v<typename From::array_layout, typename To::array_layout>,
                "plinth: convert wants both matrices in one layout");
  if constexpr (!runs_on_host<typename Exec::execution_space>) {
    return convert_matrix(exec, from, to, scale);
  } else {
    return convert_lines_of(exec, from, to, scale);
  }
}

}  // namespace plinth::kernel
