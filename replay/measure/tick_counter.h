// The processor's own counter of time, where reading it is cheaper than asking the kernel's vDSO.
#pragma once

#include <cstdint>

#if defined(__x86_64__)

#include <x86intrin.h>

namespace filereel {

inline constexpr const char* kTickSource = "tsc";  // as the kernel calls it

inline std::uint64_t read_ticks() noexcept {
  return __rdtsc();
}

}  // namespace filereel

#else

namespace filereel {

inline constexpr const char* kTickSource = "";

inline std::uint64_t read_ticks() noexcept {
  return 0;
}

}  // namespace filereel

#endif
