#include "tools/cli/session_files.h"

#include <algorithm>
#include <functional>
#include <string>

#include <doctest/doctest.h>

#include "tests/sample_result.h"

namespace filereel {
namespace {

TEST_CASE("the number of a session is before the extension") {
  CHECK(numbered_file("r.json", 1) == "r-1.json");
  CHECK(numbered_file("a.d/r.2026.json", 12) == "a.d/r.2026-12.json");
  CHECK(numbered_file("a.d/r", 2) == "a.d/r-2");
  CHECK(numbered_file("a/.json", 2) == "a/.json-2");
  CHECK(numbered_file("", 2).empty());
  CHECK(numbered_file("-", 2) == "-");
}

Result session_result() {
  Result result = begun_result();
  result.label = "before";
  result.complete = true;
  result.plan.name = "suite";
  result.plan.file_systems = {"ext4", "xfs"};
  result.plan.runs = 5;
  result.plan.digest = "0123456789abcdef";
  JobRecord job;
  job.name = "fc-test";
  job.settings = {{"block_size", "128 KiB"}, {"threads", "2"}};
  result.plan.jobs = {job};
  for (const std::string kind : {"ext4", "xfs"}) {
    result.volumes.push_back(volume_of(Role::near, kind, "kernel"));
  }
  return result;
}

ExpectedSession session_expected() {
  ExpectedSession expected;
  expected.result = session_result();
  expected.result.complete = false;
  expected.result.volumes.pop_back();
  expected.result.volumes.front().file_system.clear();
  expected.all_file_systems = expected.all_volumes = true;
  return expected;
}

std::string difference_of(const std::function<void(Result&)>& change) {
  Result found = session_result();
  change(found);
  return session_difference(found, session_expected());
}

TEST_CASE("a result of the same command is a session, complete or not") {
  CHECK(difference_of([](Result&) {}).empty());
  CHECK(difference_of([](Result& found) {
          found.complete = false;
          found.plan.runs = 1;
          found.plan.file_systems.clear();
          found.volumes.clear();
          found.label.clear();
        }).empty());
  CHECK(difference_of([](Result& found) {
          std::ranges::reverse(found.plan.jobs.front().settings);  // as JSON may
          found.plan.jobs.front().overhead_ns = 50;
          found.note = "some other note";
          found.host.kernel = "6.2";
        }).empty());
}

TEST_CASE("the first difference of a result of another command is named") {
  CHECK(difference_of([](Result& found) { found.plan.digest = "1"; }) ==
        "options, file sets, recipes or reels have changed");
  CHECK(difference_of([](Result& found) { found.plan.digest.clear(); }) ==
        "it does not say what its plan was");
  CHECK(difference_of([](Result& found) { found.version = "0.0.9"; }) ==
        "the version of filereel is 0.0.9, not 0.1.0");
  CHECK(difference_of([](Result& found) { found.plan.name = "x\n"; }) ==
        "the plan is x\\x0a, not suite");
  CHECK(difference_of([](Result& found) { found.label.clear(); }) ==
        "the label is none, not before");
  CHECK(difference_of([](Result& found) { found.plan.runs = 3; }) ==
        "the number of runs is 3, not 5");
  CHECK(difference_of([](Result& found) { found.plan.auto_runs.emplace(); }) ==
        "--runs, --precision or --budget differ");
  CHECK(difference_of([](Result& found) { found.plan.file_systems.pop_back(); }) ==
        "the list of file systems is ext4, not ext4,xfs");
  CHECK(difference_of([](Result& found) { found.serials_hidden = true; }) ==
        "--hide-serial differs");
}

TEST_CASE("other jobs, settings and sweeps are differences") {
  CHECK(difference_of([](Result& found) { found.plan.jobs.front().name = "b"; }) ==
        "the list of jobs is b, not fc-test");
  CHECK(difference_of([](Result& found) {
          found.plan.jobs.front().settings.back().second = "4";
        }).starts_with("the settings of fc-test are "));
  CHECK(difference_of([](Result& found) {
          found.plan.jobs.front().axes = {{"depth", {"1", "4"}}};
        }) == "the sweep of fc-test is depth=1,4, not none");
}

TEST_CASE("other volumes, drives and firmware are differences, unless they are unknown") {
  CHECK(difference_of([](Result& found) { found.volumes.back().target = "/dev/sdc1"; }) ==
        "near is /dev/sdc1, not /dev/sdb1");
  CHECK(difference_of([](Result& found) {
          found.volumes.push_back(volume_of(Role::far, "ext4", "kernel"));
        }) == "it has a volume far");
  CHECK(difference_of([](Result& found) { found.volumes.clear(); }) == "it has no volume near");
  const auto drive = [](const std::function<void(DeviceIdentity&)>& change) {
    return difference_of([&](Result& found) { change(found.volumes.back().drives.front()); });
  };
  CHECK(drive([](DeviceIdentity& device) { device.firmware = "1.06"; }) ==
        "the firmware of near is 1.06, not 1.07");
  CHECK(drive([](DeviceIdentity& one) { one.serial = "S124"; }) ==
        "the serial number of near is S124, not S123");
  CHECK(drive([](DeviceIdentity& one) { one.firmware.clear(); }).empty());
  CHECK(difference_of([](Result& found) { found.volumes.back().drives.clear(); }).empty());
}

TEST_CASE("without --fs, file systems that are unavailable may be missing") {
  Result found = session_result();
  found.plan.file_systems = {"ext4"};
  ExpectedSession expected = session_expected();
  expected.all_file_systems = false;
  CHECK(session_difference(found, expected).empty());
  found.plan.file_systems = {"btrfs"};
  CHECK(session_difference(found, expected) == "the list of file systems is btrfs, not ext4,xfs");
}

TEST_CASE("the next session starts after the time since the last one") {
  const double start = 1709208000;  // 2024-02-29T12:00:00Z
  const auto left = [&](double now_s) {
    return seconds_until_next("2024-02-29T12:00:00Z", 600, now_s);
  };
  CHECK(left(start) == 600);
  CHECK(left(start + 250) == 350);
  CHECK(left(start + 600) == 0);
  CHECK(left(start + 1e6) == 0);
  CHECK(left(start - 1e6) == 600);  // the clock was set back
  CHECK(seconds_until_next("?", 600, start) == 0);
}

}  // namespace
}  // namespace filereel
