// Results as their JSON has them: samples, which are nearly all of the text, as plain data; the
// rest as trees. result_json_read.cc makes results of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "replay/results/json_members.h"
#include "replay/results/result_json.h"

namespace filereel {

struct StoredDivergences {
  std::uint64_t count = 0;
  std::vector<DivergenceExample> examples;
  std::map<std::string, std::uint64_t> by_class;
};
template <>
inline constexpr auto kMembers<StoredDivergences> = std::tuple{
    Member{"count", &StoredDivergences::count}, Member{"examples", &StoredDivergences::examples},
    Member{"by_class", &StoredDivergences::by_class}};

struct StoredReel : ReelSample {
  std::optional<TreeComparison> tree;  // of the sample, in schema versions 1 and 2
};
template <>
inline constexpr auto kMembers<StoredReel> =
    std::tuple_cat(kMembers<ReelSample>, std::tuple{Member{"tree", &StoredReel::tree}});

inline void require_list(const JsonEvent& event, const char* key) {
  if (std::holds_alternative<ListBegin>(event)) return;
  throw SchemaError{fmt::format("'{}' must be a list", key)};
}

// A value to skip.
struct Unread {};
inline JsonPlace place_of(Unread&, const char*) {
  return {};
}

// With the members whose place in the JSON is another one. The first member of a name counts.
struct StoredSample : Sample {
  std::optional<StoredReel> stored_reel;
  std::optional<StoredDivergences> stored_divergences;
};
template <>
inline constexpr auto kMembers<StoredSample> = std::tuple_cat(
    std::tuple{Member{"run", &StoredSample::run}, Member{"reel", &StoredSample::stored_reel},
               Member{"divergences", &StoredSample::stored_divergences}},
    kMembers<Sample>);

// Without courses and slowest operations, which are most of a sample.
struct StoredFigures : StoredSample {
  Unread unread;
};
template <>
inline constexpr auto kMembers<StoredFigures> = std::tuple_cat(
    std::tuple{Member{"run", &StoredFigures::run}, Member{"course", &StoredFigures::unread},
               Member{"slowest", &StoredFigures::unread}},
    kMembers<StoredSample>);

// The samples of a measurement, of which one at a time is in its stored form.
struct StoredSamples {
  ResultDetail detail = ResultDetail::all;
  std::vector<Sample> list = {};
  std::optional<StoredFigures> reading = {};

  // Adds the sample that was read to the list.
  void finish();
};

template <>
struct JsonFunctions<StoredSamples> {
  static void set(StoredSamples& samples, const JsonEvent& event, const char* key) {
    require_list(event, key);
    samples.list.clear();
    samples.reading.reset();
  }
  static JsonPlace element(StoredSamples& samples, const char* key) {
    samples.finish();
    StoredFigures& reading = samples.reading.emplace();
    if (samples.detail == ResultDetail::figures) return place_of(reading, key);
    return place_of(static_cast<StoredSample&>(reading), key);
  }
  static void end(StoredSamples& samples) {
    samples.finish();
    samples.list.shrink_to_fit();
  }
};

// `json` has all members but those that are plain data here; lists of these are empty in it.
struct StoredMeasurement {
  Json json = {};
  StoredSamples samples = {};
};

template <>
struct JsonFunctions<StoredMeasurement> {
  static void set(StoredMeasurement& stored, const JsonEvent& event, const char* key) {
    JsonFunctions<Json>::set(stored.json, event, key);
  }
  static JsonPlace member(StoredMeasurement& stored, std::string_view name) {
    const JsonPlace place = JsonFunctions<Json>::member(stored.json, name);
    if (name != "samples") return place;
    stored.json["samples"] = Json::array();
    return place_of(stored.samples, "samples");
  }
};

struct StoredMeasurements {
  ResultDetail detail = ResultDetail::all;
  std::vector<StoredMeasurement> list = {};
};

template <>
struct JsonFunctions<StoredMeasurements> {
  static void set(StoredMeasurements& measurements, const JsonEvent& event, const char* key) {
    require_list(event, key);
    measurements.list.clear();
  }
  static JsonPlace element(StoredMeasurements& measurements, const char* key) {
    StoredMeasurement& stored = measurements.list.emplace_back();
    stored.samples.detail = measurements.detail;
    return place_of(stored, key);
  }
};

// The control volume's part of a result, or the rest of it; `json` as above.
struct StoredPart {
  Json json = {};
  StoredMeasurements measurements = {};
};

template <>
struct JsonFunctions<StoredPart> {
  static void set(StoredPart& part, const JsonEvent& event, const char* key) {
    JsonFunctions<Json>::set(part.json, event, key);
  }
  static JsonPlace member(StoredPart& part, std::string_view name) {
    const JsonPlace place = JsonFunctions<Json>::member(part.json, name);
    if (name != "measurements") return place;
    part.json["measurements"] = Json::array();
    return place_of(part.measurements, "measurements");
  }
};

struct StoredResult {
  StoredPart own = {};
  std::optional<StoredPart> control = {};
};

template <>
struct JsonFunctions<StoredResult> {
  static void set(StoredResult& result, const JsonEvent& event, const char* key) {
    JsonFunctions<StoredPart>::set(result.own, event, key);
  }
  static JsonPlace member(StoredResult& result, std::string_view name) {
    if (name != "control") return JsonFunctions<StoredPart>::member(result.own, name);
    result.control.emplace().measurements.detail = result.own.measurements.detail;
    return place_of(*result.control, "control");
  }
};

}  // namespace filereel
