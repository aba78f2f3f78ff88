// The write cache of a drive, found in a job with the analysis "write-cache" (docs/write-cache.md):
// its first measured phase writes until the rate falls, each later one writes again after an idle
// time. The figures are derived from Sample::rates whenever they are shown, and stored nowhere.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "replay/results/result.h"
#include "replay/statistics/levels.h"
#include "replay/statistics/summary.h"

namespace filereel {

// With its 95 % interval.
struct Estimate {
  double value = 0;
  Interval interval = {};
};

// A stretch of the first phase with one rate, in bytes per second.
struct RateLevel {
  double begin_bytes = 0;  // written since the start of the phase
  Estimate end_bytes;
  Level level;

  Estimate rate() const { return {level.mean, level.interval}; }
};

// What an idle time gives back.
struct CacheRecovery {
  std::string phase = {};
  double idle_s = 0;         // from the last durable byte before to the first write after
  Estimate bytes = {};       // written at the fast rate
  bool at_least = false;     // the phase ended before the rate fell
  std::string unknown = {};  // why there are no bytes; "" if there are

  bool is_measured() const { return !at_least && unknown.empty(); }
};

// A repetition.
struct WriteCache {
  std::uint32_t run = 0;
  std::vector<RateLevel> levels;  // at least one
  std::optional<Estimate> size;   // bytes until the rate first falls; nothing: it never does
  std::vector<CacheRecovery> recoveries;  // in their order; empty without a size
  // Bytes per second of idle time, after the longest one up to which what comes back grows with it.
  std::optional<Estimate> refill;
};

// Of the sample of the first phase and those of the later ones in the same repetition; null: that
// phase has none. Nothing if the first one failed, has no rates or is shorter than five seconds.
std::optional<WriteCache> write_cache_of(
    const Sample& first, std::span<const std::pair<std::string, const Sample*>> later);

// --- For reports.

// The analysis of a job on a file system, at a point of its sweep, ready to be shown.
struct WriteCacheReport {
  struct Row {
    std::string what, figure, interval;  // "size", "537 MB", "535 MB to 539 MB"
  };
  std::string subject;  // "write-cache, ext4"
  std::string finding;  // one sentence
  std::vector<Row> rows;
  std::vector<std::string> notes;
  // Rates in MB/s over bytes written, of the shown repetition's first phase: as measured, and the
  // levels, each with its begin and its end.
  std::vector<std::pair<double, double>> course = {}, levels = {};
};

// Of all jobs with the analysis, in the order of the measurements. `most_points`: of a course.
std::vector<WriteCacheReport> write_caches_of(const Result& result, std::size_t most_points = 400);

}  // namespace filereel
