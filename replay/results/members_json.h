// Converts types with a list of members (result_members.h) to and from JSON. nlohmann's library
// finds these functions by argument-dependent lookup: `json["host"] = result.host`,
// `json.get<HostInfo>()`, also for lists.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "replay/json.h"
#include "replay/results/json_place.h"
#include "replay/results/result_members.h"

namespace filereel {

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

// Like nlohmann's get, but with the checks of json_place.h for numbers, and names the place.
template <class T>
T convert(const Json& json, const char* key) {
  if constexpr (kIsList<T>) {
    return convert_list<T>(json, key);
  } else if constexpr (kIsMap<T>) {
    return convert_map<T>(json, key);
  } else if constexpr (std::is_arithmetic_v<T>) {
    T value{};
    JsonFunctions<T>::set(value, event_of(json), key);
    return value;
  } else {
    try {
      return json.get<T>();
    } catch (const Json::exception&) {
      throw SchemaError{fmt::format("'{}' has the wrong type: {}", key, json.type_name())};
    }
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
