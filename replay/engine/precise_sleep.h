// Waiting for a point in time to within microseconds.
#pragma once

#include <cstdint>
#include <stop_token>

namespace filereel {

// For the calling thread, once: its sleeps end as soon as the kernel's timers can.
void prepare_precise_sleep() noexcept;

// Returns at `due_ns` of the stopwatch (replay/measure/clock.h), at once if that is past, or
// within about 50 ms of a requested stop. Sleeps, and spins for the last microseconds only.
void sleep_until(std::uint64_t due_ns, const std::stop_token& stop) noexcept;

}  // namespace filereel
