// Histograms and courses of samples as short texts, the form in which results keep them
// (docs/results.md has the formats).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/measure/histogram.h"
#include "replay/measure/time_grid.h"
#include "replay/results/result.h"

namespace filereel {

// The encoding of HdrHistogram, V2, compressed, in base64: every implementation of HdrHistogram
// reads it (github.com/HdrHistogram). Two significant digits, 1 ns to 2^40 - 1 ns. What it does not
// tell is the exact maximum and total.
std::string pack_histogram(const Histogram& histogram);
// Throws Error(unusable_input) for what is no such text, or one of another layout.
Histogram unpack_histogram(std::string_view text, std::uint64_t max, std::uint64_t total);

// Numbers in the same coding without the header: base64 of a zlib stream of ZigZag LEB128 numbers,
// a negative one for as many zeros.
std::string pack_numbers(std::span<const std::uint64_t> numbers);
// Throws Error(unusable_input) for what is no such text, and for more than `most` numbers.
std::vector<std::uint64_t> unpack_numbers(std::string_view text, std::size_t most);

// All latencies of a kind of operation; empty where the result has no histograms (before schema
// version 4). Throws Error(unusable_input) for texts that are none of ours.
Histogram histogram_of(const LatencySummary& latency);
// The same of one size.
Histogram histogram_of(const SizeLatency& latency);

// "read up to 4 KiB", "write over 1 MiB": of SizeLatency::up_to.
std::string size_class_text(const std::string& kind, std::uint64_t up_to);

Course pack_course(const TimeGrid& grid);
// Throws Error(unusable_input) for texts that are none of ours.
TimeGrid unpack_course(const Course& course);

}  // namespace filereel
