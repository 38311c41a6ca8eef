// SPDX-License-Identifier: BSD-3-Clause
//
// What LU asks of a device, and in which order: panels and rows travel while updates run, and the
// host waits as seldom as it may.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "plinth/plinth.hpp"
#include "support/catch.hpp"
#include "support/locked_device.hpp"
#include "support/panels_on_device.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using plinth::ProcessGrid;

namespace {

/// What happens on the device, as the host asks for it. Queues are numbered as they are made.
struct Event {
  enum Kind { kernel, to_host, fence } kind;
  int queue;
  std::size_t bytes = 0;  ///< to the host
};
std::vector<Event>& events() {
  static std::vector<Event> all;
  return all;
}

/// The stand-in device, writing down what it is asked for. Its kernels run while the host goes on,
/// or so they say, or they are `done_at_once`.
template <bool done_at_once>
class RecorderOf : public LockedDevice {
 public:
  static constexpr bool asynchronous = !done_at_once;
  class Scope {
   public:
    explicit Scope(const RecorderOf& device) : inside_(device.as_device().enter()) {
      if (depth()++ == 0) events().push_back({Event::kernel, device.number_});
    }
    ~Scope() { --depth(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    static int& depth() {
      static int kernels = 0;
      return kernels;
    }

   private:
    LockedDevice::Scope inside_;
  };

  RecorderOf() = default;
  Scope enter() const { return Scope(*this); }
  void fence() const {
    // A kernel's own waiting is for threads of the host.
    if (Scope::depth() == 0) events().push_back({Event::fence, number_});
    LockedDevice::fence();
  }
  void to_host(void* to, const void* from, std::size_t bytes) const {
    events().push_back({Event::to_host, number_, bytes});
    LockedDevice::to_host(to, from, bytes);
  }
  RecorderOf beside() const { return RecorderOf(LockedDevice::beside(), ++queues()); }
  static int& queues() {
    static int made = 0;
    return made;
  }

 private:
  RecorderOf(const LockedDevice& device, int number) : LockedDevice(device), number_(number) {}
  const LockedDevice& as_device() const { return *this; }
  int number_ = 0;
};
using Recorder = RecorderOf<false>;

/// How often a queue was waited for.
Index fences(int queue) {
  return std::count_if(events().begin(), events().end(), [&](const Event& e) {
    return e.kind == Event::fence && e.queue == queue;
  });
}
/// How much a queue has brought to the host.
std::size_t bytes_to_host(int queue) {
  std::size_t bytes = 0;
  for (const Event& e : events())
    if (e.queue == queue) bytes += e.bytes;
  return bytes;
}
/// For each time that a queue with copies to the host was waited for, how many kernels were
/// started on the main one in between.
std::vector<Index> hidden_behind(int queue) {
  std::vector<Index> counts;
  bool copies = false;
  Index kernels = 0;
  for (const Event& e : events()) {
    if (e.kind == Event::kernel && e.queue == 0) ++kernels;
    if (e.queue != queue) continue;
    if (e.kind == Event::to_host) copies = true, kernels = 0;
    if (e.kind == Event::fence && copies) counts.push_back(kernels), copies = false;
  }
  return counts;
}

/// For each time that a queue with copies to the host was waited for, how many kernels had been
/// started since the main queue was.
std::vector<Index> under_way_at(int queue) {
  std::vector<Index> counts;
  bool copies = false;
  Index kernels = 0;
  for (const Event& e : events()) {
    if (e.kind == Event::kernel && e.queue == 0) ++kernels;
    if (e.kind == Event::fence && e.queue == 0) kernels = 0;
    if (e.queue != queue) continue;
    if (e.kind == Event::to_host) copies = true;
    if (e.kind == Event::fence && copies) counts.push_back(kernels), copies = false;
  }
  return counts;
}

using Matrix = plinth::DistributedMatrix<double, LockedMemory, Kokkos::LayoutRight>;
constexpr auto entry = [](Index i, Index j) noexcept { return noise(i, j, 7); };

/// Factors an n x n matrix with a recorder, and leaves the events of the walk.
template <class Device = Recorder>
plinth::lu::Plan record(const ProcessGrid& grid, Index n, Index nb,
                        const plinth::lu::FactorOptions& options) {
  Matrix a(grid, n, n, {.mb = nb, .nb = nb});
  plinth::generate(LockedDevice(), a, entry);
  plinth::trace::Off off;
  Device::queues() = 0;
  plinth::lu::Factorization<Matrix, Device> factorization(Device(), grid, a.distribution(),
                                                          options, off);
  plinth::lu::Pivots pivots(a.distribution().rows, grid.coord().row);
  events().clear();
  CHECK(factorization(a, pivots).first_zero_pivot == -1);
  return {a.distribution(), options.lookahead, grid.shape().rows > 1 ? options.split : 0};
}

constexpr int panels = 1, left_rows = 3, right_rows = 4;  // queues in the order of their making

}  // namespace

TEST_CASE("With one process row the host waits once per step for a device", "[device]") {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, size});
  const auto keep_l = GENERATE(plinth::lu::KeepL::no, plinth::lu::KeepL::permuted);
  const Index lookahead = GENERATE(0, 1, 2);
  const auto plan = record(grid, 43, 4, {.lookahead = lookahead, .keep_l = keep_l});
  CHECK(fences(panels) == plan.steps() + 1);  // and at the end
  CHECK(fences(0) == 1);
  CHECK(events().back().kind == Event::fence);
  CHECK(is_idle(LockedDevice()));
}

TEST_CASE("A panel's way to the host and its factorization hide behind a device's update",
          "[device]") {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, size});
  const Index lookahead = GENERATE(1, 2);
  const auto plan = record(grid, 43, 4, {.lookahead = lookahead});
  const std::vector<Index> kernels = hidden_behind(panels);
  std::size_t loaded = 0;
  for (Index k = 0; k < plan.steps(); ++k) {
    if (!plan.local(plan.step(k), grid.coord()).has_panel) continue;
    REQUIRE(loaded < kernels.size());
    const Index behind = kernels[loaded++];
    if (k < lookahead) continue;
    const auto rest = plan.sections(k - lookahead).left;
    INFO("panel " << k);
    // Rows exchanged, triangular solve, product: all of them before the host waits.
    if (!plan.local_cols(rest, grid.coord()).empty()) CHECK(behind >= 3);
  }
  CHECK(loaded == kernels.size());
}

TEST_CASE("Behind kernels that are done at once nothing hides: panels come first", "[device]") {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rows = size % 2 == 0 ? 2 : 1;
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{rows, size / rows});
  const auto plan = record<RecorderOf<true>>(grid, 43, 4, {.lookahead = 1, .split = 0.5});
  Index mine = 0;
  for (Index k = 0; k < plan.steps(); ++k)
    if (plan.local(plan.step(k), grid.coord()).has_panel) ++mine;
  // From the columns' way to the host on, all waiting is for them.
  CHECK(hidden_behind(panels) == std::vector<Index>(static_cast<std::size_t>(mine), 0));
  CHECK(is_idle(LockedDevice()));
}

namespace {

using Half = plinth::DistributedMatrix<plinth::half, LockedMemory, Kokkos::LayoutRight>;

/// What was recorded of LU in mixed precision.
struct MixedRecord {
  plinth::lu::Plan plan;
  plinth::kernel::lowp::GemmSetup<plinth::half> setup;
};
template <class Device, class Pivoting>
MixedRecord record_mixed(const ProcessGrid& grid, const plinth::lu::MixedOptions& options) {
  const Index n = 43, nb = 4;
  Half a(grid, n, n, {.mb = nb, .nb = nb});
  plinth::generate(LockedDevice(), a, [](Index i, Index j) noexcept {
    return noise(i, j, 7) + (i == j ? 7.0 : 0.0);
  });
  plinth::trace::Off off;
  Recorder::queues() = 0;
  plinth::lu::MixedFactorization<Half, Device, plinth::DoubleHalf, Pivoting> factorization(
      Device(), grid, a.distribution(), options, off);
  plinth::lu::Pivots pivots(a.distribution().rows, grid.coord().row);
  plinth::lu::BlockExponents exponents;
  events().clear();
  (void)factorization(a, pivots, exponents);
  return {plinth::lu::Plan(a.distribution(), options.lookahead), factorization.setup()};
}

/// Whether some kernels of the update were under way whenever the host waited for a panel.
template <class Device, class Pivoting>
void check_mixed_panels_hide(const ProcessGrid& grid) {
  const plinth::lu::MixedOptions options{.lookahead = GENERATE(1, 2)};
  const plinth::lu::Plan plan = record_mixed<Device, Pivoting>(grid, options).plan;
  const std::vector<Index> kernels = under_way_at(panels);
  std::size_t loaded = 0;
  for (Index k = 0; k < plan.steps(); ++k) {
    if (!plan.local(plan.step(k), grid.coord()).has_panel) continue;
    REQUIRE(loaded < kernels.size());
    const Index count = kernels[loaded++];
    if (k < options.lookahead) continue;
    INFO("panel " << k);
    const plinth::Range rest = plan.sections(k - options.lookahead).left;
    const bool updates = !plan.local_cols(rest, grid.coord()).empty() &&
                         !plan.local(plan.step(k - options.lookahead), grid.coord()).below.empty();
    if (updates) CHECK(count >= 1);
  }
  CHECK(loaded == kernels.size());
  CHECK(is_idle(LockedDevice()));
}

}  // namespace

TEST_CASE("A panel of LU in mixed precision hides behind a device's update", "[device]") {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rows = size % 2 == 0 ? 2 : 1;
  check_mixed_panels_hide<Recorder, plinth::PartialPivoting>(
      ProcessGrid(MPI_COMM_WORLD, plinth::RowMajorGrid{rows, size / rows}));
}

TEST_CASE("With one process row LU in mixed precision does not wait for rows", "[device]") {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{1, size});
  const plinth::lu::Plan plan =
      record_mixed<Recorder, plinth::PartialPivoting>(grid, {.lookahead = GENERATE(0, 1, 2)}).plan;
  struct {
    plinth::lu::Plan plan;
    plinth::GridCoord at;
    Index count = 0;
    void load(const plinth::lu::Step&) {}
    void factor(const plinth::lu::Step&) {}
    void fetch(const plinth::lu::Step&, plinth::Range cols, plinth::lu::Section) {
      if (!plan.local_cols(cols, at).empty()) ++count;
    }
    void update(const plinth::lu::Step&, plinth::Range, plinth::lu::Section) {}
    void finish(const plinth::lu::Step&) {}
  } pieces{plan, grid.coord()};
  walk(plan, pieces);
  // For room for U12, for its largest entry, and at the end.
  CHECK(fences(0) == 2 * pieces.count + 1);
  CHECK(fences(panels) == plan.steps() + 1);
  CHECK(is_idle(LockedDevice()));
}

TEST_CASE("A panel of LU in mixed precision that the device factors hides behind its update",
          "[device]") {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check_mixed_panels_hide<PanelsOnDevice<Recorder>, plinth::NoPivoting>(
      ProcessGrid(MPI_COMM_WORLD, plinth::RowMajorGrid{size, 1}));
}

TEST_CASE("Of a panel of the device's the diagonal block goes to the host, and what travels",
          "[device]") {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (const plinth::RowMajorGrid shape : {plinth::RowMajorGrid{size, 1}, {1, size}}) {
    const ProcessGrid grid(MPI_COMM_WORLD, shape);
    const MixedRecord record = record_mixed<PanelsOnDevice<Recorder>, plinth::NoPivoting>(
        grid, {.lookahead = GENERATE(0, 1)});
    Index numbers = 0;
    for (Index k = 0; k < record.plan.steps(); ++k) {
      const plinth::lu::Step step = record.plan.step(k);
      const plinth::lu::LocalStep mine = record.plan.local(step, grid.coord());
      if (!mine.has_panel) continue;
      numbers += mine.top.size() * step.width();
      if (grid.shape().cols > 1)
        numbers += record.setup.a_format(step.width()).size(mine.below.size());
    }
    CHECK(bytes_to_host(panels) == static_cast<std::size_t>(numbers) * sizeof(plinth::half));
    if (grid.shape().rows == 1) CHECK(bytes_to_host(0) == 0);
  }
}

TEST_CASE("Rows travel behind the other section's update on a device", "[device]") {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const ProcessGrid grid(MPI_COMM_WORLD, plinth::RowMajorGrid{size, 1});
  const auto plan = record(grid, 43, 4, {.lookahead = 1, .split = 0.5});
  CHECK(is_idle(LockedDevice()));
  REQUIRE(plan.is_split() == (size > 1));
  if (size == 1) return;  // nothing travels
  Index both = 0;
  for (Index k = 0; k < plan.steps(); ++k)
    if (!plan.sections(k).left.empty()) ++both;
  REQUIRE(both > 2);
  const auto hidden = [](int queue) {
    const std::vector<Index> kernels = hidden_behind(queue);
    return std::count_if(kernels.begin(), kernels.end(), [](Index n) { return n >= 3; });
  };
  CHECK(hidden(left_rows) >= both - 1);  // those of the first step are used at once
  CHECK(hidden(right_rows) >= both);
}
