// SPDX-License-Identifier: BSD-3-Clause
//
// What is said where there is too little memory.
#include "linpack/memory.hpp"
#include "support/catch.hpp"

TEST_CASE("too little memory: who has how much, what is wanted, what to do", "[linpack]") {
  constexpr double gib = 0x1p30;
  CHECK(linpack::shortage("device", 8 * gib, 8 * gib).empty());
  CHECK(linpack::shortage("machine", 8 * gib, 0).empty());
  CHECK(linpack::shortage("device", 79.5 * gib, 149 * gib) ==
        "its device has 79.5 GiB available, 149 GiB wanted: take a smaller N, or more processes");
}
