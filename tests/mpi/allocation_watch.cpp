// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <new>

#include "support/allocations.hpp"

namespace plinth_test {

AllocationWatch& allocation_watch() {
  static AllocationWatch watch;
  return watch;
}

}  // namespace plinth_test

// The program's own take the place of the libraries'.
using plinth_test::allocation_watch;

void* operator new(std::size_t size) {
  void* const data =
      allocation_watch().refuses(size) ? nullptr : std::malloc(std::max<std::size_t>(size, 1));
  if (data == nullptr) throw std::bad_alloc();
  return data;
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  void* data = nullptr;
  if (allocation_watch().refuses(size)) return nullptr;
  return posix_memalign(&data, std::max(alignment, sizeof(void*)), size) == 0 ? data : nullptr;
}
