// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The one place that states the version; the build reads it from here.
#define PLINTH_VERSION_MAJOR 0
#define PLINTH_VERSION_MINOR 1
#define PLINTH_VERSION_PATCH 0

/// The version as one number that preprocessor conditions can compare: 100 for 0.1.0.
#define PLINTH_VERSION \
  (PLINTH_VERSION_MAJOR * 10000 + PLINTH_VERSION_MINOR * 100 + PLINTH_VERSION_PATCH)

#define PLINTH_DETAIL_TEXT(x) #x
#define PLINTH_DETAIL_VALUE_TEXT(x) PLINTH_DETAIL_TEXT(x)
/// The version as text: "0.1.0".
#define PLINTH_VERSION_STRING                     \
  PLINTH_DETAIL_VALUE_TEXT(PLINTH_VERSION_MAJOR)  \
  "." PLINTH_DETAIL_VALUE_TEXT(PLINTH_VERSION_MINOR) "." PLINTH_DETAIL_VALUE_TEXT( \
      PLINTH_VERSION_PATCH)

namespace plinth {

/// The version of these headers, "0.1.0".
constexpr const char* version() { return PLINTH_VERSION_STRING; }

}  // namespace plinth
