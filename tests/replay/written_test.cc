#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "replay/results/bytes_moved.h"
#include "replay/results/metrics.h"
#include "tests/sample_result.h"
#include "traces/operation.h"

namespace filereel {
namespace {

// A sample of these calls: 1 s until they returned, 2 s until all was durable.
Sample calls(const std::vector<std::string>& names, std::uint64_t bytes = 0) {
  Sample sample = sample_of(1, 1, 2, bytes, 4);
  sample.operations = 1000;
  for (const std::string& name : names) sample.latency[name].count = 1000;
  return sample;
}

Measurement work(std::vector<Sample> samples, JobKind kind = JobKind::workload) {
  Measurement measurement;
  measurement.kind = kind;
  measurement.workload = measurement.operation = "work";
  measurement.samples = std::move(samples);
  return measurement;
}

bool wrote(const std::vector<std::string>& names) {
  return has_written(work({calls(names)}));
}

Measurement step(const std::string& operation) {
  Measurement measurement = measurement_of("mp3", operation, "ext4", "kernel");
  measurement.samples = {sample_of(1, 1, 2, 1'000'000, 4)};
  return measurement;
}

double median(const Measurement& measurement, std::string_view name) {
  return spread_of(*find_metric(name), begun_result(), measurement).value().median;
}

TEST_CASE("work that reads has written nothing") {
  CHECK_FALSE(wrote({"open", "read", "close"}));
  CHECK_FALSE(wrote({"open", "getdents", "close", "stat"}));
  CHECK_FALSE(wrote({"stat", "access", "readlink", "getxattr", "listxattr", "statfs", "lock"}));
  CHECK_FALSE(wrote({"open", "read", "mmap", "fault", "munmap"}));
  CHECK_FALSE(wrote({"open", "mmap", "fault", "munmap", "close"}));
  CHECK_FALSE(wrote({"read", "fsync"}));
}

TEST_CASE("data, names and attributes are written") {
  for (const std::string name : {"write", "copy_range", "truncate", "fallocate", "msync", "mkdir",
                                 "rmdir", "unlink", "symlink", "link", "rename", "mknod", "chmod",
                                 "chown", "utimens", "setxattr", "removexattr"}) {
    CAPTURE(name);
    CHECK(wrote({"open", "read", name}));
  }
  CHECK(wrote({"open", "close"}));       // creates
  CHECK(wrote({"read", "futuristic"}));  // unknown
  CHECK(wrote({}));                      // by another program
}

TEST_CASE("calls that failed have written nothing") {
  Sample sample = calls({"open", "read", "mkdir"});
  sample.latency["mkdir"].errors = 999;
  CHECK(has_written(work({sample})));
  sample.latency["mkdir"].errors = 1000;
  CHECK_FALSE(has_written(work({sample})));
}

TEST_CASE("one sample that wrote decides for all, one that failed does not") {
  Sample failed = calls({"write"});
  failed.divergences = 1;
  CHECK_FALSE(has_written(work({calls({"read"}), failed})));
  const Measurement mixed = work({calls({"read"}, 8'000'000), calls({"read", "write"}, 8'000'000)});
  CHECK(has_written(mixed));
  const Summary summary = mixed.summary();
  CHECK(summary.mb_per_s->low == doctest::Approx(4));
  CHECK(summary.mb_per_s->high == doctest::Approx(4));
}

TEST_CASE("the steps of FC-Test write, apart from reading") {
  for (const std::string name : {"create", "copy-near", "copy-far", "delete"}) {
    CHECK(rate_time(step(name)) == &Sample::durable_s);
  }
  CHECK(rate_time(step("read")) == &Sample::elapsed_s);
  CHECK(median(step("create"), "mb_per_s") == doctest::Approx(0.5));
  CHECK(median(step("read"), "mb_per_s") == doctest::Approx(1));
  CHECK(median(step("read"), "files_per_s") == doctest::Approx(4));
}

TEST_CASE("the rates of work that only reads agree") {
  for (const JobKind kind : {JobKind::workload, JobKind::trace}) {
    Sample sample = calls({"read"}, 4'096'000);
    sample.latency["read"].bytes = sample.bytes;
    const Measurement measurement = work({sample, sample, sample}, kind);
    CHECK(median(measurement, "mb_per_s") == doctest::Approx(4.096));
    CHECK(median(measurement, "read_mb_per_s") == median(measurement, "mb_per_s"));
    CHECK(median(measurement, "mb_per_s_elapsed") == median(measurement, "mb_per_s"));
    CHECK(median(measurement, "operations_per_s") * 4096 / 1e6 ==
          doctest::Approx(median(measurement, "mb_per_s")));
    CHECK(median(measurement, "durable_s") == 2);
  }
}

TEST_CASE("the title of a rate says when it ends") {
  const Metric &mb = *find_metric("mb_per_s"), &files = *find_metric("files_per_s");
  const Measurement reads = work({calls({"read"})}), writes = work({calls({"write"})});
  using List = std::vector<const Measurement*>;
  CHECK(title_of(mb, List{&reads, &writes}) == "MB/s (writes until durable)");
  CHECK(title_of(mb, List{&writes, &writes}) == "MB/s until durable");
  CHECK(title_of(mb, List{&reads}) == "MB/s until calls return");
  CHECK(title_of(files, List{&reads}) == "Files/s until calls return");
  CHECK(title_of(*find_metric("elapsed_s"), List{&reads}) == "Elapsed time");
}

}  // namespace
}  // namespace filereel
