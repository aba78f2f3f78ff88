// Reads and writes plain data as JSON by the description of its members (result_members.h).
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "replay/json.h"
#include "replay/results/result_limits.h"
#include "replay/results/result_members.h"

namespace filereel {

// --- Fills plain data from the events of a JSON parser, without a tree of the text in between: a
// result of 175 MB has millions of values, and as a tree they take 24 bytes for each byte of text.
//
// A JsonPlace is where the next value goes: a pointer, and the functions of its type (JsonType). An
// object or list in it gives the places of its members or elements. Plain values, lists, maps,
// types with a list of members (result_members.h) and Json itself have functions here; other types
// specialise JsonFunctions. json_events.h has the parser.

// Thrown besides nlohmann's exceptions if the JSON does not match the schema.
struct SchemaError {
  std::string why;
  std::string place = {};  // of the value around it: "measurements[2].samples[0]"
};

// A part of a value, and the place within it: "plan" and "jobs[0]" are "plan.jobs[0]".
inline std::string joined_place(std::string_view part, std::string_view within) {
  const bool joins = part.empty() || within.empty() || within.starts_with('[');
  return fmt::format("{}{}{}", part, joins ? "" : ".", within);
}

// Returns the result of `work` on a part of a value. Adds the part to the place of an error.
template <class Work>
auto inside(std::string_view part, const Work& work) {
  try {
    return work();
  } catch (SchemaError& error) {
    error.place = joined_place(part, error.place);
    throw;
  }
}

struct ObjectBegin {};
struct ListBegin {};
// A plain value, or the begin of an object or list. Texts live until the next event.
using JsonEvent = std::variant<std::nullptr_t, bool, std::uint64_t, std::int64_t, double,
                               std::string_view, ObjectBegin, ListBegin>;

inline std::string_view type_name(const JsonEvent& event) {
  static constexpr std::array<std::string_view, std::variant_size_v<JsonEvent>> kNames = {
      "null", "boolean", "number", "number", "number", "string", "object", "array"};
  return kNames[event.index()];
}

// A number as text, otherwise the type of the value.
inline std::string shown_value(const JsonEvent& event) {
  return std::visit(
      [&](const auto& value) {
        using Value = std::remove_cvref_t<decltype(value)>;
        constexpr bool kIsNumber = std::is_arithmetic_v<Value> && !std::same_as<Value, bool>;
        if constexpr (kIsNumber) return fmt::format("{}", value);
        return std::string(type_name(event));
      },
      event);
}

[[noreturn]] inline void refuse_type(const JsonEvent& event, std::string_view key) {
  throw SchemaError{fmt::format("'{}' has the wrong type: {}", key, type_name(event))};
}

struct JsonPlace;

// The functions of a type. `key` names the value in messages.
struct JsonType {
  // Takes a plain value or the begin of an object or list, and forgets what was there. Throws
  // SchemaError for an event of another type.
  void (*set)(void* value, const JsonEvent& event, const char* key);
  JsonPlace (*member)(void* value, std::string_view name);  // of an object
  JsonPlace (*element)(void* value, const char* key);       // the next one of a list
  void (*end)(void* value);                                 // of an object or list
};

struct JsonPlace {
  const JsonType* type = nullptr;  // null: the value is skipped
  void* value = nullptr;
  const char* key = "";
};

// `set`, and the others that the type has, as static functions of its own type.
template <class T>
struct JsonFunctions;

template <class T>
inline constexpr JsonType kJsonType = [] {
  using Functions = JsonFunctions<T>;
  JsonType type{};
  type.set = [](void* value, const JsonEvent& event, const char* key) {
    Functions::set(*static_cast<T*>(value), event, key);
  };
  if constexpr (requires { &Functions::member; }) {
    type.member = [](void* value, std::string_view name) {
      return Functions::member(*static_cast<T*>(value), name);
    };
  }
  if constexpr (requires { &Functions::element; }) {
    type.element = [](void* value, const char* key) {
      return Functions::element(*static_cast<T*>(value), key);
    };
  }
  if constexpr (requires { &Functions::end; }) {
    type.end = [](void* value) { Functions::end(*static_cast<T*>(value)); };
  }
  return type;
}();

template <class T>
JsonPlace place_of(T& value, const char* key) {
  return {&kJsonType<T>, &value, key};
}
template <class T>
JsonPlace place_of(std::optional<T>& value, const char* key) {
  return place_of(value.emplace(), key);
}

// Refuses integers that do not fit instead of truncating them, and figures out of range.
template <class T>
  requires std::is_arithmetic_v<T>
struct JsonFunctions<T> {
  static void set(T& value, const JsonEvent& event, const char* key) {
    if constexpr (std::same_as<T, bool>) {
      if (!std::holds_alternative<bool>(event)) refuse_type(event, key);
      value = std::get<bool>(event);
    } else if constexpr (std::is_integral_v<T>) {
      if (const auto* one = std::get_if<std::uint64_t>(&event); one && std::in_range<T>(*one)) {
        value = static_cast<T>(*one);
      } else if (const auto* two = std::get_if<std::int64_t>(&event);
                 two && std::in_range<T>(*two)) {
        value = static_cast<T>(*two);
      } else {
        throw SchemaError{fmt::format("'{}' must be an integer from {} to {}, not {}", key,
                                      std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                                      shown_value(event))};
      }
    } else {
      if (const auto* one = std::get_if<double>(&event)) {
        value = static_cast<T>(*one);
      } else if (const auto* two = std::get_if<std::uint64_t>(&event)) {
        value = static_cast<T>(*two);
      } else if (const auto* three = std::get_if<std::int64_t>(&event)) {
        value = static_cast<T>(*three);
      } else {
        refuse_type(event, key);
      }
      if (value != 0 && !(value >= kLeastFigure && value <= kMostFigure)) {
        throw SchemaError{fmt::format("'{}' is out of range: {} (expected 0, or {} to {})", key,
                                      value, kLeastFigure, kMostFigure)};
      }
    }
  }
};

template <>
struct JsonFunctions<std::string> {
  static void set(std::string& value, const JsonEvent& event, const char* key) {
    if (!std::holds_alternative<std::string_view>(event)) refuse_type(event, key);
    value = std::get<std::string_view>(event);
  }
};

template <HasMembers T>
struct JsonFunctions<T> {
  static constexpr std::size_t kCount =
      std::tuple_size_v<std::remove_const_t<decltype(kMembers<T>)>>;

  static void set(T& value, const JsonEvent& event, const char*) {
    if (!std::holds_alternative<ObjectBegin>(event)) {
      throw SchemaError{fmt::format("expected an object with '{}'", std::get<0>(kMembers<T>).name)};
    }
    value = T{};
  }

  static JsonPlace member(T& value, std::string_view name) {
    for (const Row& row : kRows) {
      if (row.name == name) return row.place(value);
    }
    return {};
  }

 private:
  struct Row {
    std::string_view name;
    JsonPlace (*place)(T&);
  };

  template <std::size_t... i>
  static constexpr std::array<Row, kCount> rows(std::index_sequence<i...>) {
    return {Row{std::get<i>(kMembers<T>).name, [](T& value) {
                  constexpr auto kMember = std::get<i>(kMembers<T>);
                  return place_of(value.*kMember.place, kMember.name);
                }}...};
  }
  static constexpr std::array<Row, kCount> kRows = rows(std::make_index_sequence<kCount>());
};

template <class T>
struct JsonFunctions<std::vector<T>> {
  static void set(std::vector<T>& list, const JsonEvent& event, const char* key) {
    if (!std::holds_alternative<ListBegin>(event)) refuse_type(event, key);
    list.clear();
  }
  static JsonPlace element(std::vector<T>& list, const char* key) {
    return place_of(list.emplace_back(), key);
  }
  static void end(std::vector<T>& list) { list.shrink_to_fit(); }
};

template <class T>
struct JsonFunctions<std::map<std::string, T>> {
  static void set(std::map<std::string, T>& map, const JsonEvent& event, const char* key) {
    if (!std::holds_alternative<ObjectBegin>(event)) refuse_type(event, key);
    map.clear();
  }
  static JsonPlace member(std::map<std::string, T>& map, std::string_view name) {
    const auto place = map.try_emplace(std::string(name)).first;
    return place_of(place->second, place->first.c_str());
  }
};

// What is not plain data yet: a tree.
template <>
struct JsonFunctions<Json> {
  static void set(Json& json, const JsonEvent& event, const char*) {
    std::visit(
        [&](const auto& value) {
          using Value = std::remove_cvref_t<decltype(value)>;
          if constexpr (std::same_as<Value, ObjectBegin>) {
            json = Json::object();
          } else if constexpr (std::same_as<Value, ListBegin>) {
            json = Json::array();
          } else if constexpr (std::same_as<Value, std::string_view>) {
            json = std::string(value);
          } else {
            json = value;
          }
        },
        event);
  }
  static JsonPlace member(Json& json, std::string_view name) {
    return place_of(json[std::string(name)], "");
  }
  static JsonPlace element(Json& json, const char*) { return place_of(json.emplace_back(), ""); }
};

// The event of a value of a tree; only its begin if it is an object or list.
inline JsonEvent event_of(const Json& json) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return json.get<bool>();
    case Json::value_t::number_unsigned:
      return json.get<std::uint64_t>();
    case Json::value_t::number_integer:
      return json.get<std::int64_t>();
    case Json::value_t::number_float:
      return json.get<double>();
    case Json::value_t::string:
      return std::string_view(json.get_ref<const std::string&>());
    case Json::value_t::object:
      return ObjectBegin{};
    case Json::value_t::array:
      return ListBegin{};
    default:
      return nullptr;
  }
}

// --- Converts types with a list of members (result_members.h) to and from JSON. nlohmann's library
// finds these functions by argument-dependent lookup: `json["host"] = result.host`,
// `json.get<HostInfo>()`, also for lists.

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

// Like nlohmann's get, but with checks of numbers, and names the place.
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
