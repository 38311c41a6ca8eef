// SPDX-License-Identifier: BSD-3-Clause
#include "linpack/differences.hpp"

#include "linpack/names.hpp"
#include "linpack/text.hpp"

namespace linpack {

namespace {

std::string spell(std::int64_t value) { return std::to_string(value); }
std::string spell(double value) { return print("%g", value); }
std::string spell(const Grid& grid) { return print("%dx%d", grid.rows, grid.cols); }
template <class E>
requires std::is_enum_v<E> std::string spell(E value) { return std::string(word(value)); }

}  // namespace

std::vector<std::string> describe_differences(const Case& asked, const Case& runs) {
  std::vector<std::string> out;
  const auto compare = [&out](const char* name, const auto& a, const auto& b) {
    if (!(a == b))
      out.push_back(std::string(name) + " is " + spell(b) + " instead of the " + spell(a) +
                    " that was asked for");
  };
  compare("N", asked.n, runs.n);
  compare("NB", std::int64_t{asked.nb}, std::int64_t{runs.nb});
  compare("PMAP", asked.mapping, runs.mapping);
  compare("P x Q", asked.grid, runs.grid);
  compare("threshold", asked.threshold, runs.threshold);
  compare("PFACT", asked.pfact, runs.pfact);
  compare("NBMIN", std::int64_t{asked.nbmin}, std::int64_t{runs.nbmin});
  compare("NDIV", std::int64_t{asked.ndiv}, std::int64_t{runs.ndiv});
  compare("RFACT", asked.rfact, runs.rfact);
  compare("BCAST", asked.bcast, runs.bcast);
  compare("DEPTH", std::int64_t{asked.depth}, std::int64_t{runs.depth});
  compare("SWAP", asked.swap, runs.swap);
  compare("SWAP threshold", std::int64_t{asked.swap_threshold},
          std::int64_t{runs.swap_threshold});
  compare("L1", asked.l1, runs.l1);
  compare("U", asked.u, runs.u);
  compare("EQUIL", asked.equilibration, runs.equilibration);
  compare("ALIGN", std::int64_t{asked.alignment}, std::int64_t{runs.alignment});
  compare("the pivot reduction", asked.extensions.pivot_reduction,
          runs.extensions.pivot_reduction);
  compare("the split", asked.extensions.split, runs.extensions.split);
  compare("reproducible", asked.extensions.reproducible, runs.extensions.reproducible);
  if (asked.extensions.mixed && runs.extensions.mixed) {
    compare("the precision", asked.extensions.mixed->precision, runs.extensions.mixed->precision);
    compare("the scaling", asked.extensions.mixed->scaling, runs.extensions.mixed->scaling);
  }
  compare("the storage order", asked.extensions.storage, runs.extensions.storage);
  if (!runs.extensions.mixed)  // which nobody asks
    compare("who factors panels", asked.extensions.panels, runs.extensions.panels);
  return out;
}

std::vector<std::string> Differences::add(const Case& asked, const Case& runs) {
  std::vector<std::string> fresh;
  for (std::string& sentence : describe_differences(asked, runs))
    if (known_.insert(sentence).second) fresh.push_back(std::move(sentence));
  return fresh;
}

}  // namespace linpack
