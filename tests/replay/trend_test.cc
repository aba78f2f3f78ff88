#include "replay/history/trend.h"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "replay/history/history.h"
#include "replay/measure/histogram.h"
#include "replay/results/latency.h"
#include "replay/results/packed.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

// A result whose one measurement took `seconds` for 100 MB.
HistoryEntry entry_of(std::uint32_t number, const std::string& firmware, double seconds) {
  HistoryEntry entry;
  entry.number = number;
  entry.device = "Fast Disk 3 S123";
  entry.firmware = firmware;
  entry.started = "2024-02-0" + std::to_string(number);
  entry.result = sample_result();
  Measurement create = measurement_of("iso", "create", "ext4", "kernel");
  create.samples = {sample_of(1, seconds, seconds, 100'000'000, 3)};
  entry.result.measurements = {create};
  return entry;
}

HistoryDirectory folder_of(std::vector<HistoryEntry> entries) {
  return {.entries = std::move(entries), .others = {}};
}

TEST_CASE("a measurement's points are its medians by time, with the firmware they had") {
  const std::vector<DeviceTrend> trends =
      trends_of(folder_of({entry_of(1, "1.0", 1), entry_of(2, "1.0", 1), entry_of(3, "2.0", 2)}));
  REQUIRE(trends.size() == 1);
  CHECK(trends[0].device == "Fast Disk 3 S123");
  REQUIRE(trends[0].firmware.size() == 2);
  CHECK(trends[0].firmware[1].name == "2.0");
  CHECK(trends[0].firmware[1].started == "2024-02-03");
  REQUIRE(trends[0].series.size() == 1);
  const TrendSeries& series = trends[0].series[0];
  CHECK(series.unit == "MB/s");
  CHECK(series.options.empty());
  REQUIRE(series.points.size() == 3);
  CHECK(series.points[0].figure.median == doctest::Approx(100));
  CHECK(series.points[2].figure.median == doctest::Approx(50));
  CHECK(series.points[2].entry == 3);
  CHECK(series.change.value() == doctest::Approx(-0.5));
  REQUIRE(series.firmware_change);
  CHECK(*series.firmware_change == doctest::Approx(-0.5));
}

TEST_CASE("the change by firmware is that between the last two it was measured with") {
  const std::vector<DeviceTrend> trends =
      trends_of(folder_of({entry_of(1, "1.0", 4), entry_of(2, "2.0", 1), entry_of(3, "2.0", 3),
                           entry_of(4, "2.0", 2), entry_of(5, "3.0", 1), entry_of(6, "3.0", 1)}));
  const TrendSeries& series = trends.at(0).series.at(0);
  CHECK(series.change.value() == doctest::Approx(3.0));
  CHECK(series.firmware_change.value() == doctest::Approx(1.0));  // 50 MB/s to 100 MB/s
  CHECK_FALSE(trends_of(folder_of({entry_of(1, "1.0", 4), entry_of(2, "1.0", 1)}))
                  .at(0)
                  .series.at(0)
                  .firmware_change);
}

TEST_CASE("the margin of a change by firmware is larger if other programs ran") {
  const auto margin = [](double other_cpu) {
    std::vector<HistoryEntry> entries = {entry_of(1, "1.0", 1), entry_of(2, "2.0", 1)};
    entries[1].result.measurements[0].samples[0].conditions.other_cpu = other_cpu;
    const TrendSeries series = trends_of(folder_of(std::move(entries))).at(0).series.at(0);
    return std::log1p(series.firmware_interval.value().high);
  };
  CHECK(margin(0) > 0.1);
  CHECK(margin(0.8) > 2 * margin(0));
}

TEST_CASE("the change by firmware is that of the states' geometric means, with their margin") {
  std::vector<HistoryEntry> entries;
  // Seconds for 100 MB: 100, 50, 100 and 200 MB/s, then 200, 100, 200 and 400.
  const std::vector<double> seconds = {1, 2, 1, 0.5, 0.5, 1, 0.5, 0.25};
  for (std::uint32_t i = 0; i < seconds.size(); ++i) {
    entries.push_back(entry_of(i + 1, i < 4 ? "1.0" : "2.0", seconds[i]));
    entries.back().result.started = "2024-02-0" + std::to_string(i + 1) + "T12:00:00Z";
  }
  const TrendSeries series = trends_of(folder_of(std::move(entries))).at(0).series.at(0);
  CHECK(series.firmware_change.value() == doctest::Approx(1.0));
  // Deviations of log 2, 6 degrees of freedom: a variance of (log 2)^2 * 4 / 6, halved for the
  // difference of two means of four; Student's t of 97.5 % is 2.446912.
  const double error = std::numbers::ln2 * std::sqrt(4.0 / 6 / 2);
  const Interval interval = series.firmware_interval.value();
  CHECK(interval.high == doctest::Approx(std::expm1(std::numbers::ln2 + 2.446912 * error)));
  CHECK(interval.low == doctest::Approx(std::expm1(std::numbers::ln2 - 2.446912 * error)));
}

TEST_CASE("a large change has an interval by a factor, which never falls below -100 %") {
  const TrendSeries series =
      trends_of(folder_of({entry_of(1, "1.0", 1), entry_of(2, "2.0", 7)})).at(0).series.at(0);
  CHECK(series.firmware_change.value() == doctest::Approx(1.0 / 7 - 1));
  const Interval interval = series.firmware_interval.value();
  CHECK(interval.low > -1);
  CHECK((1 + interval.low) * (1 + interval.high) == doctest::Approx(1.0 / 49));
}

TEST_CASE("a single result has no change") {
  CHECK_FALSE(trends_of(folder_of({entry_of(1, "1.0", 1)})).at(0).series.at(0).change);
}

TEST_CASE("other work of the same name is another line") {
  HistoryEntry other = entry_of(2, "1.0", 1);
  other.result.measurements[0].samples[0].files = 4;
  const std::vector<TrendSeries> series =
      trends_of(folder_of({entry_of(1, "1.0", 1), other})).at(0).series;
  REQUIRE(series.size() == 2);
  CHECK(series[1].options.ends_with("work 100000000 bytes in 4 files"));
}

TEST_CASE("an older result that does not say what ends its work is on the same line") {
  HistoryEntry older = entry_of(1, "1.0", 1), newer = entry_of(2, "1.0", 1);
  older.result.measurements[0].ends.reset();
  newer.result.measurements[0].ends = PhaseEnd::work;
  CHECK(trends_of(folder_of({older, newer})).at(0).series.size() == 1);
}

TEST_CASE("what was measured with other options is another line, which says which") {
  HistoryEntry other = entry_of(2, "1.0", 1);
  other.result.plan.jobs[0].scale = 2;
  const std::vector<DeviceTrend> trends =
      trends_of(folder_of({entry_of(1, "1.0", 1), other, entry_of(3, "1.0", 1)}));
  REQUIRE(trends.at(0).series.size() == 2);
  CHECK(trends[0].series[0].points.size() == 2);
  CHECK(trends[0].series[1].options.starts_with("scale 2, "));
}

TEST_CASE("drives are apart, and filters leave out the rest") {
  HistoryEntry other = entry_of(2, "1.0", 1);
  other.device = "Slow Disk";
  const HistoryDirectory history = folder_of({entry_of(1, "1.0", 1), other});
  CHECK(trends_of(history).size() == 2);
  CHECK(trends_of(history, {.devices = {"Slow-Disk"}}).at(0).device == "Slow Disk");
  CHECK(trends_of(history, {.devices = {"Slow Disk"}}).size() == 1);
  CHECK(trends_of(history, {.sets = {"mp3"}}).empty());
  CHECK(trends_of(history, {.operations = {"create"}}).size() == 2);
  CHECK(trends_of(history, {.file_systems = {"ntfs"}}).empty());
}

TEST_CASE("what moves no data is shown in files a second, and what failed not at all") {
  HistoryEntry entry = entry_of(1, "1.0", 2);
  entry.result.measurements[0].operation = "delete";
  entry.result.measurements[0].samples[0].bytes = 0;
  CHECK(trends_of(folder_of({entry})).at(0).series.at(0).unit == "files/s");
  entry.result.measurements[0].samples[0].divergences = 1;
  CHECK(trends_of(folder_of({entry})).empty());
}

TEST_CASE("work that was not done is in no series, and is named") {
  HistoryEntry entry = entry_of(2, "1.0", 2);
  entry.result.measurements[0].samples[0].failed_calls = {{"near", "write", "ENOSPC", 3}};
  const DeviceTrend trend = trends_of(folder_of({entry_of(1, "1.0", 1), entry})).at(0);
  CHECK(trend.series.at(0).points.size() == 1);
  REQUIRE(trend.left_out.size() == 1);
  CHECK(trend.left_out[0].contains("failed with ENOSPC: 3 times"));
}

TEST_CASE("workloads are shown in operations a second") {
  HistoryEntry entry = entry_of(1, "1.0", 2);
  entry.result = sample_replay();
  CHECK(trends_of(folder_of({entry})).at(0).series.at(0).unit == "operations/s");
}

TEST_CASE("tails have lines of their own where there are operations enough") {
  std::vector<HistoryEntry> entries = {entry_of(1, "1.0", 1), entry_of(2, "2.0", 1)};
  for (HistoryEntry& entry : entries) {
    Sample& sample = entry.result.measurements[0].samples[0];
    const double factor = entry.number;
    LatencySummary& reads = sample.latency["read"];
    reads.count = 20'000;
    reads.p999_us = 100 * factor;
    LatencySummary& writes = sample.latency["write"];
    writes.count = 2'000;
    writes.p99_us = 50 * factor;
    sample.latency["open"].count = 10;
  }
  const std::vector<DeviceTrend> trends = trends_of(folder_of(entries));
  REQUIRE(trends.at(0).series.size() == 3);
  CHECK(trends[0].series[1].unit == "µs p99.9 read");
  CHECK(trends[0].series[1].firmware_change == doctest::Approx(1.0));
  CHECK(trends[0].series[2].unit == "µs p99 write");
  CHECK(trends[0].series[2].points[1].figure.median == 100);
}

TEST_CASE("a tail is that of all runs together, as in the table of the result") {
  HistoryEntry entry = entry_of(1, "1.0", 1);
  Measurement& create = entry.result.measurements[0];
  for (const std::uint64_t slow_ns : {100'000, 200'000, 9'000'000}) {
    Histogram times;
    for (int i = 0; i < 20'000; ++i) times.record(i < 100 ? slow_ns : 10'000);
    Sample sample = create.samples[0];
    LatencySummary& reads = sample.latency["read"] = summarise(times);
    reads.histogram = pack_histogram(times);
    create.samples.push_back(sample);
  }
  create.samples.erase(create.samples.begin());
  const Percentile* const p999 = tail_percentile(20'000);
  REQUIRE(p999);
  const double pooled = pooled_latency(create, "read").*(p999->figure);
  CHECK(pooled != create.latency("read", p999->figure)->median);
  CHECK(trends_of(folder_of({entry})).at(0).series.at(1).points.at(0).figure.median == pooled);
}

}  // namespace
}  // namespace filereel
