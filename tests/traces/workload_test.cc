#include "traces/workload/workload.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "traces/catalogue_reel.h"
#include "traces/reel/reel_reader.h"
#include "traces/workload/recipe_text.h"

namespace filereel {
namespace {

std::string complaint(std::string_view text) {
  try {
    Workload::from_yaml(text, "w.yaml");
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

bool refused(std::string_view text, std::string_view place_and_words) {
  const std::string what = complaint(text);
  const bool good =
      what.find(place_and_words) != std::string::npos && what.find('\n') == std::string::npos;
  if (!good) MESSAGE(what);
  return good;
}

constexpr std::string_view kReads =
    "files: {count: 2, size: 1 MiB}\n"
    "access: {size: 4 KiB, random: 100 %}\n";

TEST_CASE("ten lines make a workload") {
  const Workload workload = Workload::from_yaml(std::string(kReads) +
                                                    "description: Reads\n"
                                                    "direct: true\n"
                                                    "depth: [1, 4, 16]\n"
                                                    "stop: {time: 10 s}\n",
                                                "w.yaml");
  CHECK(workload.description == "Reads");
  CHECK(workload.points() == 3);
  REQUIRE(workload.axes().size() == 1);
  CHECK(workload.axes()[0].name == "depth");
  const Recipe recipe = workload.recipe(2);
  REQUIRE(recipe.phases.size() == 1);
  const RecipeThreads& threads = recipe.phases[0].threads.at(0);
  CHECK(threads.depth == 16);
  CHECK(threads.direct);
  CHECK(threads.access->random == 100'000);
  CHECK(threads.access->reads == 100'000);
  CHECK(recipe.phases[0].stop.time_ns == 10'000'000'000);
  CHECK(recipe.files.at(0).count == 2);
}

TEST_CASE("groups of files are on near, on volumes that are named, or on all there are") {
  const auto volumes = [](const std::string& key) {
    const Workload workload =
        Workload::from_yaml("files: {size: 1 MiB" + key + "}\naccess: {size: 4 KiB}\n", "w.yaml");
    return workload.recipe(0).files.at(0).volumes;
  };
  CHECK(volumes("") == std::vector{Role::near});
  CHECK(volumes(", volumes: far") == std::vector{Role::far});
  CHECK(volumes(", volumes: [far-2, near]") == std::vector{Role::near, Role::far_2});
  CHECK(volumes(", volumes: all").empty());
  Recipe recipe = Workload::from_yaml(
                      "files: [{name: a, size: 1 MiB, volumes: all}, {name: b, size: 1 MiB, "
                      "volumes: far-2}]\nthreads: [{files: b, access: {size: 4 KiB}}]\n",
                      "w.yaml")
                      .recipe(0);
  name_volumes(recipe, 2);
  CHECK(recipe.files[0].volumes == std::vector{Role::near, Role::far});
  CHECK(volumes_of(recipe) == std::vector{Role::near, Role::far, Role::far_2});
  CHECK(volumes_of(recipe, recipe.phases.at(0)) == std::vector{Role::far_2});
}

TEST_CASE("volumes that cannot be are refused, and so are more threads than all of them may have") {
  const auto with = [](const std::string& volumes, const std::string& more = "") {
    return "files: {size: 64 MiB, volumes: " + volumes + "}\naccess: {size: 4 KiB}\n" + more;
  };
  CHECK(refused(with("[near, away]"), "not 'away'"));
  CHECK(refused(with("far-8"), "far-2 to far-7"));
  CHECK(refused(with("[near, near]"), "duplicate"));
  CHECK(refused(with("[]"), "empty"));
  CHECK(complaint(with("[near, far]", "count: 1000\nengine: blocking\ndepth: 2\n")) == "none");
  CHECK(refused(with("[near, far, far-2]", "count: 1000\nengine: blocking\ndepth: 2\n"),
                "6000 threads"));
  CHECK(refused(with("all", "count: 1000\n"), "8000 threads"));
  CHECK(refused("files: {count: 15000000, size: 4 KiB, volumes: [near, far]}\ndo: [read]\n",
                "30000000 files"));
  CHECK(
      refused("files: {size: 1 MiB, volumes: [near, far]}\n"
              "phases: [{name: a, do: [read]}, {name: a far, do: [read]}]\n",
              "reserved for the first phase"));
}

TEST_CASE("lists and ranges are axes, the last of which turns fastest") {
  const Workload workload = Workload::from_yaml(
      "files: {size: 16 MiB}\n"
      "access: {size: {from: 4 KiB, to: 16 KiB, times: 2}, reads: {from: 0 %, to: 100 %, step: 50 "
      "%}}\n",
      "w.yaml");
  CHECK(workload.points() == 9);
  using Parameters = std::vector<std::pair<std::string, std::string>>;
  CHECK(workload.parameters(0) == Parameters{{"size", "4 KiB"}, {"reads", "0 %"}});
  CHECK(workload.parameters(1) == Parameters{{"size", "4 KiB"}, {"reads", "50 %"}});
  CHECK(workload.parameters(8) == Parameters{{"size", "16 KiB"}, {"reads", "100 %"}});
  CHECK(workload.recipe(7).phases[0].threads[0].access->sizes[0].size == 16384);
  CHECK(workload.recipe(7).phases[0].threads[0].access->reads == 50'000);
}

TEST_CASE("axes are in the order of the text") {
  const Workload workload = Workload::from_yaml(
      "files: {size: 16 MiB}\n"
      "access: {random: [0 %, 100 %], reads: [100 %, 0 %], size: [4 KiB, 8 KiB]}\n"
      "depth: [1, 2]\n",
      "w.yaml");
  std::string names;
  for (const SweepAxis& axis : workload.axes()) names += axis.name + " ";
  CHECK(names == "random reads size depth ");
  CHECK(workload.recipe(1).phases[0].threads[0].depth == 2);
  CHECK(workload.recipe(8).phases[0].threads[0].access->random == 100'000);
  CHECK(workload.recipe(8).phases[0].threads[0].access->sizes[0].size == 4096);
}

TEST_CASE("an alias of a list is the same axis, and keys that are alike get their phase's name") {
  const Workload shared = Workload::from_yaml(
      "files: {size: 16 MiB}\n"
      "phases:\n"
      "  - {name: a, access: {size: &sizes [4 KiB, 8 KiB]}}\n"
      "  - {name: b, access: {size: *sizes, reads: 0 %}}\n",
      "w.yaml");
  CHECK(shared.points() == 2);
  CHECK(shared.axes().at(0).name == "size");
  CHECK(shared.recipe(1).phases[1].threads[0].access->sizes[0].size == 8192);
  const Workload apart = Workload::from_yaml(
      "files: {size: 16 MiB}\n"
      "phases:\n"
      "  - {name: a, access: {size: [4 KiB, 8 KiB]}}\n"
      "  - {name: b, access: {size: [4 KiB, 8 KiB]}}\n",
      "w.yaml");
  CHECK(apart.points() == 4);
  CHECK(apart.axes().at(1).name == "b.size");
}

TEST_CASE("an axis is named after its phase if another phase has such a key, swept or not") {
  const Workload workload = Workload::from_yaml(
      "files: {size: 16 MiB}\n"
      "phases:\n"
      "  - {name: a, access: {size: [4 KiB, 8 KiB]}}\n"
      "  - {name: b, access: {size: 16 KiB}}\n",
      "w.yaml");
  CHECK(workload.axes().at(0).name == "a.size");
  const Workload files = Workload::from_yaml(
      "files: {size: [16 MiB, 32 MiB]}\n"
      "access: {size: 4 KiB}\n",
      "w.yaml");
  CHECK(files.axes().at(0).name == "size");
}

TEST_CASE("values can be replaced by name") {
  Workload workload = Workload::from_yaml(std::string(kReads) + "depth: [1, 4]\n", "w.yaml");
  workload.set_values({{"depth", {"2", "8", "32"}}});
  CHECK(workload.points() == 3);
  CHECK(workload.recipe(2).phases[0].threads[0].depth == 32);
  workload.set_values({{"depth", {"2", "8", "32"}}, {"random", {"50 %"}}});
  CHECK(workload.points() == 3);
  CHECK(workload.recipe(0).phases[0].threads[0].access->random == 50'000);
  CHECK_THROWS_WITH(workload.set_values({{"dept", {"1"}}}),
                    "unknown key 'dept' of the workload; did you mean 'depth'?");
  // "size" is of the files and of the accesses, which are the phase "run".
  Workload again = Workload::from_yaml(kReads, "w.yaml");
  CHECK_THROWS_WITH(again.set_values({{"size", {"8 KiB"}}}),
                    "ambiguous key 'size' of the workload: use files.size or run.size");
  again.set_values({{"run.size", {"8 KiB"}}});
  CHECK(again.recipe(0).phases[0].threads[0].access->sizes[0].size == 8 << 10);
  Workload third = Workload::from_yaml(kReads, "w.yaml");
  third.set_values({{"files.size", {"2 MiB"}}});
  CHECK(third.recipe(0).files[0].size == 2 << 20);
}

std::vector<std::string> written_keys(const Workload& workload) {
  std::vector<std::string> names;
  for (const SweepKey& key : workload.keys()) {
    if (!key.values.empty()) names.push_back(key.name);
  }
  return names;
}

TEST_CASE("a key that is left out can be swept, too") {
  Workload workload = Workload::from_yaml(kReads, "w.yaml");
  workload.set_values({{"depth", {"2", "8"}}, {"direct", {"true"}}, {"zone", {"10 % to 20 %"}}});
  CHECK(workload.points() == 2);
  const Recipe recipe = workload.recipe(1);
  CHECK(recipe.phases[0].threads[0].depth == 8);
  CHECK(recipe.phases[0].threads[0].direct);
  CHECK(recipe.phases[0].threads[0].access->zone_begin == 0.1);
  CHECK(workload.parameters(1) == std::vector<std::pair<std::string, std::string>>{{"depth", "8"}});
  Workload rated = Workload::from_yaml(std::string(kReads) + "rate: 10/s\n", "w.yaml");
  CHECK_THROWS_WITH_AS(rated.set_values({{"think", {"1 ms"}}}),
                       doctest::Contains("'think' cannot be combined with 'rate'"), Error);
}

TEST_CASE("keys are listed with their values, by names that are theirs alone") {
  constexpr const char* kTwo =
      "files: [{name: a, size: 1 MiB}, {name: b, size: [2 MiB, 4 MiB]}]\n"
      "phases:\n"
      "  - {name: fill, files: a, do: [{step: read, block: 4 KiB}, {step: read, block: 8 KiB}]}\n"
      "  - {name: load, files: b, access: {size: 4 KiB}, depth: {from: 1, to: 4, times: 2}}\n";
  Workload workload = Workload::from_yaml(kTwo, "w.yaml");
  CHECK(written_keys(workload) == std::vector<std::string>{"a.size", "b.size", "fill.files",
                                                           "fill.step", "fill.block", "fill.step 2",
                                                           "fill.block 2", "load.files",
                                                           "load.size", "depth"});
  CHECK(workload.keys().size() > written_keys(workload).size());
  const auto values = [&](std::string_view name) {
    return std::ranges::find(workload.keys(), name, &SweepKey::name)->values;
  };
  CHECK(values("b.size") == std::vector<std::string>{"2 MiB", "4 MiB"});
  CHECK(values("depth") == std::vector<std::string>{"1", "2", "4"});
  workload.set_values({{"fill.block 2", {"16 KiB"}}});
  CHECK(workload.recipe(0).phases[0].threads[0].choices[0].steps[1].block == 16 << 10);
  CHECK_THROWS_WITH(workload.set_values({{"size", {"1 MiB"}}}),
                    "ambiguous key 'size' of the workload: use a.size or b.size or load.size");
}

TEST_CASE("all that is written in the workloads of the catalogue can be replaced by its name") {
  for (const CatalogueWorkload& one : list_catalogue_workloads()) {
    CAPTURE(one.name);
    const Workload workload = catalogue_workload(one.name);
    std::set<std::string> names;
    for (const SweepKey& key : workload.keys()) {
      CAPTURE(key.name);
      CHECK(names.insert(key.name).second);
      if (key.values.empty()) continue;
      Workload same = workload;
      same.set_values({{key.name, {key.values.front()}}});
      CHECK(same.points() * key.values.size() == workload.points());
    }
  }
}

TEST_CASE("what is not possible is refused with line and column") {
  CHECK(
      refused("files: {size: 1 MiB}\naccess: {size: 4 KiB}\ndept: 3\n", "w.yaml:3:1: unknown key"));
  CHECK(
      refused("files: {size: 1 MiB}\n"
              "access:\n"
              "  sizes: [{size: 4 KiB, share: 60 %}, {size: 8 KiB, share: 30 %}]\n",
              "w.yaml:3:10: 'sizes' must have shares that add up to 100 %, not 90"));
  CHECK(
      refused("files: {size: 0}\naccess: {size: 4 KiB}\n", "w.yaml:1:15: 'size' must be at least"));
  CHECK(
      refused("files: {size: 1 MiB}\naccess: {size: 0}\n", "w.yaml:2:16: 'size' must be from 1 B"));
  CHECK(refused("files: {size: 1 MiB}\naccess: {size: 2 MiB}\n", "w.yaml:2:16: 'size' exceeds"));
  CHECK(refused(std::string(kReads) + "depth: {from: 1, to: 1000000000, step: 1}\n",
                "w.yaml:3:8: 'depth' makes a sweep of 1000000000 points, but at most 10000"));
  CHECK(refused(std::string(kReads) + "depth: []\n", "w.yaml:3:8: 'depth' is empty"));
  CHECK(refused(std::string(kReads) + "depth: [1, {from: 2}]\n", "must be a single value"));
  CHECK(
      refused("\x7f"
              "ELF\x02\x01",
              "w.yaml:1:"));
  CHECK(refused("a: [1, 2\n", "w.yaml:"));
  CHECK(refused("just words\n", "must be a map"));
  CHECK(refused(std::string(kReads) + "think: 5\n", "w.yaml:3:8"));
  CHECK(refused(std::string(kReads) + "rate: fast\n", "such as 100/s"));
  CHECK(refused(std::string(kReads) + "warm_up: 1 s\n", "needs a time limit as the only stop"));
  CHECK(refused("files: {size: 1 MiB}\naccess: {size: 1000}\ndirect: true\n", "multiple of 512"));
  CHECK(refused("files: {size: 1 MiB}\n", "needs exactly one of 'access', 'do' and 'choose'"));
  CHECK(refused("access: {size: 4 KiB}\n", "lacks the key 'files'"));
  CHECK(refused("files: {size: 1 MiB}\naccess: {size: 4 KiB}\nphases: []\n", "must be in a phase"));
  CHECK(refused("files: {size: 1 MiB}\nphases:\n  - {access: {size: 4 KiB}, files: other}\n",
                "is not a group of files: unknown group 'other'"));
}

TEST_CASE("a product of axes that is too large is refused before it is run") {
  std::string text = "files: {size: 64 MiB}\nphases:\n";
  for (int i = 0; i < 9; ++i) {
    text += "  - {access: {size: [1 KiB, 2 KiB, 4 KiB, 8 KiB, 16 KiB, 32 KiB, 64 KiB, 128 KiB]}}\n";
  }
  CHECK(refused(text, "at most 10000 are allowed"));
}

// A workload whose list at `key` has an item so often.
std::string many(std::size_t count, const std::string& before, const std::string& item,
                 const std::string& behind = "") {
  std::string text = before;
  for (std::size_t i = 0; i < count; ++i) text += item;
  return text + behind;
}

TEST_CASE("threads and their requests are limited in all groups of a phase together") {
  const std::string files = "files: {size: 64 MiB}\n", threads = files + "threads:\n";
  const auto group = [](const std::string& keys, const std::string& size = "4 KiB") {
    return "  - {" + keys + ", access: {size: " + size + "}}\n";
  };
  CHECK(complaint(many(4, threads, group("count: 1024"))) == "none");
  CHECK(refused(many(4, threads, group("count: 1024"), group("count: 1")),
                "w.yaml:7:5: an item of 'threads' brings the phase to 4097 threads: at most 4096"));
  CHECK(refused(many(100, threads, group("count: 1000")), "brings the phase to 5000 threads"));
  CHECK(complaint(many(4, threads, group("count: 64, depth: 256"))) == "none");
  CHECK(refused(many(1000, threads, group("count: 64, depth: 256")), "requests in flight"));
  CHECK(complaint("engine: blocking\n" + many(1, threads, group("count: 16, depth: 256"))) ==
        "none");
  CHECK(refused("engine: blocking\n" + many(1, threads, group("count: 17, depth: 256")),
                "4352 threads"));
  CHECK(refused(files + "count: 1024\ndepth: 256\naccess: {size: 4 KiB}\n", "requests in flight"));
  // Buffers are as large as the largest access of the phase.
  CHECK(complaint(many(1, threads, group("depth: 256", "64 MiB"))) == "none");
  CHECK(refused(many(1, threads, group("depth: 256", "64 MiB"), group("depth: 1")),
                "257 requests in flight, whose buffers of 64 MiB exceed"));
  // Phases follow each other, and so do the points of a sweep.
  const std::string phase = "  - {count: 1024, depth: 64, access: {size: 4 KiB}}\n";
  CHECK(complaint(many(3, files + "phases:\n", phase)) == "none");
  CHECK(refused(files + "count: [1, 1024]\ndepth: [1, 256]\naccess: {size: 4 KiB}\n",
                "to 262144 requests in flight"));
}

TEST_CASE("files and directories are limited in all groups together") {
  const auto group = [](const std::string& name, const std::string& keys) {
    return "  - {name: " + name + ", size: 4 KiB, " + keys + "}\n";
  };
  const std::string end = "do: [read]\n";
  CHECK(complaint("files:\n" + group("a", "count: 10000000") + group("b", "count: 10000000") +
                  end) == "none");
  CHECK(
      refused("files:\n" + group("a", "count: 10000000") + group("b", "count: 10000001") + end,
              "w.yaml:3:5: an item of 'files' brings the total to 20000001 files and directories"));
  CHECK(refused("files: {count: 15000000, size: 4 KiB, per_directory: 1}\n" + end,
                "brings the total to 30000000 files and directories"));
  CHECK(refused("files: {count: 100000000, size: 4 KiB}\n" + end, "from 1 to 20000000"));
}

TEST_CASE("phases and steps are limited in all points together") {
  const std::string seeds = "seed: {from: 1, to: 10000, step: 1}\nfiles: {size: 1 MiB}\n";
  CHECK(complaint(many(10, seeds + "phases:\n", "  - {do: [read]}\n")) == "none");
  CHECK(refused(many(11, seeds + "phases:\n", "  - {do: [read]}\n"),
                "11 phases at each of 10000 points"));
  CHECK(refused(many(499, seeds + "do: [read", ", read", "]\n"), "at each of 10000 points"));
}

TEST_CASE("so many values may be swept, however few points they make") {
  std::string text = "files:\n";
  for (int i = 0; i < 33; ++i) text += "  - {name: f" + std::to_string(i) + ", size: [4 KiB]}\n";
  CHECK(refused(text + "do: [read]\n", "at most 32 keys"));
}

TEST_CASE("a phase may name its engine, and poll where all is direct") {
  const Workload workload =
      Workload::from_yaml(std::string(kReads) + "engine: [io_uring, blocking]\n", "w.yaml");
  CHECK(workload.recipe(0).phases[0].engine == RequestEngine::io_uring);
  CHECK(workload.recipe(1).phases[0].engine == RequestEngine::blocking);
  CHECK(refused(std::string(kReads) + "engine: fast\n", "must be one of auto, blocking, io_uring"));
  CHECK(complaint(std::string(kReads) + "poll: true\ndirect: true\n") == "none");
  CHECK(refused(std::string(kReads) + "poll: true\n", "w.yaml:3:7: 'poll' needs direct: true"));
}

TEST_CASE("the caches of a phase are cold, kept or warm") {
  const Workload workload =
      Workload::from_yaml(std::string(kReads) + "caches: [cold, keep, warm]\n", "w.yaml");
  CHECK(workload.recipe(0).phases[0].caches == Caches::cold);
  CHECK(workload.recipe(1).phases[0].caches == Caches::keep);
  CHECK(workload.recipe(2).phases[0].caches == Caches::warm);
  CHECK(Workload::from_yaml(kReads, "w.yaml").recipe(0).phases[0].caches == Caches::cold);
  CHECK(refused(std::string(kReads) + "caches: hot\n", "must be one of cold, keep, warm"));
}

TEST_CASE("a phase works only on files that are there") {
  const std::string absent = "files: {count: 3, size: 4 KiB, exist: false}\n";
  CHECK(complaint(absent + "do: [create, read, remove]\n") == "none");
  CHECK(refused(absent + "do: [read]\n", "needs files that do not exist"));
  CHECK(refused(absent + "access: {size: 4 KiB}\n", "uses files that do not exist"));
  CHECK(refused(absent + "do: [list]\n", "needs files that do not exist"));
  CHECK(complaint(absent + "access: {size: 4 KiB, reads: 0 %, truncate: true}\n") == "none");
  CHECK(refused(absent + "access: {size: 4 KiB, reads: 0 %, truncate: true, zone: 0 % to 50 %}\n",
                "remove 'zone' and 'disjoint'"));
  const std::string there = "files: {count: 3, size: 4 KiB}\n";
  CHECK(refused(there + "do: [create]\n", "creates files that already exist"));
  CHECK(refused(there + "do: [remove]\nstop: {time: 1 s}\n", "needs a single pass"));
  CHECK(complaint(there + "do: [remove, create]\nstop: {time: 1 s}\n") == "none");
  CHECK(refused(there + "phases:\n  - do: [{step: append, size: 1 KiB}]\n  - do: [read]\n",
                "extended or renamed"));
  CHECK(refused(there + "choose: [{share: 50 %, do: [read]}, {share: 50 %, do: [remove]}]\n",
                "which a choice cannot"));
  // Whatever is chosen last.
  const std::string longer = "{share: 50 %, do: [{step: append, size: 1 KiB}]}";
  const std::string whole = "{share: 50 %, do: [rewrite]}";
  for (const std::string& choices : {longer + ", " + whole, whole + ", " + longer}) {
    CHECK(refused(there + "phases:\n  - choose: [" + choices + "]\n  - do: [read]\n",
                  "extended or renamed"));
  }
  CHECK(refused(there + "choose: [{share: 50 %, do: [read]}, {share: 40 %, do: [stat]}]\n",
                "not 90 %"));
}

TEST_CASE("a load on a database server is read with its shares") {
  const Workload workload = Workload::from_yaml(
      "mysql:\n"
      "  connections: [1, 4]\n"
      "  statements: {insert: 60 %, select-key: 40 %}\n"
      "  sync_binlog: 0\n"
      "  buffer_pool: 128 MiB\n",
      "w.yaml");
  CHECK(workload.points() == 2);
  const Recipe recipe = workload.recipe(1, 0.5);
  REQUIRE(recipe.mysql);
  CHECK(recipe.mysql->connections == 4);
  CHECK(recipe.mysql->shares[0] == 60'000);
  CHECK(recipe.mysql->sync_binlog == 0);
  CHECK(recipe.mysql->buffer_pool == 64 << 20);
  const Workload review = Workload::from_yaml(
      "mysql: {row_bytes: 24, statements: {insert: 50 %, update-like: 10 %, delete-time: 10 %, "
      "select-time: 10 %, select-like: 10 %, select-uid: [10 %]}}\n",
      "w.yaml");
  using enum Statement;
  for (const Statement statement :
       {update_like, delete_time, select_time, select_like, select_uid}) {
    CHECK(review.recipe(0).mysql->shares[static_cast<std::size_t>(statement)] == 10'000);
  }
  CHECK(review.recipe(0).mysql->row_bytes == 24);
  CHECK(refused("mysql: {statements: {selects: 60 %}}\n", "delete-time, select-time, select-like"));
  CHECK(refused("mysql: {statements: {insert: 60 %}}\n",
                "w.yaml:1:21: 'statements' must have shares"));
  CHECK(refused("mysql: {block: 1 KiB}\n", "must be 512 B or 4 KiB"));
  CHECK(refused("mysql: {buffer_pool: 2 TiB}\n", "w.yaml:1:22: 'buffer_pool' must be at most"));
  CHECK(refused("mysql: {rows: 5}\nfiles: {size: 1 MiB}\n", "cannot be combined with 'mysql'"));
  CHECK(refused("reel: a.reel\nmysql: {rows: 5}\n", "cannot be combined with 'reel'"));
}

TEST_CASE("axes have names of their own, however deep their keys lie") {
  const auto names = [](const std::string& text) {
    std::string all;
    const Workload workload = Workload::from_yaml(text, "w.yaml");
    for (const SweepAxis& axis : workload.axes()) all += axis.name + ";";
    return all;
  };
  CHECK(names("files: {size: 1 MiB}\naccess: {sizes: [{size: [4 KiB, 8 KiB], share: 50 %},"
              " {size: [16 KiB, 32 KiB], share: 50 %}]}\n") == "run.size;run.size 2;");
  const std::string threads = "threads: [{count: [1, 2], access: {size: 4 KiB}}]}\n";
  const std::string phases =
      "files: {size: 1 MiB}\nphases:\n  - {name: a, " + threads + "  - {name: b, " + threads;
  CHECK(names(phases) == "a.threads-1.count;b.threads-1.count;");
  Workload workload = Workload::from_yaml(phases, "w.yaml");
  workload.set_values({{"b.threads-1.count", {"3"}}});
  CHECK(workload.points() == 2);
  CHECK(workload.recipe(1).phases[1].threads[0].count == 3);
  CHECK(refused(std::string(kReads) + "depth: [1, 1, 4]\n",
                "w.yaml:3:8: 'depth' has the duplicate value 1"));
}

TEST_CASE("what would be ignored is refused") {
  const std::string files = "files: {count: 4, size: 1 MiB}\n";
  CHECK(refused(files + "do: [overwrite]\nwrite_through: true\n", "applies to access"));
  CHECK(refused(std::string(kReads) + "sync: {every: 10, kind: none}\n",
                "must be one of fsync, fdatasync"));
  CHECK(refused(files + "do: [{step: read, sync: fsync}]\n", "applies only to steps that write"));
  CHECK(refused(files + "do: [{step: stat, block: 4 KiB}]\n",
                "applies only to steps that read or write"));
  CHECK(refused(std::string(kReads) + "depth: 4\nthink: 1 ms\n", "needs a depth of 1"));
  CHECK(
      refused(std::string(kReads) + "rate: 5/s\nthink: 1 ms\n", "cannot be combined with 'rate'"));
  CHECK(refused(std::string(kReads) + "warm_up: 1 s\nstop: {time: 1 s, operations: 5}\n",
                "as the only stop"));
  CHECK(refused("files: {set: iso, per_directory: 2}\ndo: [read]\n", "is defined by the set"));
  CHECK(refused("mysql: {rows: 5}\nstop: {time: 1 s}\n", "cannot be combined with 'mysql'"));
  CHECK(refused(files + "phases: [{measured: false, do: [read]}]\n", "no measured phase"));
  CHECK(refused(std::string(kReads) + "stop: {time: 800 h}\n", "must be at most 30 days"));
  CHECK(refused(files + "access: {size: 64 KiB, disjoint: true}\ncount: [1, 2, 128]\n",
                "w.yaml:2:9: 'access' is too large: accesses of 64 KiB do not fit"));
}

TEST_CASE("a phase may begin after an idle time") {
  const Workload workload = Workload::from_yaml(
      "files: {size: 1 MiB}\nphases:\n  - access: {size: 4 KiB}\n"
      "  - {access: {size: 4 KiB}, idle: 5 s}\n",
      "w.yaml");
  const Recipe recipe = workload.recipe(0);
  CHECK(recipe.phases[0].idle_ns == 0);
  CHECK(recipe.phases[1].idle_ns == 5'000'000'000);
  CHECK(recipe_lines(recipe)[3].find("after an idle time of 5.00 s") != std::string::npos);
  CHECK(refused(std::string(kReads) + "idle: 800 h\n", "must be at most 30 days"));
}

TEST_CASE("an analysis of the write cache needs phases that do nothing but write, directly") {
  const std::string files = "analysis: write-cache\nfiles: {size: 1 MiB, exist: false}\n";
  const std::string creates =
      "phases:\n  - {access: {size: 4 KiB, reads: 0 %, truncate: true}, direct: true}\n";
  const auto read = [](const std::string& text) { return Workload::from_yaml(text, "w.yaml"); };
  CHECK(read(files + creates).analysis == "write-cache");
  const std::string again =
      files + creates + "  - {access: {size: 4 KiB, reads: 0 %}, direct: true";
  CHECK(read(again + ", idle: 1 s}\n").analysis == "write-cache");
  CHECK(refused("files: {size: 1 MiB}\ndo: [read]\nanalysis: speed\n",
                "w.yaml:3:11: 'analysis' must be write-cache, not 'speed'"));
  CHECK(refused("analysis: write-cache\nfiles: {size: 1 MiB}\ndo: [overwrite]\n",
                "add exist: false to 'files'"));
  CHECK(
      refused("analysis: write-cache\nfiles: {size: 1 MiB, exist: false, volumes: all}\n"
              "access: {size: 4 KiB, reads: 0 %, truncate: true}\ndirect: true\n",
              "remove 'volumes' from 'files'"));
  const char* const kNeeds = "needs measured phases of direct writes without a warm-up; phase '";
  CHECK(refused(files + "do: [create]\n", kNeeds));  // not direct
  CHECK(refused(again + ", measured: false}\n", kNeeds));
  CHECK(refused(again + ", warm_up: 1 s, stop: {time: 1 s}}\n", kNeeds));
  CHECK(refused(files + creates + "  - {access: {size: 4 KiB, reads: [0 %, 1 %]}, direct: true}\n",
                kNeeds));
  CHECK(refused("mysql: {rows: 5}\nanalysis: write-cache\n", "needs phases that write"));
}

TEST_CASE("threads that work at the same time do not spoil each other's files") {
  const std::string files = "files: [{name: a, count: 4, size: 1 MiB}, {name: b, size: 1 MiB}]\n";
  const std::string reads = "{files: a, do: [read]}";
  const auto phase = [&](const std::string& other) {
    return files + "phases:\n  - threads: [" + reads + ", " + other + "]\n";
  };
  CHECK(complaint(phase("{files: a, do: [overwrite]}")) == "none");
  CHECK(complaint(phase("{files: b, do: [rewrite]}")) == "none");
  CHECK(refused(phase("{files: a, do: [rewrite]}"), "w.yaml:3:39: an item of 'threads' uses 'a'"));
  CHECK(refused(phase("{files: a, do: [remove]}"), "together with other threads"));
}

TEST_CASE("the group that threads work on is told by its name, which may be swept") {
  const std::string files = "files: [{name: a, size: 1 MiB}, {name: b, size: 1 MiB}]\n";
  const Workload workload = Workload::from_yaml(
      files + "phases:\n  - {files: [b, a], do: [read]}\n  - {do: [read]}\n", "w.yaml");
  REQUIRE(workload.points() == 2);
  CHECK(workload.axes().at(0).name == "files");
  CHECK(workload.recipe(0).phases[0].threads[0].files == 1);
  CHECK(workload.recipe(1).phases[0].threads[0].files == 0);
  CHECK(workload.recipe(0).phases[1].threads[0].files == 0);
  CHECK(refused(files + "phases:\n  - {files: [b, c], do: [read]}\n", "unknown group 'c'"));
  CHECK(refused(files + "phases:\n  - {files: {name: a}, do: [read]}\n", "w.yaml:3:"));
  CHECK(refused(files + "phases:\n  - {files: b, threads: [{do: [read]}]}\n",
                "'files' must be in an item of 'threads'"));
  CHECK(complaint(files + "threads: [{do: [read]}, {files: b, do: [remove]}]\n") == "none");
}

TEST_CASE("files that time may leave half done are not worked on afterwards") {
  const std::string files = "files: {count: 4, size: 1 MiB}\nphases:\n";
  const std::string time = ", stop: {time: 10 ms}}\n";
  const std::string read = "  - {do: [read]}\n";
  CHECK(refused(files + "  - {do: [remove, create]" + time + read, "extended or renamed"));
  CHECK(refused(files + "  - {do: [rewrite]" + time + read, "extended or renamed"));
  CHECK(complaint(files + "  - {do: [overwrite]" + time + read) == "none");
}

TEST_CASE("scaling makes files smaller before it makes them fewer") {
  const Workload workload = Workload::from_yaml(
      "files: [{name: a, count: 128, size: 16 MiB}, {name: b, count: 50000, size: 1 KiB}]\n"
      "phases:\n  - {access: {size: 4 KiB}, stop: {operations: 1000}}\n",
      "w.yaml");
  const Recipe tenth = workload.recipe(0, 0.1);
  CHECK(tenth.files[0].count == 128);
  CHECK(tenth.files[0].size < (17 << 20) / 10);
  CHECK(tenth.files[0].size % 4096 == 0);
  CHECK(tenth.files[1].count == 5000);
  CHECK(tenth.files[1].size == 1024);
  CHECK(tenth.phases[0].stop.operations == 100);
  const Recipe thousandth = workload.recipe(0, 0.001);
  CHECK(thousandth.files[0].size == 1 << 20);
  CHECK(thousandth.files[0].count == 2);
}

TEST_CASE("reels of the catalogue are read from memory, and workloads name only those") {
  for (const CatalogueReel& reel : reel_catalogue()) {
    INFO(reel.name);
    CHECK(reel.bytes.size() <= 1'000'000);
    const ReelReader reader(reel.bytes, std::string(reel.name));
    CHECK(reader.info().complete);
    CHECK(reader.info().operations > 0);
  }
  for (const CatalogueWorkload& workload : list_catalogue_workloads()) {
    const std::string reel = catalogue_workload(workload.name).recipe(0).reel;
    INFO(workload.name);
    if (!reel.empty()) CHECK(std::ranges::count(reel_catalogue(), reel, &CatalogueReel::name) == 1);
  }
}

TEST_CASE("every workload of the catalogue can be read") {
  CHECK(list_catalogue_workloads().size() > 0);
  for (const CatalogueWorkload& one : list_catalogue_workloads()) {
    INFO(one.name);
    CHECK(is_catalogue_workload(one.name));
    const Workload workload = catalogue_workload(one.name);
    CHECK(!workload.description.empty());
    CHECK(!workload.source.empty());
    for (std::uint64_t point = 0; point < workload.points(); ++point) {
      CHECK_NOTHROW(workload.recipe(point, 0.01));
    }
  }
  CHECK(!is_catalogue_workload("nothing"));
  CHECK_THROWS_AS(catalogue_workload("nothing"), Error);
}

}  // namespace
}  // namespace filereel
