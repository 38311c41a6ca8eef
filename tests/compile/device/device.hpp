// SPDX-License-Identifier: BSD-3-Clause
//
// What the sources here share.
#pragma once

#include <cstdint>

#include "plinth/comm/grid.hpp"
#include "plinth/matrix/distributed_matrix.hpp"
#include "plinth/policy/device.hpp"

namespace on_device {

using Exec = plinth::DeviceExecution<Kokkos::DefaultExecutionSpace>;
/// The same, factoring panels.
using PanelExec = plinth::DeviceExecution<Kokkos::DefaultExecutionSpace, plinth::PanelOn::device>;
template <class T, class Layout = Kokkos::LayoutRight>
using Matrix = plinth::DistributedMatrix<T, Exec::memory, Layout>;

/// Entries that any device can make.
struct Noise {
  KOKKOS_FUNCTION double operator()(plinth::Index i, plinth::Index j) const noexcept {
    auto bits = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u +
                static_cast<std::uint64_t>(j) * 0xbf58476d1ce4e5b9u + 1;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1p-53 - 0.5;
  }
};

/// Column n of a source of entries.
template <class Source>
struct RightHandSide {
  Source source;
  KOKKOS_FUNCTION double operator()(plinth::Index i, plinth::Index) const noexcept {
    return source(i, source.order());
  }
};

/// factor.cpp: the scaled residual of HPL's systems, after LU of others.
double factor(const plinth::ProcessGrid& grid, plinth::Index n);
/// pivoting.cpp: the largest backward error of all ways of pivoting.
double pivoting(const plinth::ProcessGrid& grid, plinth::Index n);
/// queries.cpp: whether condition, error bounds, inverse and so on are what they should be.
bool queries(const plinth::ProcessGrid& grid, plinth::Index n);
/// solve.cpp: the backward error of solves with refinement, after whatever else there is.
double solve(const plinth::ProcessGrid& grid, plinth::Index n);
/// mixed.cpp: the scaled residual of HPL-MxP's systems, the largest of several precisions.
double mixed(const plinth::ProcessGrid& grid, plinth::Index n);

}  // namespace on_device
