// Converts types with a list of members (result_members.h) to and from JSON. nlohmann's library
// finds these functions by argument-dependent lookup: `json["host"] = result.host`,
// `json.get<HostInfo>()`, also for lists.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "replay/json.h"
#include "replay/results/result_limits.h"
#include "replay/results/result_members.h"

namespace filereel {

// Thrown if the JSON does not match the schema.
struct SchemaError {
  std::string why;
  std::string place = {};  // of the value around it: "measurements[2].samples[0]"
};

// Returns the result of `work` on a part of a value. Adds the part to the place of an error.
template <class Work>
auto inside(std::string_view part, const Work& work) {
  try {
    return work();
  } catch (SchemaError& error) {
    const bool joins = error.place.empty() || error.place.starts_with('[');
    error.place = fmt::format("{}{}{}", part, joins ? "" : ".", error.place);
    throw;
  }
}

// A number as it stands in the JSON, otherwise the type of the value.
inline std::string shown_value(const Json& json) {
  return json.is_number() ? json.dump() : json.type_name();
}

template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class T>
inline constexpr bool kIsMap<std::map<std::string, T>> = true;

template <class T>
T convert(const Json& json, const char* key);

template <class List>
List convert_list(const Json& json, const char* key) {
  if (!json.is_array()) throw SchemaError{fmt::format("'{}' must be a list", key)};
  List list;
  list.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    list.push_back(inside(fmt::format("{}[{}]", key, i),
                          [&] { return convert<typename List::value_type>(json[i], key); }));
  }
  return list;
}

template <class Map>
Map convert_map(const Json& json, const char* key) {
  if (!json.is_object()) throw SchemaError{fmt::format("'{}' must be an object", key)};
  Map map;
  for (const auto& [name, one] : json.items()) {
    map.emplace(name, inside(fmt::format("{}.{}", key, name),
                             [&] { return convert<typename Map::mapped_type>(one, key); }));
  }
  return map;
}

// Like nlohmann's get, but refuses integers that do not fit instead of truncating them, and figures
// out of range, and names the place.
template <class T>
T convert(const Json& json, const char* key) {
  if constexpr (kIsList<T>) return convert_list<T>(json, key);
  if constexpr (kIsMap<T>) return convert_map<T>(json, key);
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    const bool fits = json.is_number_unsigned()
                          ? std::in_range<T>(json.get<std::uint64_t>())
                          : json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
    if (!fits) {
      throw SchemaError{fmt::format("'{}' must be an integer from {} to {}, not {}", key,
                                    std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                                    shown_value(json))};
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    const T figure = json.is_number() ? json.get<T>() : T();
    if (figure != 0 && !(figure >= kLeastFigure && figure <= kMostFigure)) {
      throw SchemaError{fmt::format("'{}' is out of range: {} (expected 0, or {} to {})", key,
                                    figure, kLeastFigure, kMostFigure)};
    }
  }
  try {
    return json.get<T>();
  } catch (const Json::exception&) {
    throw SchemaError{fmt::format("'{}' has the wrong type: {}", key, json.type_name())};
  }
}

// Leaves `value` unchanged if the member is missing.
template <class T>
void get(const Json& json, const char* key, T& value) {
  if (!json.is_object()) {
    throw SchemaError{fmt::format("expected an object with '{}'", key)};
  }
  const auto found = json.find(key);
  if (found == json.end()) return;
  if constexpr (HasMembers<T>) {
    value = inside(key, [&] { return convert<T>(*found, key); });
  } else {
    value = convert<T>(*found, key);
  }
}
template <class T>
void get(const Json& json, const char* key, std::optional<T>& value) {
  T present{};
  get(json, key, present);
  if (json.contains(key)) value = std::move(present);
}

// Does not write an empty value.
template <class T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

// Adds the members of `value` to an object.
template <HasMembers T>
void put_members(Json& json, const T& value) {
  for_each_member(value, [&](const auto& member, const auto& one) {
    if constexpr (requires { one.has_value(); }) {
      put(json, member.name, one);
    } else {
      if constexpr (requires { one.empty(); }) {
        if (member.left_out_if_empty && one.empty()) return;
      }
      json[member.name] = one;
    }
  });
}

template <HasMembers T>
void to_json(Json& json, const T& value) {
  json = Json::object();
  put_members(json, value);
}

template <HasMembers T>
void from_json(const Json& json, T& value) {
  for_each_member(value, [&](const auto& member, auto& one) { get(json, member.name, one); });
}

}  // namespace filereel
