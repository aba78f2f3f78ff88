#include "replay/measure/precise_sleep.h"

#include <algorithm>
#include <ctime>

#include <sys/prctl.h>

#include "replay/measure/clock.h"

namespace filereel {
void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void prepare_precise_sleep() noexcept {
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

void doze_until(std::uint64_t due_ns, const std::stop_token& stop) noexcept {
  for (std::uint64_t now = now_ns(); now < due_ns; now = now_ns()) {
    if (stop.stop_requested()) return;
    // Sleeps for a duration, not until a time: the kernel's clock may have another base.
    const std::uint64_t span = std::min(due_ns - now, kSleepSliceNs);
    const timespec time{.tv_sec = 0, .tv_nsec = static_cast<long>(span)};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
  }
}

void sleep_until(std::uint64_t due_ns, const std::stop_token& stop) noexcept {
  if (due_ns > kSleepMarginNs) doze_until(due_ns - kSleepMarginNs, stop);
  if (stop.stop_requested()) return;
  while (now_ns() < due_ns) relax();
}

}  // namespace filereel
