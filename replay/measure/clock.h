// The stopwatch: CLOCK_MONOTONIC by way of the vDSO, 20 to 30 ns a reading where the clock source
// is the TSC.
#pragma once

#include <cstdint>

#include <time.h>

namespace filereel {

inline std::uint64_t now_ns() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace filereel
