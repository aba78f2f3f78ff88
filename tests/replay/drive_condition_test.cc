#include "replay/jobs/drive_condition.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "replay/plan/plan.h"

namespace filereel {
namespace {

std::string refusal_of_writes(const char* text) {
  try {
    parse_preconditioning(text);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "";
}

// The jobs of a plan in a text.
Plan plan_of(const std::string& text) {
  return plan_from_yaml(text, "plan.yaml");
}

TEST_CASE("preconditioning has the defaults of PTS") {
  const Preconditioning sequential = parse_preconditioning("sequential");
  CHECK_FALSE(sequential.random);
  CHECK(sequential.passes == 2);
  CHECK(sequential.block == 128 << 10);
  CHECK_FALSE(sequential.on_files);
  CHECK(parse_preconditioning("random").block == 4096);
  const Preconditioning all = parse_preconditioning("files  8KiB random 0.5x");
  CHECK(all.random);
  CHECK(all.passes == 0.5);
  CHECK(all.block == 8192);
  CHECK(all.on_files == true);
  CHECK(parse_preconditioning("device sequential").on_files == false);
}

TEST_CASE("what preconditioning does not know is refused") {
  CHECK(refusal_of_writes("2x").contains("must name a pattern"));
  CHECK(refusal_of_writes("").contains("must name a pattern"));
  CHECK(refusal_of_writes("random sequential").contains("one pattern"));
  CHECK(refusal_of_writes("random twice").contains("unknown word 'twice'"));
  CHECK(refusal_of_writes("random 0x").contains("passes"));
  CHECK(refusal_of_writes("random 101x").contains("passes"));
  CHECK(refusal_of_writes("random 512").contains("4 KiB to 16 MiB"));
  CHECK(refusal_of_writes("random 5KiB").contains("multiples of 4 KiB"));
  CHECK(refusal_of_writes("random 32MiB").contains("4 KiB to 16 MiB"));
  CHECK_FALSE(refusal_of_writes("random -1x").empty());
  CHECK_FALSE(refusal_of_writes("random nanx").empty());
}

TEST_CASE("a fill is a percentage up to 95") {
  DriveCondition condition;
  set_fill(condition, "75%");
  CHECK(condition.fill == 0.75);
  set_fill(condition, "12.5 %");
  CHECK(condition.fill == 0.125);
  for (const char* text : {"96%", "-1%", "0.5", "75", "%", "nan%", "75 %%", ""}) {
    CAPTURE(text);
    CHECK_THROWS_AS(set_fill(condition, text), ValueError);
  }
  set_fill_files(condition, "1MiB");
  CHECK(condition.fill_files == "1 MiB");
  set_fill_files(condition, "mp3");
  CHECK_THROWS_AS(set_fill_files(condition, "1 KiB"), ValueError);
  CHECK_THROWS_AS(set_fill_files(condition, "no-such-set"), Error);
}

TEST_CASE("options of a file system apply to it alone, and the last ones win") {
  DriveCondition condition;
  const std::vector<std::string> texts = {"-m 0", "ext4=-m 1", "xfs=-m reflink=0"};
  condition.mkfs_options = texts;
  condition.mount_options = {"noatime", "btrfs=compress=zstd", "xfs=defaults"};
  CHECK(condition.format(FileSystemKind::ext4, true).mkfs_options ==
        std::vector<std::string>{"-m", "1"});
  CHECK(condition.format(FileSystemKind::btrfs, true).mkfs_options ==
        std::vector<std::string>{"-m", "0"});
  CHECK(condition.format(FileSystemKind::btrfs, true).mount_options == "compress=zstd");
  CHECK(condition.format(FileSystemKind::ext4, true).mount_options == "noatime");
  CHECK(condition.format(FileSystemKind::xfs, true).mount_options.empty());
}

TEST_CASE("formatting discards nothing that earlier writes have made") {
  DriveCondition condition;
  CHECK(condition.format(FileSystemKind::ext4, false).discard);
  condition.purge = true;  // which has discarded it just before
  CHECK_FALSE(condition.format(FileSystemKind::ext4, true).discard);
  condition.purge = false;
  condition.steady = true;
  CHECK(condition.format(FileSystemKind::ext4, true).discard);
  CHECK_FALSE(condition.format(FileSystemKind::ext4, false).discard);
  condition.precondition = parse_preconditioning("sequential");
  CHECK_FALSE(condition.format(FileSystemKind::ext4, true).discard);
}

TEST_CASE("conditions are settings of jobs of every kind, with one text for one condition") {
  const Plan plan = plan_of(
      "fill: 75%\nprecondition: 4KiB random 1.0x\npurge: true\nrest: 1 s\njobs:\n  - mp3\n  - "
      "random-read\n  - app-git-clone\n");
  REQUIRE(plan.jobs.size() == 3);
  for (const auto& job : plan.jobs) {
    CAPTURE(job->record().name);
    const Parameters settings = job->record().settings;
    for (const Parameters::value_type& one : Parameters{{"purge", "true"},
                                                        {"precondition", "random 1x 4 KiB"},
                                                        {"fill", "75 %"},
                                                        {"rest", "1 s"}}) {
      CAPTURE(one.first);
      CHECK(std::ranges::find(settings, one) != settings.end());
    }
  }
}

TEST_CASE("jobs of every kind sweep conditions, slowest, and in the order in which they are made") {
  const Plan plan = plan_of(
      "fill: 10%\nsweep: {fill: [0%, 50 %], mkfs_options: [defaults, '-m 0']}\njobs:\n  - mp3\n"
      "  - {job: random-read, sweep: {depth: [1, 2]}}\n  - app-git-clone\n");
  for (const auto& job : plan.jobs) {
    const JobRecord record = job->record();
    CAPTURE(record.name);
    REQUIRE(record.axes.size() >= 2);
    CHECK(record.axes[0].name == "mkfs_options");
    CHECK(record.axes[1].name == "fill");
    CHECK(record.axes[1].values == std::vector<std::string>{"0 %", "50 %"});
    CHECK(std::ranges::find(record.settings, "fill", &Parameters::value_type::first) ==
          record.settings.end());
    const std::uint64_t each = job->points() / 4;
    CHECK(job->options(each - 1).condition.fill == 0);
    CHECK(job->options(each).condition.fill == 0.5);
    CHECK(job->options(each * 4 - 1).condition.mkfs_options == std::vector<std::string>{"-m 0"});
    CHECK(job->parameters(each)[1] == Parameters::value_type{"fill", "50 %"});
    CHECK_FALSE(job->follows(each - 1, each));
  }
  CHECK(plan.jobs[1]->points() == 8);
}

TEST_CASE("swept conditions are checked") {
  const auto failure = [](const std::string& text) -> std::string {
    try {
      plan_of(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(failure("jobs: [{job: mp3, sweep: {fill: [0%, 99%]}}]\n").contains("fill=99%: must be"));
  CHECK(
      failure("jobs: [{job: mp3, sweep: {fill: [5%, 5 %]}}]\n").contains("fill=5 %: occurs twice"));
  CHECK(failure("jobs: [{job: mp3, engine: 'null', fill: 5%}]\n")
            .contains("fill does not apply to fc-test: the null engine uses no volume"));
  CHECK(failure("jobs: [{job: mp3, mkfs_options: ['-O x', '/dev/sda']}]\n").contains("'/'"));
}

}  // namespace
}  // namespace filereel
