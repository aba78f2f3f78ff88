#include "replay/results/checks.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/sample_result.h"

namespace filereel {
namespace {

// Of one measurement, 100 MB each; none of it gives reason for a warning.
Result result_of(const std::vector<double>& seconds, const std::string& set = "iso") {
  Result result;
  result.host.clock_source = "tsc";
  Measurement& measurement =
      result.measurements.emplace_back(measurement_of(set, "read", "ext4", "kernel"));
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    Sample& sample = measurement.samples.emplace_back(
        sample_of(static_cast<std::uint32_t>(i + 1), seconds[i], seconds[i], 100'000'000, 3));
    sample.cached_before = 0;
    sample.conditions = {.other_cpu = 0.01,
                         .stolen_cpu = 0.0,
                         .cpu_mhz_low = 1000,
                         .cpu_mhz_high = 3000,
                         .idle_device_bytes_per_s = 0.0,
                         .volume_used = 0.5};
  }
  return result;
}

const std::vector<double> kSteady = {1.00, 1.02, 0.99, 1.01, 0.98, 1.00, 1.02, 1.01, 0.99, 1.00};

std::vector<std::string> codes_of(Result result) {
  check_result(result);
  std::vector<std::string> codes;
  for (const Warning& warning : result.warnings) {
    CHECK_FALSE(warning.text.empty());
    CHECK_FALSE(warning.next_step.empty());
    codes.push_back(warning.code);
  }
  return codes;
}

std::string text_of(Result result, const std::string& code) {
  check_result(result);
  const auto found = std::ranges::find(result.warnings, code, &Warning::code);
  return found == result.warnings.end() ? "" : found->text;
}

using Codes = std::vector<std::string>;

TEST_CASE("a steady measurement on an idle machine has no warnings") {
  CHECK(codes_of(result_of(kSteady)).empty());
  CHECK(codes_of(Result{}).empty());
}

TEST_CASE("too few samples give one warning for all measurements") {
  Result result = result_of({1, 1, 1});
  CHECK(text_of(result, "too-few-samples") ==
        "1 measurement with at most 3 samples: too few for a 95 % interval");
  for (int i = 0; i < 24; ++i) result.measurements.push_back(result.measurements[0]);
  result.measurements[7].samples.resize(1);
  CHECK(codes_of(result) == Codes{"too-few-samples"});
  CHECK(text_of(result, "too-few-samples").starts_with("25 measurements with at most 3"));
  result.measurements[3] = result_of(kSteady).measurements[0];
  CHECK(text_of(result, "too-few-samples").starts_with("24 of 25 measurements"));
  CHECK(codes_of(result_of({1, 1, 1, 1, 1})) == Codes{"too-few-samples"});
  CHECK(codes_of(result_of({1, 1, 1, 1, 1, 1})).empty());
}

TEST_CASE("samples that failed or moved no data do not count, nor do replays without a volume") {
  Result result = result_of({1, 1, 1, 1, 1});
  result.measurements[0].samples[2].divergences = 1;
  CHECK(codes_of(result) == Codes{"too-few-samples"});
  for (Sample& sample : result.measurements[0].samples) sample.moved_no_data = true;
  CHECK(codes_of(result).empty());
  Result null = result_of({1});
  null.measurements[0].file_system = "none";
  CHECK(codes_of(null).empty());
}

TEST_CASE("caches that were not cold give one warning per file system, with the worst") {
  Result result = result_of(kSteady);
  result.measurements.push_back(result.measurements[0]);
  result.measurements[1].set = "mp3";
  result.measurements[0].samples[1].cached_before = 0.03;
  result.measurements[1].samples[4].cached_before = 0.4;
  CHECK(codes_of(result) == Codes{"not-cold"});
  CHECK(
      text_of(result, "not-cold") ==
      "40 % of the content was cached before 'read of mp3' on ext4 started, so it was faster than "
      "the device (2 measurements)");
  for (Measurement& measurement : result.measurements) {
    for (Sample& sample : measurement.samples) sample.cold_method = "warm";
  }
  CHECK(codes_of(result).empty());  // it was asked for
}

TEST_CASE("volumes in memory are never cold, which their warning says") {
  Result result = result_of(kSteady);
  VolumeDescription& near = result.volumes.emplace_back();
  near.layers = {"file on tmpfs (loop device)"};
  CHECK(codes_of(result).empty());  // nothing was read
  result.measurements[0].samples[1].cached_before = 1;
  CHECK(codes_of(result) == Codes{"not-cold"});
  CHECK(text_of(result, "not-cold") == "ext4: nothing is cold in memory (near)");
  VolumeDescription& far = result.volumes.emplace_back();
  far.role = Role::far;
  far.file_system = "tmpfs";
  CHECK(text_of(result, "not-cold") == "ext4: nothing is cold in memory (near and far)");
}

TEST_CASE("caches that should be warm and were not give a warning with the worst") {
  Result result = result_of(kSteady);
  for (Sample& sample : result.measurements[0].samples) {
    sample.cold_method = "read";
    sample.cached_before = 1;
  }
  CHECK(codes_of(result).empty());
  result.measurements[0].samples[2].cached_before = 0.6;
  CHECK(codes_of(result) == Codes{"not-warm"});
  CHECK(
      text_of(result, "not-warm") ==
      "only 60 % of the content was cached before 'read of iso' on ext4 started, so the device was "
      "read, too");
}

TEST_CASE("reads of the device with --warm show that the caches were not warm") {
  Result result = result_of(kSteady);
  for (Sample& sample : result.measurements[0].samples) {
    sample.cold_method = "warm";
    sample.device_bytes_read = 0;
  }
  result.measurements[0].samples[1].device_bytes_read = 200'000'000;
  CHECK(codes_of(result).empty());  // without --warm, some steps keep what others left
  result.plan.jobs.emplace_back().warm = true;
  CHECK(codes_of(result) == Codes{"not-warm"});
  CHECK(text_of(result, "not-warm").starts_with("the caches were not warm in 1 of "));
}

TEST_CASE("caches from which only file content can be dropped are reported") {
  Result result = result_of(kSteady);
  for (Sample& sample : result.measurements[0].samples) sample.cold_method = "fadvise";
  CHECK(codes_of(result) == Codes{"not-cold"});
  CHECK(text_of(result, "not-cold").find("names and inodes stayed cached") != std::string::npos);
}

TEST_CASE("bimodal samples are reported with their centres") {
  const std::vector<double> two = {1.00, 2.02, 0.99, 2.01, 1.98, 1.00, 1.02, 2.01, 1.99, 1.00};
  CHECK(codes_of(result_of(two)) == Codes{"bimodal"});
  CHECK(text_of(result_of(two), "bimodal") ==
        "'read of iso' on ext4 is bimodal, around 49.8 and 100 MB/s");
}

TEST_CASE("groups that are close together are ignored") {
  const std::vector<double> near = {1.000, 1.052, 1.001, 1.051, 1.052,
                                    1.000, 1.001, 1.051, 1.052, 1.000};
  CHECK(codes_of(result_of(near)).empty());
}

TEST_CASE("a drift is reported with its direction") {
  std::vector<double> slower;
  for (int i = 0; i < 12; ++i) slower.push_back(1 + 0.04 * i);
  CHECK(codes_of(result_of(slower)) == Codes{"drift"});
  CHECK(text_of(result_of(slower), "drift") ==
        "'read of iso' on ext4 became 23 % slower during the run");
  std::vector<double> faster(slower.rbegin(), slower.rend());
  CHECK(text_of(result_of(faster), "drift") ==
        "'read of iso' on ext4 became 30 % faster during the run");
  std::vector<double> hardly;
  for (int i = 0; i < 12; ++i) hardly.push_back(1 + 0.002 * i);
  CHECK(codes_of(result_of(hardly)).empty());
}

TEST_CASE("one of many measurements may drift by chance") {
  // Of seven values in order, which happens once in 2520 series.
  Result result = result_of({1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6});
  CHECK(codes_of(result) == Codes{"drift"});
  const Result steady = result_of({1.00, 1.02, 0.99, 1.01, 0.98, 1.00, 1.02});
  for (int i = 0; i < 30; ++i) result.measurements.push_back(steady.measurements[0]);
  CHECK(codes_of(result).empty());
}

TEST_CASE("other I/O on the drive is reported with frequency and rate") {
  Result result = result_of(kSteady);
  std::vector<Sample>& samples = result.measurements[0].samples;
  samples[0].conditions.idle_device_bytes_per_s = 80e6;
  samples[1].conditions.idle_device_bytes_per_s = 80e6;
  CHECK(codes_of(result).empty());  // two moments of ten
  samples[2].conditions.idle_device_bytes_per_s = 40e6;
  CHECK(codes_of(result) == Codes{"device-busy"});
  CHECK(text_of(result, "device-busy").find("before 3 of 10 steps") != std::string::npos);
  for (Sample& sample : samples) sample.conditions.idle_device_bytes_per_s = 4e6;  // of 100e6
  CHECK(codes_of(result).empty());
  for (Sample& sample : samples) sample.conditions.idle_device_bytes_per_s.reset();
  CHECK(codes_of(result).empty());
}

TEST_CASE("CPU use by other programs and by the host is reported") {
  Result result = result_of(kSteady);
  for (Sample& sample : result.measurements[0].samples) sample.conditions.other_cpu = 0.45;
  CHECK(codes_of(result) == Codes{"cpu-busy"});
  CHECK(text_of(result, "cpu-busy") ==
        "other programs took 45 % of the CPU time (median of 10 of 10 samples)");
  for (Sample& sample : result.measurements[0].samples) {
    sample.conditions.other_cpu = 0.15;
    sample.conditions.stolen_cpu = 0.1;
  }
  CHECK(codes_of(result) == Codes{"cpu-stolen"});
}

TEST_CASE("varying CPU clocks are reported") {
  Result result = result_of(kSteady);
  result.measurements[0].samples[3].conditions.cpu_mhz_high = 2600;  // turbo
  CHECK(codes_of(result).empty());
  result.measurements[0].samples[3].conditions.cpu_mhz_high = 1200;
  CHECK(codes_of(result) == Codes{"cpu-frequency"});
  CHECK(text_of(result, "cpu-frequency").find("1.2 to 3.0 GHz") != std::string::npos);
}

TEST_CASE("lookups that take much of the time are reported") {
  Result result = result_of(kSteady);
  for (Sample& sample : result.measurements[0].samples) {
    sample.lookup_s = 0.01;
    sample.latency["stat"].total_us = 0.9e6;
  }
  CHECK(codes_of(result).empty());
  for (Sample& sample : result.measurements[0].samples) sample.lookup_s = 0.1;
  CHECK(codes_of(result) == Codes{"lookups-slow"});
  CHECK(
      text_of(result, "lookups-slow") ==
      "filereel's own lookups of directories took 10 % of the time of operations (median of 10 of "
      "10 samples)");
  for (Sample& sample : result.measurements[0].samples) sample.service["stat"].total_us = 9.9e6;
  CHECK(codes_of(result).empty());  // the time in calls counts
}

TEST_CASE("a fallback clock source is reported") {
  Result result = result_of(kSteady);
  result.host.clock_source = "hpet";
  CHECK(codes_of(result) == Codes{"clock-unstable"});
  result.host.clock_source = "kvm-clock";
  CHECK(codes_of(result).empty());
}

TEST_CASE("a nearly full volume is reported with its maximum") {
  Result result = result_of(kSteady);
  result.measurements[0].samples[3].conditions.volume_used = 0.999;
  CHECK(codes_of(result) == Codes{"volume-nearly-full"});
  CHECK(text_of(result, "volume-nearly-full") ==
        "the volume was 99 % full after 'read of iso' on "
        "ext4");
}

TEST_CASE("failed calls are reported once for each volume, operation and error") {
  Result result = result_of(kSteady);
  result.measurements.push_back(result.measurements[0]);
  result.measurements[1].set = "mp3";
  result.measurements[0].samples[0].failed_calls = {
      {"near", "write", "ENOSPC", 3}, {"near", "link", "EPERM", 1}, {"near", "open", "EACCES", 1}};
  result.measurements[1].samples[0].failed_calls = {{"near", "write", "ENOSPC", 5}};
  CHECK(codes_of(result) == Codes{"calls-failed", "calls-failed", "calls-failed"});
  check_result(result);
  CHECK(result.warnings[1].next_step.contains("root"));
  CHECK(result.warnings[2].text ==
        "write on near (ext4) failed with ENOSPC: 5 times a run, in 1 of 10 runs ('read of mp3' on "
        "ext4, and 1 more)");
}

TEST_CASE("a CPU quota that made filereel wait is reported with its periods") {
  Result result = result_of(kSteady);
  for (Sample& sample : result.measurements[0].samples) {
    sample.conditions.cpu_quota = 0.4;
    sample.conditions.cpu_periods = 83;
    sample.conditions.cpu_throttled_periods = 0;
    sample.conditions.cpu_throttled_s = 0;
  }
  CHECK(codes_of(result).empty());
  result.measurements[0].samples[0].conditions.cpu_throttled_periods = 52;
  result.measurements[0].samples[0].conditions.cpu_throttled_s = 4.2;
  CHECK(text_of(result, "cpu-throttled") ==
        "the CPU quota of 0.4 cores made filereel wait in 52 of 830 periods, 4.20 s in all (1 of "
        "10 samples)");
}

TEST_CASE("runs of very different numbers of operations in the same time are reported") {
  Result result = result_of(kSteady);
  Measurement& measurement = result.measurements[0];
  for (Sample& sample : measurement.samples) sample.operations = 100;
  measurement.samples[4].operations = 199;
  measurement.ends = PhaseEnd::time;
  CHECK(text_of(result, "runs-unequal").empty());
  measurement.samples[4].operations = 300;
  CHECK(text_of(result, "runs-unequal").contains(" did 100 to 300 operations in their time"));
  measurement.ends = PhaseEnd::work;
  CHECK(text_of(result, "runs-unequal").empty());
}

TEST_CASE("an operation that took seconds on a share is reported") {
  Result result = result_of(kSteady);
  Sample& sample = result.measurements[0].samples[2];
  sample.latency["read"] = {.count = 10, .max_us = 20e6};
  CHECK(text_of(result, "share-slow").empty());
  result.volumes = {network_volume()};
  CHECK(text_of(result, "share-slow").contains("read of "));
  CHECK(text_of(result, "share-slow").contains(" took 20.0 s: the share may not have responded"));
  sample.latency["read"].max_us = 4e6;
  CHECK(text_of(result, "share-slow").empty());
}

TEST_CASE("memory pressure and stops are reported, and stopped samples are not used") {
  Result result = result_of(kSteady);
  for (std::size_t i = 0; i < 3; ++i) {
    result.measurements[0].samples[i].conditions.memory_pressure = 0.5;
  }
  result.measurements[0].samples[3].conditions.memory_pressure = 0.05;
  CHECK(text_of(result, "memory-pressure").contains("during 50 % of the time"));
  Sample& stopped = result.measurements[0].samples[9];
  stopped.conditions.stops = 1;
  CHECK(has_failed(stopped));
  CHECK(text_of(result, "run-stopped").starts_with("1 of 10 samples is not used: "));
}

TEST_CASE("checking again replaces only the warnings of the previous check") {
  Result result = result_of({1, 1, 1});
  result.warn({"fuse-driver", "a", "b"});
  check_result(result);
  check_result(result);
  CHECK(result.warnings.size() == 2);
  result.measurements[0] = result_of(kSteady).measurements[0];
  check_result(result);
  REQUIRE(result.warnings.size() == 1);
  CHECK(result.warnings[0].code == "fuse-driver");
}

TEST_CASE("a degraded volume is reported once during a recovery") {
  Result result;
  VolumeDescription volume;
  volume.target = "/mnt";
  volume.states = {{"vg", "clean"}, {"bcache0", "dirty"}};
  warn_of_states(volume, result);
  CHECK(result.warnings.empty());
  volume.states = {{"md0", "degraded", 1}, {"md0", "recovering", {}, 0.1}};
  warn_of_states(volume, result);
  volume.states[1].done = 0.9;
  warn_of_states(volume, result);
  REQUIRE(result.warnings.size() == 2);
  CHECK(result.warnings[0].code == "volume-degraded");
  CHECK(result.warnings[0].text ==
        "/mnt (near) was measured in this state: md0 is degraded (1 disk missing)");
  CHECK(result.warnings[1].text == "/mnt (near) was measured in this state: md0 is recovering");
  check_result(result);
  CHECK(result.warnings.size() == 2);
}

TEST_CASE("odd names are printed safely in warnings") {
  Result result = result_of({1}, "a\x1b[31m");
  result.measurements[0].samples[0].cached_before = 1;
  CHECK(text_of(result, "not-cold").find('\x1b') == std::string::npos);
}

}  // namespace
}  // namespace filereel
