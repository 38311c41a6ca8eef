// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/json.hpp"

#include "linpack/names.hpp"

namespace linpack {

namespace {

using Json = nlohmann::ordered_json;

template <class E>
std::vector<std::string> words(const std::vector<E>& values) {
  std::vector<std::string> out;
  for (const E value : values) out.emplace_back(word(value));
  return out;
}

template <class E>
void read_word(const Json& json, E& value) {
  value = from_word<E>(json.get<std::string>()).value();
}

template <class E>
void read_words(const Json& json, std::vector<E>& values) {
  values.clear();
  for (const Json& item : json) read_word(item, values.emplace_back());
}

Json to_json(const Extensions& e) {
  Json out{{"pivot", word(e.pivot_reduction)},
           {"split", e.split},
           {"reproducible", word(e.reproducible)},
           {"storage", word(e.storage)},
           {"panels", word(e.panels)},
           {"phases", word(e.phases)},
           {"transport", word(e.transport)},
           {"threads", e.threads}};
  if (e.mixed) out["mixed"] = to_json(*e.mixed);
  return out;
}

void from_json(const Json& json, Extensions& e) {
  read_word(json.at("pivot"), e.pivot_reduction);
  json.at("split").get_to(e.split);
  read_word(json.at("reproducible"), e.reproducible);
  read_word(json.at("storage"), e.storage);
  read_word(json.at("panels"), e.panels);
  read_word(json.at("phases"), e.phases);
  read_word(json.at("transport"), e.transport);
  json.at("threads").get_to(e.threads);
  if (json.contains("mixed")) e.mixed = mixed_from_json(json.at("mixed"));
}

}  // namespace

Json to_json(const Config& c) {
  Json grids = Json::array();
  for (const Grid& grid : c.grids) grids.push_back({grid.rows, grid.cols});
  return {{"heading", c.heading},
          {"output", c.output_file},
          {"device", code(c.device)},
          {"n", c.n},
          {"nb", c.nb},
          {"pmap", word(c.mapping)},
          {"grid", grids},
          {"threshold", c.threshold},
          {"pfact", words(c.pfact)},
          {"nbmin", c.nbmin},
          {"ndiv", c.ndiv},
          {"rfact", words(c.rfact)},
          {"bcast", words(c.bcast)},
          {"depth", c.depth},
          {"swap", word(c.swap)},
          {"swap_threshold", c.swap_threshold},
          {"l1", word(c.l1)},
          {"u", word(c.u)},
          {"equil", word(c.equilibration)},
          {"align", c.alignment},
          {"extensions", to_json(c.extensions)}};
}

Json to_json(const Case& c) {
  return {{"n", c.n},
          {"nb", c.nb},
          {"p", c.grid.rows},
          {"q", c.grid.cols},
          {"pmap", word(c.mapping)},
          {"depth", c.depth},
          {"bcast", word(c.bcast)},
          {"rfact", word(c.rfact)},
          {"ndiv", c.ndiv},
          {"pfact", word(c.pfact)},
          {"nbmin", c.nbmin},
          {"swap", word(c.swap)},
          {"swap_threshold", c.swap_threshold},
          {"l1", word(c.l1)},
          {"u", word(c.u)},
          {"equil", word(c.equilibration)},
          {"align", c.alignment},
          {"threshold", c.threshold},
          {"extensions", to_json(c.extensions)}};
}

std::vector<std::uint8_t> encode(const Config& config) { return Json::to_cbor(to_json(config)); }

Config decode(const std::vector<std::uint8_t>& bytes) {
  const Json json = Json::from_cbor(bytes);
  Config c;
  json.at("heading").get_to(c.heading);
  json.at("output").get_to(c.output_file);
  c.device = static_cast<Device>(json.at("device").get<int>());
  json.at("n").get_to(c.n);
  json.at("nb").get_to(c.nb);
  read_word(json.at("pmap"), c.mapping);
  c.grids.clear();
  for (const Json& grid : json.at("grid"))
    c.grids.push_back({grid.at(0).get<int>(), grid.at(1).get<int>()});
  json.at("threshold").get_to(c.threshold);
  read_words(json.at("pfact"), c.pfact);
  json.at("nbmin").get_to(c.nbmin);
  json.at("ndiv").get_to(c.ndiv);
  read_words(json.at("rfact"), c.rfact);
  read_words(json.at("bcast"), c.bcast);
  json.at("depth").get_to(c.depth);
  read_word(json.at("swap"), c.swap);
  json.at("swap_threshold").get_to(c.swap_threshold);
  read_word(json.at("l1"), c.l1);
  read_word(json.at("u"), c.u);
  read_word(json.at("equil"), c.equilibration);
  json.at("align").get_to(c.alignment);
  from_json(json.at("extensions"), c.extensions);
  return c;
}

}  // namespace linpack
