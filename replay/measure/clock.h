// How this folder works: these headers are what the hot path of a replay uses to measure: a clock
// here (tick_counter.h has the counter of each processor), counters that others may read
// (counter.h), a histogram and a grid of time and latency (histogram.h). Start here, then
// histogram.h.
//
// Clocks: the stopwatch, precise sleep, and the processor time of this process.
#pragma once

#include <cstdint>
#include <stop_token>

#include <time.h>

#include "replay/measure/tick_counter.h"

namespace filereel {

// --- The clock for measurements: nanoseconds of CLOCK_MONOTONIC. If the kernel itself uses the
// processor's counter, the counter is read directly. That costs half as much as the vDSO (20 and 40
// ns in a virtual machine), which matters for cached reads that take a few hundred ns.

inline std::uint64_t kernel_ns() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// CPU time of the calling thread, user and system.
inline std::uint64_t thread_cpu_ns() noexcept {
  timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(used.tv_nsec);
}

// Calibrates the counter once against the kernel's clock (5 ms); from then on a reading is a
// multiplication. The rate is accurate to a few millionths, so that the two clocks do not drift
// apart.
class Clock {
 public:
  Clock();

  std::uint64_t now_ns() const noexcept {
    if (ns_per_tick_ == 0) return kernel_ns();
    const auto ticks = static_cast<unsigned __int128>(read_ticks() - base_ticks_);
    return base_ns_ + static_cast<std::uint64_t>(ticks * ns_per_tick_ >> kShift);
  }

  // Whether the counter is used.
  bool counts_ticks() const { return ns_per_tick_ != 0; }

 private:
  static constexpr unsigned kShift = 32;

  std::uint64_t base_ticks_ = 0, base_ns_ = 0;
  std::uint64_t ns_per_tick_ = 0;  // times 2^kShift
};

inline const Clock& measurement_clock() noexcept {
  static const Clock clock;
  return clock;
}

inline std::uint64_t now_ns() noexcept {
  return measurement_clock().now_ns();
}

// --- Waits until a point in time, to within microseconds.

// Call once per thread: sets the timer slack to the minimum, so that sleeps end on time.
void prepare_precise_sleep() noexcept;

// A sleep ends this long before the due time, because it may end this much late.
inline constexpr std::uint64_t kSleepMarginNs = 70'000;
// Maximum duration of a single sleep, to notice a stop and because clocks drift apart.
inline constexpr std::uint64_t kSleepSliceNs = 50'000'000;

// Hint to the processor in a spin loop.
void relax() noexcept;

// Returns at stopwatch time `due_ns`, at once if that is past, or within about 50 ms of a requested
// stop. Sleeps, and spins only for the last microseconds.
void sleep_until(std::uint64_t due_ns, const std::stop_token& stop) noexcept;

// The same without spinning: returns as late as the system wakes the thread.
void doze_until(std::uint64_t due_ns, const std::stop_token& stop) noexcept;

// --- Uses the processor for a given time, as a program does that computes.

// Returns when this thread has used `ns` nanoseconds of processor time: time in which other threads
// have its processor does not count. Returns at once if a stop is requested.
void use_processor(std::uint64_t ns, const std::stop_token& stop) noexcept;

}  // namespace filereel
