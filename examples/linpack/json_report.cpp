// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/json_report.hpp"

#include "linpack/json.hpp"
#include "linpack/names.hpp"
#include "linpack/text_report.hpp"

namespace linpack {

namespace {

using Json = nlohmann::ordered_json;

/// Text that is not UTF-8, in a file's name for one, must not end the program.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The parameters that were asked for and did not run.
Json differences(const Case& asked, const Case& ran) {
  Json out = Json::object();
  const Json runs = to_json(ran);
  const Json wanted = to_json(asked);
  for (const auto& [name, value] : wanted.items())
    if (value != runs.at(name)) out[name] = value;
  return out;
}

Json to_json(const Norms& norms) {
  return {{"residual_inf", norms.residual_inf},
          {"a_inf", norms.a_inf},
          {"a_one", norms.a_one},
          {"x_inf", norms.x_inf},
          {"x_one", norms.x_one},
          {"b_inf", norms.b_inf}};
}

Json to_json(const Seconds& seconds) {
  Json out = Json::object();
  for (const auto& [name, value] : seconds) out[name] = value;
  return out;
}

Json to_json(const std::vector<StepSeconds>& steps) {
  Json out = Json::array();
  for (const StepSeconds& step : steps)
    out.push_back({{"columns", {step.begin, step.end}},
                   {"owner", {step.owner_row, step.owner_col}},
                   {"flops", step.flops},
                   {"phases", to_json(step.phases)}});
  return out;
}

Json run_object(const Case& asked, const Result& result) {
  Json out{{"variant", variant(result.ran)},
           {"parameters", linpack::to_json(result.ran)},
           {"asked", differences(asked, result.ran)},
           {"verdict", word(result.verdict)},
           {"passed", result.verdict == Verdict::passed}};
  if (!result.reason.empty()) out["reason"] = result.reason;
  if (result.verdict == Verdict::skipped) return out;
  out["seconds"] = result.seconds;
  out["gflops"] = gflops(result.ran.n, result.seconds);
  out["start"] = static_cast<std::int64_t>(result.start);
  out["end"] = static_cast<std::int64_t>(result.end);
  if (result.mixed) out["mixed"] = to_json(*result.mixed, result.ran.n);
  if (!result.phases.empty()) out["phases"] = to_json(result.phases);
  if (!result.around.empty()) out["untimed"] = to_json(result.around);
  if (!result.steps.empty()) out["steps"] = to_json(result.steps);
  if (result.has_residual()) {
    out["residual"] = result.residual;
    out["norms"] = to_json(result.norms);
  }
  return out;
}

}  // namespace

void JsonReport::begin(const Preamble& preamble) {
  Json environment = Json::object();
  for (const auto& [name, value] : preamble.environment) environment[name] = value;
  const Json header{{"program", preamble.program.name},
                    {"version", preamble.program.version},
                    {"environment", environment},
                    {"ranks", preamble.ranks},
                    {"notes", preamble.notes},
                    {"warnings", preamble.warnings},
                    {"input_seconds", preamble.input_seconds},
                    {"config", linpack::to_json(preamble.config)}};
  out_ << "{\n";
  for (const auto& [name, value] : header.items())
    out_ << text_of(name) << ": " << text_of(value) << ",\n";
  out_ << "\"runs\": [";
  closing_at_ = out_.tellp();
  if (closing_at_ == std::ostream::pos_type(-1)) out_.clear();
  if (closing_at_ != std::ostream::pos_type(-1)) write_closing();
}

void JsonReport::run(const Case& asked, const Result& result, const std::vector<std::string>&) {
  const bool seeks = closing_at_ != std::ostream::pos_type(-1);
  if (seeks) out_.seekp(closing_at_);
  out_ << (tally_.total() == 0 ? "\n" : ",\n") << text_of(run_object(asked, result));
  tally_.add(result.verdict);
  if (!seeks) return;
  closing_at_ = out_.tellp();
  write_closing();
}

void JsonReport::end(const Tally&) {
  if (closing_at_ == std::ostream::pos_type(-1)) write_closing();
}

void JsonReport::write_closing() {
  const Json summary{
      {"tests", tally_.total()},   {"passed", tally_.passed},
      {"failed", tally_.failed},   {"unchecked", tally_.unchecked},
      {"skipped", tally_.skipped}, {"exit_status", static_cast<int>(tally_.status())}};
  out_ << "\n],\n\"summary\": " << text_of(summary) << "\n}\n";
  out_.flush();
}

}  // namespace linpack
