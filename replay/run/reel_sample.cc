#include "replay/run/reel_sample.h"

#include <string>
#include <vector>

#include "replay/run/sampling.h"

namespace filereel {
namespace {

std::vector<SeriesPoint> series_points(const TimeSeries& series) {
  std::vector<SeriesPoint> points;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const TimeSeries::Interval& one = series[i];
    if (one.operations == 0) continue;
    points.push_back(
        {.t_s = static_cast<double>(i * series.width_ns()) * 1e-9,
         .operations = one.operations,
         .bytes = one.bytes,
         .mean_us = static_cast<double>(one.total_ns) * 1e-3 / static_cast<double>(one.operations),
         .max_us = static_cast<double>(one.max_ns) * 1e-3});
  }
  return points;
}

}  // namespace

void fill_reel_sample(Sample& sample, const ReplayOutcome& outcome, const PathTable& paths) {
  fill_sample(sample, outcome, paths);
  const ReplayStatistics& statistics = outcome.statistics;
  for (std::size_t i = 0; i < statistics.examples.size(); ++i) {
    sample.examples[i].kind_of = divergence_class_name(statistics.examples[i].kind_of);
  }
  ReelSample& reel = sample.reel.emplace();
  reel.bytes_read = statistics.of(OperationKind::read).bytes;
  reel.bytes_written = statistics.of(OperationKind::write).bytes;
  reel.bytes_copied = statistics.of(OperationKind::copy_range).bytes;
  sample.bytes = reel.bytes_read + reel.bytes_written + reel.bytes_copied;
  for (std::size_t i = 0; i < kDivergenceClasses; ++i) {
    if (statistics.by_class[i] == 0) continue;
    const auto name = divergence_class_name(static_cast<DivergenceClass>(i));
    reel.divergences.emplace(std::string(name), statistics.by_class[i]);
  }
  reel.unverified = statistics.unverified;
  reel.refused = statistics.refused;
  if (statistics.lateness.count() > 0) reel.lateness = summarise(statistics.lateness);
  reel.series = series_points(statistics.series);
}

}  // namespace filereel
