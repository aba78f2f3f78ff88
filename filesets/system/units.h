// Parses and formats sizes and times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "filesets/system/error.h"

namespace filereel {

inline constexpr std::uint64_t kMiB = 1 << 20;

// "4096", "4 KiB", "4KiB", "1.5 GB", "4G": decimal kB/MB/GB/TB are powers of 1000; KiB/MiB/GiB/TiB
// and the single letters K/M/G/T (as in mkfs and truncate) are powers of 1024. Case-insensitive.
// The result is a whole number of bytes. Throws ValueError(kind) with the name `where`: the file
// and line, or the option.
std::uint64_t parse_size(std::string_view text, std::string_view where,
                         ErrorKind kind = ErrorKind::unusable_input);

// "2 s", "1.5min", "250 ms", "10 us", "3 h", in nanoseconds, rounded down. A unit is required
// except for 0. Throws like parse_size.
std::uint64_t parse_duration(std::string_view text, std::string_view where,
                             ErrorKind kind = ErrorKind::unusable_input);

// "75%", "75 %" as 0.75, whatever its range. Nothing for other texts.
std::optional<double> parse_percentage(std::string_view text);

// "1.38 GB", "990 MB", "512 B": decimal, at most three significant digits.
std::string format_size(std::uint64_t bytes);

// "128 KiB", "1 MiB": the largest binary unit that gives an integer, for sizes that are powers of
// two by nature.
std::string format_binary_size(std::uint64_t bytes);

// "0.12", "9.99", "12.3", "1234", "12.3k", "4.56M": at least three significant digits of a number
// that is 1 or more; never an exponent. The one way to print rates and other numbers for people.
std::string format_number(double value);

// "0.083", "8.5", "97", "1234": two significant digits, or a whole number; never an exponent. For
// percentages and ratios in texts.
std::string format_roughly(double value);

// "850 ms", "1.54 s", "75.3 s", "2 min 05 s"; `seconds` >= 0. Three significant digits. The one way
// to print times for people.
std::string format_duration(double seconds);

}  // namespace filereel
