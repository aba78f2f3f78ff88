#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/filesystem.hpp>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "replay/engine/engine_kind.h"
#include "replay/results/bytes_moved.h"
#include "replay/results/packed.h"
#include "replay/volumes/page_cache.h"
#include "tests/replay/job_run.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

std::size_t things_in(const std::string& path) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(path), fs::directory_iterator()));
}

// A workload on a directory of its own.
struct WorkloadRun : JobRun {
  explicit WorkloadRun(const std::string& yaml, std::uint32_t runs = 1,
                       const JobOptions& options = {})
      : JobRun(make_workload_job(Workload::from_yaml(yaml, "w.yaml"), options)) {
    request.runs = runs;
  }
};

constexpr const char* kThreePhases =
    "files: {count: 5, size: 10 KiB, exist: false}\n"
    "phases:\n"
    "  - {name: make, do: [create]}\n"
    "  - {name: look, measured: false, do: [stat]}\n"
    "  - {name: get, do: [read]}\n";

TEST_CASE("phases run in sequence on the same files, and the measured ones are recorded") {
  WorkloadRun one(kThreePhases, 2);
  CHECK(one.run());
  CHECK(one.result.complete);
  REQUIRE(one.result.measurements.size() == 2);
  const Measurement& make = one.result.measurements[0];
  CHECK(make.workload == "w.yaml");
  CHECK(make.operation == "make");
  CHECK(make.parameters.empty());
  REQUIRE(make.samples.size() == 2);
  CHECK(make.samples[1].run == 2);
  for (const Sample& sample : make.samples) {
    CHECK(sample.files == 5);
    CHECK(sample.bytes == 5 * 10240);
    CHECK(sample.durable_s >= sample.elapsed_s);
    CHECK(sample.latency.at("write").count == 5);
  }
  CHECK(one.result.measurements[1].operation == "get");
  CHECK(one.sample(1).bytes == 5 * 10240);
  CHECK(one.result.plan.jobs.at(0).axes.empty());
  CHECK(one.result.plan.jobs.at(0).overhead_ns == 0);  // too few operations to tell
  CHECK(one.watcher.steps.size() == 6);
  CHECK_FALSE(fs::exists(one.temp / "volume"));
}

// The bytes over time of a sample.
std::uint64_t bytes_in_course(const Sample& sample) {
  std::uint64_t sum = 0;
  const TimeGrid grid = unpack_course(sample.course.value());
  for (const TimeGrid::Interval& interval : grid.intervals()) sum += interval.bytes;
  return sum;
}

TEST_CASE("bytes are those read and written, and the content of a copy counts once") {
  constexpr std::uint64_t kAll = 5 * 10240;
  WorkloadRun one(
      "files: {count: 5, size: 10 KiB}\n"
      "phases:\n"
      "  - {name: copy, do: [copy]}\n"
      "  - {name: mix, do: [read, overwrite, copy, stat]}\n"
      "  - {name: choose, choose: [{share: 50 %, do: [read]}, {share: 50 %, do: [overwrite]}], "
      "stop: {operations: 100}}\n");
  CHECK(one.run());
  const auto kind = [&](std::size_t i, const char* name) {
    return one.sample(i).latency.at(name).bytes;
  };
  CHECK(one.sample(0).bytes == kAll);
  CHECK(bytes_moved(one.sample(0)) == BytesMoved{kAll, kAll});
  CHECK(one.sample(1).bytes == 3 * kAll);
  CHECK(bytes_moved(one.sample(1)) == BytesMoved{2 * kAll, 2 * kAll});
  CHECK(kind(2, "read") > 0);
  CHECK(kind(2, "write") > 0);
  CHECK(one.sample(2).bytes == kind(2, "read") + kind(2, "write"));
  for (std::size_t i = 0; i < 3; ++i) CHECK(bytes_in_course(one.sample(i)) == one.sample(i).bytes);
  const SampleRates rates = rates_of(one.result.measurements[1], one.sample(1), &Sample::durable_s);
  CHECK(rates.read_mb_per_s.value() == doctest::Approx(2 * rates.mb_per_s.value() / 3));
  CHECK(rates.written_mb_per_s.value() == doctest::Approx(2 * rates.mb_per_s.value() / 3));
}

TEST_CASE("files of a warm phase are in the page cache before it") {
  WorkloadRun one(
      "files:\n  - {name: mine, count: 3, size: 1 MiB}\n  - {name: other, size: 1 MiB}\n"
      "phases:\n"
      "  - {name: cold, files: mine, do: [read]}\n"
      "  - {name: kept, files: mine, caches: keep, do: [read]}\n"
      "  - {name: warm, files: mine, caches: warm, do: [read]}\n");
  CHECK(one.run());
  REQUIRE(one.result.measurements.size() == 3);
  CHECK(one.sample(0).cold_method != "read");
  CHECK(one.sample(1).cold_method == "warm");
  CHECK(!one.sample(1).cached_before);
  CHECK(one.sample(2).cold_method == "read");
  CHECK(one.sample(2).cached_before == 1.0);
  CHECK(one.sample(2).bytes == 3 << 20);
  CHECK(!one.warns("not-warm"));
}

TEST_CASE("the overhead does not depend on the pauses of a workload") {
  constexpr const char* kSteady =
      "files: {size: 64 KiB}\naccess: {size: 4 KiB, random: 100 %}\nstop: {time: 20 ms}\n";
  constexpr const char* kPausing =
      "files: {size: 64 KiB}\naccess: {size: 4 KiB, random: 100 %}\nthink: 5 ms\n"
      "stop: {time: 20 ms}\n";
  WorkloadRun steady(kSteady), pausing(kPausing);
  CHECK(steady.run());
  CHECK(pausing.run());
  CHECK(steady.result.plan.jobs.at(0).overhead_ns > 0);
  CHECK(pausing.result.plan.jobs.at(0).overhead_ns > 0);
  CHECK(pausing.result.plan.jobs.at(0).overhead_ns <
        10 * steady.result.plan.jobs.at(0).overhead_ns);
}

TEST_CASE("files of a run are removed from an existing directory, or kept on request") {
  WorkloadRun one(kThreePhases);
  fs::create_directory(one.temp / "volume");
  CHECK(one.run());
  CHECK(things_in(one.temp / "volume") == 0);

  WorkloadRun kept(kThreePhases);
  kept.request.keep = true;
  CHECK(kept.run());
  CHECK(things_in(kept.temp / "volume/files") == 5);
}

TEST_CASE("a directory that is not empty is refused and left unchanged") {
  WorkloadRun one(kThreePhases);
  fs::create_directories(one.temp / "volume/mine");
  CHECK(one.failure().find("is not empty") != std::string::npos);
  CHECK(things_in(one.temp / "volume") == 1);
  CHECK(one.result.measurements.empty());
}

constexpr const char* kSweep =
    "files: {size: 64 KiB}\n"
    "access: {size: [4 KiB, 8 KiB], random: 100 %, reads: [100 %, 0 %]}\n"
    "stop: {operations: 20}\n";

TEST_CASE("a sweep has a measurement for each point, the last axis varying fastest") {
  WorkloadRun one(kSweep);
  CHECK(one.run());
  REQUIRE(one.result.measurements.size() == 4);
  const Measurement& third = one.result.measurements[2];
  CHECK(third.parameters ==
        std::vector<std::pair<std::string, std::string>>{{"size", "8 KiB"}, {"reads", "100 %"}});
  CHECK(third.samples.at(0).latency.at("read").count == 20);
  CHECK(third.samples.at(0).bytes == 20 * 8192);
  CHECK(one.sample(3).latency.at("write").count == 20);
  CHECK(one.sample(3).operations == 20);  // accesses, neither open nor close
  CHECK(third.summary().operations_per_s);
  CHECK(one.result.plan.jobs.at(0).axes.at(1).values.size() == 2);
  for (const StepInfo& step : one.watcher.steps) {
    CHECK(step.expected_s > 0);
    CHECK(step.left_s >= step.expected_s);
  }
}

TEST_CASE("points start from fresh files unless the workload reuses them") {
  for (const bool fresh : {true, false}) {
    CAPTURE(fresh);
    WorkloadRun one(std::string(kSweep) + (fresh ? "" : "fresh: run\n"));
    std::vector<ino_t> inodes;
    one.watcher.at_step = [&](std::size_t) {
      struct stat info{};
      const fs::path work = fs::directory_iterator(one.temp / "volume")->path();
      const std::string path = fs::directory_iterator(work / "files")->path().string();
      if (inodes.empty()) {  // it keeps its number while a link holds it
        fs::create_hard_link(path, one.temp / "held");
      }
      REQUIRE(stat(path.c_str(), &info) == 0);
      inodes.push_back(info.st_ino);
    };
    CHECK(one.run());
    REQUIRE(inodes.size() == 4);
    CHECK((inodes[0] == inodes[1]) == !fresh);
  }
}

TEST_CASE("points whose phases change files always start from fresh files") {
  WorkloadRun one(
      "fresh: run\nfiles: {count: 4, size: 4 KiB}\n"
      "do: [{step: append, size: [1 KiB, 2 KiB]}]\n");
  CHECK(one.run());
  CHECK(one.sample(0).bytes == 4096);
  CHECK(one.sample(1).bytes == 8192);
}

TEST_CASE("time ends a phase, and --time overrides it") {
  JobOptions options;
  options.time_ns = 50'000'000;
  WorkloadRun one(
      "files: {size: 64 KiB}\naccess: {size: 4 KiB, random: 100 %}\nstop: {time: 1 h}\n", 1,
      options);
  CHECK(one.run());
  CHECK(one.sample(0).elapsed_s < 20);
  CHECK(one.sample(0).operations > 0);
  CHECK(one.watcher.steps.at(0).seconds == doctest::Approx(0.05));
}

TEST_CASE("an interruption drops the sample that it hits and keeps the others") {
  WorkloadRun one(kSweep);
  std::stop_source stop;
  one.request.stop = stop.get_token();
  one.watcher.at_step = [&](std::size_t step) {
    if (step == 3) stop.request_stop();
  };
  CHECK_FALSE(one.run());
  CHECK_FALSE(one.result.complete);
  REQUIRE(one.result.measurements.size() == 3);
  CHECK(one.result.measurements[1].samples.size() == 1);
  CHECK(one.result.measurements[2].samples.empty());
  CHECK_FALSE(fs::exists(one.temp / "volume"));
}

TEST_CASE("files that do not fit are refused before anything is created") {
  WorkloadRun one(
      "files: {count: 900, size: 10 TiB}\naccess: {size: 4 KiB}\nstop: {operations: 1}\n");
  const std::string text = one.failure();
  CHECK(text.find("not enough space on") != std::string::npos);
  CHECK(text.find("--scale") != std::string::npos);
  CHECK(text.find("--operations") == std::string::npos);
}

TEST_CASE("file systems are not formatted on directories") {
  WorkloadRun one(kSweep);
  one.request.file_systems = {FileSystemKind::ext4};
  CHECK(one.failure().find("--fs") != std::string::npos);
}

TEST_CASE("requests in flight are counted as accesses, with io_uring and without") {
  WorkloadRun one(
      "files: {size: 1 MiB}\naccess: {size: 4 KiB, random: 100 %}\ndepth: 8\n"
      "stop: {operations: 100}\n");
  CHECK(one.run());
  CHECK(one.sample(0).operations == 100);
  CHECK(one.warns("io-uring-unavailable") == uring_unavailable_reason().has_value());
}

TEST_CASE("without direct I/O support the page cache is used, with a warning") {
  WorkloadRun one(
      "files: {size: 64 KiB}\naccess: {size: 512 B, random: 100 %}\ndirect: true\n"
      "stop: {operations: 10}\n");
  CHECK(one.run());
  CHECK(one.sample(0).operations == 10);
  const Descriptor root(open(one.temp.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  CHECK(one.warns("direct-io-unavailable", "512 B") ==
        !can_do_direct_io(root.get(), "probe", 512, 512));
  CHECK(one.result.measurements.at(0).without_direct_io == one.warns("direct-io-unavailable", ""));
}

TEST_CASE("an image is formatted, and a full volume is an error with advice") {
  if (probe_mount_capability() != MountCapability::full) return;
  WorkloadRun one("files: {size: 48 MiB}\naccess: {size: 1 MiB, reads: 0 %}\n");
  Target image;
  image.kind = TargetKind::image;
  image.path = one.temp / "v.img";
  image.size = 32 << 20;
  one.request.targets.near = image;
  one.request.power = MountCapability::full;
  CHECK(one.failure().find("not enough space") != std::string::npos);
  one.request.targets.near->size = 0;  // as large as it needs to be
  one.result = {};
  CHECK(one.run());
  CHECK(one.result.measurements.at(0).file_system == "ext4");
  CHECK(one.sample(0).bytes == 48 << 20);
  CHECK(one.result.volumes.at(0).age == "fresh");
}

TEST_CASE("time limits phases that end after a pass, unless a later phase needs their files") {
  JobOptions options;
  options.time_ns = 20'000'000;
  WorkloadRun one(
      "files: [{name: a, count: 200, size: 4 KiB, exist: false}, {name: b, size: 8 MiB}]\n"
      "phases:\n"
      "  - {name: make, files: a, do: [create]}\n"
      "  - {name: get, files: a, do: [read]}\n"
      "  - {name: slow, files: b, access: {size: 4 KiB}, think: 1 ms}\n",
      1, options);
  CHECK(one.run());
  CHECK(one.sample(0).files == 200);
  CHECK(one.warns("time-not-kept", "make"));
  CHECK_FALSE(one.warns("time-not-kept", "get"));
  CHECK(one.sample(2).bytes < 8 << 20);
  CHECK(one.sample(2).bytes > 0);
}

TEST_CASE("a limit is that of files that fill the volume, and is said where there are none") {
  JobOptions options;
  options.limit = 10'000'000;
  WorkloadRun fills("files: {count: 4, fill: 50 %}\naccess: {size: 1 MiB}\n", 1, options);
  CHECK(fills.run());
  CHECK(fills.sample(0).bytes == 8 << 20);  // whole MiB for each file
  CHECK_FALSE(fills.warns("limit-unused", ""));
  CHECK(fills.plan.jobs[0]->record().settings == Parameters{{"limit", "10 MB"}});
  WorkloadRun other("files: {size: 1 MiB}\naccess: {size: 1 MiB}\n", 1, options);
  CHECK(other.run());
  CHECK(other.sample(0).bytes == 1 << 20);
  CHECK(other.warns("limit-unused", "w.yaml"));
  CHECK(other.plan.jobs[0]->record().settings.empty());
  options.limit = 10'000'001;
  WorkloadRun exact("files: {count: 4, fill: 50 %}\naccess: {size: 1 MiB}\n", 1, options);
  CHECK(exact.plan.jobs[0]->record().settings == Parameters{{"limit", "10000001 B"}});
}

TEST_CASE("a phase begins after its idle time, and has rates if the job has an analysis") {
  WorkloadRun one(
      "analysis: write-cache\nfiles: {size: 64 KiB, exist: false}\nphases:\n"
      "  - {name: a, access: {size: 4 KiB, reads: 0 %, truncate: true}, direct: true}\n"
      "  - {name: b, idle: 200 ms, access: {size: 4 KiB, reads: 0 %}, direct: true, rate: 12/s,"
      " stop: {time: 1200 ms}}\n");
  CHECK(one.run());
  const double end = one.sample(0).started_s + one.sample(0).durable_s;
  CHECK(one.sample(1).started_s - end >= 0.2);
  const Sample& sample = one.sample(1);
  REQUIRE(sample.rates);
  CHECK(sample.rates->intervals == static_cast<std::uint64_t>(sample.elapsed_s / 0.5));
  const std::vector<std::uint64_t> rates = unpack_rates(*sample.rates);
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : rates) sum += bytes;
  CHECK(sum <= sample.bytes);
  CHECK(sum > 0);
  WorkloadRun without("files: {size: 64 KiB}\naccess: {size: 4 KiB}\n");
  CHECK(without.run());
  CHECK_FALSE(without.sample(0).rates);
}

TEST_CASE("without a drive, a phase does not wait for its idle time") {
  JobOptions options;
  options.engine = EngineKind::null;
  WorkloadRun one("files: {size: 64 KiB}\naccess: {size: 4 KiB}\nidle: 30 min\n", 1, options);
  one.request.targets.near.reset();
  CHECK(one.run());
  CHECK(one.sample(0).bytes == 64 << 10);
}

TEST_CASE("the content that a workload reads is verified on request") {
  JobOptions options;
  options.verify = Verification::content;
  WorkloadRun one(
      "files: {count: 3, size: 64 KiB}\n"
      "phases:\n"
      "  - {name: mix, access: {size: 4 KiB, random: 100 %, reads: 50 %}, stop: {operations: 50}}\n"
      "  - {name: get, do: [read]}\n",
      1, options);
  std::string damaged;
  one.watcher.at_step = [&](std::size_t step) {
    if (step != 4) return;  // the second phase of the second run
    const fs::path work = fs::directory_iterator(one.temp / "volume")->path();
    damaged = fs::directory_iterator(work / "files")->path().string();
    const Descriptor file(open(damaged.c_str(), O_WRONLY | O_CLOEXEC));
    REQUIRE(pwrite(file.get(), "damage", 6, 5000) == 6);
  };
  one.request.runs = 2;
  const std::string text = one.failure();
  CHECK(one.result.measurements.at(1).samples.size() == 2);
  CHECK(text.find("get") != std::string::npos);
  CHECK(text.find("wrong content") != std::string::npos);
}

TEST_CASE("tree verification is refused if the phases change the tree") {
  JobOptions options;
  options.verify = Verification::tree;
  WorkloadRun one("files: {count: 3, size: 64 KiB}\ndo: [read]\n", 1, options);
  CHECK(one.run());
  REQUIRE(one.sample(0).tree);
  CHECK(one.sample(0).tree->entries == 4);
  CHECK(one.sample(0).tree->differences == 0);
  CHECK_THROWS_WITH_AS(WorkloadRun(kThreePhases, 1, options), doctest::Contains("--verify tree"),
                       Error);
}

// A workload on two directories.
struct TwoVolumeRun : WorkloadRun {
  explicit TwoVolumeRun(const std::string& yaml, std::uint32_t runs = 1,
                        const JobOptions& options = {})
      : WorkloadRun(yaml, runs, options) {
    request.targets.far = {directory_target(temp / "far")};
  }
};

TEST_CASE("work on two volumes is measured together and separately") {
  TwoVolumeRun one(
      "files: {count: 3, size: 64 KiB, volumes: [near, far]}\n"
      "access: {size: 4 KiB, random: 100 %, reads: 50 %}\ncount: 2\ndepth: 4\n"
      "stop: {operations: 400}\n",
      2);
  std::size_t on_near = 0, on_far = 0;
  one.watcher.at_step = [&](std::size_t) {
    const auto files = [&](const std::string& volume) {
      const fs::path work = fs::directory_iterator(one.temp / volume)->path();
      return things_in((work / "files").string());
    };
    on_near = files("volume");
    on_far = files("far");
  };
  CHECK(one.run());
  CHECK(on_near == 3);
  CHECK(on_far == 3);
  CHECK(one.result.volumes.size() == 2);
  REQUIRE(one.result.measurements.size() == 3);
  CHECK(one.result.measurements[0].operation == "run");
  CHECK(one.result.measurements[1].operation == "run near");
  CHECK(one.result.measurements[2].operation == "run far");
  for (std::size_t run = 0; run < 2; ++run) {
    const Sample &all = one.sample(0, run), &near = one.sample(1, run), &far = one.sample(2, run);
    CHECK(all.operations == 400);
    CHECK(near.operations == 200);
    CHECK(far.operations == 200);
    CHECK(near.run == all.run);
    CHECK(all.bytes == near.bytes + far.bytes);
    for (const char* const kind : {"read", "write"}) {
      const LatencySummary &whole = all.latency.at(kind), &first = near.latency.at(kind),
                           &second = far.latency.at(kind);
      CHECK(whole.count == first.count + second.count);
      CHECK(whole.bytes == first.bytes + second.bytes);
      CHECK(whole.total_us == doctest::Approx(first.total_us + second.total_us));
      CHECK(whole.max_us == std::max(first.max_us, second.max_us));
      // Threads may start late: only the calls bound the time of a volume from below.
      CHECK(near.elapsed_s * 1e6 >= doctest::Approx(first.max_us));
      CHECK(far.elapsed_s * 1e6 >= doctest::Approx(second.max_us));
    }
    CHECK(near.elapsed_s <= all.elapsed_s);
    CHECK(far.elapsed_s <= all.elapsed_s);
    CHECK(near.durable_s >= near.elapsed_s);
    CHECK(near.cold_method == all.cold_method);
    REQUIRE(near.course);
  }
  CHECK_FALSE(fs::exists(one.temp / "volume"));  // the run made them
  CHECK_FALSE(fs::exists(one.temp / "far"));
}

TEST_CASE("groups may be on different volumes, and each phase is measured on its own") {
  TwoVolumeRun one(
      "files: [{name: table, size: 256 KiB}, {name: log, size: 256 KiB, volumes: far}]\n"
      "phases:\n"
      "  - name: load\n"
      "    threads:\n"
      "      - {files: table, access: {size: 4 KiB}}\n"
      "      - {files: log, access: {size: 16 KiB, reads: 0 %}}\n"
      "  - {name: table only, files: table, access: {size: 4 KiB}}\n"
      "  - {name: log only, files: log, access: {size: 16 KiB}}\n");
  CHECK(one.run());
  std::vector<std::string> names;
  for (const Measurement& measurement : one.result.measurements) {
    names.push_back(measurement.operation);
  }
  CHECK(names ==
        std::vector<std::string>{"load", "load near", "load far", "table only", "log only"});
  CHECK(one.sample(0).operations == 64 + 16);
  CHECK(one.sample(1).latency.at("read").count == 64);
  CHECK_FALSE(one.sample(1).latency.contains("write"));
  CHECK(one.sample(2).latency.at("write").count == 16);
  CHECK(one.sample(3).operations == 64);
  CHECK(one.sample(4).operations == 16);
}

TEST_CASE("content and trees are verified on each volume") {
  for (const Verification verify : {Verification::content, Verification::tree}) {
    JobOptions options;
    options.verify = verify;
    TwoVolumeRun one("files: {count: 3, size: 64 KiB, volumes: all}\ndo: [read]\n", 1, options);
    CHECK(one.run());
    REQUIRE(one.result.measurements.size() == 3);
    CHECK(one.sample(0).bytes == 6 * 65536);
    CHECK(one.sample(0).tree.has_value() == (verify == Verification::tree));
    if (!one.sample(0).tree) continue;
    CHECK(one.sample(0).tree->entries == 8);
    CHECK(one.sample(0).tree->differences == 0);
  }
  JobOptions options;
  options.verify = Verification::content;
  TwoVolumeRun damaged("files: {size: 64 KiB, volumes: all}\ndo: [read]\n", 1, options);
  damaged.watcher.at_step = [&](std::size_t) {
    const fs::path work = fs::directory_iterator(damaged.temp / "far")->path();
    const Descriptor file(open((work / "files/f000000").c_str(), O_WRONLY | O_CLOEXEC));
    REQUIRE(pwrite(file.get(), "damage", 6, 5000) == 6);
  };
  CHECK(damaged.failure().find("wrong content") != std::string::npos);
}

TEST_CASE("files on all volumes use every available volume") {
  const std::string yaml = "files: {size: 64 KiB, volumes: all}\naccess: {size: 4 KiB}\n";
  WorkloadRun alone(yaml);
  CHECK(alone.run());
  REQUIRE(alone.result.measurements.size() == 1);
  CHECK(alone.sample(0).operations == 16);
  TwoVolumeRun three(yaml);
  three.request.targets.far.push_back(directory_target(three.temp / "far-2"));
  CHECK(three.run());
  REQUIRE(three.result.measurements.size() == 4);
  CHECK(three.result.measurements[3].operation == "run far-2");
  CHECK(three.sample(0).operations == 48);
  CHECK(three.sample(3).operations == 16);
  REQUIRE(three.result.volumes.size() == 3);
  CHECK(three.result.volumes[2].role == Role::far_2);
}

TEST_CASE("too few and too many volumes are refused before any is touched") {
  const std::string access = "access: {size: 4 KiB}\n";
  WorkloadRun few("files: {size: 64 KiB, volumes: [near, far, far-2]}\n" + access);
  CHECK(few.failure().find("needs 3 volumes: name 2 more with --far") != std::string::npos);
  CHECK_FALSE(fs::exists(few.temp / "volume"));
  TwoVolumeRun many("files: {size: 64 KiB, volumes: [near, far]}\n" + access);
  many.request.targets.far.push_back(directory_target(many.temp / "far-2"));
  CHECK(many.failure().find("uses 2 volumes") != std::string::npos);
  TwoVolumeRun same("files: {size: 64 KiB, volumes: [near, far, far-2]}\n" + access);
  same.request.targets.far.push_back(directory_target(same.temp / "far"));
  CHECK(same.failure().find("far and far-2 are the same") != std::string::npos);
}

TEST_CASE(
    "two sides take turns on several volumes, with far volumes that they share or their own") {
  for (const bool own : {false, true}) {
    TwoVolumeRun one(
        "fresh: run\nfiles: {size: 64 KiB, volumes: [near, far]}\n"
        "access: {size: [4 KiB, 8 KiB], random: 100 %}\nstop: {operations: 20}\n",
        2);
    one.request.targets.against = {directory_target(one.temp / "other")};
    if (own) one.request.targets.against_far = {directory_target(one.temp / "other far")};
    Result second;
    CHECK(run_plan(one.request, one.watcher, one.result, {&second, 1}));
    REQUIRE(second.measurements.size() == 6);
    for (const Result* result : {&std::as_const(one.result), &std::as_const(second)}) {
      for (const Measurement& measurement : result->measurements) {
        CHECK(measurement.samples.size() == 2);
      }
    }
    const auto far = std::ranges::find(second.volumes, Role::far, &VolumeDescription::role);
    REQUIRE(far != second.volumes.end());
    CHECK(far->target.ends_with(own ? "other far" : "far"));
  }
}

}  // namespace
}  // namespace filereel
