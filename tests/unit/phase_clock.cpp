// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cmath>
#include <numeric>
#include <string>
#include <thread>
#include <type_traits>

#include "plinth/trace/phase.hpp"
#include "support/catch.hpp"

using plinth::trace::Off;
using plinth::trace::Phase;
using plinth::trace::PhaseClock;
using plinth::trace::Span;

namespace {

void pass(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

double sum(const PhaseClock::Seconds& seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

}  // namespace

TEST_CASE("phase clock: an inner phase interrupts the outer one") {
  PhaseClock clock;
  clock.reset();
  {
    const Span outer(clock, Phase::interchange);
    pass(0.002);
    {
      const Span inner(clock, Phase::wait);
      pass(0.030);
    }
    pass(0.002);
  }
  pass(0.030);  // nobody's
  {
    const Span again(clock, Phase::wait);
    pass(0.002);
  }
  // A sleep is never shorter than asked for; how much longer it is depends on the machine.
  CHECK(clock.seconds(Phase::interchange) >= 0.004);
  CHECK(clock.seconds(Phase::wait) >= 0.032);
  CHECK(clock.seconds(Phase::update) == 0);
  CHECK(sum(clock.total()) == clock.seconds(Phase::interchange) + clock.seconds(Phase::wait));
  CHECK(clock.steps().empty());
  clock.reset();
  CHECK(sum(clock.total()) == 0);
}

TEST_CASE("phase clock: steps add up to the total, without what belongs to none") {
  PhaseClock clock;
  clock.reset(3);
  const auto spend = [&clock](plinth::Index step, Phase phase) {
    clock.at(step);
    const Span span(clock, phase);
    pass(0.001);
  };
  spend(0, Phase::panel);
  spend(2, Phase::update);
  spend(1, Phase::update);
  spend(2, Phase::update);
  spend(plinth::trace::no_step, Phase::substitution);
  spend(3, Phase::substitution);  // beyond the last: in the total only
  REQUIRE(clock.steps().size() == 3);
  const auto at = [&clock](std::size_t k, Phase phase) {
    return clock.steps()[k][static_cast<std::size_t>(phase)];
  };
  CHECK(at(0, Phase::panel) == clock.seconds(Phase::panel));
  CHECK(at(0, Phase::update) == 0);
  CHECK(at(1, Phase::update) >= 0.001);
  CHECK(at(2, Phase::update) >= 0.002);
  const double updates = at(1, Phase::update) + at(2, Phase::update);
  CHECK(std::abs(updates - clock.seconds(Phase::update)) < 1e-9);
  CHECK(clock.seconds(Phase::substitution) >= 0.002);
  CHECK(sum(clock.steps()[0]) + sum(clock.steps()[1]) + sum(clock.steps()[2]) <
        sum(clock.total()) - 0.001);
}

TEST_CASE("phase clock: nobody listens") {
  STATIC_REQUIRE(std::is_empty_v<Off>);
  Off off;
  off.at(5);
  const Span span(off, Phase::panel);
  CHECK(std::string(to_string(Phase::wait)) == "wait");
  for (std::size_t i = 0; i < plinth::trace::phase_count; ++i)
    CHECK(std::string(to_string(static_cast<Phase>(i))) != "?");
}
