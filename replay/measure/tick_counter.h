// The processor's time stamp counter, if reading it is cheaper than the kernel's vDSO.
#pragma once

#include <cstdint>

#if defined(__x86_64__)

#include <x86intrin.h>

namespace filereel {

inline constexpr const char* kTickSource = "tsc";  // kernel name

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
