// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "linpack/config.hpp"
#include "linpack/result.hpp"

namespace linpack {

/// Which program this is.
struct Program {
  std::string name;         ///< "hpl"
  std::string description;  ///< one line
  std::string version;      ///< of Plinth
  /// What is built in of a program of mixed precision, which has options for it; of another one
  /// nothing.
  std::optional<Mixed> mixed = std::nullopt;
  /// Sentences for every user.
  std::vector<std::string> notes = {};
  /// What is timed.
  std::string timed = "factorization and back substitution";
};

/// What is known before the first run.
struct Preamble {
  Program program;
  Config config;
  std::uint64_t runs = 0;
  int ranks = 1;
  /// Names and versions of what the program stands on: {"MPI", "Open MPI 4.1.4"}.
  std::vector<std::pair<std::string, std::string>> environment;
  /// Sentences for the user: where the parameters come from, what differs from them.
  std::vector<std::string> notes;
  /// Likewise, of what makes the runs slow.
  std::vector<std::string> warnings;
  double input_seconds = 0;  ///< for reading the input, until every rank had it
};

/// Who wants to know about the runs. Called on rank 0, in the order of the runs.
class Report {
 public:
  virtual ~Report() = default;
  virtual void begin(const Preamble& preamble) = 0;
  /// `notes` are differences that were not known at the beginning.
  virtual void run(const Case& asked, const Result& result,
                   const std::vector<std::string>& notes) = 0;
  virtual void end(const Tally& tally) = 0;
  /// Whether all of it reached its destination.
  virtual bool good() const = 0;
};

}  // namespace linpack
