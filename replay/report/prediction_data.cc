#include "replay/report/prediction_data.h"

#include "filesets/system/printable.h"
#include "replay/compare/prediction_limits.h"
#include "replay/compare/prediction_text.h"
#include "replay/json.h"

namespace filereel {
namespace {

Json times_data(const StoredPrediction& stored) {
  Json list = Json::array();
  for (const PredictedTime& one : stored.prediction.times) {
    const ReplayedVolume& volume = stored.volumes[one.volume];
    Json& json = list.emplace_back(Json{{"volume", volume_text(volume)},
                                        {"target", volume.name},
                                        {"file_system", volume.file_system},
                                        {"rank", rank_text(one, stored.prediction)},
                                        {"runs", volume.seconds.size()},
                                        {"reason", one.reason}});
    if (one.median_s > 0) json["median_s"] = one.median_s;
    if (one.interval) json["interval"] = {one.interval->low, one.interval->high};
  }
  return list;
}

Json to_json(const StoredPrediction& stored, const std::string& name) {
  Json json = {{"program", name},
               {"reel", printable(stored.program.reel)},
               {"recorded_s", stored.program.recorded_s},
               {"conclusion", conclusion_text(stored)},
               {"interval_name", interval_name(stored.prediction)},
               {"reliability", reliability_text(stored)},
               {"unknown", unknown_accuracy_text(stored.program)},
               {"remarks", remarks_of(stored)},
               {"times", times_data(stored)},
               {"limits", Json::array()}};
  for (const TimeLimit& one : time_limits(stored)) {
    const ReplayedVolume volume{.name = one.volume, .file_system = one.file_system};
    json["limits"].push_back({{"volume", volume_text(volume)}, {"text", one.text}});
  }
  return json;
}

}  // namespace

Json predictions_data(std::span<const StoredPrediction> predictions) {
  Json list = Json::array();
  const std::vector<std::string> names = program_names(predictions);
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    list.push_back(to_json(predictions[i], names[i]));
  }
  return list;
}

}  // namespace filereel
