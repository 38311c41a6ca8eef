// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "linpack/config.hpp"

namespace linpack {

/// Names are those of the command line's options, words those of names.hpp.
nlohmann::ordered_json to_json(const Config& config);
nlohmann::ordered_json to_json(const Case& c);

/// A Config as bytes, for a message from rank 0 to the others, and back.
std::vector<std::uint8_t> encode(const Config& config);
Config decode(const std::vector<std::uint8_t>& bytes);

}  // namespace linpack
