// Converts types with a list of members (result_members.h) to and from JSON. nlohmann's library
// finds these functions by argument-dependent lookup: `json["host"] = result.host`,
// `json.get<HostInfo>()`, also for lists.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "replay/json.h"
#include "replay/results/result_limits.h"
#include "replay/results/result_members.h"

namespace filereel {

// Thrown besides nlohmann's exceptions if the JSON does not match the schema.
struct SchemaError {
  std::string why;
};

// Like nlohmann's get, but refuses integers that do not fit instead of truncating them, and figures
// out of range.
template <class T>
T convert(const Json& json, const char* key) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    const bool fits = json.is_number_unsigned()
                          ? std::in_range<T>(json.get<std::uint64_t>())
                          : json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
    if (!fits) {
      throw SchemaError{fmt::format("'{}' must be an integer from {} to {}", key,
                                    std::numeric_limits<T>::min(), std::numeric_limits<T>::max())};
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
  if (const auto found = json.find(key); found != json.end()) value = convert<T>(*found, key);
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
