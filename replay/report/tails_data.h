// Converts percentiles, courses and slowest operations (tails.h) to data for the page.
#pragma once

#include <cstddef>
#include <span>

#include "replay/json.h"
#include "replay/report/figures.h"
#include "replay/results/latency.h"

namespace filereel {

// The amount of detail per measurement: less if there are many.
struct PageDetail {
  std::size_t intervals = 0;         // per sample
  std::size_t operations = 0;        // number of slowest operations
  std::size_t client_intervals = 0;  // per client of a sample
  bool all_courses = true;           // otherwise those of three samples
};
PageDetail detail_for(std::span<const ReportedResult> results);

// Kinds of operations: shares, percentiles and curves over all samples.
Json kinds_data(const Measurement& measurement, PooledLatencies& pooled);
inline Json kinds_data(const Measurement& measurement) {
  PooledLatencies pooled(measurement);
  return kinds_data(measurement, pooled);
}

// The course of each sample and of all together: an object, empty if no sample has one. Without
// all_courses, of more than three samples those of the typical, the fastest and the slowest one;
// `repetitions` then has the number of all.
Json course_data(const Measurement& measurement, const PageDetail& detail);

// The slowest operations, a list each: run, operation, path, offset, length, thread, start in
// seconds, latency and time in the call in microseconds, position.
Json slowest_data(const Measurement& measurement, const PageDetail& detail);

// The lower bounds of the latency bins of courses, in nanoseconds.
Json latency_bins();

}  // namespace filereel
