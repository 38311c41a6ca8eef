// SPDX-License-Identifier: BSD-3-Clause
//
// Which device a rank takes; no device is needed to find out.
#include "plinth/comm/placement.hpp"

#include <algorithm>
#include <vector>

#include "support/catch.hpp"
#include "support/problems.hpp"

using namespace plinth_test;
using plinth::choose_device;
using plinth::device_of;
using plinth::DevicePlacement;
using plinth::NodeRank;

TEST_CASE("a rank's device by its place on its machine", "[placement]") {
  for (int ranks = 1; ranks <= 9; ++ranks)
    for (int devices = 1; devices <= 9; ++devices) {
      INFO(ranks << " ranks, " << devices << " devices");
      std::vector<int> load(static_cast<std::size_t>(devices), 0);
      int before = 0;
      for (int r = 0; r < ranks; ++r) {
        const int device = device_of({r, ranks}, devices, {.most_ranks_per_device = 9});
        CHECK(device >= before);  // neighbours are together
        before = device;
        ++load.at(static_cast<std::size_t>(device));
      }
      if (ranks <= devices) {
        CHECK(*std::max_element(load.begin(), load.end()) == 1);
      } else {
        const auto [least, most] = std::minmax_element(load.begin(), load.end());
        CHECK(*most - *least <= 1);
      }
    }
}

TEST_CASE("a rank's device can be named", "[placement]") {
  CHECK(device_of({3, 4}, 2, {.device = 0}) == 0);
  CHECK(device_of({0, 1}, 8, {.device = 7}) == 7);
  for (const int wrong : {-1, 2})
    CHECK_THAT(error_of([&] {
                 (void)device_of({0, 1}, 2, {.device = wrong});
               }),
               contains("there is no device " + std::to_string(wrong) +
                        ": this rank sees 2 devices, counted from 0"));
}

TEST_CASE("no device, or too few", "[placement][misuse]") {
  CHECK_THAT(error_of([] { (void)device_of({0, 1}, 0); }), contains("sees no device"));
  CHECK_THAT(error_of([] {
               (void)device_of({0, 1}, 0, {.device = 0});
             }),
             contains("sees no device"));
  CHECK_THAT(error_of([] {
               (void)device_of({0, 5}, 2);
             }),
             contains("5 ranks of one machine for 2 devices: start fewer, or allow 3 ranks per "
                      "device"));
  CHECK_THAT(error_of([] {
               (void)device_of({0, 5}, 2, {.most_ranks_per_device = 2});
             }),
             contains("allow 3 ranks per device"));
  CHECK(device_of({4, 5}, 2, {.most_ranks_per_device = 3}) == 1);
}

TEST_CASE("devices for all ranks", "[placement]") {
  const NodeRank here = plinth::node_rank(MPI_COMM_WORLD);
  // The tests run on one machine.
  CHECK(here.rank == world_rank());
  CHECK(here.size == world_size());
  CHECK(choose_device(MPI_COMM_WORLD, world_size()) == world_rank());
  CHECK(choose_device(MPI_COMM_WORLD, 1, {.most_ranks_per_device = world_size()}) == 0);

  const int last = world_size() - 1;
  const bool guilty = world_rank() == last;
  CHECK_THAT(error_of([&] { choose_device(MPI_COMM_WORLD, guilty ? 0 : world_size()); }),
             contains("sees no device"));
  DevicePlacement named;
  if (guilty) named.device = world_size();
  CHECK_THAT(error_of([&] { choose_device(MPI_COMM_WORLD, world_size(), named); }),
             contains("there is no device"));
  if (world_size() > 1)
    CHECK_THAT(error_of([] { choose_device(MPI_COMM_WORLD, 1); }),
               contains("ranks of one machine"));
}
