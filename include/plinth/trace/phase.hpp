// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

#include "plinth/core/index.hpp"

namespace plinth::trace {

/// What a factorization or a solve is busy with. Phases may nest; an inner one interrupts the
/// outer one, so that no second is counted twice.
enum class Phase {
  panel,             ///< panel factorization, copies in and out included
  pivot,             ///< pivot reductions, with the waiting for their messages
  broadcast,         ///< starting panel broadcasts and passing their pieces on; MPI_Bcast whole
  interchange,       ///< row interchanges
  triangular_solve,  ///< U12 = L11^-1 A12
  update,            ///< A22 -= L21 U12
  wait,              ///< for messages of broadcasts, interchanges and substitutions, and for a
                     ///< device: its copies, and panels that it factors
  substitution,      ///< forward and back substitution
  count_
};

/// How many phases there are.
inline constexpr std::size_t phase_count = static_cast<std::size_t>(Phase::count_);

/// In words, for people.
constexpr const char* to_string(Phase phase) {
  switch (phase) {
    case Phase::panel:
      return "panel";
    case Phase::pivot:
      return "pivot";
    case Phase::broadcast:
      return "broadcast";
    case Phase::interchange:
      return "interchange";
    case Phase::triangular_solve:
      return "triangular solve";
    case Phase::update:
      return "update";
    case Phase::wait:
      return "wait";
    case Phase::substitution:
      return "substitution";
    case Phase::count_:
      break;
  }
  return "?";
}

/// No step of the plan.
inline constexpr Index no_step = -1;

/// Nobody wants to know: every call vanishes.
struct Off {
  void at(Index) {}  ///< no step
  void begin(Phase) {}  ///< no phase
  void end(Phase) {}  ///< likewise
};

/// Seconds spent in each phase by this rank, by a monotonic clock: in total, and if wanted in
/// each step of the plan.
class PhaseClock {
 public:
  using Seconds = std::array<double, phase_count>;  ///< by phase

  /// Starts from 0. `steps`: of how many steps to keep the phases apart.
  void reset(Index steps = 0) {
    total_.fill(0.0);
    steps_.assign(static_cast<std::size_t>(steps), Seconds{});
    step_ = no_step;
    open_.clear();
  }

  /// What follows is work for step k of the plan, or for no_step.
  void at(Index k) {
    charge();
    step_ = k;
  }
  /// A phase begins.
  void begin(Phase phase) {
    charge();
    open_.push_back(phase);
  }
  /// The innermost phase ends.
  void end(Phase) {
    charge();
    open_.pop_back();
  }

  /// Of a phase, in total.
  double seconds(Phase phase) const { return total_[index(phase)]; }
  /// Of all phases.
  const Seconds& total() const { return total_; }
  /// By phase, of each step; empty unless asked for.
  const std::vector<Seconds>& steps() const { return steps_; }

 private:
  static constexpr std::size_t index(Phase phase) { return static_cast<std::size_t>(phase); }
  static double now() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
  }
  /// The time since the last call belongs to the innermost phase.
  void charge() {
    const double time = now();
    if (!open_.empty()) {
      const std::size_t phase = index(open_.back());
      total_[phase] += time - since_;
      const auto step = static_cast<std::size_t>(step_);
      if (step_ >= 0 && step < steps_.size()) steps_[step][phase] += time - since_;
    }
    since_ = time;
  }

  Seconds total_{};
  std::vector<Seconds> steps_;
  Index step_ = no_step;
  std::vector<Phase> open_;
  double since_ = 0;
};

/// A phase for the lifetime of the object.
template <class Sink>
class Span {
 public:
  /// Begins the phase; the destructor ends it.
  Span(Sink& sink, Phase phase) : sink_(sink), phase_(phase) { sink_.begin(phase_); }
  ~Span() { sink_.end(phase_); }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  Sink& sink_;
  Phase phase_;
};

}  // namespace plinth::trace
