// Converts percentiles, courses and slowest operations (tails.h) to data for the page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "replay/json.h"
#include "replay/measure/histogram.h"
#include "replay/report/figures.h"
#include "replay/results/latency.h"
#include "replay/results/result.h"

namespace filereel {

// --- Latency data of reports beyond percentiles: curves, latency over time, and the slowest
// operations.

// A latency that a share of all operations does not exceed. `nines` is -log10(1 - share): 0.3 for
// the median, 1 for 90 %, 3 for 99.9 %.
struct CurvePoint {
  double nines = 0, latency_us = 0;
};

// From the median up. The last point is the maximum, at the share of all operations but one.
// Between points the curve is straight; ranges of the same latency have only their end points.
std::vector<CurvePoint> percentile_curve(const Histogram& latency);
// The same for results without histograms: the available percentiles and the maximum.
std::vector<CurvePoint> percentile_curve(const LatencySummary& latency);

// Reads or writes of one size class, over all samples that did not fail.
struct SizeClass {
  std::string name;  // "read up to 4 KiB", "read over 1 MiB"
  Histogram latency;
};

// Empty if there is only one class, or if a sample does not distinguish them.
std::vector<SizeClass> size_classes(const Measurement& measurement, const std::string& kind);

// Merges intervals of the grid so that there are at most `most`.
TimeGrid coarser(const TimeGrid& grid, std::size_t most);

// The cells of time and latency that hold operations, by interval. Alternates the distance from the
// previous such cell (the first cell for the first one) and the number of operations. An interval
// has TimeGrid::kBins cells.
std::vector<std::uint64_t> cells_of(const TimeGrid& grid);

// A rate and the middle of its time interval, since the start of the sample.
struct RatePoint {
  double at_s = 0, per_s = 0;
};

// `amounts` are those of the grid's intervals. If the sample covers less than half of the last
// interval, that is merged with the one before.
std::vector<RatePoint> rates_over_time(const TimeGrid& grid,
                                       const std::vector<std::uint64_t>& amounts, double elapsed_s);

// The slowest operations of all samples that did not fail, the slowest first, with their run.
std::vector<std::pair<std::uint32_t, const SlowRecord*>> slowest_of(const Measurement& measurement,
                                                                    std::size_t most);

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
