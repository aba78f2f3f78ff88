// Percentiles, courses and slowest operations (tails.h) as data for the page.
#pragma once

#include <cstddef>
#include <span>

#include "replay/json.h"
#include "replay/report/figures.h"

namespace filereel {

// How much the page holds of each measurement: less where there are many.
struct PageDetail {
  std::size_t intervals = 0;   // of a sample
  std::size_t operations = 0;  // of the slowest ones
};
PageDetail detail_for(std::span<const ReportedResult> results);

// Kinds of operations: shares, percentiles and curves of all samples together.
Json kinds_data(const Measurement& measurement);

// The course of each sample and of all together: an object, empty where no sample has one.
Json course_data(const Measurement& measurement, const PageDetail& detail);

// The slowest operations, a list each: run, operation, path, offset, length, thread, begin in
// seconds, latency and time in the call in microseconds, position.
Json slowest_data(const Measurement& measurement, const PageDetail& detail);

// Where the bins of latency in courses begin, in nanoseconds.
Json latency_bins();

}  // namespace filereel
