// What reports show of latencies beyond their percentiles: curves of them, their course over time,
// and the slowest operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replay/measure/histogram.h"
#include "replay/measure/time_grid.h"
#include "replay/results/result.h"

namespace filereel {

// A latency that a share of all operations does not exceed: `nines` is -log10(1 - share), 0.3 of
// the median, 1 of 90 %, 3 of 99.9 %.
struct CurvePoint {
  double nines = 0, latency_us = 0;
};

// From the median up. The last point is the maximum, at the share of all but one. Between points
// the curve is straight: stretches of the same latency have their ends alone.
std::vector<CurvePoint> percentile_curve(const Histogram& latency);
// The same from what a result without histograms has: the percentiles that the count has, and the
// maximum.
std::vector<CurvePoint> percentile_curve(const LatencySummary& latency);

// Reads or writes of one class of sizes in all samples that did not fail.
struct SizeClass {
  std::string name;  // "read up to 4 KiB", "read over 1 MiB"
  Histogram latency;
};

// None where there is one class, and where any sample does not tell them apart.
std::vector<SizeClass> size_classes(const Measurement& measurement, const std::string& kind);

// The same in at most `most` intervals, each of several of the grid's.
TimeGrid coarser(const TimeGrid& grid, std::size_t most);

// The cells of time and latency that hold operations, interval by interval: numbers in turn of the
// steps from the last one (from the first cell for the first), and of operations. An interval has
// TimeGrid::kBins cells.
std::vector<std::uint64_t> cells_of(const TimeGrid& grid);

// A rate and the middle of the time that it is of, both since the sample's begin.
struct RatePoint {
  double at_s = 0, per_s = 0;
};

// `amounts` are those of the grid's intervals. A last interval of which less than a half was left
// when the sample ended counts with the one before.
std::vector<RatePoint> rates_over_time(const TimeGrid& grid,
                                       const std::vector<std::uint64_t>& amounts, double elapsed_s);

// The slowest operations of all samples that did not fail, the slowest first, with their run.
std::vector<std::pair<std::uint32_t, const SlowRecord*>> slowest_of(const Measurement& measurement,
                                                                    std::size_t most);

}  // namespace filereel
