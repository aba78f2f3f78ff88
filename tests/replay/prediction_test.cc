#include "replay/compare/prediction.h"

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "replay/compare/prediction_json.h"
#include "replay/json.h"
#include "tests/sample_result.h"

namespace filereel {
namespace {

using doctest::Approx;

constexpr ReplayAccuracy kAccuracy = {.single = 0.06, .between = 0.04};

// Five repetitions around a time, the extremes `spread` (a share) away.
ReplayedVolume around(const std::string& name, double seconds, double spread = 0.01) {
  return {.name = name,
          .file_system = "ext4",
          .seconds = {seconds * (1 - spread), seconds * (1 - spread / 2), seconds,
                      seconds * (1 + spread / 2), seconds * (1 + spread)}};
}

std::vector<std::uint32_t> ranks_of(const Prediction& prediction) {
  std::vector<std::uint32_t> ranks;
  for (const PredictedTime& one : prediction.times) ranks.push_back(one.rank);
  return ranks;
}

TEST_CASE("without spread, the interval is the accuracy of replays") {
  const std::vector<ReplayedVolume> volumes = {around("a", 2, 0)};
  const Prediction prediction = predict_times(volumes, kAccuracy, 0);
  REQUIRE(prediction.times.size() == 1);
  const PredictedTime& one = prediction.times.front();
  CHECK(one.median_s == Approx(2));
  CHECK(one.rank == 1);
  REQUIRE(one.interval);
  CHECK(one.interval->low == Approx(2 * std::exp(-1.96 * 0.06)));
  CHECK(one.interval->high == Approx(2 * std::exp(1.96 * 0.06)));
}

TEST_CASE("the spread of the repetitions widens the interval") {
  const std::vector<ReplayedVolume> volumes = {around("a", 2, 0.2)};
  const Interval wide = *predict_times(volumes, kAccuracy, 0).times.front().interval;
  // The 95 % interval of the median of five values are the extremes.
  const double spread = std::log(1.2 / 0.8) / 2;
  CHECK(std::log(wide.high / 2) == Approx(std::hypot(spread, 1.96 * 0.06)));
  const Interval own = *predict_times(volumes, std::nullopt, 0).times.front().interval;
  CHECK(own.high == Approx(2 * std::exp(spread)));
}

TEST_CASE("volumes that a replay cannot distinguish have equal ranks") {
  const std::vector<ReplayedVolume> volumes = {around("slow", 1.26), around("fast", 0.8),
                                               around("middle", 1.2)};
  const Prediction prediction = predict_times(volumes, kAccuracy, 0);
  CHECK(ranks_of(prediction) == std::vector<std::uint32_t>{1, 2, 2});
  CHECK(prediction.times[0].volume == 1);
  CHECK(prediction.times[1].volume == 2);
  CHECK(prediction.times[2].volume == 0);
  CHECK(prediction.times[2].faster == std::vector<std::size_t>{1});
}

TEST_CASE("the comparison of volumes uses the smaller error of ratios") {
  const std::vector<ReplayedVolume> volumes = {around("a", 1, 0), around("b", 1.1, 0)};
  CHECK(ranks_of(predict_times(volumes, kAccuracy, 0)) == std::vector<std::uint32_t>{1, 2});
  CHECK(ranks_of(predict_times(volumes, ReplayAccuracy{.single = 0.06, .between = 0.06}, 0)) ==
        std::vector<std::uint32_t>{1, 1});
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
  CHECK(prediction.times[2].reason == "3 of the 5 repetitions needed are complete");
  volumes[1].seconds.clear();
  CHECK(predict_times(volumes, kAccuracy, 0).times.front().rank == 0);
}

TEST_CASE("the JSON has the predictions and the results") {
  const std::vector<ReplayedVolume> volumes = {around("a", 1), around("b", 2)};
  const PredictedProgram program = {.reel = "app.reel", .command = "app", .recorded_s = 1.5};
  const std::vector<Result> results = {sample_replay()};
  Json json = Json::parse(
      prediction_to_json(program, volumes, predict_times(volumes, kAccuracy, 0), results));
  CHECK(json["reel"] == "app.reel");
  CHECK(json["recorded_s"] == 1.5);
  CHECK(json["accuracy"]["single"] == 0.06);
  CHECK(json["predictions"][1]["volume"] == "b");
  CHECK(json["predictions"][1]["rank"] == 2);
  CHECK(json["predictions"][1]["slower_than"][0]["volume"] == "a");
  CHECK(json["predictions"][1]["samples_s"].size() == 5);
  CHECK(json["predictions"][1]["interval_95"]["low"] < 2);
  CHECK(json["results"][0]["schema_version"] == Result::kSchemaVersion);
  PredictedProgram strange = program;
  strange.unknown_accuracy = "no waits";
  json = Json::parse(
      prediction_to_json(strange, volumes, predict_times(volumes, std::nullopt, 0), results));
  CHECK(json["accuracy_unknown"] == "no waits");
  CHECK_FALSE(json.contains("accuracy"));
}

}  // namespace
}  // namespace filereel
