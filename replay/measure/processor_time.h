// Uses the processor for a given time, as a program does that computes.
#pragma once

#include <cstdint>
#include <stop_token>

namespace filereel {

// Returns when this thread has used `ns` nanoseconds of processor time: time in which other threads
// have its processor does not count. Returns at once if a stop is requested.
void use_processor(std::uint64_t ns, const std::stop_token& stop) noexcept;

}  // namespace filereel
