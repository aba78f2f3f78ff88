#include "replay/jobs/recipe_needs.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "traces/workload/workload.h"

namespace filereel {
namespace {

Recipe recipe_of(const std::string& yaml) {
  return Workload::from_yaml(yaml, "w.yaml").recipe(0);
}

constexpr const char* kReads = "files: {size: 1 MiB}\naccess: {size: 4 KiB, random: 100 %}\n";

TEST_CASE("a time limit shrinks warm-ups in proportion and never extends them") {
  Recipe recipe = recipe_of(std::string(kReads) + "stop: {time: 10 s}\nwarm_up: 2 s\n");
  set_time(recipe, 1'000'000'000);
  CHECK(recipe.phases[0].stop.time_ns == 1'000'000'000);
  CHECK(recipe.phases[0].warm_up_ns == 200'000'000);
  set_time(recipe, 60'000'000'000);
  CHECK(recipe.phases[0].stop.time_ns == 60'000'000'000);
  CHECK(recipe.phases[0].warm_up_ns == 200'000'000);
}

TEST_CASE("phases without a time limit get one in addition to their ends") {
  Recipe recipe = recipe_of(std::string(kReads) + "stop: {operations: 10}\n");
  CHECK(set_time(recipe, 1'000'000'000).empty());
  CHECK(recipe.phases[0].stop.time_ns == 1'000'000'000);
  CHECK(recipe.phases[0].stop.operations == 10);
  Recipe pass = recipe_of(kReads);
  set_time(pass, 1'000'000'000);
  CHECK(pass.phases[0].stop.passes == 1);
}

TEST_CASE("phases whose files a later phase needs run to their end") {
  Recipe recipe = recipe_of(
      "files: {count: 5, size: 1 KiB, exist: false}\n"
      "phases: [{name: make, do: [create]}, {name: get, do: [read]}, {name: drop, do: "
      "[remove]}]\n");
  CHECK(set_time(recipe, 1'000'000'000) == std::vector<std::string>{"make"});
  CHECK(recipe.phases[0].stop.time_ns == 0);
  CHECK(recipe.phases[2].stop.time_ns == 1'000'000'000);
}

TEST_CASE("points with different files do not start from the same files") {
  const Recipe recipe = recipe_of(kReads);
  CHECK(start_from_same_files(recipe, recipe_of("files: {size: 1 MiB}\naccess: {size: 8 KiB}\n")));
  CHECK_FALSE(
      start_from_same_files(recipe, recipe_of("files: {size: 2 MiB}\naccess: {size: 4 KiB}\n")));
  CHECK_FALSE(start_from_same_files(recipe, recipe_of("seed: 2\n" + std::string(kReads))));
}

TEST_CASE("steps that create, extend, move or remove files change them, others do not") {
  const auto changes = [](const std::string& step) {
    return changes_files(recipe_of("files: {count: 3, size: 1 KiB}\ndo: [" + step + "]\n"));
  };
  CHECK(changes("{step: append, size: 1 KiB}"));
  CHECK(changes("remove"));
  CHECK(changes("copy"));
  CHECK(changes("rename"));
  CHECK_FALSE(changes("read"));
  CHECK_FALSE(changes("overwrite"));
  CHECK_FALSE(changes("replace"));
  CHECK_FALSE(changes_files(recipe_of(kReads)));
}

TEST_CASE("the smallest direct access is that of all threads and sizes") {
  CHECK_FALSE(smallest_direct_access(recipe_of(kReads)));
  const auto access = smallest_direct_access(
      recipe_of("files: {size: 1 MiB}\ndirect: true\naccess:\n  random: 100 %\n  sizes:\n"
                "    - {size: 8 KiB, share: 50 %}\n    - {size: 512 B, share: 50 %}\n"));
  REQUIRE(access);
  CHECK(access->size == 512);
  CHECK(access->align == 512);
}

}  // namespace
}  // namespace filereel
