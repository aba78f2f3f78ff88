// Sweeps of a workload: a list or a range instead of a single value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filesets/specification/yaml_reader.h"
#include "filesets/system/error.h"

namespace filereel {

inline constexpr std::uint64_t kMostPoints = 10'000;  // of one workload
inline constexpr std::size_t kMostAxes = 32;          // each is a level of the matrices of results

// A swept value.
struct SweepAxis {
  // Its key; SCOPE.KEY or SCOPE.SCOPE.KEY if that is also another axis, or, for an axis of a phase,
  // another written key of a phase.
  std::string name;
  std::vector<std::string> values;  // as written

  bool operator==(const SweepAxis&) const = default;
};

// A key that may be swept, with a unique name.
struct SweepKey {
  std::string name;
  std::vector<std::string> values;  // as written; empty for an omitted key
};

// A sweep that a job does not have, and the key.
class SweepError : public Error {
 public:
  enum class Fault : std::uint8_t { unknown_key, values };
  SweepError(Fault fault, std::string key, const std::string& text)
      : Error(ErrorKind::usage, text), fault_(fault), key_(std::move(key)) {}
  bool lacks_key(std::string_view key) const { return fault_ == Fault::unknown_key && key_ == key; }

 private:
  Fault fault_;
  std::string key_;
};

// Values that replace those in the text, by KEY, SCOPE.KEY or SCOPE.SCOPE.KEY.
using SweepOverrides = std::map<std::string, std::vector<std::string>, std::less<>>;

// Finds the keys and axes of a document during the first reading, and provides the value of each at
// a point during later readings. An alias of a list is the same axis as the list.
class Sweep {
 public:
  Sweep() = default;
  // For the same document, with other values for some of the keys found by `read`. Throws
  // SweepError for unknown and ambiguous names.
  Sweep(const Sweep& read, const SweepOverrides& overrides);

  // The scope of keys, such as the name of a phase or of a group of files, until destruction.
  enum class ScopeKind : std::uint8_t { phase, files };
  class Scope {
   public:
    Scope(Sweep& sweep, std::string name, ScopeKind kind = ScopeKind::phase) : sweep_(sweep) {
      sweep_.scopes_.push_back({std::move(name), kind});
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { sweep_.scopes_.pop_back(); }

   private:
    Sweep& sweep_;
  };

  // The value of `key` at this point, if it exists. Throws Error(unusable_input) for empty lists,
  // invalid ranges, sweeps of more than kMostPoints, and axes that exist at some points only.
  std::optional<YamlValue> pick(std::string_view key, const YamlMap& map);

  // To be called after the first reading of the document: its keys and axes are known from then on.
  void settle();

  // In the order of the text.
  const std::vector<SweepKey>& keys() const { return keys_; }
  const std::vector<SweepAxis>& axes() const { return axes_; }
  std::uint64_t points() const { return points_; }

  // Selects the point for the next reading; the last axis varies fastest.
  void go_to(std::uint64_t point);
  // The index of each axis' value at a point.
  std::vector<std::size_t> at(std::uint64_t point) const;

 private:
  // The position of a key, or of an omitted one: aliases have the same position.
  struct Place {
    std::string where;
    std::vector<std::string> names;  // possible names, from the key alone to all scopes
    std::vector<YamlValue> values;
    bool written = true;
    bool in_phase = true;
  };
  struct NamedScope {
    std::string name;
    ScopeKind kind = ScopeKind::phase;
  };

  YamlValue pick_axis(std::string_view key, const std::string& where, const YamlValue& value,
                      const std::vector<std::string>* given);
  std::vector<std::string> names_of(std::string_view key) const;
  void note(std::string_view key, const std::string& where, const YamlValue& value, bool written);
  void name_keys();
  std::string axis_name(const Place& axis) const;
  std::size_t number_of(const std::string& name) const;

  std::map<std::string, std::vector<std::string>> overrides_;  // by Place::where
  std::vector<NamedScope> scopes_;
  std::vector<Place> found_;                    // by key
  std::map<std::string, std::size_t> numbers_;  // index in it, by Place::where
  std::vector<SweepKey> keys_;
  std::vector<Place> places_;  // by axis
  std::vector<SweepAxis> axes_;
  std::vector<std::size_t> now_;  // by axis: index of the current value
  std::uint64_t points_ = 1;
  bool settled_ = false;
};

}  // namespace filereel
