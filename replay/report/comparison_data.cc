#include "replay/report/comparison_data.h"

#include <vector>

#include "filesets/system/printable.h"
#include "replay/compare/comparison_formats.h"
#include "replay/compare/prediction_text.h"
#include "replay/json.h"

namespace filereel {
namespace {

Json to_json(const std::vector<MeasurementKey>& keys, const Parameters& shared) {
  Json list = Json::array();
  for (const MeasurementKey& key : keys) list.push_back(key_text(key, shared));
  return list;
}

Json to_json(const ComparedMeasurement& compared, const Parameters& shared) {
  Json json = {{"key", key_text(compared.key, shared)},
               {"figure", figure_name(compared.figure)},
               {"verdict", verdict_name(compared.verdict)},
               {"verdict_text", verdict_text(compared)},
               {"evidence", compared.evidence},
               {"reason", compared.verdict == Verdict::cannot_tell ? undecided_text(compared) : ""},
               {"base_samples", compared.base.samples},
               {"fresh_samples", compared.fresh.samples}};
  if (!compared.comparable) return json;  // the times of different work mislead
  json["base"] = compared.base.median;
  json["fresh"] = compared.fresh.median;
  if (compared.base.operations_per_s) json["base_per_s"] = *compared.base.operations_per_s;
  if (compared.fresh.operations_per_s) json["fresh_per_s"] = *compared.fresh.operations_per_s;
  const AspectResult& time = compared.time;
  if (time.p) json["ratio"] = time.ratio;
  if (time.ratio_interval) {
    json["ratio_interval"] = {time.ratio_interval->low, time.ratio_interval->high};
  }
  if (time.p_holm) json["p_holm"] = *time.p_holm;
  if (const auto provable = time.provable_change()) json["provable"] = *provable;
  if (compared.tail) json["tail"] = compared.tail->answer.ratio;
  if (compared.stalls)
    json["stalls"] = {compared.stalls->base.stalls, compared.stalls->fresh.stalls};
  return json;
}

}  // namespace

Json comparison_data(const ResultComparison& comparison) {
  const Parameters shared = shared_replay_of(comparison.measurements);
  Json json = {{"base", comparison.base_name},
               {"fresh", comparison.fresh_name},
               {"threshold", comparison.options.threshold},
               {"false_alarms", comparison.options.false_alarms},
               {"interval_name", interval_name(comparison)},
               {"promise", promise_text(comparison)},
               {"basis", basis_of_changes(comparison)},
               {"control", control_text(comparison.control)},
               {"overall", comparison.comparable() ? verdict_name(comparison.overall)
                                                   : "nothing is comparable"},
               {"changes", Json::array()},
               {"warnings", warnings_to_json(comparison.warnings)},
               {"measurements", Json::array()},
               {"only_base", to_json(comparison.only_base, shared)},
               {"only_fresh", to_json(comparison.only_fresh, shared)}};
  for (const Change& change : comparison.changes) {
    json["changes"].push_back({{"kind", change_kind_name(change.kind)},
                               {"what", change.what},
                               {"base", change.base},
                               {"fresh", change.fresh}});
  }
  for (const ComparedMeasurement& compared : comparison.measurements) {
    json["measurements"].push_back(to_json(compared, shared));
  }
  return json;
}

namespace {

Json times_data(const StoredPrediction& stored) {
  Json list = Json::array();
  for (const PredictedTime& predicted : stored.prediction.times) {
    const ReplayedVolume& volume = stored.volumes[predicted.volume];
    Json& json = list.emplace_back(Json{{"volume", volume_text(volume)},
                                        {"target", volume.name},
                                        {"file_system", volume.file_system},
                                        {"rank", rank_text(predicted, stored.prediction)},
                                        {"runs", volume.seconds.size()},
                                        {"reason", predicted.reason}});
    if (predicted.median_s > 0) json["median_s"] = predicted.median_s;
    if (predicted.interval) json["interval"] = {predicted.interval->low, predicted.interval->high};
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
  for (const TimeLimit& limit : time_limits(stored)) {
    const ReplayedVolume volume{.name = limit.volume, .file_system = limit.file_system};
    json["limits"].push_back({{"volume", volume_text(volume)}, {"text", limit.text}});
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
