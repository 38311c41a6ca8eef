// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "linpack/config.hpp"
#include "plinth/comm/grid.hpp"
#include "plinth/lu/panel.hpp"
#include "plinth/lu/plan.hpp"
#include "plinth/refine/hpl_residual.hpp"
#include "plinth/trace/phase.hpp"

namespace hpl {

/// netlib's N x (N + 1) system [A | b] on a process grid, and everything that solving it works
/// with. Exists on the processes of the grid only; every call is collective over them.
class System {
 public:
  virtual ~System() = default;

  virtual void generate() = 0;
  /// Overwrites A with U and b with y, where U x = y. `steps`: the clock is to keep the steps
  /// apart.
  virtual plinth::lu::PanelOutcome factor(bool steps) = 0;
  /// x from U and y.
  virtual void back_substitute() = 0;
  /// Of x and of A and b, generated anew.
  virtual plinth::SystemNorms norms() const = 0;
  /// Where this process's time went in factor() and back_substitute().
  virtual const plinth::trace::PhaseClock& clock() const = 0;
  /// What the clock's steps are.
  virtual const plinth::lu::Plan& plan() const = 0;
};

/// Bytes that the process at (0, 0), which has most, needs for a case.
double bytes_needed(const linpack::Case& c);

/// Allocates, with the storage that the case wants. Throws plinth::Error of kind memory: for the
/// matrices on every process, for the workspace on those that lack it.
std::unique_ptr<System> make_system(const plinth::ProcessGrid& grid, const linpack::Case& c);

}  // namespace hpl
