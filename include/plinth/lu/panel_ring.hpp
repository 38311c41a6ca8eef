// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "plinth/core/index.hpp"
#include "plinth/lu/plan.hpp"
#include "plinth/lu/row_exchanges.hpp"
#include "plinth/lu/row_permutation.hpp"
#include "plinth/policy/execution.hpp"
#include "plinth/trace/phase.hpp"

namespace plinth::lu {

/// The panels under way, look-ahead + 1 of them at most, and who waits for whom on a device: `exec`
/// is the queue of the kernels that update the matrix, `beside` that of the panels.
///
/// - A panel's copies to the device come after the kernels that read the one that had its room
///   before: finish() of that one.
/// - Kernels come after the panel's copies: await() of it, or of the panel before it, so that these
///   copies do not wait for kernels that are started later.
/// - The host has waited for `beside` between a panel's copies and the next use of their room on
///   the host: whoever factors panels does that, once a step.
///
/// Where one process has all rows of the matrix, the list of a panel's interchanges goes to kernels
/// with it.
template <class Panel, ExecutionPolicy Exec>
class PanelRing {
 public:
  /// has_exchanges: rows are exchanged in place. The panels are to be added.
  PanelRing(const Exec& exec, const Exec& beside, const Plan& plan, bool has_exchanges)
      : exec_(exec), beside_(beside), plan_(plan), has_exchanges_(has_exchanges) {}

  /// Adds the panels, each made from `arguments`.
  template <class... Arguments>
  void fill(const Arguments&... arguments) {
    const Index in_flight =
        std::min(plan_.lookahead(), std::max<Index>(plan_.steps() - 1, 0)) + 1;
    for (Index d = 0; d < in_flight; ++d) {
      panels_.emplace_back(arguments...);
      exchanges_.emplace_back(has_exchanges_ ? plan_.max_width() : 0);
    }
  }

  const std::vector<Panel>& panels() const { return panels_; }
  Panel& operator[](const Step& step) { return panels_[slot(step)]; }
  const RowExchanges<Exec>& exchanges(const Step& step) const { return exchanges_[slot(step)]; }

  /// The room of a former panel takes the shape of a step.
  void reshape(const Step& step, const LocalStep& mine) {
    (*this)[step].reshape(step, mine);
    exchanges_[slot(step)].forget();
  }
  /// Returns when a panel is here; kernels of `exec` that start from now on find it.
  template <class Sink>
  void await(const Step& step, Sink& sink) {
    Panel& panel = (*this)[step];
    {
      trace::Span span(sink, trace::Phase::wait);
      panel.wait(exec_, beside_);
    }
    RowExchanges<Exec>& exchanges = exchanges_[slot(step)];
    if (!has_exchanges_ || exchanges.is_prepared()) return;
    trace::Span span(sink, trace::Phase::interchange);
    exchanges.prepare(beside_, interchanges(step), plan_.distribution().rows);
    exec_.after(beside_);
  }
  /// All kernels that read a panel have been started.
  template <class Sink>
  void finish(const Step& step, Sink& sink) {
    if constexpr (is_host_accessible<Exec>) {
      exec_.fence();
    } else {
      // The next panel's copy is not among those that come after this step's kernels.
      if (plan_.lookahead() > 0 && step.k + 1 < plan_.steps())
        await(plan_.step(step.k + 1), sink);
      beside_.after(exec_);
    }
    trace::Span span(sink, trace::Phase::wait);
    (*this)[step].release();
  }
  Interchanges interchanges(const Step& step) {
    Panel& panel = (*this)[step];
    return {step.cols.begin, panel.pivots(), panel.width()};
  }

  void progress() {
    for (Panel& panel : panels_) panel.progress();
  }
  /// At the end: waits for all copies.
  void release() {
    if constexpr (!is_host_accessible<Exec>) {
      exec_.fence();
      beside_.fence();
    }
    for (Panel& panel : panels_) panel.release();
  }

 private:
  std::size_t slot(const Step& step) const {
    return static_cast<std::size_t>(step.k) % panels_.size();
  }

  Exec exec_;
  Exec beside_;
  Plan plan_;
  bool has_exchanges_;
  std::vector<Panel> panels_;
  std::vector<RowExchanges<Exec>> exchanges_;
};

}  // namespace plinth::lu
