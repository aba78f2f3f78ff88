#include "replay/compare/ranking.h"

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "replay/compare/comparison_formats.h"
#include "replay/compare/comparison_text.h"
#include "replay/json.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

Measurement ranked_runs(const std::string& operation, const std::string& file_system,
                        double seconds, std::size_t count, std::uint64_t seed,
                        double noise = 0.01) {
  Measurement measurement = measurement_of("iso", operation, file_system, "kernel");
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(1, noise);
  for (std::size_t run = 1; run <= count; ++run) {
    const double durable_s = seconds * normal(random);
    Sample& sample = measurement.samples.emplace_back(
        sample_of(static_cast<std::uint32_t>(run), durable_s / 2, durable_s, 800'000'000, 3));
    sample.started_s = 100 * static_cast<double>(run);
  }
  return measurement;
}

// All groups are of one session, in turns.
ResultGroup group_with(const std::string& name, std::vector<Measurement> measurements) {
  Result result = begun_result();
  result.session = "one";
  result.complete = true;
  result.measurements = std::move(measurements);
  return {name, {std::move(result)}, {name + ".json"}};
}

const RankedEntry& entry_of(const RankedMeasurement& ranked, std::size_t group) {
  for (const RankedEntry& entry : ranked.entries) {
    if (entry.group == group) return entry;
  }
  FAIL("no such entry");
  return ranked.entries.front();
}

TEST_CASE("entries shown to be slower have a higher rank, ranks of others overlap") {
  const std::vector<ResultGroup> groups = {
      group_with("slow", {ranked_runs("create", "ext4", 4, 10, 1)}),
      group_with("one", {ranked_runs("create", "ext4", 1, 10, 2)}),
      group_with("other", {ranked_runs("create", "ext4", 1, 10, 3)})};
  const Ranking ranking = rank_groups(groups);
  REQUIRE(ranking.measurements.size() == 1);
  const RankedMeasurement& ranked = ranking.measurements.front();
  CHECK(ranked.decided());
  CHECK(entry_of(ranked, 1).rank == 1);
  CHECK(entry_of(ranked, 2).rank == 1);
  CHECK(entry_of(ranked, 1).last_rank == 2);
  CHECK(entry_of(ranked, 2).last_rank == 2);
  CHECK(entry_of(ranked, 0).rank == 3);  // two are faster
  CHECK(entry_of(ranked, 0).last_rank == 3);
  CHECK(ranked.entries.back().group == 0);
  CHECK(entry_of(ranked, 0).ratio == doctest::Approx(4).epsilon(0.02));
  CHECK(ranked.entries.front().ratio == 1);
  CHECK(ranking.firsts(1) == 0);  // not proven against the other
  CHECK(ranking.firsts(0) == 0);
}

TEST_CASE("a ranking names what is proven") {
  const std::vector<ResultGroup> groups = {
      group_with("slow", {ranked_runs("create", "ext4", 4, 10, 1)}),
      group_with("one", {ranked_runs("create", "ext4", 1, 10, 2)}),
      group_with("fast", {ranked_runs("create", "ext4", 0.5, 10, 3)})};
  const Ranking ranking = rank_groups(groups);
  CHECK(conclusion_text(ranking.measurements.at(0), ranking) ==
        "fastest: fast; proven: one slower than fast; slow slower than all others");
  CHECK(promise_text(ranking).starts_with("ranks overlap where no difference is proven; "));
}

TEST_CASE("work that was not done has no rank, whatever the order of the groups") {
  for (std::size_t bad = 0; bad < 3; ++bad) {
    std::vector<ResultGroup> groups;
    for (std::size_t i = 0; i < 3; ++i) {
      groups.push_back(group_with(std::to_string(i), {ranked_runs("create", "ext4", 1, 10, i)}));
    }
    Measurement& failed = groups[bad].results[0].measurements[0] =
        ranked_runs("create", "ext4", 0.1, 10, 7);
    failed.samples.back().failed_calls = {{"near", "write", "ENOSPC", 3}};
    for (Sample& sample : failed.samples) sample.bytes /= 3;  // other work than the others did
    const RankedMeasurement ranked = rank_groups(groups).measurements.at(0);
    CHECK(entry_of(ranked, bad).rank == 0);
    CHECK(
        entry_of(ranked, bad).reason.contains("write on near (ext4) failed with ENOSPC: 3 times"));
    for (std::size_t i = 0; i < 3; ++i) CHECK((entry_of(ranked, i).rank == 1) == (i != bad));
  }
}

TEST_CASE("a noisy entry ties with both of its neighbours, which are told apart") {
  const std::vector<ResultGroup> groups = {
      group_with("fast", {ranked_runs("create", "ext4", 1, 10, 1)}),
      group_with("noisy", {ranked_runs("create", "ext4", 1.05, 10, 2, 0.3)}),
      group_with("slow", {ranked_runs("create", "ext4", 1.1, 10, 3)})};
  const RankedMeasurement ranked = rank_groups(groups).measurements.front();
  CHECK(entry_of(ranked, 0).rank == 1);
  CHECK(entry_of(ranked, 0).last_rank == 2);  // one is slower
  CHECK(entry_of(ranked, 1).rank == 1);
  CHECK(entry_of(ranked, 1).last_rank == 3);
  CHECK(entry_of(ranked, 2).rank == 2);  // one is faster
  CHECK(entry_of(ranked, 2).last_rank == 3);
}

TEST_CASE("equal entries hardly ever get an order, however many there are") {
  std::size_t decided = 0;
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    std::vector<ResultGroup> groups;
    for (std::uint64_t number = 0; number < 6; ++number) {
      std::vector<Measurement> list;
      for (const char* operation : {"create", "read", "delete"}) {
        const std::uint64_t seed = trial * 100 + number * 10 + list.size();
        list.push_back(ranked_runs(operation, "ext4", 1, 12, seed, 0.1));
      }
      groups.push_back(group_with(std::to_string(number), std::move(list)));
    }
    const Ranking ranking = rank_groups(groups);
    for (const RankedMeasurement& ranked : ranking.measurements)
      decided += ranked.decided() ? 1 : 0;
  }
  CHECK(decided <= 4);  // about one is expected at most; five have a probability below 0.5 %
}

TEST_CASE("with too few runs, the required number is given") {
  const std::vector<ResultGroup> groups = {
      group_with("a", {ranked_runs("create", "ext4", 1, 2, 1)}),
      group_with("b", {ranked_runs("create", "ext4", 2, 2, 2)}),
      group_with("c", {ranked_runs("create", "ext4", 3, 2, 3)})};
  const Ranking ranking = rank_groups(groups);
  const RankedMeasurement& ranked = ranking.measurements.front();
  CHECK_FALSE(ranked.decided());
  CHECK_FALSE(ranked.has_ranks());
  for (const RankedEntry& entry : ranked.entries) CHECK(entry.rank == 0);
  CHECK(ranked.entries.front().group == 0);  // by median
  CHECK(ranked.runs_needed == 6);
  REQUIRE(ranking.warnings.size() == 1);
  CHECK(ranking.warnings.front().code == "few-runs");
  CHECK(ranking.warnings.front().next_step == "measure with --runs 6 or more");
}

TEST_CASE("the work that most entries did is ranked, whatever their order") {
  const auto group = [](const char* name, const char* digest, std::uint64_t seed) {
    Measurement measurement = ranked_runs("create", "ext4", 1, 8, seed);
    measurement.work_digest = digest;
    return group_with(name, {measurement});
  };
  std::vector<ResultGroup> groups = {group("odd", "1", 1), group("a", "2", 2), group("b", "2", 3)};
  for (int turn = 0; turn < 3; ++turn) {
    const Ranking ranking = rank_groups(groups);
    for (const RankedEntry& entry : ranking.measurements.at(0).entries) {
      CHECK(entry.comparable == (groups[entry.group].name != "odd"));
    }
    std::ranges::rotate(groups, groups.begin() + 1);
  }
}

TEST_CASE("an entry without direct I/O is not ranked among those that had it") {
  std::vector<ResultGroup> groups;
  for (const char* name : {"a", "b", "cached"}) {
    Measurement measurement =
        ranked_runs("create", "ext4", name == std::string("cached") ? 1 : 2, 8, 1);
    measurement.without_direct_io = name == std::string("cached");
    groups.push_back(group_with(name, {measurement}));
  }
  const Ranking ranking = rank_groups(groups);
  for (const RankedEntry& entry : ranking.measurements.at(0).entries) {
    CHECK(entry.comparable == (groups[entry.group].name != "cached"));
  }
}

TEST_CASE("results with several file systems in common are ranked on each") {
  std::vector<ResultGroup> groups;
  for (const char* name : {"a", "b", "c"}) {
    groups.push_back(group_with(
        name, {ranked_runs("create", "ext4", 1, 8, 1), ranked_runs("create", "xfs", 2, 8, 2)}));
  }
  CHECK(share_file_systems(groups));
  const Ranking ranking = rank_groups(groups);
  REQUIRE(ranking.measurements.size() == 2);
  CHECK(ranking.measurements[0].key.file_system == "ext4");
  CHECK(ranking.measurements[1].key.file_system == "xfs");
  CHECK(ranking.measurements[1].entries.size() == 3);
  CHECK_FALSE(share_file_systems(std::span(groups).first(2)));  // they have a comparison
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i] = group_with("one", {ranked_runs("create", i == 0 ? "ext4" : "xfs", 1, 8, 1)});
  }
  CHECK_FALSE(share_file_systems(groups));
}

TEST_CASE("the file systems of one result are entries, and so are those of several") {
  ResultGroup group = group_with(
      "drive", {ranked_runs("create", "ext4", 1, 10, 1), ranked_runs("create", "xfs", 2, 10, 2),
                ranked_runs("read", "xfs", 2, 10, 3)});
  const std::vector<ResultGroup> split = by_file_system({&group, 1}, {});
  REQUIRE(split.size() == 2);
  CHECK(split[0].name == "ext4");
  const Ranking ranking = rank_groups(split);
  REQUIRE(ranking.measurements.size() == 1);
  CHECK(key_text(ranking.measurements.front().key) == "fc-test iso create");
  CHECK(entry_of(ranking.measurements.front(), 1).rank == 2);
  CHECK(ranking.left_out.size() == 1);

  const std::vector<ResultGroup> both = {group, group};
  CHECK(by_file_system(both, {}).size() == 4);
  CHECK(by_file_system(both, {})[1].name == "drive xfs");
  const std::vector<std::string> xfs = {"xfs"};
  CHECK(by_file_system(both, xfs).size() == 2);
  CHECK(by_file_system(both, xfs)[1].name == "drive");
}

TEST_CASE("what took turns is ranked in pairs, also by file system") {
  const std::vector<ResultGroup> groups = {
      group_with("a", {ranked_runs("create", "ext4", 1, 10, 1)}),
      group_with("b", {ranked_runs("create", "ext4", 1.2, 10, 2)})};
  const Ranking ranking = rank_groups(by_file_system(groups, {}));
  CHECK(ranking.level.contains("in turns"));
  CHECK(entry_of(ranking.measurements.front(), 1).rank == 2);
}

TEST_CASE("different work and failed runs have no rank but a reason") {
  Measurement other = ranked_runs("create", "ext4", 1, 10, 2);
  for (Sample& sample : other.samples) sample.bytes /= 2;
  Measurement failed = ranked_runs("create", "ext4", 1, 10, 3);
  for (Sample& sample : failed.samples) sample.divergences = 1;
  const std::vector<ResultGroup> groups = {
      group_with("a", {ranked_runs("create", "ext4", 1, 10, 1)}), group_with("other", {other}),
      group_with("failed", {failed}), group_with("b", {ranked_runs("create", "ext4", 2, 10, 4)})};
  const RankedMeasurement ranked = rank_groups(groups).measurements.front();
  CHECK(entry_of(ranked, 0).rank == 1);
  CHECK(entry_of(ranked, 3).rank == 2);
  CHECK(entry_of(ranked, 1).rank == 0);
  CHECK(entry_of(ranked, 1).reason.contains("different work"));
  CHECK(entry_of(ranked, 2).reason == "no run succeeded");
}

TEST_CASE("with few runs there is no ranking, but what is indicated is marked") {
  // Many measurements, so that three runs prove nothing: two entries far apart, and one with noise.
  std::vector<ResultGroup> groups;
  for (std::uint64_t number = 0; number < 3; ++number) {
    std::vector<Measurement> list;
    for (std::uint64_t i = 0; i < 40; ++i) {
      const double seconds = number == 2 ? 1.5 : 1;
      list.push_back(
          ranked_runs("create-" + std::to_string(i), "ext4", seconds, 3, number * 100 + i, 0.03));
    }
    groups.push_back(group_with(std::to_string(number), std::move(list)));
  }
  const Ranking ranking = rank_groups(groups);
  std::size_t unranked = 0, indicated = 0;
  for (const RankedMeasurement& ranked : ranking.measurements) {
    if (ranked.has_ranks()) continue;
    ++unranked;
    const bool last = entry_of(ranked, 2).indicated.size() == 2;
    indicated += last ? 1 : 0;
    if (last) CHECK(ranked.runs_needed.value_or(0) > 3);
    CHECK(entry_of(ranked, 2).rank == 0);
    CHECK(ranked.fastest() == nullptr);
  }
  CHECK(unranked > 30);
  CHECK(indicated > 20);
  REQUIRE_FALSE(ranking.warnings.empty());
  CHECK(ranking.warnings.front().code == "few-runs");
}

TEST_CASE("entries with too few runs have no rank among others that have one") {
  const std::vector<ResultGroup> groups = {
      group_with("a", {ranked_runs("create", "ext4", 1, 10, 1)}),
      group_with("b", {ranked_runs("create", "ext4", 2, 10, 2)}),
      group_with("short", {ranked_runs("create", "ext4", 8, 2, 3)})};
  const RankedMeasurement ranked = rank_groups(groups).measurements.front();
  CHECK(entry_of(ranked, 0).rank == 1);
  CHECK(entry_of(ranked, 1).rank == 2);
  CHECK(entry_of(ranked, 2).rank == 0);
  CHECK(entry_of(ranked, 2).reason == "2 of at least 3 runs");
}

TEST_CASE("the fastest is the one that is shown to beat all others") {
  const std::vector<ResultGroup> groups = {
      group_with("slow", {ranked_runs("create", "ext4", 4, 10, 1)}),
      group_with("fast", {ranked_runs("create", "ext4", 1, 10, 2)}),
      group_with("middle", {ranked_runs("create", "ext4", 2, 10, 3)})};
  const RankedMeasurement ranked = rank_groups(groups).measurements.front();
  REQUIRE(ranked.fastest() != nullptr);
  CHECK(ranked.fastest()->group == 1);
  // A noisy one ties with all of them, so none is the fastest.
  std::vector<ResultGroup> noisy = groups;
  noisy.push_back(group_with("noisy", {ranked_runs("create", "ext4", 1.5, 10, 4, 0.6)}));
  CHECK(rank_groups(noisy).measurements.front().fastest() == nullptr);
}

TEST_CASE("equal entries of many runs are the same, and share rank 1") {
  const std::vector<ResultGroup> groups = {
      group_with("a", {ranked_runs("create", "ext4", 1, 30, 1, 0.001)}),
      group_with("b", {ranked_runs("create", "ext4", 1, 30, 2, 0.001)})};
  const RankedMeasurement ranked = rank_groups(groups).measurements.front();
  CHECK(ranked.same);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(entry_of(ranked, i).rank == 1);
    CHECK(entry_of(ranked, i).last_rank == 1);
  }
}

TEST_CASE("a ranking is kept as JSON") {
  const std::vector<ResultGroup> groups = {
      group_with("a",
                 {ranked_runs("create", "ext4", 1, 10, 1), ranked_runs("read", "ext4", 1, 10, 3)}),
      group_with("b",
                 {ranked_runs("create", "ext4", 2, 10, 2), ranked_runs("read", "ext4", 2, 10, 4)})};
  const MatchedGroups matched(groups);
  const Json json = Json::parse(ranking_to_json(rank_groups(groups), default_indexes(matched, 1)));
  CHECK(json["entries"] == Json({"a", "b"}));
  const Json& entry = json["rankings"][0]["entries"][1];
  CHECK(entry["name"] == "b");
  CHECK(entry["rank"] == 2);
  CHECK(entry["last_rank"] == 2);
  CHECK(entry["ratio"].get<double>() == doctest::Approx(2).epsilon(0.02));
  CHECK(json["indexes"][0]["name"] == "all");
  CHECK(json["indexes"][0]["reference"] == "b");
  CHECK(json["indexes"][0]["entries"][0]["relative"].get<double>() ==
        doctest::Approx(200).epsilon(0.02));
}

}  // namespace
}  // namespace filereel
