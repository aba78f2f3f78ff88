#include "replay/results/block_baseline.h"

#include <string>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "replay/jobs/access_shapes.h"
#include "replay/jobs/recipe_needs.h"
#include "replay/results/result_json.h"
#include "replay/run/baseline_run.h"
#include "tests/replay/bare_volume.h"
#include "tests/replay/watcher.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

BlockBaseline baseline(const std::string& pattern, double mb_per_s) {
  return {"ext4",       "device", pattern,
          128 << 10,    32,       mb_per_s,
          mb_per_s * 8, "3.33",   BlockLatency{100, 90, 300, 500, 2000}};
}

// 100 MB written in a second, on a device that writes 400 MB/s.
Result written() {
  Result result;
  result.baselines = {baseline("write", 400), baseline("read", 1000), baseline("randwrite", 50)};
  Measurement& measurement =
      result.measurements.emplace_back(measurement_of("iso", "create", "ext4", ""));
  measurement.access = {false, 128 << 10, 32};
  Sample& sample = measurement.samples.emplace_back(sample_of(1, 0.5, 1, 100'000'000, 3));
  sample.latency["write"].bytes = 100'000'000;
  sample.device_bytes_written = 125'000'000;
  sample.device_bytes_read = 1'000'000;
  return result;
}

std::optional<double> share_of(const Result& result) {
  return block_share(result, result.measurements.front());
}

TEST_CASE("the block-level share uses the same pattern, size and depth") {
  Result result = written();
  CHECK(*share_of(result) == doctest::Approx(0.25));
  result.measurements[0].access->random = true;
  CHECK(*share_of(result) == doctest::Approx(2));
  result.measurements[0].access = {false, 4096, 32};
  CHECK_FALSE(share_of(result));
  result.measurements[0].access = {false, 128 << 10, 1};
  CHECK_FALSE(share_of(result));
  result.measurements[0].access.reset();
  CHECK_FALSE(share_of(result));
}

TEST_CASE("mixed accesses take the sum of reads and writes at block level") {
  Result result = written();
  result.measurements[0].operation = "copy-near";
  result.measurements[0].samples[0].latency["read"].bytes = 100'000'000;
  CHECK(*share_of(result) == doctest::Approx(0.35));
  result.measurements[0].operation = "copy-far";
  CHECK_FALSE(share_of(result));
}

TEST_CASE("samples that failed or moved no data have no share of the block level") {
  Result result = written();
  Sample half = result.measurements[0].samples[0];
  half.durable_s = 0.001;
  half.divergences = 1;
  result.measurements[0].samples.push_back(half);
  CHECK(*share_of(result) == doctest::Approx(0.25));
  result.measurements[0].samples[0].moved_no_data = true;
  CHECK_FALSE(share_of(result));
  CHECK_FALSE(device_bytes_per_file_byte(result.measurements[0]).written);
}

TEST_CASE("device bytes per file byte are reported for writes and reads") {
  Result result = written();
  Measurement& measurement = result.measurements[0];
  CHECK(*device_bytes_per_file_byte(measurement).written == doctest::Approx(1.25));
  CHECK_FALSE(device_bytes_per_file_byte(measurement).read);
  measurement.samples[0].latency["read"].bytes = 2'000'000;
  CHECK(*device_bytes_per_file_byte(measurement).read == doctest::Approx(0.5));
  measurement.samples[0].device_bytes_written.reset();
  CHECK_FALSE(device_bytes_per_file_byte(measurement).written);
}

TEST_CASE("the file system's share of latency is reported for comparable accesses") {
  Result result = written();
  Measurement& measurement = result.measurements[0];
  LatencySummary& writes = measurement.samples[0].latency["write"];
  writes.count = 1000;
  writes.total_us = 125'000;
  CHECK_FALSE(latency_share(result, measurement));
  measurement.access->latency_comparable = true;
  CHECK(*latency_share(result, measurement) == doctest::Approx(0.2));
  measurement.samples.push_back(measurement.samples[0]);
  measurement.samples.push_back(measurement.samples[0]);
  measurement.samples[1].latency["write"].total_us = 400'000;
  measurement.samples[2].latency["write"].total_us = 200'000;
  CHECK(*latency_share(result, measurement) == doctest::Approx(0.5));
  measurement.samples[1].divergences = 1;  // which leaves two
  CHECK(*latency_share(result, measurement) == doctest::Approx(0.35));
  for (Sample& sample : measurement.samples) sample.latency["write"].total_us = 90'000;
  CHECK_FALSE(latency_share(result, measurement));  // faster than the block level
  result = written();
  result.measurements[0].access->latency_comparable = true;
  result.measurements[0].samples[0].latency["write"].count = 1000;
  result.measurements[0].samples[0].latency["write"].total_us = 125'000;
  result.baselines[0].latency.reset();  // of an older version
  CHECK_FALSE(latency_share(result, result.measurements[0]));
  result.baselines.clear();
  CHECK_FALSE(latency_share(result, result.measurements[0]));
}

TEST_CASE("sizes at block level are whole blocks") {
  CHECK(baseline_block_size(1) == 4096);
  CHECK(baseline_block_size(4096) == 4096);
  CHECK(baseline_block_size(4097) == 8192);
  CHECK(baseline_block_size(1 << 30) == 16 << 20);
}

TEST_CASE("access shapes are restored from JSON") {
  Result result = sample_result();
  result.measurements[0].access = {true, 8192, 7, true};
  result.baselines = {baseline("read", 1000), baseline("write", 400)};
  result.baselines[1].latency.reset();
  const Result again = result_from_json(result_to_json(result), "r.json");
  REQUIRE(again.measurements[0].access);
  CHECK(again.measurements[0].access->random);
  CHECK(again.measurements[0].access->block_size == 8192);
  CHECK(again.measurements[0].access->depth == 7);
  CHECK(again.measurements[0].access->latency_comparable);
  REQUIRE(again.baselines.size() == 2);
  REQUIRE(again.baselines[0].latency);
  CHECK(again.baselines[0].latency->mean_us == 100);
  CHECK(again.baselines[0].latency->p50_us == 90);
  CHECK(again.baselines[0].latency->p99_us == 300);
  CHECK(again.baselines[0].latency->p999_us == 500);
  CHECK(again.baselines[0].latency->max_us == 2000);
  CHECK_FALSE(again.baselines[1].latency);
  CHECK_FALSE(again.measurements[1].access);
}

TEST_CASE("baselines of another file system in the result are not measured again") {
  Result result;
  result.baselines = {baseline("write", 400), baseline("read", 1000)};
  const BareVolume volume;  // on which nothing can be measured
  Watcher watcher;
  const AccessShape known{false, 128 << 10, 32}, unknown{true, 128 << 10, 1};
  const auto measured = measure_baselines(volume, {&known, 1}, watcher, {}, result);
  REQUIRE(measured);
  CHECK(measured->size() == 2);
  CHECK(watcher.steps.empty());
  CHECK(result.warnings.empty());
  const AccessShape both[] = {unknown, known};
  CHECK(measure_baselines(volume, both, watcher, {}, result)->size() == 2);
  CHECK(result.warnings.size() == 1);

  add_baselines(*measured, "xfs", result);
  add_baselines(*measured, "xfs", result);
  REQUIRE(result.baselines.size() == 4);
  CHECK(result.baselines[3].file_system == "xfs");
  CHECK(result.baselines[3].pattern == "read");
  BlockBaseline deeper = baseline("read", 2000);
  deeper.depth = 64;
  add_baselines({&deeper, 1}, "xfs", result);
  CHECK(result.baselines.size() == 5);
}

TEST_CASE("a phase has the block-level shape of most of its accesses") {
  RecipePhase phase;
  RecipeThreads threads;
  threads.count = 3;
  threads.depth = 4;
  AccessMix& mix = threads.access.emplace();
  mix.sizes = {{4096, 30'000}, {16384, 70'000}};
  mix.random = 100'000;
  phase.threads = {threads};
  CHECK(access_shape(phase)->random);
  CHECK(access_shape(phase)->block_size == 16384);
  CHECK(access_shape(phase)->depth == 12);
  phase.threads[0].access->reads = 0;  // written back by the kernel
  CHECK(access_shape(phase)->depth == kCachedDepth);
  phase.threads[0].direct = true;
  CHECK(access_shape(phase)->depth == 12);
  phase.threads[0].access->random = 0;
  CHECK_FALSE(access_shape(phase)->random);
  CHECK_FALSE(access_shape(RecipePhase{}));
}

TEST_CASE("latencies are comparable with block level if all accesses are uniform and direct") {
  RecipeThreads alike;
  alike.count = 3;
  alike.direct = true;
  alike.access.emplace().sizes = {{4096, 100'000}};
  alike.access->random = 100'000;
  const auto compares = [&](const auto& change) {
    RecipeThreads threads = alike;
    change(threads);
    RecipePhase phase;
    phase.threads = {threads};
    return access_shape(phase)->latency_comparable;
  };
  CHECK(compares([](RecipeThreads&) {}));
  CHECK(compares([](RecipeThreads& one) { one.access->reads = 0; }));
  CHECK(compares([](RecipeThreads& one) { one.access->random = 0, one.count = 1; }));
  CHECK_FALSE(compares([](RecipeThreads& one) { one.access->random = 0; }));  // three streams
  CHECK_FALSE(compares([](RecipeThreads& one) { one.access->random = 80'000; }));
  CHECK_FALSE(compares([](RecipeThreads& one) { one.access->reads = 67'000; }));
  CHECK_FALSE(compares([](RecipeThreads& one) { one.access->ratio = 1.5; }));
  CHECK_FALSE(compares([](RecipeThreads& one) { one.access->sizes[0].size = 512; }));
  CHECK_FALSE(
      compares([](RecipeThreads& one) { one.access->sizes = {{4096, 50'000}, {8192, 50'000}}; }));
  CHECK_FALSE(compares([](RecipeThreads& one) { one.access->hot = {HotSpots::Kind::zipf, 1}; }));
  CHECK_FALSE(compares([](RecipeThreads& one) { one.direct = false; }));
  CHECK_FALSE(compares([](RecipeThreads& one) { one.write_through = true; }));
  CHECK_FALSE(compares([](RecipeThreads& one) { one.sync.every = 100; }));
  CHECK_FALSE(compares([](RecipeThreads& one) { one.think_ns = 1; }));
  CHECK_FALSE(compares([](RecipeThreads& one) { one.rate = 1; }));
  RecipePhase mixed;
  mixed.threads = {alike, alike};
  CHECK_FALSE(access_shape(mixed)->latency_comparable);
}

TEST_CASE("fio's JSON is parsed regardless of surrounding text") {
  const std::string text =
      "note: both iodepth >= 1\n{\"fio version\": \"fio-3.33\", \"jobs\": [{\"error\": 0,"
      "\"read\": {\"io_bytes\": 0, \"bw_bytes\": 0, \"iops\": 0.0},"
      "\"write\": {\"io_bytes\": 8192, \"bw_bytes\": 2500000, \"iops\": 610.5,"
      "\"lat_ns\": {\"min\": 900, \"max\": 5000000, \"mean\": 12500.5, \"percentile\": {"
      "\"50.000000\": 11000, \"99.000000\": 40000, \"99.900000\": 900000}}}}]}\n";
  const FioFigures figures = fio_figures(text);
  CHECK(figures.version == "3.33");
  CHECK(figures.bytes == 8192);
  CHECK(figures.mb_per_s == doctest::Approx(2.5));
  CHECK(figures.iops == doctest::Approx(610.5));
  REQUIRE(figures.latency);
  CHECK(figures.latency->mean_us == doctest::Approx(12.5005));
  CHECK(figures.latency->p50_us == doctest::Approx(11));
  CHECK(figures.latency->p99_us == doctest::Approx(40));
  CHECK(figures.latency->p999_us == doctest::Approx(900));
  CHECK(figures.latency->max_us == doctest::Approx(5000));
  for (const char* bad : {"", "fio: no such file", "{", "{}", "{\"jobs\": []}", "}{"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(fio_figures(bad), Error);
  }
}

TEST_CASE("a baseline of several file systems is listed once") {
  BlockBaseline other = baseline("write", 400);
  other.file_system = "xfs";
  BlockBaseline another = baseline("write", 401);
  another.file_system = "ntfs";
  const auto shared = shared_baselines(std::vector{baseline("write", 400), other, another});
  REQUIRE(shared.size() == 2);
  CHECK(shared[0].file_systems == std::vector<std::string>{"ext4", "xfs"});
  CHECK(shared[1].file_systems == std::vector<std::string>{"ntfs"});
  CHECK(shared[1].baseline.mb_per_s == 401);
}

}  // namespace
}  // namespace filereel
