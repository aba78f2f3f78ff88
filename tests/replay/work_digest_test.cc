#include "replay/jobs/work_digest.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "filesets/catalogue/catalogue.h"
#include "filesets/specification/specification.h"
#include "traces/workload/workload.h"

namespace filereel {
namespace {

constexpr std::string_view kRecipe = R"(
description: Small files
files: {name: data, count: 50, size: 16 KiB}
phases:
  - name: read
    do: [read]
)";

std::string digest_of_recipe(std::string_view text, std::uint64_t point = 0) {
  return recipe_digest(Workload::from_yaml(text, "mixed.yaml").recipe(point));
}

TEST_CASE("digests of unchanged work are those of earlier versions") {
  // A failure here means that results of one recipe are no longer compared with their older ones.
  CHECK(digest_of_recipe(kRecipe) == "f6ddf2952cae24d4");
  CHECK(recipe_digest(catalogue_workload("mysql-mix").recipe(0)) == "a2e6aee537f3c896");
  CHECK(file_set_digest(catalogue_file_set("iso")) == "9e8a672d2d8a9dc4");
}

TEST_CASE("what is the same work has the same digest") {
  const std::string digest = digest_of_recipe(kRecipe);
  CHECK(digest_of_recipe(R"(
# A comment.
notes: Assumed
runs: 3
phases: [{do: [read], name: "read", caches: cold}]
files:
    - size:    16384 B   # the same size
      count:   50
      name:    data
)") == digest);
}

TEST_CASE("other work has another digest") {
  const std::string digest = digest_of_recipe(kRecipe);
  for (const auto& [from, to] :
       {std::pair{"count: 50", "count: 51"}, std::pair{"16 KiB", "17 KiB"},
        std::pair{"[read]", "[overwrite]"}, std::pair{"name: read", "name: reads"},
        std::pair{"do: [read]", "do: [read]\n    count: 2"},
        std::pair{"description", "seed: 7\ndescription"},
        std::pair{"description", "fresh: run\ndescription"}}) {
    std::string text(kRecipe);
    text.replace(text.find(from), std::string_view(from).size(), to);
    INFO(text);
    CHECK(digest_of_recipe(text) != digest);
  }
}

TEST_CASE("each point of a sweep has its digest, which other points do not change") {
  const auto swept = [](const std::string& counts) {
    return "files: {count: " + counts + ", size: 16 KiB}\ndo: [read]\n";
  };
  CHECK(digest_of_recipe(swept("[10, 20]"), 1) == digest_of_recipe(swept("[10, 20, 30]"), 1));
  CHECK(digest_of_recipe(swept("[10, 20]"), 0) != digest_of_recipe(swept("[10, 20]"), 1));
  CHECK(digest_of_recipe(swept("[20, 30]"), 0) == digest_of_recipe(swept("[10, 20]"), 1));
}

TEST_CASE("a file set is identified by its entries and their content") {
  const auto digest = [](const std::string& name, const std::string& files, int seed = 1) {
    return file_set_digest(file_set_from_yaml("name: " + name + "\nseed: " + std::to_string(seed) +
                                                  "\ngroups: [{path: d, files: [" + files + "]}]\n",
                                              "set.yaml"));
  };
  const std::string one = digest("one", "{path: a, size: 10}, {path: b, size: 20}");
  CHECK(digest("other", "{path: a, size: 10 B}, {path: b, size: 20}") == one);
  CHECK(digest("one", "{path: a, size: 11}, {path: b, size: 19}") != one);
  CHECK(digest("one", "{path: a, size: 10}, {path: c, size: 20}") != one);
  CHECK(digest("one", "{path: a, size: 10}, {path: b, size: 20}", 2) != one);
}

}  // namespace
}  // namespace filereel
