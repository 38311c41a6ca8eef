// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "linpack/config.hpp"

namespace linpack {

/// Every combination of a Config's values, in netlib's order. From the outermost loop to the
/// innermost: grid, N, NB, DEPTH, BCAST, RFACT, PFACT, NBMIN, NDIV. Cases are made when asked
/// for: twenty values in each list would be 5 * 10^11 of them.
class Cases {
 public:
  explicit Cases(const Config& config);

  std::uint64_t size() const { return size_; }
  Case operator[](std::uint64_t index) const;

  class Iterator {
   public:
    Iterator(const Cases& cases, std::uint64_t index) : cases_(&cases), index_(index) {}
    Case operator*() const { return (*cases_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    const Cases* cases_;
    std::uint64_t index_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size_}; }

 private:
  Config config_;
  std::uint64_t size_;
};

}  // namespace linpack
