#include "replay/engine/precise_sleep.h"

#include <algorithm>
#include <ctime>

#include <sys/prctl.h>

#include "replay/measure/clock.h"

namespace filereel {
namespace {

constexpr std::uint64_t kSpinNs = 70'000;  // a sleep ends up to so much late
constexpr std::uint64_t kSliceNs = 50'000'000;

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

void prepare_precise_sleep() noexcept {
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

void sleep_until(std::uint64_t due_ns, const std::stop_token& stop) noexcept {
  for (std::uint64_t now = now_ns(); now + kSpinNs < due_ns; now = now_ns()) {
    if (stop.stop_requested()) return;
    const std::uint64_t until = std::min(due_ns - kSpinNs, now + kSliceNs);
    const timespec time{.tv_sec = static_cast<time_t>(until / 1'000'000'000),
                        .tv_nsec = static_cast<long>(until % 1'000'000'000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
  }
  while (now_ns() < due_ns) relax();
}

}  // namespace filereel
