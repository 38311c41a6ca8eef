// SPDX-License-Identifier: BSD-3-Clause
#include "plinth/core/version.hpp"

#include <string>

#include "support/catch.hpp"

TEST_CASE("the version's number and text agree", "[version]") {
  const std::string text = std::to_string(PLINTH_VERSION_MAJOR) + "." +
                           std::to_string(PLINTH_VERSION_MINOR) + "." +
                           std::to_string(PLINTH_VERSION_PATCH);
  CHECK(plinth::version() == text);
  CHECK(PLINTH_VERSION / 10000 == PLINTH_VERSION_MAJOR);
  CHECK(PLINTH_VERSION / 100 % 100 == PLINTH_VERSION_MINOR);
  CHECK(PLINTH_VERSION % 100 == PLINTH_VERSION_PATCH);
}
