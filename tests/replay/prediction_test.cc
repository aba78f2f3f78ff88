#include "replay/compare/prediction.h"

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "replay/compare/prediction_json.h"
#include "replay/compare/prediction_text.h"
#include "replay/json.h"
#include "replay/results/result_json.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

using doctest::Approx;

constexpr ReplayAccuracy kAccuracy = {.single = 0.06, .between = 0.04};

// Six repetitions around a time, the extremes `spread` (a share) away.
ReplayedVolume around(const std::string& name, double seconds, double spread = 0.01) {
  return {.name = name,
          .file_system = "ext4",
          .seconds = {seconds * (1 - spread), seconds * (1 - spread / 2), seconds, seconds,
                      seconds * (1 + spread / 2), seconds * (1 + spread)}};
}

std::vector<std::uint32_t> ranks_of(const Prediction& prediction) {
  std::vector<std::uint32_t> ranks;
  for (const PredictedTime& predicted : prediction.times) ranks.push_back(predicted.rank);
  return ranks;
}

TEST_CASE("without spread, the interval is the accuracy of replays") {
  const std::vector<ReplayedVolume> volumes = {around("a", 2, 0)};
  const Prediction prediction = predict_times(volumes, kAccuracy, 0);
  REQUIRE(prediction.times.size() == 1);
  const PredictedTime& predicted = prediction.times.front();
  CHECK(predicted.median_s == Approx(2));
  CHECK(predicted.rank == 1);
  REQUIRE(predicted.interval);
  CHECK(predicted.interval->low == Approx(2 * std::exp(-1.96 * 0.06)));
  CHECK(predicted.interval->high == Approx(2 * std::exp(1.96 * 0.06)));
}

TEST_CASE("the spread of the repetitions widens the interval") {
  const std::vector<ReplayedVolume> volumes = {around("a", 2, 0.2)};
  const Interval wide = *predict_times(volumes, kAccuracy, 0).times.front().interval;
  // The 95 % interval of the median of six values are the extremes.
  const double spread = std::log(1.2 / 0.8) / 2;
  CHECK(std::log(wide.high / 2) == Approx(std::hypot(spread, 1.96 * 0.06)));
  const Interval own = *predict_times(volumes, std::nullopt, 0).times.front().interval;
  CHECK(own.high == Approx(2 * std::exp(spread)));
}

TEST_CASE("volumes that a replay cannot distinguish have overlapping ranks") {
  const std::vector<ReplayedVolume> volumes = {around("slow", 1.26), around("fast", 0.8),
                                               around("middle", 1.2)};
  const Prediction prediction = predict_times(volumes, kAccuracy, 0);
  CHECK(ranks_of(prediction) == std::vector<std::uint32_t>{1, 2, 2});
  CHECK(prediction.times[0].volume == 1);
  CHECK(prediction.times[1].volume == 2);
  CHECK(prediction.times[2].volume == 0);
  CHECK(prediction.times[2].faster == std::vector<std::size_t>{1});
  CHECK(rank_text(prediction.times[0], prediction) == "1");
  CHECK(rank_text(prediction.times[1], prediction) == "2-3");
  CHECK(rank_text(prediction.times[2], prediction) == "2-3");
}

TEST_CASE("the comparison of volumes uses the smaller error of ratios") {
  const std::vector<ReplayedVolume> volumes = {around("a", 1, 0), around("b", 1.1, 0)};
  CHECK(ranks_of(predict_times(volumes, kAccuracy, 0)) == std::vector<std::uint32_t>{1, 2});
  CHECK(ranks_of(predict_times(volumes, ReplayAccuracy{.single = 0.06, .between = 0.06}, 0)) ==
        std::vector<std::uint32_t>{1, 1});
}

TEST_CASE("of two volumes that may be equal, the number of runs that may decide is told") {
  const auto runs = [](double other, double spread, const std::optional<ReplayAccuracy>& accuracy) {
    return predict_times(std::vector{around("a", 1, spread), around("b", other, spread)}, accuracy,
                         0)
        .deciding_runs;
  };
  CHECK_FALSE(runs(2, 0.01, kAccuracy));
  CHECK_FALSE(runs(1.0001, 0, kAccuracy));  // below the accuracy: no number
  const std::optional<std::uint32_t> some = runs(1.02, 0.05, std::nullopt);
  REQUIRE(some);
  CHECK(*some > 5);
  CHECK(*some <= 100);
  CHECK_FALSE(runs(1.0001, 0.2, std::nullopt));
}

TEST_CASE("whether more runs may decide is told only where the two fastest may be equal") {
  const auto told = [](double other) {
    StoredPrediction stored{.program = {.reel = "app.reel"},
                            .volumes = {around("a", 1, 0), around("b", other, 0)}};
    stored.prediction = predict_times(stored.volumes, kAccuracy, 0);
    return conclusion_text(stored);
  };
  CHECK(told(1.0001).contains("Up to 100 runs would not decide between the two fastest."));
  CHECK_FALSE(told(2).contains("between the two fastest"));
}

TEST_CASE("the conclusion says if the machine was busy") {
  StoredPrediction stored{.program = {.reel = "app.reel"},
                          .volumes = {around("a", 1), around("b", 2)}};
  stored.prediction = predict_times(stored.volumes, kAccuracy, 0.1);
  stored.prediction.busy = 0.1;
  CHECK_FALSE(conclusion_text(stored).contains("busy"));
  stored.prediction.busy = 0.45;
  constexpr const char* kBusy =
      " Measured on a busy machine: other programs took 45 % of the CPU time.";
  CHECK(conclusion_text(stored).ends_with(kBusy));
  CHECK(reliability_text(stored).contains("10 % by which sessions on a busy machine are assumed"));
  stored.prediction.times.pop_back();
  CHECK(conclusion_text(stored).ends_with(kBusy));
}

TEST_CASE("between volumes in turns, sessions do not count, whatever the file systems") {
  constexpr double kSessions = 0.4;
  std::vector<ReplayedVolume> volumes = {around("a", 1), around("b", 2)};
  volumes[1].file_system = "btrfs";
  for (std::uint32_t run = 1; run <= 6; ++run) {
    volumes[0].runs.push_back(run);
    volumes[0].begins_s.push_back(run * 10);
    volumes[1].runs.push_back(run);
    volumes[1].begins_s.push_back(run * 10 + 5);
  }
  CHECK(ranks_of(predict_times(volumes, kAccuracy, kSessions)) == std::vector<std::uint32_t>{1, 2});
  for (double& begin : volumes[1].begins_s) begin += 100;  // one after the other
  CHECK(ranks_of(predict_times(volumes, kAccuracy, kSessions)) == std::vector<std::uint32_t>{1, 1});
}

TEST_CASE("more pairs need larger differences") {
  // p of one pair is 0.027: enough alone, but not among six.
  std::vector<ReplayedVolume> volumes = {around("a", 1, 0), around("b", std::exp(2.21 * 0.04), 0)};
  CHECK(ranks_of(predict_times(volumes, kAccuracy, 0)) == std::vector<std::uint32_t>{1, 2});
  volumes.push_back(around("c", std::exp(0.04), 0));
  volumes.push_back(around("d", std::exp(0.05), 0));
  CHECK(ranks_of(predict_times(volumes, kAccuracy, 0)) == std::vector<std::uint32_t>{1, 1, 1, 1});
}

TEST_CASE("identical times without spread and accuracy are equal, others are not") {
  const std::vector<ReplayedVolume> volumes = {around("a", 1, 0), around("b", 1, 0),
                                               around("c", 1.001, 0)};
  CHECK(ranks_of(predict_times(volumes, std::nullopt, 0)) == std::vector<std::uint32_t>{1, 1, 3});
}

TEST_CASE("a volume without a prediction is last and affects no rank") {
  std::vector<ReplayedVolume> volumes = {around("a", 0.1), around("b", 1), around("c", 2)};
  volumes[0].obstacle = "it differs";
  volumes[2].seconds.resize(3);
  const Prediction prediction = predict_times(volumes, kAccuracy, 0);
  CHECK(ranks_of(prediction) == std::vector<std::uint32_t>{1, 0, 0});
  CHECK(prediction.times[0].volume == 1);
  CHECK(prediction.times[1].reason == "it differs");
  CHECK_FALSE(prediction.times[1].interval);
  CHECK(prediction.times[2].reason == "3 of the 6 repetitions needed are complete");
  volumes[2].stopped = 2;
  CHECK(
      predict_times(volumes, kAccuracy, 0).times[2].reason ==
      "3 of the 6 repetitions needed are complete: filereel was stopped or frozen, or the machine "
      "suspended, during 2 repetitions");
  volumes[1].seconds.clear();
  CHECK(predict_times(volumes, kAccuracy, 0).times.front().rank == 0);
}

StoredPrediction stored_prediction() {
  StoredPrediction stored{.program = {.reel = "app.reel", .command = "app", .recorded_s = 1.5},
                          .volumes = {around("a", 1), around("b", 2)},
                          .prediction = {},
                          .results = {sample_replay()}};
  stored.prediction = predict_times(stored.volumes, kAccuracy, 0);
  return stored;
}

TEST_CASE("the JSON has the predictions and the results") {
  StoredPrediction stored = stored_prediction();
  Json json = Json::parse(prediction_to_json(stored));
  CHECK(json["reel"] == "app.reel");
  CHECK(json["recorded_s"] == 1.5);
  CHECK(json["accuracy"]["single"] == 0.06);
  CHECK(json["predictions"][1]["volume"] == "b");
  CHECK(json["predictions"][1]["rank"] == 2);
  CHECK(json["predictions"][1]["last_rank"] == 2);
  CHECK_FALSE(json.contains("deciding_runs"));
  CHECK(json["predictions"][1]["slower_than"][0]["volume"] == "a");
  CHECK(json["predictions"][1]["samples_s"].size() == 6);
  CHECK(json["predictions"][1]["interval_95"]["low"] < 2);
  CHECK(json["results"][0]["schema_version"] == Result::kSchemaVersion);
  stored.program.unknown_accuracy = "no waits";
  stored.prediction = predict_times(stored.volumes, std::nullopt, 0);
  json = Json::parse(prediction_to_json(stored));
  CHECK(json["accuracy_unknown"] == "no waits");
  CHECK_FALSE(json.contains("accuracy"));
  stored.volumes = {around("a", 1), around("b", 1)};
  stored.prediction = predict_times(stored.volumes, kAccuracy, 0);
  json = Json::parse(prediction_to_json(stored));
  for (const Json& one : json["predictions"]) {
    CHECK(one["rank"] == 1);
    CHECK(one["last_rank"] == 2);
  }
}

TEST_CASE("shares of the time are told of one thread, and operations in progress of several") {
  StoredPrediction stored{.program = {.reel = "app.reel"}, .results = {sample_replay()}};
  Measurement& measurement = stored.results[0].measurements[0];
  measurement.samples.resize(1);
  measurement.samples[0] = Sample();
  measurement.samples[0].elapsed_s = 2;
  measurement.samples[0].latency["fsync"] = {.count = 1, .total_us = 1.5e6};
  measurement.samples[0].latency["read"] = {.count = 1, .total_us = 0.3e6};
  const auto text = [&](std::uint64_t threads) {
    stored.program.threads = threads;
    return time_limits(stored).front().text;
  };
  CHECK(text(1) ==
        "file operations 90 % of the time, mostly fsync (83 %); the program itself and "
        "its pauses 10 %");
  CHECK(
      text(8) ==
      "0.90 file operations in progress on average, mostly fsync (83 %); none for at least 10 % of "
      "the time, which no storage shortens");
  CHECK(text(0) == text(8));  // unknown
  measurement.samples[0].latency["fsync"].total_us = 5.7e6;
  CHECK(text(8) == "3.00 file operations in progress on average, mostly fsync (95 %)");
  CHECK(text(1) == text(8));  // requests in flight together
}

TEST_CASE("the JSON of a prediction is read as it was written") {
  StoredPrediction stored = stored_prediction();
  stored.program.commits = GroupedCommits{.syncs = 900,
                                          .all_syncs = 1000,
                                          .threads = 8,
                                          .sync_s = 1e-3,
                                          .in_progress_s = 0.5,
                                          .recorded_s = 1.5};
  stored.volumes[1].most_saved = 0.4;
  stored.volumes.push_back({.name = "c", .file_system = "xfs", .obstacle = "it differs"});
  stored.program.label = "shop";
  stored.program.remarks = {"it failed"};
  stored.program.threads = 9;
  stored.prediction = predict_times(stored.volumes, kAccuracy, 0.1);
  stored.prediction.busy = 0.3;
  const std::string text = prediction_to_json(stored);
  REQUIRE(is_prediction(text));
  const StoredPrediction read = prediction_from_json(text, "p.json");
  CHECK(prediction_to_json(read) == text);
  CHECK(read.results.size() == 1);
  CHECK(read.program.commits->recorded_s == 1.5);
  CHECK(read.program.remarks == stored.program.remarks);
}

TEST_CASE("other JSON is not taken for a prediction, and a broken one is refused") {
  CHECK_FALSE(is_prediction(result_to_json(sample_replay())));
  for (const char* const text :
       {"", "{}", "[]", "3", "{\"a\": {\"predictions\": []}}", "{\"a\": ["}) {
    CHECK_FALSE(is_prediction(text));
  }
  const std::string text = prediction_to_json(stored_prediction());
  for (const char* const member : {"reel", "recorded_s", "schema_version", "results"}) {
    CAPTURE(member);
    Json json = Json::parse(text);
    json.erase(member);
    CHECK_THROWS_AS(prediction_from_json(json.dump(), "p.json"), Error);
    json[member] = nullptr;
    CHECK_THROWS_AS(prediction_from_json(json.dump(), "p.json"), Error);
  }
  Json json = Json::parse(text);
  json["predictions"][1]["slower_than"][0]["volume"] = "unknown";
  CHECK_THROWS_AS(prediction_from_json(json.dump(), "p.json"), Error);
  json = Json::parse(text);
  json["schema_version"] = 2;
  CHECK_THROWS_WITH_AS(prediction_from_json(json.dump(), "p.json"),
                       "p.json: written by a newer filereel; name a file written by `filereel "
                       "predict --json`",
                       Error);
  CHECK_THROWS_AS(prediction_from_json(text.substr(0, text.size() / 2), "p.json"), Error);
}

// The trace of commits: a thread each, one after another.
class Commits final : public RecordedSource {
 public:
  explicit Commits(std::vector<std::uint32_t> threads, std::uint64_t duration_ns = 1'000'000)
      : threads_(std::move(threads)), duration_ns_(duration_ns) {}

  std::size_t next(std::span<RecordedOperation> out) override {
    std::size_t count = 0;
    for (; count < out.size() && at_ < threads_.size(); ++count, ++at_) {
      RecordedOperation& operation = out[count] = {};
      operation.operation.kind = OperationKind::sync;
      operation.operation.thread = threads_[at_];
      operation.operation.entry = 7;
      operation.start_ns = at_ * 2'000'000;
      operation.duration_ns = duration_ns_;
    }
    return count;
  }

 private:
  std::vector<std::uint32_t> threads_;
  std::uint64_t duration_ns_;
  std::size_t at_ = 0;
};

TEST_CASE("syncs of one file by several threads in turn are commits that a server groups") {
  Commits turns({1, 2, 1, 3, 2, 1});
  const auto found = grouped_commits(turns, 0.012);
  REQUIRE(found);
  CHECK(found->syncs == 6);
  CHECK(found->all_syncs == 6);
  CHECK(found->threads == 3);
  CHECK(found->sync_s == Approx(1e-3));
  CHECK(found->in_progress_s == Approx(6e-3));
  Commits together({1, 2, 1, 3}, 4'000'000);  // they begin 2 ms after each other
  CHECK(grouped_commits(together, 0.012)->in_progress_s == Approx(10e-3));
  Commits one({1, 1, 1, 1});
  CHECK_FALSE(grouped_commits(one, 1));
  Commits handed_over({1, 1, 1, 2, 2, 2});
  CHECK_FALSE(grouped_commits(handed_over, 1));
}

TEST_CASE("larger groups save at most what threads, slowness and the rate of commits allow") {
  const GroupedCommits commits{
      .syncs = 1000, .all_syncs = 1000, .threads = 8, .sync_s = 1e-3, .recorded_s = 2};
  const auto saved = [&](GroupedCommits what, double sync_us, double elapsed_s) {
    Sample sample;
    sample.elapsed_s = elapsed_s;
    sample.latency[std::string(operation_info(OperationKind::sync).name)] = {
        .count = 1000, .total_us = 1000 * sync_us};
    return most_saved(what, sample);
  };
  CHECK(saved(commits, 1000, 2) == 0);                            // as fast as recorded
  CHECK(saved(commits, 500, 1.5) == 0);                           // faster
  CHECK(saved(commits, 4000, 5) == Approx(0.8 * (1 - 1 / 3.0)));  // 2 commits arrive meanwhile
  GroupedCommits few = commits;
  few.threads = 2;
  CHECK(saved(few, 40'000, 41) == Approx(40.0 / 41 / 2));
  GroupedCommits rare = commits;
  rare.recorded_s = 1000;
  CHECK(saved(rare, 4000, 1003) < 0.0001);
  CHECK(saved(commits, 0, 0) == 0);
  GroupedCommits together = commits;  // two at a time: 1 s of 2 s
  together.in_progress_s = 0.5;
  CHECK(saved(together, 4000, 5) == Approx(0.4 * (1 - 1 / 3.0)));
  // Not below the recorded time.
  GroupedCommits slow = commits;
  slow.recorded_s = 4.5;
  CHECK(saved(slow, 4000, 5) == Approx(0.1));
  CHECK(saved(slow, 4000, 4.4) == 0);
}

TEST_CASE("what grouped commits save lowers no interval below the recorded time") {
  std::vector<ReplayedVolume> volumes = {around("a", 10)};
  const auto low = [&] { return predict_times(volumes, kAccuracy, 0).times[0].interval->low; };
  const double plain = low();
  volumes[0].most_saved = 0.8;
  CHECK(low() == Approx(plain / 5));
  volumes[0].saved_to_s = 3;
  CHECK(low() == Approx(3));
  volumes[0].saved_to_s = 9.9;  // the interval itself reaches below it
  CHECK(low() == Approx(plain));
  CHECK(predict_times(volumes, kAccuracy, 0).times[0].lowered == 0);
  volumes[0].saved_to_s = 0;
  CHECK(predict_times(volumes, kAccuracy, 0).times[0].lowered == Approx(0.8));
}

TEST_CASE("what grouped commits save lowers intervals, and decides no ranking") {
  std::vector<ReplayedVolume> volumes = {around("a", 1), around("b", 2)};
  REQUIRE(ranks_of(predict_times(volumes, kAccuracy, 0)) == std::vector<std::uint32_t>{1, 2});
  const Interval before = *predict_times(volumes, kAccuracy, 0).times[1].interval;
  volumes[1].most_saved = 0.5;
  const Prediction prediction = predict_times(volumes, kAccuracy, 0);
  CHECK(ranks_of(prediction) == std::vector<std::uint32_t>{1, 1});
  CHECK(prediction.times[1].interval->low == Approx(before.low / 2));
  CHECK(prediction.times[1].interval->high == Approx(before.high));
}

}  // namespace
}  // namespace filereel
