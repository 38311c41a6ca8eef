// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if defined(__linux__) && __has_include(<linux/mempolicy.h>)
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <array>
#include <climits>
#include <cstddef>

namespace plinth {

/// While it lives, pages that this thread is the first to come to are those of one NUMA node, as
/// long as it has any left; then the former policy holds again.
///
/// A preference: without effect where the node is negative (not known) or not there, where the
/// thread has been given a policy already (numactl's, say), and where the system has none, or
/// keeps them to itself, as in some containers.
class PreferredNumaNode {
 public:
  explicit PreferredNumaNode([[maybe_unused]] int node) {
#if defined(MPOL_PREFERRED) && defined(SYS_set_mempolicy)
    if (node < 0 || static_cast<std::size_t>(node) >= nodes) return;
    int former = MPOL_PREFERRED;
    if (syscall(SYS_get_mempolicy, &former, nullptr, 0, nullptr, 0) != 0) return;
    if (former != MPOL_DEFAULT) return;
    std::array<unsigned long, nodes / bits> mask{};
    mask[static_cast<std::size_t>(node) / bits] = 1ul << (static_cast<std::size_t>(node) % bits);
    // The kernel takes the number of nodes to be one less than it is told.
    holds_ = syscall(SYS_set_mempolicy, MPOL_PREFERRED, mask.data(), nodes + 1) == 0;
#endif
  }
  ~PreferredNumaNode() {
#if defined(MPOL_PREFERRED) && defined(SYS_set_mempolicy)
    if (holds_) syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0);
#endif
  }
  PreferredNumaNode(const PreferredNumaNode&) = delete;
  PreferredNumaNode& operator=(const PreferredNumaNode&) = delete;

  /// Whether the system has accepted it.
  bool holds() const { return holds_; }

 private:
  static constexpr std::size_t bits = sizeof(unsigned long) * CHAR_BIT;
  static constexpr std::size_t nodes = 1024;

  bool holds_ = false;
};

}  // namespace plinth
