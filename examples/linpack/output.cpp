// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>

#include "linpack/input_error.hpp"
#include "linpack/json_report.hpp"
#include "linpack/text.hpp"
#include "linpack/text_report.hpp"

namespace linpack {

namespace {

void open(std::ofstream& stream, const std::string& name, const std::string& origin) {
  errno = 0;
  stream.open(name);
  if (!stream)
    throw InputError(origin + ": expected a file that can be written, found " + in_quotes(name) +
                     (errno != 0 ? std::string(": ") + std::strerror(errno) : ""));
}

}  // namespace

Output::Output(const Invocation& invocation) {
  const Config& config = invocation.config;
  const bool to_file = config.device == Device::file;
  if (to_file && invocation.json == config.output_file)
    throw InputError("--json: expected another file than the report's, found " +
                     in_quotes(config.output_file));
  if (to_file) open(text_file_, config.output_file, invocation.output_origin);
  if (invocation.json) open(json_file_, *invocation.json, "--json");
  std::ostream& text = to_file                                   ? text_file_
                       : config.device == Device::standard_error ? std::cerr
                                                                 : std::cout;
  reports_.push_back(std::make_unique<TextReport>(text));
  if (invocation.json) reports_.push_back(std::make_unique<JsonReport>(json_file_));
}

void Output::begin(const Preamble& preamble) {
  for (const auto& report : reports_) report->begin(preamble);
}

void Output::run(const Case& asked, const Result& result, const std::vector<std::string>& notes) {
  for (const auto& report : reports_) report->run(asked, result, notes);
}

void Output::end(const Tally& tally) {
  for (const auto& report : reports_) report->end(tally);
}

bool Output::good() const {
  return std::all_of(reports_.begin(), reports_.end(),
                     [](const auto& report) { return report->good(); });
}

}  // namespace linpack
