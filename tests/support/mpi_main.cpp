// SPDX-License-Identifier: BSD-3-Clause
//
// Runs the MPI tests on every rank of MPI_COMM_WORLD.
//
// Every rank runs the same test cases in the same order and they meet after each one, so that a
// failure on one rank does not let the next case's messages cross with this one's. Rank 0
// reports as usual; another rank's report is shown only if it failed. All ranks return non-zero
// if any rank failed.
//
// PLINTH_TEST_RANKS, if set, is the number of ranks that must be there.
//
// A rank that leaves a test early can leave the others waiting for it. A watchdog bounds each
// test case: after PLINTH_TEST_CASE_SECONDS (120 if unset) it says which case hangs on which
// ranks, shows what failed, and aborts.
#define CATCH_CONFIG_RUNNER
#include "catch.hpp"

#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

namespace {

std::chrono::seconds test_case_limit() {
  const char* text = std::getenv("PLINTH_TEST_CASE_SECONDS");
  const int seconds = text ? std::atoi(text) : 0;
  return std::chrono::seconds(seconds > 0 ? seconds : 120);
}

/// Aborts the run when a test case lasts too long.
class Watchdog {
 public:
  Watchdog(int rank, const std::ostringstream* report)
      : rank_(rank), report_(report), limit_(test_case_limit()), thread_([this] { watch(); }) {}
  ~Watchdog() {
    {
      std::lock_guard lock(mutex_);
      finished_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void start(const std::string& name) { set(name, true); }
  void stop() { set({}, false); }

 private:
  void set(const std::string& name, bool armed) {
    {
      std::lock_guard lock(mutex_);
      name_ = name;
      armed_ = armed;
      deadline_ = std::chrono::steady_clock::now() + limit_;
    }
    changed_.notify_all();
  }
  void watch() {
    std::unique_lock lock(mutex_);
    while (!finished_) {
      if (!armed_) {
        changed_.wait(lock);
      } else if (changed_.wait_until(lock, deadline_) == std::cv_status::timeout && armed_ &&
                 std::chrono::steady_clock::now() >= deadline_) {
        std::ostringstream text;
        text << "rank " << rank_ << ": test case '" << name_ << "' did not end within "
             << limit_.count() << " s\n";
        if (report_) text << report_->str();
        std::cerr << text.str() << std::flush;
        // Let the other ranks say where they stand, too.
        std::this_thread::sleep_for(std::chrono::seconds(2));
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
  }

  int rank_;
  const std::ostringstream* report_;
  std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string name_;
  bool armed_ = false;
  bool finished_ = false;
  std::chrono::steady_clock::time_point deadline_;
  std::thread thread_;  // last, because it uses all of the above
};

Watchdog* watchdog = nullptr;
MPI_Comm meeting_place = MPI_COMM_NULL;

#if PLINTH_TEST_CATCH == 3
using ListenerBase = Catch::EventListenerBase;
#else
using ListenerBase = Catch::TestEventListenerBase;
#endif

/// Starts the watchdog with each test case, and makes the ranks meet at its end.
class Listener : public ListenerBase {
 public:
  using ListenerBase::ListenerBase;
  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    ListenerBase::testCaseStarting(info);
    if (watchdog) watchdog->start(info.name);
  }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    ListenerBase::testCaseEnded(stats);
    if (meeting_place != MPI_COMM_NULL) MPI_Barrier(meeting_place);
    if (watchdog) watchdog->stop();
  }
};

/// Sends std::cout to a buffer while it lives.
class CapturedOutput {
 public:
  explicit CapturedOutput(bool active)
      : active_(active), old_(active ? std::cout.rdbuf(text_.rdbuf()) : nullptr) {}
  ~CapturedOutput() { release(); }
  void release() {
    if (old_) std::cout.rdbuf(old_);
    old_ = nullptr;
  }
  const std::ostringstream* text() const { return active_ ? &text_ : nullptr; }

 private:
  std::ostringstream text_;
  bool active_;
  std::streambuf* old_;
};

int run_tests(int argc, char** argv) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* expected = std::getenv("PLINTH_TEST_RANKS");
  if (expected && std::atoi(expected) != size) {
    std::cerr << "started on " << size << " ranks instead of " << expected << '\n';
    return 1;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &meeting_place);

  int failed = 0;
  {
    CapturedOutput output(rank != 0);
    {
      Watchdog guard(rank, output.text());
      watchdog = &guard;
      Catch::Session session;
      failed = session.run(argc, argv) != 0 ? 1 : 0;
      watchdog = nullptr;
    }
    output.release();
    if (failed && output.text())
      std::cerr << "rank " << rank << " failed:\n" << output.text()->str() << std::flush;
  }

  int any_failed = 0;
  MPI_Allreduce(&failed, &any_failed, 1, MPI_INT, MPI_MAX, meeting_place);
  MPI_Comm_free(&meeting_place);
  return any_failed;
}

}  // namespace

CATCH_REGISTER_LISTENER(Listener)

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int result = 1;
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    result = run_tests(argc, argv);
  }
  MPI_Finalize();
  return result;
}
