// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/output.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <system_error>

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

/// Whether two names are of one file, however they spell its folder.
bool are_one_file(const std::string& a, const std::string& b) {
  const auto place = [](const std::string& name) {
    std::error_code error;
    const auto path =
        std::filesystem::weakly_canonical(std::filesystem::absolute(name, error), error);
    return error ? std::filesystem::path(name) : path;
  };
  return place(a) == place(b);
}

}  // namespace

Output::Output(const Invocation& invocation) {
  const Config& config = invocation.config;
  const bool to_file = config.device == Device::file;
  if (to_file && invocation.json && are_one_file(*invocation.json, config.output_file))
    throw InputError("--json: expected another file than the report's, found " +
                     in_quotes(*invocation.json));
  if (to_file) open(text_file_, config.output_file, invocation.output_origin);
  if (invocation.json) open(json_file_, *invocation.json, "--json");
  const bool to_error = config.device == Device::standard_error;
  std::ostream& text = to_file ? text_file_ : to_error ? std::cerr : std::cout;
  reports_.push_back({std::make_unique<TextReport>(text), to_file ? in_quotes(config.output_file)
                                                          : to_error ? "standard error"
                                                                     : "standard output"});
  if (invocation.json)
    reports_.push_back({std::make_unique<JsonReport>(json_file_), in_quotes(*invocation.json)});
}

void Output::begin(const Preamble& preamble) {
  for (const Destination& to : reports_) to.report->begin(preamble);
}

void Output::run(const Case& asked, const Result& result, const std::vector<std::string>& notes) {
  for (const Destination& to : reports_) to.report->run(asked, result, notes);
}

void Output::end(const Tally& tally) {
  for (const Destination& to : reports_) to.report->end(tally);
}

std::string Output::unwritten() const {
  std::string names;
  for (const Destination& to : reports_)
    if (!to.report->good()) names += (names.empty() ? "" : " and ") + to.name;
  return names;
}

}  // namespace linpack
