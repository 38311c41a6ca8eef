// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "linpack/invocation.hpp"
#include "linpack/report.hpp"

namespace linpack {

/// The reports that the user asked for, on their way to where they are wanted: text to standard
/// output, standard error or a file, and JSON to a file if one is named.
class Output : public Report {
 public:
  /// Opens the files. Throws InputError if one cannot be.
  explicit Output(const Invocation& invocation);

  void begin(const Preamble& preamble) override;
  void run(const Case& asked, const Result& result,
           const std::vector<std::string>& notes) override;
  void end(const Tally& tally) override;
  bool good() const override { return unwritten().empty(); }
  /// The names of what could not be written out, "" if there is none.
  std::string unwritten() const;

 private:
  struct Destination {
    std::unique_ptr<Report> report;
    std::string name;
  };

  std::ofstream text_file_;
  std::ofstream json_file_;
  std::vector<Destination> reports_;
};

}  // namespace linpack
