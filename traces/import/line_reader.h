// The fields of a line of text, for importers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/import/importers.h"

namespace filereel {

// The largest offset of a file.
inline constexpr std::uint64_t kLargestOffset = INT64_MAX;

// `line` without blanks, tabs and carriage returns at its end.
std::string_view trim_end(std::string_view line);

// Removes the last field of `line`, and the blanks before it, and returns it. Empty if there is
// none.
std::string_view take_last_field(std::string_view& line);

// Numbers as strtol reads them with base 0: -7, 0x40, 0600.
std::optional<std::int64_t> parse_any_base(std::string_view text);

// Throws Error(unusable_input) "NAME:LINE: what; what to do" for the last line read.
[[noreturn]] void reject_line(const LineReader& input, std::string_view what,
                              std::string_view what_to_do);

}  // namespace filereel
