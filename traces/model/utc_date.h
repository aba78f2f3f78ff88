// When something was recorded, for people.
#pragma once

#include <cstdint>
#include <string>

namespace filereel {

// "2026-11-21 18:02:39 UTC"; `ns` since 1970. Empty for a time that no calendar has.
std::string utc_date(std::uint64_t ns);

}  // namespace filereel
