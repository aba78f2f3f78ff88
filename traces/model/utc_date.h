// Formats the time of a recording for display.
#pragma once

#include <cstdint>
#include <string>

namespace filereel {

// "2026-11-21 18:02:39 UTC"; `ns` since 1970. Empty if the time is out of range.
std::string utc_date(std::uint64_t ns);

}  // namespace filereel
