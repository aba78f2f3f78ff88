// Strict YAML reader: checks every value, rejects unknown keys, and reports errors with file, line
// and column.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <yaml-cpp/yaml.h>

namespace filereel {

// --- What is wrong with a YAML document, in the words of those who write YAML.

// `message`: of an exception of yaml-cpp, which has no codes.
std::string_view why_invalid_yaml(std::string_view message);

class YamlMap;

// A node and its name in messages. Copies share the document.
class YamlValue {
 public:
  YamlValue(const YAML::Node& node, std::string file, std::string what);

  // Each throws Error(unusable_input) if the node has another type or is out of range.
  std::string text() const;  // a scalar; may be empty
  std::uint64_t whole_number(std::uint64_t min, std::uint64_t max) const;
  double number(double min, double max) const;  // inclusive
  std::uint64_t size() const;                   // bytes; see parse_size
  // "6.6 %" in thousandths of a percent (6600): 0 to 100 %, at most three decimals.
  std::uint32_t share() const;
  // A share in thousandths of the whole; at most one decimal of a percent.
  std::uint16_t permille() const;
  std::uint64_t duration() const;  // nanoseconds; see parse_duration
  bool truth() const;              // "true" or "false"
  std::vector<YamlValue> list(std::size_t max_items) const;
  YamlMap map(std::span<const std::string_view> known_keys) const;
  YamlMap map(std::initializer_list<std::string_view> known_keys) const;
  // The keys and values of a map with arbitrary keys.
  std::vector<std::pair<std::string, YamlValue>> items() const;

  bool is_map() const { return node_.IsMap(); }
  bool has_key(std::string_view key) const;  // false if it is not a map
  bool is_list() const { return node_.IsSequence(); }
  // The same value with another name in messages.
  YamlValue called(std::string what) const;
  // A scalar at the location of this value.
  YamlValue with_text(const std::string& text) const;
  // The value of a missing key, at the location of this map.
  YamlValue missing_key(std::string_view key) const;
  std::string where() const;                     // "file:line:column"
  bool is_before(const YamlValue& other) const;  // in the same file
  // Throws Error(unusable_input): "where: what text".
  [[noreturn]] void fail(std::string_view text) const;

 private:
  YAML::Node node_;
  YAML::Mark mark_;
  std::string file_;
  std::string what_;
};

// A map without unknown or duplicate keys.
class YamlMap {
 public:
  YamlMap(YamlValue self, std::vector<std::pair<std::string, YamlValue>> values)
      : self_(std::move(self)), values_(std::move(values)) {}

  const YamlValue* find(std::string_view key) const;  // nullptr if the key is missing
  // Throws Error(unusable_input) if the key is missing.
  const YamlValue& require(std::string_view key) const;
  const YamlValue& self() const { return self_; }
  // The same map without the key.
  YamlMap without(std::string_view key) const;

 private:
  YamlValue self_;
  std::vector<std::pair<std::string, YamlValue>> values_;
};

inline constexpr std::size_t kMaxYamlBytes = 64u << 20;
inline constexpr std::size_t kMaxYamlNodes = 4'000'000;  // keys and values, with aliases expanded
inline constexpr std::size_t kMaxYamlDepth = 32;

// Parses the document in `text`. Throws Error(unusable_input) if it is not YAML, is not exactly one
// document or exceeds a limit above. `what` names the document in messages.
YamlValue parse_yaml(std::string_view text, std::string_view file_name, std::string_view what);

// --- Reads YAML files.

// Returns at most kMaxYamlBytes + 1 bytes of the file, or nothing if the file does not exist.
// Throws Error(failed) if it cannot be read; `what` describes the expected content.
std::optional<std::string> read_yaml_file(const std::string& path, std::string_view what);

}  // namespace filereel
