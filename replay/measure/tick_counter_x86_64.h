// The time stamp counter of x86-64.
#pragma once

#include <cstdint>

#include <x86intrin.h>

namespace filereel {

inline constexpr const char* kTickSource = "tsc";  // kernel name

inline std::uint64_t read_ticks() noexcept {
  return __rdtsc();
}

}  // namespace filereel
