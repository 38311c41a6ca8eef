// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <string>
#include <vector>

#include "linpack/config.hpp"

namespace linpack {

/// One sentence for each parameter in which what runs is not what was asked for.
std::vector<std::string> describe_differences(const Case& asked, const Case& runs);

/// Collects differences over many runs and gives out each sentence once.
class Differences {
 public:
  /// The sentences that are new.
  std::vector<std::string> add(const Case& asked, const Case& runs);

 private:
  std::set<std::string> known_;
};

}  // namespace linpack
