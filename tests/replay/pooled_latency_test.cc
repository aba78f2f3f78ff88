// Percentiles of runs pooled from what results keep, held against all latencies written out.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "replay/engine/replayer.h"
#include "replay/results/packed.h"
#include "replay/results/result_json.h"
#include "replay/run/sampling.h"
#include "tests/entries.h"
#include "tests/replay/two_volumes.h"
#include "tests/sample_result.h"
#include "traces/fc_test.h"

namespace filereel {
namespace {

TEST_CASE("merged percentiles of ten runs are those of all their latencies") {
  constexpr int kRuns = 10;
  FileSet set;
  for (int i = 0; i < 300; ++i) {
    set.entries.push_back(file("f" + std::to_string(i), static_cast<std::uint64_t>(i) * 1999));
  }
  const TwoVolumes volumes;
  const FcTest test(set, {.threads = 3});
  std::vector<std::uint64_t> all;
  Result result = sample_result();
  Measurement& measurement = result.measurements.front();
  measurement.samples.clear();
  const PathTable paths;
  replay(test.trace(FcStep::create), volumes.roots(), {});
  for (int run = 1; run <= kRuns; ++run) {
    std::vector<std::vector<std::uint64_t>> latencies;
    const ReplayOutcome outcome =
        replay(test.trace(FcStep::read), volumes.roots(), {.latencies = &latencies});
    REQUIRE(outcome.complete);
    for (const auto& of_thread : latencies) {
      all.insert(all.end(), of_thread.begin(), of_thread.end());
    }
    ReplayOutcome nameless = outcome;  // the paths are of no interest
    nameless.statistics.slowest.clear();
    Sample& sample = measurement.samples.emplace_back(sample_of(run, 1, 1, 1, 1));
    fill_sample(sample, nameless, paths);
    CHECK(sample.operations > 1000);
  }
  // As programs see it: through the file.
  const Result read = result_from_json(result_to_json(result), "r.json");
  Histogram pooled;
  std::uint64_t in_grids = 0;
  for (const Sample& sample : read.measurements.front().samples) {
    for (const auto& [kind, latency] : sample.latency) pooled.merge(histogram_of(latency));
    REQUIRE(sample.course);
    const TimeGrid course = unpack_course(*sample.course);
    for (const TimeGrid::Interval& interval : course.intervals()) {
      for (const std::uint64_t count : interval.operations) in_grids += count;
    }
  }
  REQUIRE(pooled.count() == all.size());
  CHECK(in_grids == all.size());
  std::ranges::sort(all);
  CHECK(pooled.max() == all.back());
  for (const double share : {0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0}) {
    CAPTURE(share);
    const double rank = std::max(1.0, std::ceil(share * static_cast<double>(all.size())));
    const std::uint64_t exact = all[static_cast<std::size_t>(rank) - 1];
    const std::uint64_t got = pooled.percentile(share);
    CHECK(got >= exact);
    CHECK(static_cast<double>(got - exact) <= static_cast<double>(exact) / 128);
  }
}

}  // namespace
}  // namespace filereel
