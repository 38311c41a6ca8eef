// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

#include "plinth/core/index.hpp"

namespace plinth::trace {

/// What a factorization or a solve is busy with.
enum class Phase {
  panel,             ///< panel factorization, pivot reductions included
  pivot,             ///< pivot reductions alone (also counted in panel)
  broadcast,         ///< starting and waiting for panel broadcasts
  interchange,       ///< row interchanges
  triangular_solve,  ///< U12 = L11^-1 A12
  update,            ///< A22 -= L21 U12
  substitution,      ///< forward and back substitution
  count_
};

inline constexpr std::size_t phase_count = static_cast<std::size_t>(Phase::count_);

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
    case Phase::substitution:
      return "substitution";
    case Phase::count_:
      break;
  }
  return "?";
}

/// Nobody wants to know: every call vanishes.
struct Off {
  void begin(Phase) {}
  void end(Phase) {}
};

/// Seconds spent in each phase by this rank, by a monotonic clock.
class PhaseClock {
 public:
  void begin(Phase phase) { started_[index(phase)] = now(); }
  void end(Phase phase) { total_[index(phase)] += now() - started_[index(phase)]; }
  double seconds(Phase phase) const { return total_[index(phase)]; }
  void reset() { total_.fill(0.0); }

 private:
  static constexpr std::size_t index(Phase phase) { return static_cast<std::size_t>(phase); }
  static double now() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
  }
  std::array<double, phase_count> started_{};
  std::array<double, phase_count> total_{};
};

/// A phase for the lifetime of the object.
template <class Sink>
class Span {
 public:
  Span(Sink& sink, Phase phase) : sink_(sink), phase_(phase) { sink_.begin(phase_); }
  ~Span() { sink_.end(phase_); }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  Sink& sink_;
  Phase phase_;
};

}  // namespace plinth::trace
