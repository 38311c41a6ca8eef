// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include "plinth/plinth.hpp"

std::string version_seen_by_the_other_unit();
std::string version_seen_by_the_other_unit() { return plinth::version(); }
