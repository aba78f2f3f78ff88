#include "replay/compare/prediction_json.h"

#include <utility>

#include "replay/compare/comparison_json.h"
#include "replay/json.h"
#include "replay/results/result_json.h"

namespace filereel {
namespace {

constexpr int kPredictionSchemaVersion = 1;

Json to_json(const PredictedTime& time, std::span<const ReplayedVolume> volumes) {
  const ReplayedVolume& volume = volumes[time.volume];
  Json json = {{"volume", volume.name},
               {"file_system", volume.file_system},
               {"rank", time.rank},
               {"samples_s", volume.seconds}};
  if (!volume.seconds.empty()) json["median_s"] = time.median_s;
  put_interval(json, "interval_95", time.interval);
  json["slower_than"] = Json::array();
  for (const std::size_t other : time.faster) {
    json["slower_than"].push_back(
        {{"volume", volumes[other].name}, {"file_system", volumes[other].file_system}});
  }
  if (!time.reason.empty()) json["reason"] = time.reason;
  return json;
}

}  // namespace

std::string prediction_to_json(const PredictedProgram& program,
                               std::span<const ReplayedVolume> volumes,
                               const Prediction& prediction, std::span<const Result> results) {
  Json json = {{"schema_version", kPredictionSchemaVersion},
               {"filereel", {{"version", FILEREEL_VERSION}}},
               {"reel", program.reel},
               {"recorded_s", program.recorded_s}};
  if (!program.command.empty()) json["command"] = program.command;
  if (prediction.accuracy) {
    json["accuracy"] = {{"single", prediction.accuracy->single},
                        {"between", prediction.accuracy->between}};
  } else {
    json["accuracy_unknown"] = program.unknown_accuracy;
  }
  json["sessions"] = prediction.sessions;
  json["predictions"] = Json::array();
  for (const PredictedTime& time : prediction.times) {
    json["predictions"].push_back(to_json(time, volumes));
  }
  json["results"] = Json::array();
  for (const Result& result : results) {
    json["results"].push_back(Json::parse(result_to_json(result)));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace filereel
