// Encodes histograms and courses (time series) of samples as short texts, as results store them
// (docs/result-json.md has the formats).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/measure/histogram.h"
#include "replay/results/result.h"

namespace filereel {

// HdrHistogram's encoding, V2, compressed, in base64. Every implementation of HdrHistogram reads it
// (github.com/HdrHistogram). Two significant digits, 1 ns to 2^40 - 1 ns. It does not hold the
// exact maximum and total.
std::string pack_histogram(const Histogram& histogram);
// Throws Error(unusable_input) for invalid text or another layout.
Histogram unpack_histogram(std::string_view text, std::uint64_t max, std::uint64_t total);

// Numbers in the same encoding without the header: base64 of a zlib stream of ZigZag LEB128
// numbers. A negative number is a run of that many zeros.
std::string pack_numbers(std::span<const std::uint64_t> numbers);
// Throws Error(unusable_input) for invalid text and for more than `most` numbers.
std::vector<std::uint64_t> unpack_numbers(std::string_view text, std::size_t most);

// All latencies of a kind of operation; empty if the result has no histograms (before schema
// version 4). Throws Error(unusable_input) for invalid text.
Histogram histogram_of(const LatencySummary& latency);
// The same for one size class.
Histogram histogram_of(const SizeLatency& latency);

// Throws Error(unusable_input) if histogram_of would.
void check_histograms(const LatencySummary& latency);

// "read up to 4 KiB", "write over 1 MiB": of SizeLatency::up_to.
std::string size_class_text(const std::string& kind, std::uint64_t up_to);

Course pack_course(const TimeGrid& grid);
// Throws Error(unusable_input) for invalid text.
TimeGrid unpack_course(const Course& course);

// The bytes by interval. Throws Error(unusable_input) for invalid text, intervals of less than 10
// ms, and more than 10 million.
std::vector<std::uint64_t> unpack_rates(const RateSeries& rates);

// The bytes and operations of a client by interval; both of the same length.
struct ClientCourse {
  std::vector<std::uint64_t> bytes, operations;
};
// Throws Error(unusable_input) for invalid text.
ClientCourse unpack_client_course(const ClientFigures& client);

// summarise() with the histogram packed.
LatencySummary summarise_with_histogram(const Histogram& times);

}  // namespace filereel
