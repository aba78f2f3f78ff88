#include "replay/run/workload_run.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/filesystem/operations.hpp>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "replay/engine/io_engine.h"
#include "replay/volumes/direct_io.h"
#include "tests/replay/watcher.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

namespace fs = boost::filesystem;

Target directory(const std::string& path) {
  Target target;
  target.path = path;
  return target;
}

std::size_t things_in(const std::string& path) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(path), fs::directory_iterator()));
}

// A workload on a directory of its own.
struct DirectoryRun {
  explicit DirectoryRun(const std::string& yaml, std::uint32_t runs = 1)
      : workload(Workload::from_yaml(yaml, "w.yaml")),
        request{.workload = workload, .near = directory(temp / "volume"), .runs = runs} {}

  bool run() { return run_workload(request, watcher, result); }
  std::string failure() {
    try {
      run();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  const Sample& sample(std::size_t measurement, std::size_t number = 0) const {
    return result.measurements.at(measurement).samples.at(number);
  }
  bool warns(std::string_view code, std::string_view text = "") const {
    return std::ranges::any_of(result.warnings, [&](const Warning& one) {
      return one.code == code && one.text.find(text) != std::string::npos;
    });
  }

  TempDir temp;
  Workload workload;
  WorkloadRunRequest request;
  Watcher watcher;
  Result result;
};

constexpr const char* kThreePhases =
    "files: {count: 5, size: 10 KiB, exist: false}\n"
    "phases:\n"
    "  - {name: make, do: [create]}\n"
    "  - {name: look, measured: false, do: [stat]}\n"
    "  - {name: get, do: [read]}\n";

TEST_CASE("phases follow each other on the same files, and those to be measured are") {
  DirectoryRun one(kThreePhases, 2);
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
  CHECK(one.result.sweeps.empty());
  CHECK(one.result.overhead_ns == 0);  // too few operations to tell
  CHECK(one.watcher.steps.size() == 6);
  CHECK_FALSE(fs::exists(one.temp / "volume"));
}

TEST_CASE("filereel's own cost does not grow with the pauses of a workload") {
  constexpr const char* kSteady =
      "files: {size: 64 KiB}\naccess: {size: 4 KiB, random: 100 %}\nstop: {time: 20 ms}\n";
  constexpr const char* kPausing =
      "files: {size: 64 KiB}\naccess: {size: 4 KiB, random: 100 %}\nthink: 5 ms\n"
      "stop: {time: 20 ms}\n";
  DirectoryRun steady(kSteady), pausing(kPausing);
  CHECK(steady.run());
  CHECK(pausing.run());
  CHECK(steady.result.overhead_ns > 0);
  CHECK(pausing.result.overhead_ns > 0);
  CHECK(pausing.result.overhead_ns < 10 * steady.result.overhead_ns);
}

TEST_CASE("what the run made is removed from a directory that was there, or kept if asked") {
  DirectoryRun one(kThreePhases);
  fs::create_directory(one.temp / "volume");
  CHECK(one.run());
  CHECK(things_in(one.temp / "volume") == 0);

  DirectoryRun kept(kThreePhases);
  kept.request.keep = true;
  CHECK(kept.run());
  CHECK(things_in(kept.temp / "volume/files") == 5);
}

TEST_CASE("a directory with something in it is refused and left alone") {
  DirectoryRun one(kThreePhases);
  fs::create_directories(one.temp / "volume/mine");
  CHECK(one.failure().find("is not empty") != std::string::npos);
  CHECK(things_in(one.temp / "volume") == 1);
  CHECK(one.result.measurements.empty());
}

constexpr const char* kSweep =
    "files: {size: 64 KiB}\n"
    "access: {size: [4 KiB, 8 KiB], random: 100 %, reads: [100 %, 0 %]}\n"
    "stop: {operations: 20}\n";

TEST_CASE("a sweep has a measurement for each point, the last axis first") {
  DirectoryRun one(kSweep);
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
  REQUIRE(one.result.sweeps.size() == 1);
  CHECK(one.result.sweeps[0].axes.at(1).values.size() == 2);
  double done = -1;
  for (const StepInfo& step : one.watcher.steps) {
    CHECK(step.done > done);
    CHECK(step.done + step.share < 1.001);
    done = step.done;
  }
}

TEST_CASE("points are fresh unless the workload says that they follow each other") {
  for (const bool fresh : {true, false}) {
    CAPTURE(fresh);
    DirectoryRun one(std::string(kSweep) + (fresh ? "" : "fresh: run\n"));
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

TEST_CASE("points whose phases change their files are fresh in any case") {
  DirectoryRun one(
      "fresh: run\nfiles: {count: 4, size: 4 KiB}\n"
      "do: [{step: append, size: [1 KiB, 2 KiB]}]\n");
  CHECK(one.run());
  CHECK(one.sample(0).bytes == 4096);
  CHECK(one.sample(1).bytes == 8192);
}

TEST_CASE("time ends a phase, and another time may be asked for") {
  DirectoryRun one(
      "files: {size: 64 KiB}\naccess: {size: 4 KiB, random: 100 %}\nstop: {time: 1 h}\n");
  one.request.time_ns = 50'000'000;
  CHECK(one.run());
  CHECK(one.sample(0).elapsed_s < 20);
  CHECK(one.sample(0).operations > 0);
  CHECK(one.watcher.steps.at(0).seconds == doctest::Approx(0.05));
}

TEST_CASE("an interruption drops the sample that it hits and keeps the others") {
  DirectoryRun one(kSweep);
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

TEST_CASE("files that do not fit are refused before anything is made") {
  DirectoryRun one(
      "files: {count: 900, size: 10 TiB}\naccess: {size: 4 KiB}\nstop: {operations: 1}\n");
  const std::string text = one.failure();
  CHECK(text.find("has no room") != std::string::npos);
  CHECK(text.find("--scale") != std::string::npos);
  CHECK(text.find("--operations") == std::string::npos);
}

TEST_CASE("file systems are not made on directories") {
  DirectoryRun one(kSweep);
  one.request.file_systems = {FileSystemKind::ext4};
  CHECK(one.failure().find("--fs") != std::string::npos);
}

TEST_CASE("requests in flight are counted as accesses, with io_uring and without") {
  DirectoryRun one(
      "files: {size: 1 MiB}\naccess: {size: 4 KiB, random: 100 %}\ndepth: 8\n"
      "stop: {operations: 100}\n");
  CHECK(one.run());
  CHECK(one.sample(0).operations == 100);
  CHECK(one.warns("io-uring-unavailable") == why_no_uring().has_value());
}

TEST_CASE("where a file system refuses direct I/O it goes through the cache, and says so") {
  DirectoryRun one(
      "files: {size: 64 KiB}\naccess: {size: 512 B, random: 100 %}\ndirect: true\n"
      "stop: {operations: 10}\n");
  CHECK(one.run());
  CHECK(one.sample(0).operations == 10);
  const Descriptor root(open(one.temp.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  CHECK(one.warns("direct-io-unavailable", "512 B") ==
        !can_do_direct_io(root.get(), "probe", 512, 512));
}

TEST_CASE("an image is formatted, and on a volume that gets full the run says what to do") {
  if (probe_mount_power() != MountPower::full) return;
  TempDir temp;
  Target image;
  image.kind = TargetKind::image;
  image.path = temp / "v.img";
  const Workload workload =
      Workload::from_yaml("files: {size: 48 MiB}\naccess: {size: 1 MiB, reads: 0 %}\n", "w.yaml");
  image.size = 32 << 20;
  Watcher watcher;
  Result result;
  WorkloadRunRequest request{
      .workload = workload, .near = image, .runs = 1, .power = MountPower::full};
  CHECK_THROWS_WITH_AS(run_workload(request, watcher, result), doctest::Contains("no room"), Error);
  request.near->size = 0;  // as large as it needs to be
  result = {};
  CHECK(run_workload(request, watcher, result));
  CHECK(result.measurements.at(0).file_system == "ext4");
  CHECK(result.measurements.at(0).samples.at(0).bytes == 48 << 20);
  CHECK(result.volumes.at(0).age == "fresh");
}

TEST_CASE("a file that is called like another kind of result is told from it") {
  const Workload workload = Workload::from_yaml(kThreePhases, "reel");
  TempDir temp;
  Watcher watcher;
  Result result;
  CHECK(run_workload({.workload = workload, .near = directory(temp / "v"), .runs = 1}, watcher,
                     result));
  CHECK(result.plan.workload == "reel.yaml");
  CHECK(result.measurements.at(0).workload == "reel.yaml");
}

}  // namespace
}  // namespace filereel
