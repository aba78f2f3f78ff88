#include "replay/run/plan.h"

#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/catalog/catalog.h"
#include "filesets/system/error.h"
#include "tests/temp_dir.h"

namespace filereel {
namespace {

Plan plan(const std::string& text) {
  return plan_from_yaml(text, "my.yaml");
}

std::string refusal(const std::string& text) {
  try {
    plan(text);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unusable_input);
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
    return error.what();
  }
  return "";
}

void check_refused(const std::string& text, const std::string& begin, const std::string& holds) {
  const std::string got = refusal(text);
  CAPTURE(got);
  CHECK(got.starts_with(begin));
  CHECK(got.find(holds) != std::string::npos);
}

TEST_CASE("every plan of the catalogue loads and names sets that there are") {
  const std::vector<CatalogPlan> plans = list_catalog_plans();
  CHECK(plans.size() >= 2);
  for (const CatalogPlan& one : plans) {
    CAPTURE(one.name);
    const Plan loaded = load_plan(one.name);
    CHECK(loaded.name == one.name);
    CHECK(loaded.description == one.description);
    CHECK_FALSE(loaded.description.empty());
    CHECK_FALSE(loaded.file_systems.empty());
    CHECK_FALSE(loaded.sets.empty());
    for (const std::string& set : loaded.sets) CHECK(is_catalog_file_set(set));
  }
}

TEST_CASE("the plan fc-test is the published test") {
  const Plan loaded = load_plan("fc-test");
  CHECK(loaded.sets == std::vector<std::string>{"install", "iso", "mp3", "programs", "windows"});
  CHECK(loaded.operations == std::vector<FcStep>{FcStep::create, FcStep::read, FcStep::copy_near,
                                                 FcStep::copy_far, FcStep::remove});
  CHECK(loaded.fc_test.copy_method == CopyMethod::readwrite);
  CHECK(loaded.scale == 1.0);
  CHECK_FALSE(loaded.warm);
}

TEST_CASE("every key of a plan is read") {
  const Plan got = plan(
      "description: mine\nworkload: fc-test\nfile_systems: [ntfs, xfs]\nsets: [iso, ./my.fileset]\n"
      "operations: [read, create, create]\nruns: 7\nscale: 0.5\nblock_size: 1 MiB\n"
      "copy_method: sendfile\nthreads: 4\nwarm: true\n");
  CHECK(got.name == "my.yaml");
  CHECK(got.description == "mine");
  CHECK(got.file_systems == std::vector{FileSystemKind::ntfs, FileSystemKind::xfs});
  CHECK(got.sets == std::vector<std::string>{"iso", "./my.fileset"});
  CHECK(got.operations == std::vector{FcStep::create, FcStep::read});
  CHECK(got.runs == 7);
  CHECK(got.scale == 0.5);
  CHECK(got.fc_test.block_size == 1 << 20);
  CHECK(got.fc_test.copy_method == CopyMethod::sendfile);
  CHECK(got.fc_test.threads == 4);
  CHECK(got.warm);
}

TEST_CASE("what a plan leaves out has the values that the header promises") {
  const Plan got = plan("sets: [iso]\n");
  CHECK(got.operations.size() == kFcSteps);
  CHECK(got.file_systems.empty());
  CHECK(got.runs == 3);
  CHECK(got.scale == 1.0);
  CHECK(got.fc_test.block_size == 128 * 1024);
  CHECK(got.fc_test.threads == 1);
}

TEST_CASE("an unknown key is refused with its line and column") {
  check_refused("sets: [iso]\nspeed: 3\n", "my.yaml:2:1: ", "speed");
}

TEST_CASE("a file system, operation or method that there is not is refused where it stands") {
  check_refused("sets: [iso]\nfile_systems: [ext4, zfs]\n", "my.yaml:2:22: ", "zfs");
  check_refused("sets: [iso]\noperations: [create, erase]\n", "my.yaml:2:22: ", "erase");
  check_refused("sets: [iso]\ncopy_method: dd\n", "my.yaml:2:14: ", "dd");
  check_refused("workload: oltp\nsets: [iso]\n", "my.yaml:1:11: ", "fc-test");
}

TEST_CASE("numbers that are none or out of range are refused where they stand") {
  check_refused("sets: [iso]\nruns: many\n", "my.yaml:2:7: ", "runs");
  check_refused("sets: [iso]\nruns: 0\n", "my.yaml:2:7: ", "runs");
  check_refused("sets: [iso]\nruns: 10001\n", "my.yaml:2:7: ", "runs");
  check_refused("sets: [iso]\nruns: 1.5\n", "my.yaml:2:7: ", "runs");
  check_refused("sets: [iso]\nscale: 0\n", "my.yaml:2:8: ", "scale");
  check_refused("sets: [iso]\nscale: nan\n", "my.yaml:2:8: ", "scale");
  check_refused("sets: [iso]\nthreads: 1025\n", "my.yaml:2:10: ", "threads");
  check_refused("sets: [iso]\nblock_size: 0\n", "my.yaml:2:13: ", "1 GiB");
  check_refused("sets: [iso]\nblock_size: 2 GiB\n", "my.yaml:2:13: ", "1 GiB");
  check_refused("sets: [iso]\nwarm: yes\n", "my.yaml:2:7: ", "true or false");
}

TEST_CASE("lists that are empty, missing or no lists are refused where they stand") {
  check_refused("sets: []\n", "my.yaml:1:7: ", "empty");
  check_refused("sets: [iso]\noperations: []\n", "my.yaml:2:13: ", "empty");
  check_refused("sets: iso\n", "my.yaml:1:7: ", "list");
  check_refused("runs: 3\n", "my.yaml:1:1: ", "sets");
  check_refused("sets: [[iso]]\n", "my.yaml:1:8: ", "");
}

TEST_CASE("operations without what they need are refused") {
  check_refused("sets: [iso]\noperations: [read]\n", "my.yaml:2:13: ", "create");
}

TEST_CASE("what is not YAML, or no map, is refused with its place") {
  check_refused("sets: [iso\nruns: 3", "my.yaml:", "");
  check_refused("- sets\n", "my.yaml:1:1: ", "");
  check_refused("just words\n", "my.yaml:1:1: ", "");
  check_refused("sets: [iso]\nruns: 3\nruns: 4\n", "my.yaml:3:1: ", "runs");
  CHECK_FALSE(refusal("").empty());
  CHECK_FALSE(refusal(std::string("sets: [\0]", 9)).empty());
}

TEST_CASE("a plan is found in the catalogue or as a file, and neither is an error that says so") {
  const TempDir temp;
  std::ofstream(temp / "p.yaml") << "sets: [iso]\nruns: 9\n";
  CHECK(load_plan(temp / "p.yaml").runs == 9);
  for (const std::string& name : {temp / "missing.yaml", std::string("no-such-plan")}) {
    try {
      load_plan(name);
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
      CHECK(std::string(error.what()).find(name) != std::string::npos);
      CHECK(std::string(error.what()).find("filereel list") != std::string::npos);
    }
  }
}

TEST_CASE("a directory is no plan") {
  const TempDir temp;
  try {
    load_plan(temp.path());
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find(temp.path()) != std::string::npos);
  }
}

TEST_CASE("operations are put in order, once each, beginning with create") {
  CHECK(ordered_operations({FcStep::remove, FcStep::create, FcStep::read, FcStep::create}) ==
        std::vector{FcStep::create, FcStep::read, FcStep::remove});
  CHECK_THROWS_AS(ordered_operations({}), Error);
  CHECK_THROWS_AS(ordered_operations({FcStep::read}), Error);
}

TEST_CASE("a block is 1 byte to 1 GiB") {
  CHECK_NOTHROW(check_block_size(1));
  CHECK_NOTHROW(check_block_size(1 << 30));
  CHECK_THROWS_AS(check_block_size(0), Error);
  CHECK_THROWS_AS(check_block_size((1 << 30) + 1ULL), Error);
}

TEST_CASE("automatic runs have a precision, a budget and bounds") {
  CHECK_FALSE(plan("sets: [iso]").auto_runs);
  const Plan usual = plan("{sets: [iso], runs: auto}");
  REQUIRE(usual.auto_runs);
  CHECK(usual.auto_runs->width == doctest::Approx(0.05));
  CHECK(usual.auto_runs->budget_s == doctest::Approx(1800));
  const Plan own =
      plan("{sets: [iso], runs: auto, precision: 2.5 %, budget: 2 h, least_runs: 6, most_runs: 9}");
  REQUIRE(own.auto_runs);
  CHECK(own.auto_runs->width == doctest::Approx(0.025));
  CHECK(own.auto_runs->budget_s == doctest::Approx(7200));
  CHECK(own.auto_runs->least == 6);
  CHECK(own.auto_runs->most == 9);
  check_refused("{sets: [iso], runs: 3, budget: 1 h}", "my.yaml:1:", "runs: auto");
  check_refused("{sets: [iso], precision: 3 %}", "my.yaml:1:", "runs: auto");
  check_refused("{sets: [iso], runs: auto, precision: 0 %}", "my.yaml:1:", "more than 0");
  check_refused("{sets: [iso], runs: auto, most_runs: 2}", "my.yaml:1:", "fewer most_runs");
  check_refused("{sets: [iso], runs: often}", "my.yaml:1:", "runs");
}

}  // namespace
}  // namespace filereel
