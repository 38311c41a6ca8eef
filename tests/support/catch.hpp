// SPDX-License-Identifier: BSD-3-Clause
//
// Catch2, version 3 or 2.13. Tests include this header only, and use what both versions offer:
// TEST_CASE, TEMPLATE_TEST_CASE, SECTION, GENERATE, the assertion macros, Catch::Approx, the
// floating-point matchers in Catch::Matchers, and contains() below.
#pragma once

#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#define PLINTH_TEST_CATCH 3
#else
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
#define PLINTH_TEST_CATCH 2
namespace Catch {
using Detail::Approx;
}
#endif

namespace plinth_test {

/// Matcher for text that contains `part`: REQUIRE_THROWS_WITH(f(), contains("misuse")).
inline auto contains(const std::string& part) {
#if PLINTH_TEST_CATCH == 3
  return Catch::Matchers::ContainsSubstring(part);
#else
  return Catch::Matchers::Contains(part);
#endif
}

}  // namespace plinth_test
