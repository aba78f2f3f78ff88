#include "replay/compare/prediction_json.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "replay/compare/comparison_formats.h"
#include "replay/json.h"

namespace filereel {
namespace {

constexpr int kPredictionSchemaVersion = 1;
constexpr const char* kPredictions = "predictions";

Json to_json(const PredictedTime& predicted, const StoredPrediction& stored) {
  const std::span<const ReplayedVolume> volumes = stored.volumes;
  const ReplayedVolume& volume = volumes[predicted.volume];
  Json json = {{"volume", volume.name},
               {"file_system", volume.file_system},
               {"rank", predicted.rank},
               {"samples_s", volume.seconds}};
  if (predicted.rank > 0) json["last_rank"] = last_rank(predicted, stored.prediction);
  if (!volume.seconds.empty()) json["median_s"] = predicted.median_s;
  put_interval(json, "interval_95", predicted.interval);
  if (volume.most_saved > 0) json["most_saved"] = volume.most_saved;
  if (predicted.lowered > 0) json["interval_lowered"] = predicted.lowered;
  json["slower_than"] = Json::array();
  for (const std::size_t other : predicted.faster) {
    json["slower_than"].push_back(
        {{"volume", volumes[other].name}, {"file_system", volumes[other].file_system}});
  }
  if (!predicted.reason.empty()) json["reason"] = predicted.reason;
  return json;
}

Json to_json(const GroupedCommits& commits) {
  return {{"syncs", commits.syncs},
          {"all_syncs", commits.all_syncs},
          {"threads", commits.threads},
          {"sync_s", commits.sync_s},
          {"in_progress_s", commits.in_progress_s}};
}

// Reads the members of a prediction. nlohmann's exceptions are those of Json.
struct Reader {
  StoredPrediction& stored;

  static ReplayedVolume volume(const Json& json) {
    return {.name = json.at("volume").get<std::string>(),
            .file_system = json.at("file_system").get<std::string>()};
  }

  std::size_t number_of(const Json& json) const {
    const ReplayedVolume wanted = volume(json);
    const auto found = std::ranges::find_if(stored.volumes, [&](const ReplayedVolume& replayed) {
      return replayed.name == wanted.name && replayed.file_system == wanted.file_system;
    });
    if (found == stored.volumes.end()) throw Json::out_of_range::create(403, "volume", nullptr);
    return static_cast<std::size_t>(found - stored.volumes.begin());
  }

  void program(const Json& json) const {
    PredictedProgram& program = stored.program;
    program.reel = json.at("reel").get<std::string>();
    program.command = json.value("command", "");
    program.label = json.value("label", "");
    program.running = json.value("running", false);
    program.recorded_s = json.at("recorded_s").get<double>();
    program.threads = json.value("threads", std::uint64_t{0});
    program.unknown_accuracy = json.value("accuracy_unknown", "");
    program.remarks = json.value("remarks", std::vector<std::string>());
    if (const auto found = json.find("grouped_commits"); found != json.end()) {
      program.commits = GroupedCommits{.syncs = found->at("syncs").get<std::uint64_t>(),
                                       .all_syncs = found->at("all_syncs").get<std::uint64_t>(),
                                       .threads = found->at("threads").get<std::uint32_t>(),
                                       .sync_s = found->at("sync_s").get<double>(),
                                       .in_progress_s = found->value("in_progress_s", 0.0),
                                       .recorded_s = program.recorded_s};
    }
    if (const auto found = json.find("accuracy"); found != json.end()) {
      stored.prediction.accuracy = ReplayAccuracy{.single = found->at("single").get<double>(),
                                                  .between = found->at("between").get<double>()};
    }
    stored.prediction.sessions = json.value("sessions", 0.0);
    if (const auto found = json.find("busy"); found != json.end()) {
      stored.prediction.busy = found->get<double>();
    }
    if (const auto runs = json.value("deciding_runs", std::uint32_t{0}); runs > 0) {
      stored.prediction.deciding_runs = runs;
    }
  }

  void times(const Json& list) const {
    for (const Json& json : list) {
      ReplayedVolume& replayed = stored.volumes.emplace_back(volume(json));
      replayed.seconds = json.at("samples_s").get<std::vector<double>>();
      replayed.most_saved = json.value("most_saved", 0.0);
    }
    for (const Json& json : list) {
      PredictedTime& predicted = stored.prediction.times.emplace_back();
      predicted.volume = stored.prediction.times.size() - 1;
      predicted.median_s = json.value("median_s", 0.0);
      predicted.rank = json.at("rank").get<std::uint32_t>();
      predicted.reason = json.value("reason", "");
      predicted.lowered = json.value("interval_lowered", 0.0);
      if (const auto found = json.find("interval_95"); found != json.end()) {
        predicted.interval =
            Interval{found->at("low").get<double>(), found->at("high").get<double>()};
      }
      if (predicted.rank > 0 && !predicted.interval) {
        throw Json::out_of_range::create(403, "interval_95", nullptr);
      }
      for (const Json& other : json.at("slower_than")) predicted.faster.push_back(number_of(other));
    }
  }
};

// Reads only the names of the members of the outermost object, up to the one that decides.
struct FirstMembers final : IgnoredJson {
  std::size_t depth = 0;
  bool found = false;

  bool start_object(std::size_t) override { return ++depth > 0; }
  bool end_object() override { return --depth > 0; }
  bool start_array(std::size_t) override { return ++depth > 1; }
  bool end_array() override { return --depth > 0; }
  bool key(string_t& name) override {
    if (depth != 1) return true;
    found = name == kPredictions;
    return !found && name != "measurements";
  }
};

}  // namespace

std::string prediction_to_json(const StoredPrediction& stored) {
  const PredictedProgram& program = stored.program;
  const Prediction& prediction = stored.prediction;
  Json json = {{"schema_version", kPredictionSchemaVersion},
               {"filereel", {{"version", FILEREEL_VERSION}}},
               {"reel", program.reel},
               {"recorded_s", program.recorded_s}};
  if (program.threads > 0) json["threads"] = program.threads;
  if (!program.command.empty()) json["command"] = program.command;
  if (!program.label.empty()) json["label"] = program.label;
  if (program.running) json["running"] = true;
  if (prediction.accuracy) {
    json["accuracy"] = {{"single", prediction.accuracy->single},
                        {"between", prediction.accuracy->between}};
  } else {
    json["accuracy_unknown"] = program.unknown_accuracy;
  }
  json["sessions"] = prediction.sessions;
  if (prediction.busy) json["busy"] = *prediction.busy;
  if (prediction.deciding_runs) json["deciding_runs"] = *prediction.deciding_runs;
  if (!program.remarks.empty()) json["remarks"] = program.remarks;
  if (program.commits) json["grouped_commits"] = to_json(*program.commits);
  json[kPredictions] = Json::array();
  for (const PredictedTime& predicted : prediction.times) {
    json[kPredictions].push_back(to_json(predicted, stored));
  }
  json["results"] = Json::array();
  for (const Result& result : stored.results) {
    json["results"].push_back(Json::parse(result_to_json(result)));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool is_prediction(std::string_view text) {
  FirstMembers members;
  Json::sax_parse(text, &members);
  return members.found;
}

StoredPrediction prediction_from_json(std::string_view text, std::string_view name,
                                      ResultDetail detail) {
  constexpr std::string_view kNext = "name a file written by `filereel predict --json`";
  const auto refuse = [&](std::string_view why) -> Error {
    return {ErrorKind::unusable_input, fmt::format("{}: {}; {}", name, why, kNext)};
  };
  const Json json = parse_json(text, name, kNext);
  StoredPrediction stored;
  try {
    if (json.at("schema_version").get<int>() > kPredictionSchemaVersion) {
      throw refuse("written by a newer filereel");
    }
    const Reader reader{stored};
    reader.program(json);
    reader.times(json.at(kPredictions));
    for (const Json& result : json.at("results")) {
      stored.results.push_back(result_from_json(result.dump(), name, detail));
    }
  } catch (const Json::exception&) {
    throw refuse("not a prediction: a member is missing, or has another type");
  }
  if (stored.results.empty() || stored.volumes.empty()) throw refuse("a prediction of nothing");
  return stored;
}

}  // namespace filereel
