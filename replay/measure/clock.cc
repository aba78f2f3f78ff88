#include "replay/measure/clock.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <string>

#include <sys/prctl.h>
#include <sys/resource.h>

namespace filereel {
namespace {

constexpr std::uint64_t kCalibrationNs = 5'000'000;
constexpr const char* kClockSource =
    "/sys/devices/system/clocksource/clocksource0/current_clocksource";

// Only the kernel knows whether the counter runs at a constant rate and in sync on all processors.
bool kernel_counts_ticks() {
  std::ifstream in(kClockSource);
  std::string name;
  return std::getline(in, name) && !name.empty() && name == kTickSource;
}

struct Reading {
  std::uint64_t ticks, ns;
};

// Reads both clocks at the same time: the best of several attempts, because any may be interrupted.
Reading read_both() {
  Reading best{};
  std::uint64_t least = UINT64_MAX;
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t before = read_ticks();
    const std::uint64_t ns = kernel_ns();
    const std::uint64_t took = read_ticks() - before;
    if (took < least) {
      least = took;
      best = {before + took / 2, ns};
    }
  }
  return best;
}

}  // namespace

Clock::Clock() {
  if (!kernel_counts_ticks()) return;
  const Reading first = read_both();
  const timespec pause{0, kCalibrationNs};
  nanosleep(&pause, nullptr);
  const Reading second = read_both();
  const std::uint64_t ticks = second.ticks - first.ticks;
  if (second.ticks <= first.ticks || second.ns <= first.ns) return;
  base_ticks_ = first.ticks;
  base_ns_ = first.ns;
  ns_per_tick_ = static_cast<std::uint64_t>(
      (static_cast<unsigned __int128>(second.ns - first.ns) << kShift) / ticks);
}

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

namespace {

// The loop reads the stopwatch every 30 ns. In a longer gap, something else had the processor.
constexpr std::uint64_t kLongGapNs = 20'000;

// How often the calling thread had to leave its processor to another thread.
long times_preempted() noexcept {
  rusage used;
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nivcsw;
}

}  // namespace

// Without a hint to the processor: a program that computes does not give way to its neighbours.
// Interrupts, and times when a hypervisor runs something else, are part of the work of recorded
// programs, so they count here, too. The processor time of the thread would leave out the latter.
void use_processor(std::uint64_t ns, const std::stop_token& stop) noexcept {
  std::uint64_t last = now_ns();
  long preempted = ns > kLongGapNs ? times_preempted() : 0;
  for (std::uint64_t used = 0; used < ns && !stop.stop_requested();) {
    const std::uint64_t now = now_ns();
    bool counts = true;
    if (now - last >= kLongGapNs && ns > kLongGapNs) [[unlikely]] {
      const long times = times_preempted();
      counts = times == preempted;
      preempted = times;
    }
    if (counts) used += now - last;
    last = now;
  }
}

}  // namespace filereel
