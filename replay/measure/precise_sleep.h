// Waits until a point in time, to within microseconds.
#pragma once

#include <cstdint>
#include <stop_token>

namespace filereel {

// Call once per thread: sets the timer slack to the minimum, so that sleeps end on time.
void prepare_precise_sleep() noexcept;

// A sleep ends this long before the due time, because it may end this much late.
inline constexpr std::uint64_t kSleepMarginNs = 70'000;
// Maximum duration of a single sleep, to notice a stop and because clocks drift apart.
inline constexpr std::uint64_t kSleepSliceNs = 50'000'000;

// Hint to the processor in a spin loop.
void relax() noexcept;

// Returns at stopwatch time `due_ns` (replay/measure/clock.h), at once if that is past, or within
// about 50 ms of a requested stop. Sleeps, and spins only for the last microseconds.
void sleep_until(std::uint64_t due_ns, const std::stop_token& stop) noexcept;

// The same without spinning: returns as late as the system wakes the thread.
void doze_until(std::uint64_t due_ns, const std::stop_token& stop) noexcept;

}  // namespace filereel
