// What the recipes of the catalogue do, beside what the storage reviews print.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>

#include "traces/workload/synthesis.h"
#include "traces/workload/workload.h"

namespace filereel {
namespace {

constexpr std::uint64_t kKiB = 1 << 10, kMiB = 1 << 20, kGiB = 1 << 30;

// What a phase does.
struct Work {
  std::map<std::uint64_t, std::uint64_t> reads = {}, writes = {};  // number, by bytes
  std::uint64_t opens = 0, truncated = 0, syncs = 0;
  std::uint64_t files = 0;  // that are opened

  bool operator==(const Work&) const = default;
};

// Of a phase that ends by itself, or after so many operations.
Work work_of(Recipe recipe, std::size_t phase, std::uint64_t operations = 0) {
  if (operations > 0) recipe.phases[phase].stop = {.operations = operations};
  const Synthesis synthesis(recipe, {.free_bytes = kGiB});
  const Trace trace = synthesis.trace(phase);
  Work work;
  std::map<PathId, int> opened;
  std::vector<Operation> batch(4096);
  for (const auto& source : trace.threads) {
    while (const std::size_t filled = source->next(batch)) {
      for (const Operation& op : std::span(batch).first(filled)) {
        if (op.kind == OperationKind::read) ++work.reads[op.length];
        if (op.kind == OperationKind::write) ++work.writes[op.length];
        if (op.kind == OperationKind::sync) ++work.syncs;
        if (op.kind != OperationKind::open) continue;
        ++work.opens;
        ++opened[op.path];
        work.truncated += (op.flags & O_TRUNC) != 0;
      }
    }
  }
  work.files = opened.size();
  return work;
}

std::vector<Recipe> points_of(std::string_view name, double scale = 1) {
  const Workload workload = catalogue_workload(name);
  std::vector<Recipe> points;
  for (std::uint64_t i = 0; i < workload.points(); ++i) points.push_back(workload.recipe(i, scale));
  return points;
}

const AccessMix& access_of(const Recipe& recipe, std::size_t phase = 0) {
  return recipe.phases.at(phase).threads.at(0).access.value();
}

TEST_CASE("each recipe says which of its figures are printed, remembered and assumed") {
  constexpr std::array<std::string_view, 3> kMarks = {"Printed", "Remembered", "Assumed"};
  for (const CatalogueWorkload& workload : list_catalogue_workloads()) {
    INFO(workload.name);
    const std::string notes = catalogue_workload(workload.name).notes;
    CHECK(std::ranges::any_of(
        kMarks, [&](std::string_view mark) { return notes.find(mark) != std::string::npos; }));
    CHECK(notes.find("Known") == std::string::npos);
  }
}

TEST_CASE("sysbench's large files are 10, 30 and 50 GiB, made and worked on by 4 KiB") {
  const std::vector<Recipe> points = points_of("sysbench-fileio-large");
  const std::vector<Recipe> small = points_of("sysbench-fileio-large", 0.01);
  constexpr std::array<std::uint64_t, 3> kEach = {80, 240, 400};  // MiB
  REQUIRE(points.size() == kEach.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    REQUIRE(points[i].files.size() == 1);
    CHECK(points[i].files[0].count == 128);
    CHECK(points[i].files[0].size == kEach[i] * kMiB);
    REQUIRE(points[i].phases.size() == 6);
    CHECK(points[i].phases[0].name == "seqwr");
    CHECK(Synthesis(points[i], {}).bytes(0) == (10 + 20 * i) * kGiB);
    for (std::size_t phase = 0; phase < 6; ++phase) {
      CHECK(access_of(points[i], phase).sizes.size() == 1);
      CHECK(access_of(points[i], phase).sizes[0].size == 4 * kKiB);
    }
    const RecipeFiles& files = small[i].files[0];
    const std::uint64_t writes = files.count * files.size / (4 * kKiB);
    // Every 100 writes and at the end all files.
    CHECK(work_of(small[i], 0) == Work{.writes = {{4 * kKiB, writes}},
                                       .opens = files.count,
                                       .truncated = files.count,
                                       .syncs = (writes / 100 + 1) * files.count,
                                       .files = files.count});
  }
}

TEST_CASE("sysbench's ratio is run by 4 KiB, its own defaults by 16 KiB") {
  const std::vector<Recipe> ratios = points_of("sysbench-ratio");
  CHECK(ratios.size() == 9);
  for (const Recipe& recipe : ratios) {
    CHECK(access_of(recipe).sizes[0].size == 4 * kKiB);
    const double ratio = access_of(recipe).ratio;
    Work work = work_of(recipe, 0, 1000);
    const auto reads = static_cast<double>(work.reads[4 * kKiB]);
    const auto writes = static_cast<double>(work.writes[4 * kKiB]);
    CHECK(reads + writes == 1000);
    CHECK(reads / writes == doctest::Approx(ratio).epsilon(0.11));
  }
  const Recipe own = points_of("sysbench-fileio").at(0);
  for (std::size_t phase = 0; phase < own.phases.size(); ++phase) {
    CHECK(access_of(own, phase).sizes[0].size == 16 * kKiB);
  }
}

TEST_CASE("one file is overwritten more often in each of eight rounds, in place and truncated") {
  const std::vector<Recipe> points = points_of("overwrite-files");
  REQUIRE(points.size() == 2);
  for (std::size_t point = 0; point < 2; ++point) {
    REQUIRE(points[point].phases.size() == 8);
    for (std::size_t round = 0; round < 8; ++round) {
      const std::uint64_t times = 1000 * (round + 1);
      CHECK(work_of(points[point], round) == Work{.writes = {{4 * kKiB, times}},
                                                  .opens = times,
                                                  .truncated = point == 0 ? 0 : times,
                                                  .files = 1});
    }
  }
}

TEST_CASE("small files are made, and others rewritten, in rounds of 1,000 to 8,000") {
  for (const std::string_view name : {"create-files", "rewrite-files"}) {
    INFO(name);
    const Recipe recipe = points_of(name).at(0);
    REQUIRE(recipe.phases.size() == 8);
    for (std::size_t round = 0; round < 8; ++round) {
      const std::uint64_t files = 1000 * (round + 1);
      Work work = work_of(recipe, round);
      CHECK(work.writes == std::map<std::uint64_t, std::uint64_t>{{4 * kKiB, files}});
      CHECK(work.files == files);
      CHECK(work.reads.empty());
    }
  }
}

TEST_CASE("matrices of threads and depths have 36 runs of 20 s for each kind of access") {
  struct Matrix {
    std::string_view name;
    std::uint64_t size, random;
  };
  for (const Matrix matrix :
       {Matrix{"queue-matrix", 4 * kKiB, 100'000}, Matrix{"queue-matrix-sequential", 128 * kKiB, 0},
        Matrix{"cached-direct", 4 * kKiB, 100'000}}) {
    INFO(matrix.name);
    std::map<std::pair<bool, std::uint32_t>, std::map<std::pair<int, int>, int>> kinds;
    std::map<std::pair<bool, std::uint32_t>, std::uint64_t> time_ns;
    for (const Recipe& point : points_of(matrix.name)) {
      const RecipeThreads& threads = point.phases.at(0).threads.at(0);
      CHECK(access_of(point).sizes[0].size == matrix.size);
      CHECK(access_of(point).random == matrix.random);
      const std::pair kind = {threads.direct, access_of(point).reads};
      ++kinds[kind][{threads.count, threads.depth}];
      time_ns[kind] += point.phases[0].stop.time_ns + point.phases[0].warm_up_ns;
    }
    CHECK(kinds.size() == 2);
    for (const auto& [kind, runs] : kinds) {
      CHECK(runs.size() == 36);
      CHECK(runs.contains({1, 1}));
      CHECK(runs.contains({32, 32}));
      CHECK(time_ns[kind] == 12ull * 60 * 1'000'000'000);
    }
    const bool cached = matrix.name == "cached-direct";
    CHECK(kinds.contains({true, 100'000}));
    CHECK(kinds.contains({!cached, cached ? 100'000U : 0U}));
  }
}

TEST_CASE("the page cache is read for ten minutes in 32 GiB, and at its most when it is warm") {
  const std::vector<Recipe> sequential = points_of("cached-direct-sequential");
  CHECK(sequential.size() == 4);
  for (const Recipe& recipe : sequential) {
    CHECK(access_of(recipe).sizes[0].size == 128 * kKiB);
    CHECK(access_of(recipe).random == 0);
    CHECK(recipe.files[0].size == 32 * kGiB);
    CHECK(recipe.phases[0].stop.time_ns == 600ull * 1'000'000'000);
  }
  for (const Recipe& point : points_of("cached-maximum")) {
    CHECK(access_of(point).sizes[0].size == 4 * kKiB);
    CHECK(access_of(point).random == 100'000);
    CHECK(point.files[0].size == 32 * kGiB);
    CHECK(point.phases[0].caches == Caches::warm);
    CHECK(!point.phases[0].threads[0].direct);
  }
}

// Mean size and number of sizes.
std::pair<double, std::size_t> mix_of(std::string_view name) {
  const Recipe recipe = points_of(name).at(0);
  double mean = 0;
  for (const SizeShare& share : access_of(recipe).sizes) {
    mean += static_cast<double>(share.size) * share.share / 100'000;
  }
  return {mean, access_of(recipe).sizes.size()};
}

TEST_CASE("the mixtures of IOMeter have the sizes and shares of its patterns") {
  CHECK(mix_of("iometer-fileserver").first == doctest::Approx(11.08 * kKiB));
  CHECK(mix_of("iometer-fileserver").second == 8);
  CHECK(mix_of("iometer-webserver").second == 10);
  CHECK(mix_of("database-67-33").first == 8 * kKiB);
  CHECK(mix_of("exchange").first == 32 * kKiB);
  struct Share {
    std::string_view name;
    std::uint32_t reads;
  };
  for (const Share share :
       {Share{"iometer-fileserver", 80}, Share{"iometer-webserver", 100},
        Share{"iometer-workstation", 80}, Share{"database-67-33", 67}, Share{"exchange", 62}}) {
    INFO(share.name);
    CHECK(access_of(points_of(share.name).at(0)).reads == share.reads * 1000);
  }
}

TEST_CASE("the roundup's workstation writes more than the file server, with depths up to 32") {
  const std::vector<Recipe> points = points_of("iometer-workstation-roundup");
  CHECK(points.size() == 6);
  CHECK(points.front().phases[0].threads[0].depth == 1);
  CHECK(points.back().phases[0].threads[0].depth == 32);
  CHECK(access_of(points[0]).reads < access_of(points_of("iometer-fileserver").at(0)).reads);
  CHECK(access_of(points[0]).sizes.size() > 1);
  CHECK(points[0].files[0].fill > 0);
}

TEST_CASE("block sizes go from 512 bytes to 16 MiB, for reads and for writes") {
  for (const std::string_view name : {"random-block-size", "sequential-block-size"}) {
    INFO(name);
    std::map<std::uint32_t, std::map<std::uint64_t, int>> sizes;  // by share of reads
    for (const Recipe& point : points_of(name)) {
      ++sizes[access_of(point).reads][access_of(point).sizes[0].size];
    }
    CHECK(sizes.size() == 2);
    for (const std::uint32_t reads : {0U, 100'000U}) {
      CHECK(sizes[reads].size() == 16);
      CHECK(sizes[reads].begin()->first == 512);
      CHECK(sizes[reads].rbegin()->first == 16 * kMiB);
    }
  }
}

TEST_CASE("zones are read and written, each a twentieth of the file") {
  const std::vector<Recipe> points = points_of("zones");
  REQUIRE(points.size() == 40);
  for (std::size_t i = 0; i < points.size(); ++i) {
    CHECK(access_of(points[i]).reads == (i < 20 ? 100'000 : 0));
    CHECK(access_of(points[i]).zone_begin == doctest::Approx(0.05 * static_cast<double>(i % 20)));
  }
  const Work read = work_of(points[0], 0, 30), written = work_of(points[20], 0, 30);
  CHECK(read.reads == std::map<std::uint64_t, std::uint64_t>{{kMiB, 30}});
  CHECK(read.writes.empty());
  CHECK(written.writes == read.reads);
}

TEST_CASE("the patterns of PCMark and NASPT are as many as the suites have") {
  std::map<std::string, int> suites;
  for (const CatalogueWorkload& workload : list_catalogue_workloads()) {
    ++suites[workload.name.substr(
        0, workload.name.rfind("vantage") == 7 ? 14 : workload.name.find('-'))];
  }
  CHECK(suites["pcmark05"] == 5);
  CHECK(suites["pcmark-vantage"] == 8);  // of which the comparison counts seven
  CHECK(suites["naspt"] == 12);
}

}  // namespace
}  // namespace filereel
