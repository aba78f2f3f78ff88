// Waiting for a point in time to within microseconds.
#pragma once

#include <cstdint>
#include <stop_token>

namespace filereel {

// For the calling thread, once: its sleeps end as soon as the kernel's timers can.
void prepare_precise_sleep() noexcept;

// How long before the time a sleep has to end: it may end so much late.
inline constexpr std::uint64_t kSleepMarginNs = 70'000;
// A sleep is looked after at least so often, for a stop and because clocks drift apart.
inline constexpr std::uint64_t kSleepSliceNs = 50'000'000;

// For a processor that waits in a loop.
void relax() noexcept;

// Returns at `due_ns` of the stopwatch (replay/measure/clock.h), at once if that is past, or
// within about 50 ms of a requested stop. Sleeps, and spins for the last microseconds only.
void sleep_until(std::uint64_t due_ns, const std::stop_token& stop) noexcept;

}  // namespace filereel
