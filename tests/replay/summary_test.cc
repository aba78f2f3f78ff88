#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "replay/results/metrics.h"
#include "replay/results/result.h"

namespace filereel {
namespace {

Sample sample(double durable_s, double elapsed_s = 1, std::uint64_t bytes = 10'000'000,
              std::uint64_t files = 100) {
  Sample out;
  out.durable_s = durable_s;
  out.elapsed_s = elapsed_s;
  out.bytes = bytes;
  out.files = files;
  return out;
}

Summary summary(std::vector<Sample> samples) {
  Measurement measurement;
  measurement.samples = std::move(samples);
  return measurement.summary();
}

TEST_CASE("the median of an odd number of samples is the middle one") {
  const Summary got = summary({sample(10), sample(1), sample(2)});
  REQUIRE(got.mb_per_s);
  CHECK(got.mb_per_s->median == doctest::Approx(5));
  CHECK(got.mb_per_s->low == doctest::Approx(1));
  CHECK(got.mb_per_s->high == doctest::Approx(10));
  CHECK(got.files_per_s->median == doctest::Approx(50));
}

TEST_CASE("the median rate of an even number of samples is that at the median of the times") {
  Measurement measurement;
  measurement.samples = {sample(1), sample(10), sample(5), sample(2)};
  const std::optional<Spread> time = measurement.seconds(&Sample::durable_s);
  CHECK(time->median == doctest::Approx(3.5));
  CHECK(measurement.summary().mb_per_s->median == doctest::Approx(10 / time->median));
  CHECK(measurement.summary().files_per_s->median == doctest::Approx(100 / time->median));
  const Result result;
  const auto shown = spread_of(*find_metric("mb_per_s"), result, measurement);
  CHECK(shown->median == doctest::Approx(10 / time->median));
}

TEST_CASE("one sample is median, low and high at once") {
  const Summary got = summary({sample(4, 2)});
  CHECK(got.mb_per_s->median == doctest::Approx(2.5));
  CHECK(got.mb_per_s->low == got.mb_per_s->high);
  CHECK(got.mb_per_s_elapsed->median == doctest::Approx(5));
}

TEST_CASE("from five samples on a median has an interval, and what does not belong is counted") {
  CHECK_FALSE(summary({sample(1), sample(2), sample(3), sample(4)}).mb_per_s->interval);
  const Summary got = summary({sample(1), sample(1.01), sample(0.99), sample(1.02), sample(1.01),
                               sample(1), sample(0.98), sample(1), sample(1.01), sample(9)});
  REQUIRE(got.mb_per_s->interval);
  CHECK(got.mb_per_s->interval->low <= got.mb_per_s->median);
  CHECK(got.mb_per_s->median <= got.mb_per_s->interval->high);
  CHECK(got.mb_per_s->low < got.mb_per_s->interval->low);
  CHECK(got.mb_per_s->outliers == 1);
  CHECK(got.files_per_s->outliers == 1);
}

TEST_CASE("durable and elapsed are two different rates") {
  const Summary got = summary({sample(4, 1), sample(5, 2)});
  CHECK(got.mb_per_s->high == doctest::Approx(2.5));
  CHECK(got.mb_per_s_elapsed->high == doctest::Approx(10));
}

TEST_CASE("samples with divergences are left out") {
  Sample failed = sample(0.001);
  failed.divergences = 1;
  const Summary got = summary({sample(10), failed});
  CHECK(got.mb_per_s->high == doctest::Approx(1));
  CHECK(got.files_per_s->high == doctest::Approx(10));
  CHECK_FALSE(summary({failed}).mb_per_s);
  CHECK_FALSE(summary({failed}).files_per_s);
}

TEST_CASE("a replay that differed counts, one that ended for it does not") {
  Measurement measurement;
  measurement.kind = JobKind::trace;
  measurement.replay.emplace();
  for (const double seconds : {1.0, 2.0}) {
    Sample& sample = measurement.samples.emplace_back();
    sample.elapsed_s = sample.durable_s = seconds;
    sample.operations = 100;
    sample.divergences = 3;
    sample.reel.emplace().ended_early = seconds > 1;
  }
  CHECK(measurement.summary().operations_per_s->median == 100);
  CHECK(measurement.summary().operations_per_s->low == 100);
}

TEST_CASE("a copy that moved no data has no speed of data, but files a second") {
  Sample reflink = sample(0.1);
  reflink.moved_no_data = true;
  const Summary got = summary({reflink});
  CHECK_FALSE(got.mb_per_s);
  CHECK_FALSE(got.mb_per_s_elapsed);
  REQUIRE(got.files_per_s);
  CHECK(got.files_per_s->median == doctest::Approx(1000));
}

TEST_CASE("steps without data or without time have no rates") {
  CHECK_FALSE(summary({}).mb_per_s);
  const Summary none = summary({sample(1, 1, 0, 50)});
  CHECK_FALSE(none.mb_per_s);
  CHECK(none.files_per_s->median == doctest::Approx(50));
  CHECK_FALSE(summary({sample(0, 0)}).mb_per_s);
  CHECK_FALSE(summary({sample(1, 1, 5, 0)}).files_per_s);
}

TEST_CASE("workloads have a rate of operations, FC-Test has none") {
  Measurement measurement;
  measurement.samples = {sample(4, 2)};
  measurement.samples[0].operations = 500;
  measurement.kind = JobKind::workload;
  measurement.workload = "reads";
  REQUIRE(measurement.summary().operations_per_s);
  CHECK(measurement.summary().operations_per_s->median == 250);
  measurement.kind = JobKind::fc_test;
  CHECK_FALSE(measurement.summary().operations_per_s);
}

TEST_CASE("latencies are those of the samples that did not fail") {
  Measurement measurement;
  measurement.samples = {sample(1), sample(1), sample(1), sample(1)};
  for (std::size_t i = 0; i < 3; ++i) {
    LatencySummary& reads = measurement.samples[i].latency["read"];
    reads.count = 1;
    reads.p99_us = static_cast<double>(i + 1);
  }
  measurement.samples[2].divergences = 1;
  const auto got = measurement.latency("read", &LatencySummary::p99_us);
  REQUIRE(got);
  CHECK(got->median == 1.5);
  CHECK(got->high == 2);
  CHECK_FALSE(measurement.latency("write", &LatencySummary::p99_us));
}

TEST_CASE("the same warning is kept once, other ones beside it") {
  Result result;
  result.warn({"not-cold", "a", "b"});
  result.warn({"not-cold", "a", "c"});
  result.warn({"not-cold", "other", "b"});
  result.warn({"other", "a", "b"});
  CHECK(result.warnings.size() == 3);
  CHECK(result.warnings[0].next_step == "b");
}

VolumeDescription volume_on(Role role, const std::string& file_system,
                            std::vector<std::string> layers) {
  VolumeDescription volume;
  volume.role = role;
  volume.file_system = file_system;
  volume.layers = std::move(layers);
  return volume;
}

TEST_CASE("caches are not called cold on volumes in memory") {
  JobRecord job;
  const auto text = [&](const std::vector<VolumeDescription>& volumes) {
    return settings_text(job, volumes);
  };
  const auto image = volume_on(Role::near, "ext4", {"file on tmpfs (loop device)"});
  const auto other_system = volume_on(Role::near, "xfs", {"file on tmpfs (loop device)"});
  const auto served = volume_on(Role::near, "ntfs", {"file on ramfs"});
  const auto directory = volume_on(Role::far, "tmpfs", {});
  const auto on_disk = volume_on(Role::far, "ext4", {"file on ext4 (loop device)"});
  CHECK(text({}) == "scale 1, cold caches");
  CHECK(text({on_disk}) == "scale 1, cold caches");
  for (const VolumeDescription& volume : {image, served, directory}) {
    CHECK(text({volume}) == "scale 1, in memory");
  }
  CHECK(text({image, other_system, directory}) == "scale 1, in memory");
  CHECK(text({image, other_system, on_disk}) == "scale 1, cold caches (near in memory)");
  CHECK(text({on_disk, directory}) == "scale 1, cold caches (far in memory)");
  // Only one of the disks of an array is a file in memory.
  VolumeDescription array = image;
  array.drives.emplace_back();
  CHECK(text({array}) == "scale 1, cold caches");
  job.warm = true;
  CHECK(text({image}) == "scale 1, warm caches");
}

TEST_CASE("a warning that holds for several names stands once and names them") {
  Result result;
  result.warn({"code", "the same text", "advice"}, "first");
  result.warn({"code", "the same text", "advice"}, "second");
  result.warn({"code", "the same text", "advice"}, "first");
  result.warn({"other", "the same text", "advice"}, "second");
  result.warn({"code", "2 names of 'third' are escaped", "advice"}, "third");
  result.warn({"code", "without a name", "advice"}, "");
  std::vector<std::string> texts;
  for (const Warning& warning : result.warnings) texts.push_back(warning.text);
  CHECK(texts == std::vector<std::string>{"first, second: the same text", "second: the same text",
                                          "2 names of 'third' are escaped", "without a name"});
}

}  // namespace
}  // namespace filereel
